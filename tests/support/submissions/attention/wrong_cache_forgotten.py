"""The cache of one layer, and none in a step."""

EXPECT = {"sequences-that-fit": "one-layer", "step-bounds": "cache-not-counted"}


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return max(0, (capacity - weights) // (2 * S * K * H * kv_bytes))


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = 2 * B * parameters / peak, width * parameters / bandwidth
    return max(times), sum(times)
