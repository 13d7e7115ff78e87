"""Scores and probabilities are written and read, fused or not."""

EXPECT = {
    "bytes-moved": "scores-moved",
    "decode-intensity": None,
    "compute-bound-from": "scores-always-moved",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    scores = 4 * q_bytes * B * N * T * S
    return 2 * q_bytes * B * T * N * H + 2 * kv_bytes * B * S * K * H + scores


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = peak / bandwidth
    room = H - ridge * width
    return ridge * width * H * (1 + K / N) / (2 * room) if room > 0 else float("inf")
