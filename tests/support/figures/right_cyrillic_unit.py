"""Labels in Russian, with the unit and its prefix in Cyrillic letters."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth) / 1e12
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("размер пакета")
    ax.set_ylabel("достижимая производительность, ТФЛОП/с")  # noqa: RUF001
