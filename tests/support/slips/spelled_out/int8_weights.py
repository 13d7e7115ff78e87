"""Answers to exercise 2 with a variable for each quantity; see `slips`."""

import math


def intensity(B, D, F):
    per_product = 2  # multiply-add-once
    activation = 2  # all-in-int8, input-in-int8
    result = 2  # output-in-int8, output-not-counted
    weight = 1  # bf16-weights
    read = activation * B * D  # input-in-int8
    written = result * B * F  # output-in-int8, output-not-counted
    return (
        per_product * B * D * F / (read + weight * D * F + written)
    )  # output-not-counted, multiply-add-once, bf16-weights


def critical_batch_limit(peak, bandwidth):
    per_product = 2  # ridge-itself, gained-twice
    weight = 1  # ridge-itself, gained-twice, bits-for-bytes
    speed = 1  # ridge-itself, gained-twice
    return speed * peak / bandwidth * weight / per_product  # ridge-itself, gained-twice


def critical_batch(D, F, peak, bandwidth):
    per_product = 2  # operations-or-peak
    activation = 2  #
    result = 2  # output-not-counted
    weight = 1  # bf16-weights
    speed = 1  # operations-or-peak
    ridge = speed * peak / bandwidth  # operations-or-peak
    room = per_product * D * F - ridge * (
        activation * D + result * F
    )  # output-not-counted, operations-or-peak
    return ridge * weight * D * F / room if room > 0 else math.inf  # no-infinity, bf16-weights


def speedup(B, D, F, peak, bandwidth):
    per_product = 2  #
    speed = 1  # int8-arithmetic
    wide = 2  #
    weight = 1  #
    activation = 2  #
    result = 2  # output-not-counted
    moved = activation * B * D + result * B * F  # output-not-counted
    T_math = per_product * B * D * F / peak  # no-ceiling
    before = max(T_math, (moved + wide * D * F) / bandwidth)  #
    after = max(T_math / speed, (moved + weight * D * F) / bandwidth)  # int8-arithmetic
    return before / after  # upside-down
