"""Line2D made by hand and added to the axis, which is scaled afterwards."""

from matplotlib.lines import Line2D

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    lines = []
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        lines.append(Line2D(batches, rates, color=f"C{number}", linestyle="-."))
        ax.add_line(lines[-1])
    ax.relim()
    ax.autoscale_view()
    ax.legend(handles=lines, labels=[f"width {size}" for size in sizes], frameon=False)
    ax.xaxis.set_label_text("batch size B")
    ax.yaxis.set_label_text("performance (flop/s)")
