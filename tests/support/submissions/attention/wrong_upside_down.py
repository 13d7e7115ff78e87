"""Ratios the wrong way round."""

EXPECT = {
    "decode-intensity": "upside-down",
    "decode-limit": "group-upside-down",
    "step-bounds": "swapped",
}


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    return (q_bytes * N + kv_bytes * S * K) / (2 * S * N)


def decode_limit(N, K, kv_bytes):
    return 2 * K / (N * kv_bytes)


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = (
        2 * B * parameters / peak,
        (width * parameters + B * S * per_position) / bandwidth,
    )
    return sum(times), max(times)
