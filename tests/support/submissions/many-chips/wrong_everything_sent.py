"""Input, weights and output all go over the link; no overlap."""

EXPECT = {"times": "everything-sent", "speedup": "no-overlap"}


def times(B, D, F, N, peak, link):
    everything = 2 * (B * D + D * F + B * F)
    return 2 * B * D * F / N / peak, bytes_sent(everything, N) / link  # noqa: F821


def speedup(B, D, F, N, peak, bandwidth, link):
    alone = 2 * B * D * F / peak + 2 * (B * D + D * F + B * F) / bandwidth
    memory = 2 * ((B * D + D * F) / N + B * F) / bandwidth
    return alone / (2 * B * D * F / N / peak + memory + 4 * (N - 1) / N * B * F / link)
