"""What an exercise's file says about its parts: cases, ranges of hidden ones, wrong answers.

A range draws values endlessly, which depend only on the state of `rng`. Its kinds of values, such
as units or the two ends, must all occur among the hidden cases. `str` describes it to learners.
"""

import bisect
import functools
import itertools
import math
import random
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, Literal

from roofkit.check.wording import written
from roofkit.words import _

Case = Mapping[str, Any]  # the keyword arguments of one call: numbers, texts, lists, dictionaries
BOUNDARY_EVERY = 3  # every third draw is moved onto a boundary, if the part has any
END_SHARE = 0.25  # of the numbers that are drawn, this share is one of the range's two ends
MISTAKES = Path(__file__).resolve().parents[1] / "exercises" / "misconceptions.toml"

# --- ranges --------------------------------------------------------------------------------------


class Range:
    """Where an argument of hidden cases comes from."""

    def draws(self, rng: random.Random) -> Iterator[Any]:
        raise NotImplementedError

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of values that must occur among the hidden cases."""
        return ()

    def kind(self, value: Any) -> str:
        """Return the kind of a value, which may be none of these."""
        return str(value)


@dataclass(frozen=True)
class Whole(Range):
    """Whole numbers from `low` to `high`, drawn uniformly on a logarithmic scale, and both ends."""

    low: int
    high: int
    multiple_of: int = 1
    power_of_two: bool = False

    def _allowed(self) -> Sequence[int]:
        first = -(-self.low // self.multiple_of) * self.multiple_of
        numbers = range(first, self.high + 1, self.multiple_of)
        powers = (1 << exponent for exponent in range(self.high.bit_length()))
        return [one for one in powers if one in numbers] if self.power_of_two else numbers

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

    def kinds(self) -> tuple[str, ...]:
        allowed = self._allowed()
        return str(allowed[0]), str(allowed[-1])

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
class Real(Range):
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

    def kinds(self) -> tuple[str, ...]:
        return str(self.low), str(self.high)

    def __str__(self) -> str:
        ends = {"low": written(self.low), "high": written(self.high)}
        return _("a number from {low} to {high}").format(**ends)


class Choice(Range):
    """One of the given values, drawn without replacement until all have occurred."""

    def __init__(self, *options: Any) -> None:
        self.options = options

    def draws(self, rng: random.Random) -> Iterator[Any]:
        while True:
            yield from rng.sample(self.options, len(self.options))

    def kinds(self) -> tuple[str, ...]:
        return tuple(map(self.kind, self.options))

    def kind(self, value: Any) -> str:
        return f"{value[0]} to {value[-1]}" if isinstance(value, list) else str(value)

    def __str__(self) -> str:
        if any(isinstance(option, list) for option in self.options):
            return _("other lists")
        return _("one of {options}").format(options=", ".join(map(str, self.options)))


class Printed(Range):
    """Pairs (number, unit) as printed on data sheets, from `low` to `high` in base units."""

    def __init__(self, low: float, high: float, units: Mapping[str, float]) -> None:
        self.values, self.units = Real(low, high), dict(units)

    def draws(self, rng: random.Random) -> Iterator[tuple[float, str]]:
        values, units = self.values.draws(rng), Choice(*self.units).draws(rng)
        while True:
            unit = next(units)
            yield float(f"{next(values) / self.units[unit]:.6g}"), unit

    def kinds(self) -> tuple[str, ...]:
        return tuple(self.units)

    def kind(self, value: Any) -> str:
        return str(value[1])

    def __str__(self) -> str:
        said = _("{numbers} in base units, printed in {units}")
        return said.format(numbers=self.values, units=", ".join(self.units))


@dataclass(frozen=True)
class Made(Range):
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


def invented(count: int, rng: random.Random) -> list[str]:
    """Return names of chips that don't exist."""
    heads = ("Al", "Be", "Co", "Du", "El", "Fa", "Go", "Hy", "Io", "Ju", "Ka", "Lu")
    tails = ("bar", "dan", "fin", "gor", "lem", "mir", "nox", "pol", "ras", "tus", "vek", "zon")
    return [head + rng.choice(tails) for head in rng.sample(heads, count)]


# --- parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misconception:
    """A known misconception, with the answers that it leads to."""

    key: str  # "output-not-counted"
    says: str  # to the learner: names the misconception, never the answer
    read: str  # where: chapter and heading
    answer: Callable[..., object]  # computes the wrong answer from a case's arguments


@functools.cache
def messages() -> dict[str, tuple[str, str]]:
    """Return key of a misconception → (message, where to read)."""
    places = tomllib.loads(MISTAKES.read_text(encoding="utf-8"))
    return {key: (says, read) for read, found in places.items() for key, says in found.items()}


