"""Empties the dictionary that it was given; the limit is kept for each batch."""

EXPECT = {"intensity-limit": None, "compute-bound-chips": "changed-inputs"}

_known = {}


def intensity_limit(B, bytes_per_element):
    return _known.setdefault(B, 2 / bytes_per_element)


def compute_bound_chips(chips, bytes_per_element):
    found = []
    while chips:
        name, (peak, bandwidth) = chips.popitem()
        if peak / bandwidth * bytes_per_element < 2:
            found.append(name)
    return found
