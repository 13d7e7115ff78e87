"""Half of the operations, throughout."""

EXPECT = {
    "operations": "half-the-operations",
    "decode-intensity": "half-the-operations",
    "decode-limit": "half-the-operations",
    "compute-bound-from": "half-the-operations",
}


def operations(B, T, S, N, H):
    return 2 * B * T * S * N * H


def decode_limit(N, K, kv_bytes):
    return N / K / kv_bytes


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = peak / bandwidth
    room = 2 * H - (0 if fused else 4 * ridge * width)
    return 2 * ridge * width * H * (1 + K / N) / room if room > 0 else float("inf")
