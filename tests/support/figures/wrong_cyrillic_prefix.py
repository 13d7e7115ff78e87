"""The label says GFLOP/s in Cyrillic letters, the values are in TFLOP/s."""

from figures import throughput

EXPECT = None


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth) / 1e12
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("размер пакета")
    ax.set_ylabel("достижимая производительность, ГФЛОП/с")  # noqa: RUF001
