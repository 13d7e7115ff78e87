"""A part of a sequence counts; both times come back as they are."""

EXPECT = {"sequences-that-fit": "not-whole", "step-bounds": "the-two-times"}


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return max(0, (capacity - weights) / (2 * S * layers * K * H * kv_bytes))


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    traffic = (width * parameters + B * S * per_position) / bandwidth
    return sorted((2 * B * parameters / peak, traffic))
