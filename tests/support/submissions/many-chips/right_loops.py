"""Step after step around the ring, lap after lap."""


def bytes_sent(size, N):
    total = 0.0
    for _lap in ("reduce-scatter", "all-gather"):
        for _ in range(1, N):
            total += size / N
    return total


def first_depth(N, peak, link):
    width = 1
    while True:
        arithmetic, network = times(1, width, 1, N, peak, link)  # noqa: F821
        if arithmetic >= network:
            return width
        width += 1


def all_reduce_time(size, N, link, delay):
    clock = 0.0
    for _ in range(2 * (N - 1)):
        clock += delay
        clock += size / N / link
    return clock


def equal_size(N, link, delay):
    low, high = 0.0, 1e15
    for _ in range(200):
        middle = (low + high) / 2
        waits = all_reduce_time(0, N, link, delay)
        if all_reduce_time(middle, N, link, delay) < 2 * waits:
            low = middle
        else:
            high = middle
    return high
