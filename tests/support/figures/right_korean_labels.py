"""Labels in Korean; curves as fractions of Python; a legend in two columns below the axis."""

from fractions import Fraction


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = []
        for batch in batches.tolist():
            flops = 2 * batch * size**2
            moved = Fraction(4 * batch * size + size**2)
            rates.append(flops / max(flops / Fraction(peak), moved / Fraction(bandwidth)))
        ax.plot(batches.tolist(), rates, label=f"{size} x {size}, int8")
    ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    ax.set(xlabel="배치 크기", ylabel="달성 가능한 성능 [FLOP/s]")
