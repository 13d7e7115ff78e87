"""The chip of the notebook, whatever chip is handed in."""

EXPECT = {"critical-batch": None, "times": None, "bounds": None}


def ridge():
    return peak / bandwidth  # noqa: F821


def seconds(flops, moved):
    return flops / peak, moved / bandwidth  # noqa: F821


def critical_batch(peak, bandwidth):
    return ridge() / 2


def times(B, D, F, peak, bandwidth):
    return seconds(2 * B * D * F, B * D + D * F + B * F)
