"""Rounded down; HBM is left out."""

EXPECT = {"first-depth": "rounded-down", "speedup": "hbm-left-out"}


def first_depth(N, peak, link):
    return int(2 * (N - 1) * peak / link)


def speedup(B, D, F, N, peak, bandwidth, link):
    return 2 * B * D * F / peak / max(times(B, D, F, N, peak, link))  # noqa: F821