@dataclass(frozen=True)
class Part:
    """A part of an exercise: one function that the learner writes, and its cases.

    If `kind` is "figure", `function` receives axes as its first argument and draws one curve over
    all `batches` for each of the `sizes`. A misconception's answer is then a dictionary from size
    to the curve's values.
    """

    key: str  # "bytes-moved"; also the nbgrader grade_id of the check cell
    function: str  # its name
    cases: tuple[Case, ...]  # published
    ranges: Mapping[str, Range]  # argument, or "argument, argument" → range for hidden cases
    misconceptions: tuple[Misconception, ...]
    kind: Literal["number", "numbers", "names", "figure"] = "number"
    tolerance: float = 1e-5  # relative tolerance; float32 results pass
    # Kinds of hidden cases that must occur, beyond those that the ranges require: name → predicate.
    branches: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    # For branches that random draws rarely hit, such as an exact quotient or a tie: name of the
    # branch → function that moves a drawn case onto it.
    boundaries: Mapping[str, Callable[[Case, random.Random], Case]] = field(default_factory=dict)
    allowed: Callable[..., bool] = lambda **case: True  # whether these arguments may be drawn
    hint: str = ""  # stronger hint, shown on request
    heading: str = ""  # of the question: "Part 1: bytes (5 points)"
    title: str = ""  # "bytes", of the heading, as are the points
    points: float = 0
    solution: str = ""  # code of the reference

    def __post_init__(self) -> None:
        if unknown := self.boundaries.keys() - self.branches.keys():
            raise ValueError(f"{self.key}: no branch for the boundaries {', '.join(unknown)}")

    def draws(self, rng: random.Random) -> Iterator[Case]:
        """Yield hidden cases endlessly; every few, one is moved onto a boundary, each in turn."""
        onto = itertools.cycle(self.boundaries.values())
        for number, case in enumerate(self._inside(rng), start=1):
            if self.boundaries and number % BOUNDARY_EVERY == 0:
                moved = next(onto)(case, rng)
                if self.allowed(**moved):
                    yield moved
            else:
                yield case

    def _inside(self, rng: random.Random) -> Iterator[Case]:
        columns = {name: span.draws(rng) for name, span in self.ranges.items()}
        while True:
            case: dict[str, Any] = {}
            for names, column in columns.items():
                drawn = next(column) if ", " in names else (next(column),)
                case |= zip(names.split(", "), drawn, strict=True)
            if self.allowed(**case):
                yield case

    def _spans(self) -> Iterator[tuple[str, Range]]:
        """Yield the ranges whose kinds of values must occur.

        A figure has too few hidden cases for the ends of numbers.
        """
        for name, span in self.ranges.items():
            if self.kind != "figure" or not isinstance(span, Whole | Real):
                yield name, span

    def strata(self) -> frozenset[str]:
        """Return the strata that hidden cases must cover: kinds of values, branches."""
        kinds = {f"{name}: {kind}" for name, span in self._spans() for kind in span.kinds()}
        return frozenset(kinds | set(self.branches))

    def strata_of(self, case: Case) -> frozenset[str]:
        """Return the strata that one case belongs to, and kinds of values that are none."""
        found = {key for key, so in self.branches.items() if so(**case)}
        for names, span in self._spans():
            values = tuple(case[name] for name in names.split(", "))
            found.add(f"{names}: {span.kind(values if len(values) > 1 else values[0])}")
        return frozenset(found)


def part(
    function: FunctionType,
    hint: str,
    *,
    cases: Iterable[Case],
    ranges: Mapping[str, Range],
    wrong: Mapping[str, Callable[..., object]],
    key: str = "",
    says: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    **others: Any,
) -> Part:
    """Return the part that asks for `function`, the reference solution above.

    hint: shown on request. cases: published ones. ranges: from which hidden cases are drawn. wrong:
    key of a misconception → function that gives the answers that it leads to. key: by default the
    function's name with hyphens. says: key of a misconception → (what it is, where to read), for
    those that misconceptions.toml lacks. others: further attributes of `Part`. Raises ValueError if
    neither has one.
    """
    known = messages() | dict(says)
    if unknown := wrong.keys() - known.keys():
        missing = ", ".join(sorted(unknown))
        raise ValueError(f"add what it means to {MISTAKES.name} beside this file: {missing}")
    return Part(
        key=key or function.__name__.replace("_", "-"),
        function=function.__name__,
        cases=tuple(cases),
        ranges=ranges,
        misconceptions=tuple(Misconception(one, *known[one], wrong[one]) for one in wrong),
        hint=hint,
        **others,
    )


def combinations(**options: tuple[Any, ...]) -> dict[str, Callable[..., bool]]:
    """Return one branch for each combination of values of these arguments."""
    found: dict[str, Callable[..., bool]] = {}
    for row in itertools.product(*options.values()):
        wanted = dict(zip(options, row, strict=True)).items()
        name = ", ".join(f"{name} = {value}" for name, value in wanted)
        found[name] = lambda wanted=wanted, **case: wanted <= case.items()
    return found
