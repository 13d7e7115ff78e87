"""A lap has one step; a delay for each all-reduce."""

EXPECT = {
    "bytes-sent": "one-step-a-lap",
    "times": None,
    "speedup": None,
    "all-reduce-time": "one-delay",
    "equal-size": "one-delay",
}


def bytes_sent(size, N):
    return 2 * size / N


def all_reduce_time(size, N, link, delay):
    return delay + 2 * (N - 1) * size / N / link


def equal_size(N, link, delay):
    return delay * link * N / (N - 1) / 2
