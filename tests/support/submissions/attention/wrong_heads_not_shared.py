"""Keys and values for each head of queries."""

EXPECT = {
    "bytes-moved": "heads-not-shared",
    "decode-intensity": "heads-not-shared",
    "decode-limit": "heads-not-shared",
    "compute-bound-from": "heads-not-shared",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 2 * B * N * H * (q_bytes * T + kv_bytes * S)


def decode_limit(N, K, kv_bytes):
    return 2 / kv_bytes


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = peak / bandwidth
    room = H - (0 if fused else ridge * width)
    return ridge * width * H / room if room > 0 else float("inf")
