"""A class for the chip and one for the layer; functions that are methods; what is known is kept."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache


@dataclass(frozen=True)
class Layer:
    D: int
    F: int

    def bytes(self, B):
        return 2 * B * self.D + self.D * self.F + 2 * B * self.F

    def flops(self, B):
        return 2 * B * self.D * self.F


@dataclass(frozen=True)
class Chip:
    peak: float
    bandwidth: float

    @cached_property
    def ridge(self):
        return self.peak / self.bandwidth

    def attainable(self, layer, B):
        intensity = layer.flops(B) / layer.bytes(B)
        return self.peak if intensity >= self.ridge else intensity * self.bandwidth

    def ceiling(self, layer):
        try:
            batch = 1 / (2 / self.ridge - 2 / layer.D - 2 / layer.F)
        except ZeroDivisionError:
            return math.inf
        return batch if batch > 0 else math.inf


@lru_cache
def attainable(B, D, F, peak, bandwidth):
    return Chip(peak, bandwidth).attainable(Layer(D, F), B)


@lru_cache
def ceiling_batch(D, F, peak, bandwidth):
    return (
        math.ceil(batch) if (batch := Chip(peak, bandwidth).ceiling(Layer(D, F))) < 1e9 else batch
    )


class Delay:
    @classmethod
    def of(cls, small, large, peak, bandwidth):
        chip = Chip(peak, bandwidth)
        return chip.ceiling(Layer(small, small)) / chip.ceiling(Layer(large, large))


delay = Delay.of
