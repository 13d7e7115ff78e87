"""Where the hidden cases of a part come from: one range for each argument of the function.

`draws` yields values without end, the same ones for the same state of `rng`; `str` says in words
what is drawn, for the learner.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Whole:
    """Whole numbers from `low` to `high`, drawn evenly on a logarithmic scale."""

    low: int
    high: int
    multiple_of: int = 1
    power_of_two: bool = False

    def __post_init__(self) -> None:
        if not any(True for _ in self._allowed()):
            raise ValueError(f"Whole: no number from {self.low} to {self.high} is allowed")

    def _allowed(self) -> Iterator[int]:
        first = -(-max(self.low, 1) // self.multiple_of) * self.multiple_of
        for number in range(first, self.high + 1, self.multiple_of):
            if not self.power_of_two or number & (number - 1) == 0:
                yield number

    def draws(self, rng: random.Random) -> Iterator[int]:
        allowed = tuple(self._allowed())
        while True:
            aim = math.exp(rng.uniform(math.log(allowed[0]), math.log(allowed[-1])))
            yield min(allowed, key=lambda number: abs(math.log(number / aim)))

    def __str__(self) -> str:
        if self.power_of_two:
            return f"a power of two from {self.low} to {self.high}"
        if self.multiple_of > 1:
            return f"a multiple of {self.multiple_of} from {self.low} to {self.high}"
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Real:
    """Numbers from `low` to `high`, drawn evenly on a logarithmic scale."""

    low: float
    high: float

    def draws(self, rng: random.Random) -> Iterator[float]:
        while True:
            number = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
            # Six digits: readable, and ties with a threshold stay out of reach.
            yield float(f"{number:.5e}")

    def __str__(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"


class Choice:
    """One of the given values; all of them turn up before one turns up again."""

    def __init__(self, *options: Any) -> None:
        self.options = options

    def draws(self, rng: random.Random) -> Iterator[Any]:
        while True:
            yield from rng.sample(self.options, len(self.options))

    def __str__(self) -> str:
        if any(isinstance(option, list) for option in self.options):
            return "other lists"
        return "one of " + ", ".join(str(option) for option in self.options)


@dataclass(frozen=True)
class Pairs:
    """Dictionaries from `count` invented names to a pair, drawn from `first` and `second`."""

    count: int
    first: Real
    second: Real

    def draws(self, rng: random.Random) -> Iterator[dict[str, tuple[float, float]]]:
        firsts, seconds = self.first.draws(rng), self.second.draws(rng)
        while True:
            yield {name: (next(firsts), next(seconds)) for name in invented(self.count, rng)}

    def __str__(self) -> str:
        return f"a dictionary of {self.count} invented chips"


@dataclass(frozen=True)
class Sheets:
    """Lists of `count` data sheets of invented chips, with the entries that exercise 5 prints.

    Half of them are sparse, and each unit that a sheet may carry turns up.
    """

    count: int

    def draws(self, rng: random.Random) -> Iterator[list[dict[str, Any]]]:
        # Critical batches stay above a hundred, so that one that is rounded is still right.
        peaks, bandwidths = Real(2e14, 4e15).draws(rng), Real(7e11, 9.9e11).draws(rng)
        sparse = Choice(True, False).draws(rng)
        peak_units = Choice(("TFLOP/s", 1e12), ("PFLOP/s", 1e15)).draws(rng)
        bandwidth_units = Choice(("GB/s", 1e9), ("TB/s", 1e12)).draws(rng)
        while True:
            yield [
                {"name": name}
                | printed("peak", next(peaks), *next(peak_units))
                | {"sparse": next(sparse)}
                | printed("bandwidth", next(bandwidths), *next(bandwidth_units))
                for name in invented(self.count, rng)
            ]

    def __str__(self) -> str:
        return f"the data sheets of {self.count} invented chips"


Range = Whole | Real | Choice | Pairs | Sheets


def invented(count: int, rng: random.Random) -> list[str]:
    """Names of chips that don't exist."""
    heads = ("Al", "Be", "Co", "Du", "El", "Fa", "Go", "Hy", "Io", "Ju", "Ka", "Lu")
    tails = ("bar", "dan", "fin", "gor", "lem", "mir", "nox", "pol", "ras", "tus", "vek", "zon")
    return [head + rng.choice(tails) for head in rng.sample(heads, count)]


def printed(what: str, value: float, unit: str, scale: float) -> dict[str, Any]:
    """A figure as a sheet prints it: the number in its unit, and the unit."""
    return {what: float(f"{value / scale:.6g}"), f"{what}_unit": unit}
