"""Values in TFLOP/s under a label that says FLOP/s."""

EXPECT = {"figure": None}


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = [attainable(B, size, size, peak, bandwidth) / 1e12 for B in batches]  # noqa: F821
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.set(xlabel="batch", ylabel="attainable FLOP/s")
    ax.legend()
