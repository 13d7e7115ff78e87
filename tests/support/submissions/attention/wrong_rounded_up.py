"""Rounded up; twice the lower bound."""

import math

EXPECT = {"sequences-that-fit": "rounded-up", "step-bounds": "one-time-twice"}


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return max(0, math.ceil((capacity - weights) / (2 * S * layers * K * H * kv_bytes)))


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    traffic = (width * parameters + B * S * per_position) / bandwidth
    lower = max(2 * B * parameters / peak, traffic)
    return lower, 2 * lower
