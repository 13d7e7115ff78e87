"""numpy: einsum's sizes, scalars of numpy's types, an array of names."""

import numpy as np


def operations(B, D, F):
    return np.int64(2) * np.int64(B) * np.int64(D) * np.int64(F)


def bytes_moved(B, D, F):
    shapes = [(B, D), (B, D, F), (B, F)]
    return np.sum([np.prod(shape, dtype=np.int64) for shape in shapes])


def intensity(B, D, F):
    return np.true_divide(operations(B, D, F), bytes_moved(B, D, F))


def intensity_limit(B, bytes_per_element):
    return np.float64(2.0) / bytes_per_element


def compute_bound_chips(chips, bytes_per_element):
    names = np.array(list(chips))
    ridges = np.array([peak / bandwidth for peak, bandwidth in chips.values()])
    return names[ridges < intensity_limit(1, bytes_per_element)]
