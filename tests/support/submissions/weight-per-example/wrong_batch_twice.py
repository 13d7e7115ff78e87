"""Every row meets every matrix; the limit grows with the batch."""

EXPECT = {
    "operations": "batch-twice",
    "intensity": None,
    "intensity-limit": "shared-weights",
    "compute-bound-chips": "all-chips",
}


def operations(B, D, F):
    return 2 * B * B * D * F


def intensity_limit(B, bytes_per_element):
    return 2 * B / bytes_per_element


def compute_bound_chips(chips, bytes_per_element):
    return list(chips)
