"""The large one divided by the small one; the output left out of the traffic."""

EXPECT = {"ceiling-batch": "output-not-counted", "delay": "upside-down"}


def exact(side, peak, bandwidth):
    ridge = peak / bandwidth
    return ridge / (2 - 4 * ridge / side)


def ceiling_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    return ridge / (2 - 2 * ridge / F) if ridge < F else float("inf")


def delay(small, large, peak, bandwidth):
    return exact(large, peak, bandwidth) / exact(small, peak, bandwidth)
