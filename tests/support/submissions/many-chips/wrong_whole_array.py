"""The whole array in every step."""

EXPECT = {
    "bytes-sent": "whole-array-each-step",
    "times": "whole-array-each-step",
    "speedup": None,
    "all-reduce-time": "whole-array-each-step",
    "equal-size": "one-message",
}


def bytes_sent(size, N):
    return 2 * (N - 1) * size


def all_reduce_time(size, N, link, delay):
    return 2 * (N - 1) * (delay + size / link)


def equal_size(N, link, delay):
    return link * delay
