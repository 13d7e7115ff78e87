"""The chip of the notebook, whichever is handed in."""

EXPECT = {"compute-bound-from": None, "step-bounds": None}

GIVEN = 4.2e14, 1.6e12


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    ridge = GIVEN[0] / GIVEN[1]
    room = H - (0 if fused else ridge * width)
    return ridge * width * H * (1 + K / N) / (2 * room) if room > 0 else float("inf")


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    times = (
        2 * B * parameters / GIVEN[0],
        (width * parameters + B * S * per_position) / GIVEN[1],
    )
    return max(times), sum(times)
