"""Labels in Japanese."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates / 1e9, label=f"D = F = {size}")
    ax.legend()
    ax.set_xlabel("バッチサイズ")
    ax.set_ylabel("達成可能な演算性能 [GFLOP/秒]")
