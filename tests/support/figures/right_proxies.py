"""Legend of patches in the curves' colours."""

from matplotlib.patches import Patch

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    patches = []
    for size, color in zip(sizes, ("tab:red", "tab:green", "tab:blue"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color)
        patches.append(Patch(color=color, label=f"D = F = {size}"))
    ax.legend(handles=patches)
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
