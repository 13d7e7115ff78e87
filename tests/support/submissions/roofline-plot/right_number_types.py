"""numpy's own numbers, an array of no dimension, an object with `item`, decimals."""

from decimal import Decimal, localcontext

import numpy as np


class Scalar:
    """As libraries for arrays on other devices have it."""

    shape = ()

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


def attainable(B, D, F, peak, bandwidth):
    B, D, F = np.array([B, D, F], dtype=np.float32)
    intensity = 2 * B * D * F / (2 * B * D + D * F + 2 * B * F)
    return np.minimum(np.float32(peak), intensity * np.float32(bandwidth)).reshape(())


def ceiling_batch(D, F, peak, bandwidth):
    with np.errstate(divide="ignore"):
        room = np.clip(2 - 2 * peak / bandwidth * (np.reciprocal(1.0 * D) + 1 / F), 0, None)
        return Scalar(np.divide(peak / bandwidth, room))


def delay(small, large, peak, bandwidth):
    with localcontext() as context:
        context.prec = 12
        ridge = Decimal(peak) / Decimal(bandwidth)
        return (1 - 2 * ridge / large) / (1 - 2 * ridge / small)
