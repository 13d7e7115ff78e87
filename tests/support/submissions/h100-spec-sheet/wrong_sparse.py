"""The peak as printed, sparse or not; all parts are built on it."""

EXPECT = {
    "dense-peak": "sparse-for-dense",
    "critical-batch": "sparse-for-dense",
    "critical-batches": "sparse-for-dense",
    "enough-on": "sparse-for-dense",
}


def dense_peak(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit]
