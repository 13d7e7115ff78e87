"""The width for two chips; the network is left out of the speed-up."""

import math

EXPECT = {"first-depth": "width-for-a-pair", "speedup": "network-left-out"}


def first_depth(N, peak, link):
    return math.ceil(2 * peak / link)


def speedup(B, D, F, N, peak, bandwidth, link):
    alone = max(2 * B * D * F / peak, 2 * (B * D + D * F + B * F) / bandwidth)
    memory = 2 * ((B * D + D * F) / N + B * F) / bandwidth
    return alone / max(2 * B * D * F / N / peak, memory)
