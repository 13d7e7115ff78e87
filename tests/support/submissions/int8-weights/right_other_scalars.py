"""Numbers of an array library of its own, which turn into floats when they are asked to."""

import math


class Scalar:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


class Tensor:
    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


def intensity(B, D, F):
    return Scalar(2 / (2 / F + 1 / B + 2 / D))


def critical_batch_limit(peak, bandwidth):
    return Tensor(peak / bandwidth / 2)


def critical_batch(D, F, peak, bandwidth):
    room = 1 - peak / bandwidth * (1 / D + 1 / F)
    return Scalar(peak / bandwidth / 2 / room if room > 0 else math.inf)
