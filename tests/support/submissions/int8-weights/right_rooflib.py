"""Everything through rooflib."""

import rooflib as rl


def chip(peak, bandwidth):
    return rl.Chip("given", {"bf16": peak}, bandwidth, 16e9)


def intensity(B, D, F):
    return rl.matmul(B, D, F, x="bf16", w="int8").intensity


def critical_batch_limit(peak, bandwidth):
    return rl.critical_batch_limit(chip(peak, bandwidth), w="int8")


def critical_batch(D, F, peak, bandwidth):
    return rl.critical_batch(chip(peak, bandwidth), D, F, w="int8")


def speedup(B, D, F, peak, bandwidth):
    lower = [
        rl.bound(rl.matmul(B, D, F, w=w), chip(peak, bandwidth)).lower for w in ("bf16", "int8")
    ]
    return lower[0] / lower[1]
