"""The chip of the notebook, whatever chip is handed in."""

EXPECT = {"attainable": None, "delay": None, "figure": None}


def rate(rows, side, columns):
    flops = 2 * rows * side * columns
    moved = 2 * rows * side + side * columns + 2 * rows * columns
    return min(peak, flops / moved * bandwidth)  # noqa: F821


def attainable(B, D, F, peak, bandwidth):
    return rate(B, D, F)


def later(small, large):
    return ceiling_batch(small, small, peak, bandwidth) / ceiling_batch(  # noqa: F821
        large,
        large,
        peak,  # noqa: F821
        bandwidth,  # noqa: F821
    )


def delay(small, large, peak, bandwidth):
    return later(small, large)
