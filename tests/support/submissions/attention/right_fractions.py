"""Fractions, whole lengths, and a floor that is exact."""

import math
from fractions import Fraction


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 2 * H * B * (Fraction(q_bytes) * T * N + Fraction(kv_bytes) * S * K)


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    return 2 / (Fraction(q_bytes) / S + Fraction(kv_bytes) * Fraction(K, N))


def decode_limit(N, K, kv_bytes):
    return Fraction(2 * N, K) / Fraction(kv_bytes)


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = Fraction(peak) / Fraction(bandwidth)
    each = ridge * width * (1 + Fraction(K, N)) / 2
    share = 1 if fused else 1 - ridge * width / H
    return math.ceil(each / share) if share > 0 else math.inf


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    room = Fraction(capacity) - Fraction(weights)
    return max(room // (S * layers * 2 * K * H * Fraction(kv_bytes)), 0)


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    arithmetic = Fraction(2 * B) * Fraction(parameters) / Fraction(peak)
    loaded = Fraction(width) * Fraction(parameters) + B * S * per_position
    traffic = loaded / Fraction(bandwidth)
    return [max(arithmetic, traffic), arithmetic + traffic]
