"""One lap, throughout."""

import math

EXPECT = {
    "bytes-sent": "one-lap",
    "times": "one-lap",
    "first-depth": "one-lap",
    "speedup": "one-lap",
    "all-reduce-time": "one-lap",
    "equal-size": "laps-apart",
}


def bytes_sent(size, N):
    return (N - 1) * size / N


def first_depth(N, peak, link):
    return math.ceil((N - 1) * peak / link)


def all_reduce_time(size, N, link, delay):
    return (N - 1) * delay + bytes_sent(size, N) / link


def equal_size(N, link, delay):
    return 2 * N * link * delay
