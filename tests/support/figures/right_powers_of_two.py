"""Sizes as powers of two where they are, in TeX."""

from figures import throughput


def name(size):
    power = size.bit_length() - 1
    return f"$2^{{{power}}}$" if size == 2**power else f"${size}$"


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, label=name(size))
    ax.legend()
    ax.set_xlabel("batch (tokens)")
    ax.set_ylabel("attainable (FLOP/s)")
