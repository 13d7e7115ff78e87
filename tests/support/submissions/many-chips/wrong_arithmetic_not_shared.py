"""Each chip does all of the arithmetic."""

import math

EXPECT = {
    "times": "arithmetic-not-shared",
    "first-depth": "width-of-a-part",
    "speedup": None,
}


def times(B, D, F, N, peak, link):
    return 2 * B * D * F / peak, bytes_sent(2 * B * F, N) / link  # noqa: F821


def first_depth(N, peak, link):
    return math.ceil(2 * (N - 1) * peak / link / N)
