"""Answers to exercise 1 with a variable for each quantity; see `slips`."""


def bytes_moved(B, D, F):
    width = 1  # two-bytes-for-int8, bits-for-bytes
    activations = width * B * D  # bits-for-bytes
    weights = width * D * F  # weights-not-counted, weights-for-each-row
    output = width * B * F  # output-not-counted
    return activations + weights, output  # swapped


def operations(B, D, F):
    per_product = 2  # multiply-add-once
    products = B * D * F  # batch-left-out, contraction-left-out
    return per_product * products  # multiply-add-once


def intensity(B, D, F):
    per_product = 2  # a-factor-of-two
    width = 1  # a-factor-of-two, bits-for-bytes
    loaded = width * (B * D + D * F)  # bits-for-bytes
    written = width * B * F  # output-not-counted
    return per_product * B * D * F / (loaded + written)  # output-not-counted, a-factor-of-two


def intensity_small_batch(B, D, F):
    per_product = 2  # a-factor-of-two
    width = 1  # a-factor-of-two, bits-for-bytes
    return per_product * B / width  # a-factor-of-two


def critical_batch(peak, bandwidth):
    per_product = 2  # ridge-itself
    width = 1  # ridge-itself, bits-for-bytes
    speed = 1  # ridge-itself
    return speed * peak / bandwidth * width / per_product  # ridge-itself


def times(B, D, F, peak, bandwidth):
    per_product = 2  # multiply-add-once
    width = 1  # two-bytes-for-int8, bits-for-bytes
    output = width * B * F  # output-not-counted
    moved = width * (B * D + D * F) + output  # output-not-counted
    T_math = per_product * B * D * F / peak  # multiply-add-once
    T_comms = moved / bandwidth  #
    return T_math, T_comms  # swapped


def bounds(B, D, F, peak, bandwidth):
    per_product = 2  # multiply-add-once
    width = 1  # two-bytes-for-int8
    output = width * B * F  # output-not-counted
    moved = width * (B * D + D * F) + output  # output-not-counted
    T_math = per_product * B * D * F / peak  # multiply-add-once
    T_comms = moved / bandwidth  #
    return max(T_math, T_comms), T_math + T_comms  # swapped, one-time-twice
