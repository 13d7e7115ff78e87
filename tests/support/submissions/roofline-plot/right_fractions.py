"""Fractions for the values, arrays as lists, a grid and units in brackets."""

from fractions import Fraction


def attainable(B, D, F, peak, bandwidth):
    slope = Fraction(2 * B * D * F, 2 * B * D + D * F + 2 * B * F) * Fraction(bandwidth)
    return min(Fraction(peak), slope)


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    def height(B, size):
        return float(attainable(int(B), size, size, peak, bandwidth))

    for size in sizes:
        ax.plot(list(batches), [height(B, size) for B in batches], label=str(size))
    ax.legend()
    ax.grid(True)
    ax.set_xlabel("tokens in the batch")
    ax.set_ylabel("attainable [FLOPs/s]")
