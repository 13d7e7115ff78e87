"""One sequence of the batch, in the first part and in the last."""

EXPECT = {"operations": "one-sequence", "decode-intensity": None, "step-bounds": "one-sequence"}


def operations(B, T, S, N, H):
    return 4 * T * S * N * H


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = 2 * parameters / peak, (width * parameters + S * per_position) / bandwidth
    return max(times), sum(times)
