"""The longer of delays and bytes."""

EXPECT = {"all-reduce-time": "longer-of-the-two"}


def all_reduce_time(size, N, link, delay):
    return max(2 * (N - 1) * delay, bytes_sent(size, N) / link)  # noqa: F821
