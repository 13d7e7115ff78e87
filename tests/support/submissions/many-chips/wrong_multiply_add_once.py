"""A multiply-add counted as one operation."""

import math

EXPECT = {"times": "multiply-add-once", "first-depth": "multiply-add-once"}


def times(B, D, F, N, peak, link):
    return B * D * F / N / peak, 2 * (N - 1) / N * 2 * B * F / link


def first_depth(N, peak, link):
    return math.ceil(4 * (N - 1) * peak / link)


def speedup(B, D, F, N, peak, bandwidth, link):
    alone = max(2 * B * D * F / peak, 2 * (B * D + D * F + B * F) / bandwidth)
    memory = 2 * ((B * D + D * F) / N + B * F) / bandwidth
    return alone / max(2 * B * D * F / N / peak, memory, 4 * (N - 1) / N * B * F / link)
