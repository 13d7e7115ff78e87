"""Data types that define an exercise, and `part`, with which an exercise's file makes them."""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal

from grading.schema.misconceptions import Misconception
from grading.schema.misconceptions import wrong as misconception
from grading.schema.ranges import Range, Real, Whole

Case = Mapping[str, Any]  # the keyword arguments of one call: numbers, texts, lists, dictionaries
Kind = Literal["number", "numbers", "names", "figure"]
BOUNDARY_EVERY = 3  # every third draw is moved onto a boundary, if the part has any


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
    ranges: Mapping[str, Range]  # argument names → range for hidden cases
    misconceptions: tuple[Misconception, ...]
    kind: Kind = "number"
    tolerance: float = 1e-5  # relative tolerance; float32 results pass
    # Kinds of hidden cases that must occur, beyond those that the ranges require: name → predicate.
    branches: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    # For branches that random draws rarely hit, such as an exact quotient or a tie: name of the
    # branch → function that moves a drawn case onto it.
    boundaries: Mapping[str, Callable[[Case, random.Random], Case]] = field(default_factory=dict)
    allowed: Callable[..., bool] = lambda **case: True  # whether these arguments may be drawn
    hint: str = ""  # stronger hint, shown on request
    title: str = ""  # "bytes", from the heading of the question, as are the points
    points: float = 0

    def __post_init__(self) -> None:
        if unknown := self.boundaries.keys() - self.branches.keys():
            raise ValueError(f"{self.key}: no branch for the boundaries {', '.join(unknown)}")

    def draws(self, rng: random.Random) -> Iterator[Case]:
        """Yield hidden cases endlessly; they depend only on the state of `rng`.

        A range named "peak, peak_unit" draws pairs for these two arguments. Every few draws, a
        case is moved onto a boundary, each boundary in turn.
        """
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
            for name, column in columns.items():
                case |= _arguments(name, next(column))
            if self.allowed(**case):
                yield case

    def strata(self) -> frozenset[str]:
        """Return the strata that hidden cases must cover: kinds of values, branches."""
        forms = {f"{name}: {form}" for name, span in self._spans() for form in span.forms()}
        return frozenset(forms | set(self.branches))

    def _spans(self) -> Iterator[tuple[str, Range]]:
        """Yield the ranges whose kinds of values must occur: of figures, not the ends of numbers.

        A figure has too few hidden cases for them.
        """
        for name, span in self.ranges.items():
            if self.kind != "figure" or not isinstance(span, Whole | Real):
                yield name, span

    def strata_of(self, case: Case) -> frozenset[str]:
        """Return the strata that one case belongs to."""
        forms = {
            f"{name}: {form}"
            for name, span in self._spans()
            if (form := span.form(_value(name, case)))
        }
        return frozenset(forms | {key for key, so in self.branches.items() if so(**case)})


@dataclass(frozen=True)
class Exercise:
    """An exercise and its parts."""

    name: str  # "int8-matmul": file, notebook and nbgrader assignment
    title: str  # "Exercise 1: int8 matmul"
    parts: tuple[Part, ...]
    moral: str  # what the exercise shows; printed once all parts are right
    # Text with which learners compare their answer to "To think about"; available once all parts
    # are right.
    thoughts: str


def part(
    function: FunctionType,
    hint: str,
    *,
    cases: Iterable[Case],
    ranges: Mapping[str, Range],
    wrong: Mapping[str, Callable[..., object]],
    key: str = "",
    **others: Any,
) -> Part:
    """Return the part that asks for `function`, the reference solution above.

    hint: shown on request. cases: published ones. ranges: from which hidden cases are drawn. wrong:
    key of a misconception → function that gives the answers that it leads to. key: by default the
    function's name with hyphens. others: further attributes of `Part`.
    """
    return Part(
        key=key or function.__name__.replace("_", "-"),
        function=function.__name__,
        cases=tuple(cases),
        ranges=ranges,
        misconceptions=tuple(misconception(key, answer) for key, answer in wrong.items()),
        hint=hint,
        **others,
    )


def combinations(**options: tuple[Any, ...]) -> dict[str, Callable[..., bool]]:
    """Return one branch for each combination of values of these arguments."""

    def branch(wanted: dict[str, Any]) -> Callable[..., bool]:
        return lambda **case: all(case[name] == value for name, value in wanted.items())

    found = [dict(zip(options, row, strict=True)) for row in itertools.product(*options.values())]
    return {
        ", ".join(f"{name} = {value}" for name, value in wanted.items()): branch(wanted)
        for wanted in found
    }


def _arguments(name: str, drawn: Any) -> dict[str, Any]:
    names = name.split(", ")
    return {name: drawn} if len(names) == 1 else dict(zip(names, drawn, strict=True))


def _value(name: str, case: Case) -> Any:
    names = name.split(", ")
    return case[name] if len(names) == 1 else tuple(case[one] for one in names)
