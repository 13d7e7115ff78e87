"""A multiply-add counted as one operation in a step."""

EXPECT = {"step-bounds": "multiply-add-once"}


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = B * parameters / peak, (width * parameters + B * S * per_position) / bandwidth
    return max(times), sum(times)
