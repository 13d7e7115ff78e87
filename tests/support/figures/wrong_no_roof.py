"""Traffic alone, in a good figure."""

EXPECT = "no-ceiling"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        intensity = 2 * batches * size / (4 * batches + size)
        ax.plot(batches, intensity * bandwidth, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
