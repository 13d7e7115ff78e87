"""Positions for sequences; the weights are loaded for each sequence."""

EXPECT = {"sequences-that-fit": "positions-for-sequences", "step-bounds": "weights-for-each-row"}


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return max(0, (capacity - weights) // (2 * layers * K * H * kv_bytes))


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = 2 * B * parameters / peak, B * (width * parameters + S * per_position) / bandwidth
    return max(times), sum(times)
