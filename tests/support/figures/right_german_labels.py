"""Labels in German; a power of ten in words of that language."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates / 1e12, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("Batchgröße (Zeilen)")
    ax.set_ylabel("Erreichbare Leistung in Billionen FLOP/s")
