"""Everything through rooflib."""

import rooflib as rl


def layer(B, D, F):
    return rl.matmul_per_example(B, D, F, x="int8")


def operations(B, D, F):
    return layer(B, D, F).flops


def bytes_moved(B, D, F):
    return layer(B, D, F).bytes


def intensity(B, D, F):
    return layer(B, D, F).intensity


def compute_bound_chips(chips, bytes_per_element):
    found = []
    for name, (peak, bandwidth) in chips.items():
        chip = rl.Chip(name, {"int8": peak}, bandwidth, 16e9)
        if chip.ridge("int8") * bytes_per_element < 2:
            found.append(chip.name)
    return found
