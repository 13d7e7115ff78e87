"""Everything through rooflib."""

import math

import rooflib as rl

TYPES = {0.5: "int4", 1: "int8", 2: "bf16", 4: "fp32"}


def kernel(B, T, S, N, K, H, q_bytes, kv_bytes, fused=True):
    types = {"x": TYPES[q_bytes], "kv": TYPES[kv_bytes], "compute": "bf16"}
    return rl.attention(B, T, S, N, K, H, causal=False, fused=fused, softmax=False, **types)


def chip(peak, bandwidth):
    return rl.Chip("given", {"bf16": peak}, bandwidth, 16e9)


def operations(B, T, S, N, H):
    return kernel(B, T, S, N, N, H, 2, 2).flops


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return kernel(B, T, S, N, K, H, q_bytes, kv_bytes).bytes


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    return kernel(B, 1, S, N, K, H, q_bytes, kv_bytes).intensity


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    def slow(length):
        op = kernel(1, length, length, N, K, H, width, width, fused)
        return rl.bound(op, chip(peak, bandwidth)).binding == "HBM"

    low, high = 1, 2
    while slow(high):
        low, high = high, 2 * high
        if high > 2**50:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if slow(middle) else (low, middle)
    return high


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    each = S * rl.kv_bytes_per_token(layers, K, H, TYPES[kv_bytes])
    return max(0, math.floor((capacity - weights) / each))


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    op = rl.operation(2 * B * parameters, width * parameters + B * S * per_position)
    found = rl.bound(op, chip(peak, bandwidth))
    return found.lower, found.upper
