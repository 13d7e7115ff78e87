"""A curve is missing; and twice as late, whatever the sizes."""

EXPECT = {"delay": "twice", "figure": "figure-curve"}


def delay(small, large, peak, bandwidth):
    return 2


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    size = sizes[0]
    rates = [attainable(B, size, size, peak, bandwidth) for B in batches]  # noqa: F821
    ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")
    ax.legend()
