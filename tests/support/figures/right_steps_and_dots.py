"""Steps in between of the batches, in grey, and dots in one shape for each size."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size, shape in zip(sizes, "osD^v", strict=False):
        rates = [float(throughput(size, b, peak, bandwidth)) for b in batches]
        ax.step(batches, rates, where="mid", color="0.5")
        ax.scatter(batches[::16], rates[::16], marker=shape, color="0.2", label=f"n = {size}")
        ax.plot(batches, rates, linestyle="", marker=shape, color="0.2", markersize=2)
    ax.legend(title="n × n")
    ax.set(xlabel="batch size", ylabel="GFLOP/s", title="attainable")
    ax.yaxis.set_major_formatter(lambda y, _: f"{y / 1e9:,.0f}")
