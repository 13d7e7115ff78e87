"""Not rounded; as many times as fast as there are chips."""

EXPECT = {"first-depth": "not-whole", "speedup": "as-many-times"}


def first_depth(N, peak, link):
    return 2 * (N - 1) * peak / link


def speedup(B, D, F, N, peak, bandwidth, link):
    return N
