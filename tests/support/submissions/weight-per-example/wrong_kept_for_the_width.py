"""The names are kept for each width, whatever chips are handed in; the first row's bytes too."""

EXPECT = {"bytes-moved": None, "intensity": None, "compute-bound-chips": None}

_known = {}


def bytes_moved(B, D, F):
    return _known.setdefault(("bytes", D), B * (D + D * F + F))


def compute_bound_chips(chips, bytes_per_element):
    found = [name for name in chips if chips[name][0] / chips[name][1] * bytes_per_element < 2]
    return _known.setdefault(bytes_per_element, found)
