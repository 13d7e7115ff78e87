"""The curves carry each other's label."""

EXPECT = {"figure": None}


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, name in zip(sizes, reversed(sizes), strict=True):
        rates = [attainable(B, size, size, peak, bandwidth) for B in batches]  # noqa: F821
        ax.plot(batches, rates, label=f"D = F = {name}")
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")
    ax.legend()
