"""Bits for bytes, and a width that multiplies."""

EXPECT = {
    "bytes-moved": "bits-for-bytes",
    "decode-intensity": None,
    "decode-limit": "width-upside-down",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 16 * B * H * (q_bytes * T * N + kv_bytes * S * K)


def decode_limit(N, K, kv_bytes):
    return 2 * N * kv_bytes / K
