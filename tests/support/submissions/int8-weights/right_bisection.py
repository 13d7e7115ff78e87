"""The batch is searched for, not solved for."""


def critical_batch(D, F, peak, bandwidth):
    ridge = peak / bandwidth
    if ridge >= 2 * D * F / (2 * D + 2 * F):
        return float("inf")
    low, high = 0.0, 1.0
    while intensity(high, D, F) < ridge:  # noqa: F821
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if intensity(middle, D, F) < ridge:  # noqa: F821
            low = middle
        else:
            high = middle
    return high
