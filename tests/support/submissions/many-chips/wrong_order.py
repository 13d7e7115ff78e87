"""The pair in the wrong order; the speed-up upside down."""

EXPECT = {"times": "swapped", "speedup": "upside-down"}


def times(B, D, F, N, peak, link):
    return bytes_sent(2 * B * F, N) / link, 2 * B * D * F / N / peak  # noqa: F821


def speedup(B, D, F, N, peak, bandwidth, link):
    alone = max(2 * B * D * F / peak, 2 * (B * D + D * F + B * F) / bandwidth)
    memory = 2 * ((B * D + D * F) / N + B * F) / bandwidth
    return max(memory, *times(B, D, F, N, peak, link)) / alone
