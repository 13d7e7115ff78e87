"""Comparisons the wrong way round."""

EXPECT = {
    "intensity": "upside-down",
    "intensity-limit": "width-upside-down",
    "compute-bound-chips": "the-others",
}


def intensity(B, D, F):
    return bytes_moved(B, D, F) / operations(B, D, F)  # noqa: F821


def intensity_limit(B, bytes_per_element):
    return 2 * bytes_per_element


def compute_bound_chips(chips, bytes_per_element):
    limit = 2 / bytes_per_element
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth > limit]
