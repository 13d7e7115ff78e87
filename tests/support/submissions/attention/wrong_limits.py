"""Limits and ratios of the chip for exact values."""

EXPECT = {"decode-intensity": "long-context-for-exact", "compute-bound-from": "ridge-for-length"}


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    return 2 * N / (K * kv_bytes)


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    return peak / bandwidth
