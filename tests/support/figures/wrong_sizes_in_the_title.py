"""The sizes in the title alone, with the colours in words."""

from figures import throughput

EXPECT = "figure-legend"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, color in zip(sizes, ("blue", "orange", "green"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color)
    ax.set_title(f"D = F = {sizes[0]} in blue, {sizes[1]} in orange")
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
