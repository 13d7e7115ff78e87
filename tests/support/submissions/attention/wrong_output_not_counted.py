"""The result is not written back."""

EXPECT = {
    "bytes-moved": "output-not-counted",
    "decode-intensity": "output-not-counted",
    "compute-bound-from": "output-not-counted",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return q_bytes * B * T * N * H + 2 * kv_bytes * B * S * K * H


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = peak / bandwidth
    room = 4 * H - (0 if fused else 4 * ridge * width)
    return ridge * width * H * (1 + 2 * K / N) / room if room > 0 else float("inf")
