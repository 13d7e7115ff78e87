"""What stands in front of the unknown is never looked at."""

EXPECT = {"compute-bound-from": "no-infinity", "sequences-that-fit": "below-zero"}


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = peak / bandwidth
    room = H - (0 if fused else ridge * width)
    return ridge * width * H * (1 + K / N) / (2 * room)


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    return (capacity - weights) // (2 * S * layers * K * H * kv_bytes)
