"""The parameters are used for one sequence only."""

EXPECT = {"step-bounds": "batch-left-out"}


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = 2 * parameters / peak, (width * parameters + B * S * per_position) / bandwidth
    return max(times), sum(times)
