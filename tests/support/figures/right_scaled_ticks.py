"""Values in FLOP/s, ticks and label in TFLOP/s."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value / 1e12:.0f}")
    ax.set(xlabel="batch", ylabel="attainable TFLOP/s")
