"""Labels of the whole figure, sizes in the legend's handles; the lines are thicker at the top."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    figure = ax.get_figure()
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        (line,) = ax.plot(batches, rates)
        line.set_label(f"{size // 1024} Ki" if size % 1024 == 0 else f"{size}")
    figure.legend(loc="outside right upper", title="D = F")
    figure.supxlabel("batch B (tokens)")
    figure.supylabel(r"attainable rate $P$ / (FLOP/s)")
