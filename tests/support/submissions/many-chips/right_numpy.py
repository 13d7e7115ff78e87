"""numpy: products, ceil, and the longest of an array of times."""

import numpy as np


def bytes_sent(size, N):
    return np.float64(size) * 2 * (1 - 1 / N)


def times(B, D, F, N, peak, link):
    work = np.array([2 * np.prod([B, D, F], dtype=np.float64) / N, bytes_sent(2.0 * B * F, N)])
    return work / np.array([peak, link])


def first_depth(N, peak, link):
    return np.ceil(np.multiply(2 * (N - 1), np.divide(peak, link)))


def speedup(B, D, F, N, peak, bandwidth, link):
    chips = np.array([1, N])
    arithmetic = 2.0 * B * D * F / chips / peak
    traffic = 2.0 * ((B * D + D * F) / chips + B * F) / bandwidth
    network = 4.0 * B * F * (chips - 1) / chips / link
    alone, together = np.max([arithmetic, traffic, network], axis=0)
    return alone / together


def all_reduce_time(size, N, link, delay):
    messages = np.full(2 * (N - 1), delay + size / (N * link))
    return messages.sum()
