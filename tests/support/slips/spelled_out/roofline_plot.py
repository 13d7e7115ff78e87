"""Answers to exercise 3 with a variable for each quantity; see `slips`."""

import math


def attainable(B, D, F, peak, bandwidth):
    per_product = 2  # multiply-add-once
    activation = 2  #
    result = 2  # output-not-counted
    weight = 1  # bf16-weights
    speed = 1  # int8-arithmetic
    flops = per_product * B * D * F  # multiply-add-once
    moved = activation * B * D + weight * D * F + result * B * F  # output-not-counted, bf16-weights
    T_math = flops / (speed * peak)  # int8-arithmetic, no-ceiling
    T_comms = moved / bandwidth  # always-at-peak
    return flops / max(T_math, T_comms)  # time-for-rate, no-overlap


def ceiling_batch(D, F, peak, bandwidth):
    per_product = 2  #
    activation = 2  #
    result = 2  # output-not-counted
    weight = 1  # bf16-weights
    ridge = peak / bandwidth  #
    room = per_product - ridge * (activation / F + result / D)  # output-not-counted
    return ridge * weight / room if room > 0 else math.inf  # no-infinity, bf16-weights


def delay(small, large, peak, bandwidth):
    early = ceiling_batch(large, large, peak, bandwidth)  # no-delay
    late = ceiling_batch(small, small, peak, bandwidth)  # no-delay
    return late / early  # upside-down, difference
