"""numpy: einsum's sizes, arrays of widths, where and errstate."""

import numpy as np


def operations(B, T, S, N, H):
    return 4 * np.prod([B, T, S, N, H], dtype=np.float64)


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    shapes = np.array([[B, T, N, H], [B, S, K, H], [B, S, K, H], [B, T, N, H]], dtype=np.int64)
    return shapes.prod(axis=1) @ np.array([q_bytes, kv_bytes, kv_bytes, q_bytes])


def decode_limit(N, K, kv_bytes):
    return np.float64(2.0) * N / K / kv_bytes


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = np.float64(peak) / bandwidth
    with np.errstate(divide="ignore"):
        room = 2 * N * H - (0 if fused else 2 * ridge * width * N)
        return np.where(room > 0, ridge * width * H * (N + K) / room, np.inf)


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    per_sequence = np.prod([2.0, layers, S, K, H, kv_bytes])
    return np.floor(np.clip(capacity - weights, 0, None) / per_sequence)


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = np.array([2 * B * parameters, width * parameters + B * S * per_position])
    times = times / [peak, bandwidth]
    return np.array([times.max(), times.sum()])
