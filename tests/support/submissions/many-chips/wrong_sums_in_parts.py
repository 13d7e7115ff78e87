"""Each chip's partial sums are an Nth of the output."""

EXPECT = {"times": "sums-in-parts", "speedup": None}


def times(B, D, F, N, peak, link):
    return 2 * B * D * F / N / peak, bytes_sent(2 * B * F / N, N) / link  # noqa: F821
