"""rooflib's bound; logarithmic axes; values in TFLOP/s, and the label says so."""

import rooflib as rl


def chip(peak, bandwidth):
    return rl.Chip("given", {"bf16": peak}, bandwidth, 16e9)


def attainable(B, D, F, peak, bandwidth):
    return rl.bound(rl.matmul(B, D, F, w="int8"), chip(peak, bandwidth)).attainable


def ceiling_batch(D, F, peak, bandwidth):
    return rl.critical_batch(chip(peak, bandwidth), D, F, w="int8")


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sizes:
        rates = attainable(batches, size, size, peak, bandwidth)
        ax.loglog(batches, rates / 1e12, label=f"{size} × {size}")
    ax.set(xlabel="batch size B", ylabel="attainable TFLOP/s")
    ax.legend(title="D = F")
