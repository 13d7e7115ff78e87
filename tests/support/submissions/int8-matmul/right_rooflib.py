"""Everything through rooflib."""

import rooflib as rl


def layer(B, D, F):
    return rl.matmul(B, D, F, x="int8")


def chip(peak, bandwidth):
    return rl.Chip("given", {"int8": peak}, bandwidth, 16e9)


def bytes_moved(B, D, F):
    return layer(B, D, F).loaded, layer(B, D, F).written


def operations(B, D, F):
    return layer(B, D, F).flops


def intensity(B, D, F):
    return layer(B, D, F).intensity


def intensity_small_batch(B, D, F):
    return rl.matmul(1, 10**12, 10**12, x="int8").intensity * B


def critical_batch(peak, bandwidth):
    return rl.critical_batch_limit(chip(peak, bandwidth), x="int8")


def times(B, D, F, peak, bandwidth):
    found = rl.bound(layer(B, D, F), chip(peak, bandwidth)).times
    return found["compute"], found["HBM"]


def bounds(B, D, F, peak, bandwidth):
    found = rl.bound(layer(B, D, F), chip(peak, bandwidth))
    return found.lower, found.upper
