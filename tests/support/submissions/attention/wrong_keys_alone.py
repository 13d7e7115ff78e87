"""The values are forgotten, throughout."""

EXPECT = {
    "bytes-moved": "values-not-counted",
    "decode-intensity": "values-not-counted",
    "decode-limit": "values-not-counted",
    "compute-bound-from": "values-not-counted",
    "sequences-that-fit": "values-not-counted",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 2 * q_bytes * B * T * N * H + kv_bytes * B * S * K * H


def decode_limit(N, K, kv_bytes):
    return 4 * N / (K * kv_bytes)


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = peak / bandwidth
    room = 4 * H - (0 if fused else 4 * ridge * width)
    return ridge * width * H * (2 + K / N) / room if room > 0 else float("inf")


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return max(0, (capacity - weights) // (S * layers * K * H * kv_bytes))
