"""Labels in French, operations spelled out."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("Taille du lot")
    ax.set_ylabel("Débit atteignable (opérations par seconde)")
