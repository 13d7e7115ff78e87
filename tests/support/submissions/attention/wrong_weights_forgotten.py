"""The weights take neither room nor time."""

EXPECT = {"sequences-that-fit": "weights-take-no-room", "step-bounds": "weights-not-counted"}


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return capacity // (2 * S * layers * K * H * kv_bytes)


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = 2 * B * parameters / peak, B * S * per_position / bandwidth
    return max(times), sum(times)
