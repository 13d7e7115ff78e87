"""Entries with more than a size: what the curve reaches, and where."""

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    for size in sorted(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        share = rates.max() / peak
        kind = "small" if size == min(sizes) else "larger"
        ax.loglog(batches, rates, label=f"{kind} matrix, D = F = {size}: up to {share:.0%}")
    ax.axhline(peak, ls=":", c="k", label=f"peak: {peak:.3g} FLOP/s")
    ax.legend()
    ax.set(xlabel="batch B (number of tokens)", ylabel="attainable FLOP/s (log scale)")
