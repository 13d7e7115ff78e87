"""One cache for the whole batch."""

EXPECT = {
    "bytes-moved": "one-cache-for-all",
    "decode-intensity": "one-cache-for-all",
    "step-bounds": "one-cache-for-all",
}


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    return 2 * q_bytes * B * T * N * H + 2 * kv_bytes * S * K * H


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = 2 * B * parameters / peak, (width * parameters + S * per_position) / bandwidth
    return max(times), sum(times)
