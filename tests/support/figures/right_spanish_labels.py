"""Labels in Spanish, a grid, dots at some of the batches; the legend outside the axis."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, marker="o", markevery=40, label=f"matriz de {size} × {size}")
    ax.grid(which="both", alpha=0.3)
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), title="Tamaño")
    ax.set_title("Rendimiento alcanzable")
    ax.set_xlabel("tamaño del lote (tokens)")
    ax.set_ylabel("rendimiento alcanzable (operaciones por segundo)")
