"""None where the list is empty."""

EXPECT = {"compute-bound-chips": "nothing"}


def compute_bound_chips(chips, bytes_per_element):
    limit = 2 / bytes_per_element
    return [name for name in chips if chips[name][0] / chips[name][1] < limit] or None
