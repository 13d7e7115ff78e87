"""Milliseconds for seconds, and a 32-bit whole number."""

import numpy as np

EXPECT = {"operations": None, "step-bounds": "milliseconds"}


def operations(B, T, S, N, H):
    return np.prod([4, B, T, S, N, H], dtype=np.int32)


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    return 2 * S * N / (q_bytes * N + kv_bytes * S * K)


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    traffic = 1e3 * (width * parameters + B * S * per_position) / bandwidth
    arithmetic = 2e3 * B * parameters / peak
    return max(arithmetic, traffic), arithmetic + traffic
