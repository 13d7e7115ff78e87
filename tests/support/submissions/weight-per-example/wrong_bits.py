"""Bits for bytes; the chips are right, because they are compared with a limit of their own."""

EXPECT = {
    "bytes-moved": "bits-for-bytes",
    "intensity": "bits-for-bytes",
    "intensity-limit": "bits-for-bytes",
}


def bytes_moved(B, D, F):
    return 8 * (B * D + B * D * F + B * F)


def intensity_limit(B, bytes_per_element):
    return 2 / (8 * bytes_per_element)


def compute_bound_chips(chips, bytes_per_element):
    limit = 2 / bytes_per_element
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth < limit]
