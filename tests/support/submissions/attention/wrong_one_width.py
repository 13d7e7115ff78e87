"""One width for all arrays, and none in the limit."""

EXPECT = {
    "bytes-moved": "one-width-for-all",
    "decode-intensity": "one-width-for-all",
    "decode-limit": "width-left-out",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 2 * q_bytes * B * H * (T * N + S * K)


def decode_limit(N, K, kv_bytes):
    return 2 * N / K
