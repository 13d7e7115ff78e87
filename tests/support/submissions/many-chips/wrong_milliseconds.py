"""Milliseconds for seconds."""

EXPECT = {"times": "milliseconds", "all-reduce-time": "milliseconds"}


def times(B, D, F, N, peak, link):
    return 2e3 * B * D * F / N / peak, 4e3 * (N - 1) / N * B * F / link


def speedup(B, D, F, N, peak, bandwidth, link):
    alone = max(2 * B * D * F / peak, 2 * (B * D + D * F + B * F) / bandwidth)
    memory = 2 * ((B * D + D * F) / N + B * F) / bandwidth
    return alone / max(memory, *(time / 1e3 for time in times(B, D, F, N, peak, link)))


def all_reduce_time(size, N, link, delay):
    return 1e3 * (2 * (N - 1) * delay + bytes_sent(size, N) / link)  # noqa: F821
