"""The last argument is not looked at; queries and result are not counted."""

EXPECT = {
    "bytes-moved": "cache-alone",
    "decode-intensity": "long-context-for-exact",
    "compute-bound-from": "scores-not-moved",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 2 * kv_bytes * B * S * K * H


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    return peak / bandwidth * width * (N + K) / (2 * N)
