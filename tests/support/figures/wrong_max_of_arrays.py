"""Python's `max` for arrays, which it cannot compare."""

EXPECT = "raised"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        flops = 2 * batches * size**2
        seconds = max(flops / peak, (4 * batches * size + size**2) / bandwidth)
        ax.plot(batches, flops / seconds, label=f"D = F = {size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()
