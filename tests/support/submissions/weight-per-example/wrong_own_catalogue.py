"""The notebook's catalogue, whatever chips are handed in."""

EXPECT = {"compute-bound-chips": "no-chips"}


def compute_bound_chips(chips, bytes_per_element):
    limit = 2 / bytes_per_element
    return [name for name, (peak, memory) in catalogue.items() if peak / memory < limit]  # noqa: F821
