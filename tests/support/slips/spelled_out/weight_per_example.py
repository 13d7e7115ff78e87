"""Answers to exercise 4 with a variable for each quantity; see `slips`."""


def operations(B, D, F):
    per_product = 2  # multiply-add-once
    products = D * F  # contraction-left-out
    return per_product * B * products  # multiply-add-once, batch-left-out, contraction-left-out


def bytes_moved(B, D, F):
    width = 1  # two-bytes-for-int8, bits-for-bytes
    read = width * B * D  #
    weights = width * B * D * F  # one-matrix-for-all, weights-not-counted
    written = width * B * F  # output-not-counted
    return read + weights + written  # output-not-counted, weights-not-counted


def intensity(B, D, F):
    per_product = 2  # a-factor-of-two
    width = 1  # a-factor-of-two, bits-for-bytes
    read = width * B * D  #
    weights = width * B * D * F  # one-matrix-for-all
    written = width * B * F  # output-not-counted
    return (
        per_product * B * D * F / (read + weights + written)
    )  # output-not-counted, a-factor-of-two


def intensity_limit(B, bytes_per_element):
    per_product = 2  # half-the-intensity
    moves = 1  # half-the-intensity
    return per_product / (moves * bytes_per_element)  # half-the-intensity, width-left-out


def compute_bound_chips(chips, bytes_per_element):
    per_product = 2  # multiply-add-once
    limit = per_product / bytes_per_element  # multiply-add-once, width-left-out
    return [name for name, (peak, bandwidth) in chips.items() if peak / bandwidth < limit]
