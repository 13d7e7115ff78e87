"""Labels in Russian, with that language's letter for the second."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates / 1e12, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("Размер батча")
    ax.set_ylabel("Достижимая скорость, TFLOP/\u0441")
