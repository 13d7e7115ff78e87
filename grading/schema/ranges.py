"""Ranges from which the arguments of hidden cases are drawn.

`draws` yields values endlessly; they depend only on the state of `rng`. `forms` lists the kinds of
values, such as units or the two ends of a range, that must occur among the hidden cases, and `form`
returns the kind of one value. `str` describes the range to learners.
"""

import bisect
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roofkit.check.wording import written
from roofkit.words import _

END_SHARE = 0.25  # of the numbers that are drawn, this share is one of the range's two ends


class _Formless:
    """A range without kinds of values that must occur among the hidden cases."""

    def forms(self) -> tuple[str, ...]:
        return ()

    def form(self, value: Any) -> str:
        return ""


@dataclass(frozen=True)
class Whole:
    """Whole numbers from `low` to `high`, drawn uniformly on a logarithmic scale, and both ends."""

    low: int
    high: int
    multiple_of: int = 1
    power_of_two: bool = False

    def __post_init__(self) -> None:
        if not self._allowed():
            raise ValueError(f"Whole: no number from {self.low} to {self.high} is allowed")

    def _allowed(self) -> Sequence[int]:
        first = -(-self.low // self.multiple_of) * self.multiple_of
        numbers = range(first, self.high + 1, self.multiple_of)
        if not self.power_of_two:
            return numbers  # a range object, which takes no memory
        powers = (1 << exponent for exponent in range(self.high.bit_length()))
        return [power for power in powers if power in numbers]

    def draws(self, rng: random.Random) -> Iterator[int]:
        allowed = self._allowed()
        while True:
            if rng.random() < END_SHARE:
                yield rng.choice((allowed[0], allowed[-1]))
                continue
            aim = math.exp(rng.uniform(math.log(allowed[0]), math.log(allowed[-1])))
            place = bisect.bisect(allowed, aim)
            nearest = allowed[max(place - 1, 0) : place + 1]
            yield min(nearest, key=lambda number: abs(math.log(number / aim)))

    def forms(self) -> tuple[str, ...]:
        allowed = self._allowed()
        return str(allowed[0]), str(allowed[-1])

    def form(self, value: Any) -> str:
        return str(value) if str(value) in self.forms() else ""

    def __str__(self) -> str:
        if self.power_of_two:
            said = _("a power of two from {low} to {high}")
        elif self.multiple_of > 1:
            said = _("a multiple of {number} from {low} to {high}")
        else:
            said = _("a whole number from {low} to {high}")
        ends = {"low": written(self.low), "high": written(self.high)}
        return said.format(**ends, number=self.multiple_of)


@dataclass(frozen=True)
class Real:
    """Real numbers from `low` to `high`, drawn uniformly on a logarithmic scale, and both ends."""

    low: float
    high: float

    def draws(self, rng: random.Random) -> Iterator[float]:
        while True:
            if rng.random() < END_SHARE:
                yield rng.choice((self.low, self.high))
                continue
            number = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
            # Six significant digits are readable and make ties with a threshold unlikely.
            yield float(f"{number:.5e}")

    def forms(self) -> tuple[str, ...]:
        return str(self.low), str(self.high)

    def form(self, value: Any) -> str:
        return str(value) if value in (self.low, self.high) else ""

    def __str__(self) -> str:
        ends = {"low": written(self.low), "high": written(self.high)}
        return _("a number from {low} to {high}").format(**ends)


class Choice:
    """One of the given values, drawn without replacement until all have occurred."""

    def __init__(self, *options: Any) -> None:
        self.options = options

    def draws(self, rng: random.Random) -> Iterator[Any]:
        while True:
            yield from rng.sample(self.options, len(self.options))

    def forms(self) -> tuple[str, ...]:
        return tuple(map(self.form, self.options))

    def form(self, value: Any) -> str:
        return f"{value[0]} to {value[-1]}" if isinstance(value, list) else str(value)

    def __str__(self) -> str:
        if any(isinstance(option, list) for option in self.options):
            return _("other lists")
        return _("one of {options}").format(options=", ".join(map(str, self.options)))


@dataclass(frozen=True)
class Some(_Formless):
    """Lists of `least` to `most` different options in any order."""

    options: tuple[int, ...]
    least: int
    most: int

    def draws(self, rng: random.Random) -> Iterator[list[int]]:
        while True:
            yield rng.sample(self.options, rng.randint(self.least, self.most))

    def __str__(self) -> str:
        said = _("lists of {least} to {most} sizes in any order")
        return said.format(least=self.least, most=self.most)


class Printed:
    """Pairs (number, unit) as printed on data sheets.

    The numbers are from `low` to `high` in base units. Units are drawn without replacement until
    all have occurred.
    """

    def __init__(self, low: float, high: float, units: Mapping[str, float]) -> None:
        self.values, self.units = Real(low, high), dict(units)

    def draws(self, rng: random.Random) -> Iterator[tuple[float, str]]:
        values, units = self.values.draws(rng), Choice(*self.units).draws(rng)
        while True:
            unit = next(units)
            yield float(f"{next(values) / self.units[unit]:.6g}"), unit

    def forms(self) -> tuple[str, ...]:
        return tuple(self.units)

    def form(self, value: Any) -> str:
        return str(value[1])

    def __str__(self) -> str:
        said = _("{numbers} in base units, printed in {units}")
        return said.format(numbers=self.values, units=", ".join(self.units))


@dataclass(frozen=True)
class Pairs(_Formless):
    """Dictionaries from invented chip names to pairs of numbers."""

    least: int
    most: int
    first: Real
    second: Real

    def draws(self, rng: random.Random) -> Iterator[dict[str, tuple[float, float]]]:
        firsts, seconds = self.first.draws(rng), self.second.draws(rng)
        while True:
            names = invented(rng.randint(self.least, self.most), rng)
            yield {name: (next(firsts), next(seconds)) for name in names}

    def __str__(self) -> str:
        said = _("a dictionary of {least} to {most} invented chips")
        return said.format(least=self.least, most=self.most)


@dataclass(frozen=True)
class Sheets(_Formless):
    """Lists of `least` to `most` data sheets of invented chips.

    They have the entries of exercise 5. Half of the sheets are sparse. Units are drawn without
    replacement until all have occurred.
    """

    least: int
    most: int
    peak: Printed
    bandwidth: Printed

    def draws(self, rng: random.Random) -> Iterator[list[dict[str, Any]]]:
        peaks, bandwidths = self.peak.draws(rng), self.bandwidth.draws(rng)
        sparse = Choice(True, False).draws(rng)
        while True:
            sheets = []
            for name in invented(rng.randint(self.least, self.most), rng):
                (peak, peak_unit), (bandwidth, bandwidth_unit) = next(peaks), next(bandwidths)
                sheets.append(
                    {
                        "name": name,
                        "peak": peak,
                        "peak_unit": peak_unit,
                        "sparse": next(sparse),
                        "bandwidth": bandwidth,
                        "bandwidth_unit": bandwidth_unit,
                    }
                )
            yield sheets

    def __str__(self) -> str:
        said = _("the data sheets of {least} to {most} invented chips")
        return said.format(least=self.least, most=self.most)


@dataclass(frozen=True)
class Made(_Formless):
    """Values that a function makes, for arguments that depend on one another.

    `says` describes them to learners.
    """

    make: Callable[[random.Random], Any]
    says: str

    def draws(self, rng: random.Random) -> Iterator[Any]:
        while True:
            yield self.make(rng)

    def __str__(self) -> str:
        return _(self.says)


Range = Whole | Real | Choice | Some | Printed | Pairs | Sheets | Made


def invented(count: int, rng: random.Random) -> list[str]:
    """Return names of chips that don't exist."""
    heads = ("Al", "Be", "Co", "Du", "El", "Fa", "Go", "Hy", "Io", "Ju", "Ka", "Lu")
    tails = ("bar", "dan", "fin", "gor", "lem", "mir", "nox", "pol", "ras", "tus", "vek", "zon")
    return [head + rng.choice(tails) for head in rng.sample(heads, count)]
