"""Halves of an all-reduce as functions of their own; keywords; the width found by bisection."""


def reduce_scatter(size, chips):
    return size - size / chips


all_gather = reduce_scatter


def bytes_sent(size, N):
    return reduce_scatter(size, N) + all_gather(size, N)


def first_depth(**given):
    low, high = 0, 10**9
    while high - low > 1:
        middle = (low + high) // 2
        arithmetic, network = times(B=8, D=middle, F=8, **given)  # noqa: F821
        low, high = (low, middle) if arithmetic >= network else (middle, high)
    return high


def all_reduce_time(size, N, link, delay):
    def lap():
        return (N - 1) * delay + reduce_scatter(size, N) / link

    return 2 * lap()


def equal_size(N, link, delay):
    waits = all_reduce_time(0, N, link, delay)
    return waits / all_reduce_time(1, N, link, 0)
