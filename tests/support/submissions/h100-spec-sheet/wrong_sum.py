"""Sequences and length added; the dense peak kept for each printed number."""

EXPECT = {"dense-peak": "always-halved", "enough-on": "sum-for-product"}

_known = {}


def dense_peak(printed, unit, sparse):
    if printed not in _known:
        _known[printed] = printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / (1 + sparse)
    return _known[printed]


def critical_batch(peak, peak_unit, sparse, bandwidth, bandwidth_unit):
    compute = peak * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[peak_unit] / (1 + sparse)
    return compute / one_way_bandwidth(bandwidth, bandwidth_unit, False)  # noqa: F821


def enough_on(sheets, sequences, length):
    batches = critical_batches(sheets)  # noqa: F821
    return [name for name in batches if sequences + length > batches[name]]
