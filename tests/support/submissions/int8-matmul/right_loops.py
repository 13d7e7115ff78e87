"""Counted row by row, with the batch rounded to a whole number."""


def bytes_moved(B, D, F):
    loaded, written = D * F, 0
    for _ in range(B):
        loaded += D
        written += F
    return loaded, written


def operations(B, D, F):
    total = 0
    for _row in range(B):
        multiplications = D * F
        additions = D * F
        total += multiplications + additions
    return total


def critical_batch(peak, bandwidth):
    B = 1
    while peak / bandwidth > 2 * B:
        B += 1
    return B
