"""Whole numbers where there are none, which makes any ring a pair."""

EXPECT = {
    "bytes-sent": "as-for-two",
    "times": "as-for-two",
    "speedup": "as-for-two",
    "all-reduce-time": None,
}


def bytes_sent(size, N):
    return 2 * (N - 1) // N * size
