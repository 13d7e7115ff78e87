"""Scores among the queries alone; the limit is read off a group."""

EXPECT = {
    "operations": "queries-alone-meet",
    "decode-intensity": None,
    "decode-limit": "group-alone",
}


def operations(B, T, S, N, H):
    return 4 * B * T**2 * N * H


def decode_limit(N, K, kv_bytes):
    return N // K
