"""A text along each curve, on logarithmic axes, in the curve's colour."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    at = len(batches) // 6
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        (line,) = ax.loglog(batches, rates)
        place = (batches[at], rates[at])
        ax.annotate(f"D = F = {size}", place, color=line.get_color(), rotation=40, va="top")
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
