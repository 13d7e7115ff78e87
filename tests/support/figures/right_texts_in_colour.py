"""A list of sizes in the corner, each in the colour of its curve."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for row, size in enumerate(sizes):
        (line,) = ax.plot(batches, throughput(size, batches, peak, bandwidth))
        name, color = f"{size} x {size}", line.get_color()
        ax.text(0.95, 0.05 + row / 10, name, color=color, ha="right", transform=ax.transAxes)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
