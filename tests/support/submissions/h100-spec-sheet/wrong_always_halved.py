"""Every peak halved."""

EXPECT = {
    "dense-peak": "always-halved",
    "critical-batch": "always-halved",
    "critical-batches": "always-halved",
    "enough-on": "always-halved",
}


def dense_peak(printed, unit, sparse):
    return printed * {"TFLOP/s": 1e12, "PFLOP/s": 1e15}[unit] / 2
