"""What an exercise asks: its parts, the cases that are published, and the known misconceptions.

Nothing here computes an answer: the reference solution stands in the source notebook.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grading.schema.ranges import Range

Case = Mapping[str, Any]  # the keyword arguments of one call: numbers, texts, lists, dictionaries
Kind = Literal["number", "numbers", "names", "figure"]
BOUNDARY_EVERY = 3  # one draw in so many lies on a boundary, if the part has any


@dataclass(frozen=True)
class Misconception:
    """A known misconception."""

    key: str  # "output-not-counted"
    says: str  # to the learner: names the misconception, never the answer
    read: str  # where to read: chapter and heading
    answer: Callable[..., object]  # what it gives for the keyword arguments of a case
    # Key of an earlier part: a function that calls the right one of that part has another fault.
    excluded_by: str = ""


@dataclass(frozen=True)
class Part:
    """A part of an exercise: one function of the learner's, and what is asked of it.

    `kind` "figure" means: `function` draws, on the axis that it gets as first argument, a curve
    for each entry of the argument `sizes` through all the `batches`; what a misconception answers
    is a dictionary from size to the curve's values.
    """

    key: str  # "bytes-moved"; also the nbgrader grade_id of the check cell
    function: str  # name of the learner's function
    points: float
    cases: tuple[Case, ...]  # published
    ranges: Mapping[str, Range]  # hidden cases are drawn from these; see `draws`
    misconceptions: tuple[Misconception, ...]
    kind: Kind = "number"
    tolerance: float = 1e-5  # relative; wide enough for float32
    # What a case may be, beside the forms of its ranges: name → whether these arguments are so.
    branches: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    # Where the ranges alone would hardly ever hit a branch, such as an exact quotient or a tie: the
    # name of the branch → a function that moves a drawn case into it.
    boundaries: Mapping[str, Callable[[Case, random.Random], Case]] = field(default_factory=dict)
    allowed: Callable[..., bool] = lambda **case: True  # whether these arguments may be drawn
    hint: str = ""  # a stronger one, for a learner who asks for it

    def __post_init__(self) -> None:
        if unknown := self.boundaries.keys() - self.branches.keys():
            raise ValueError(f"{self.key}: no branch for the boundaries {', '.join(unknown)}")

    def draws(self, rng: random.Random) -> Iterator[Case]:
        """Endless hidden cases: the same ones for the same state of `rng`.

        The range "peak, peak_unit" draws pairs, whose values are these two arguments. Every few
        draws, one is moved onto a boundary; each boundary takes its turn.
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
        """All that must occur among the hidden cases: every form of a range, every branch."""
        forms = {f"{name}: {form}" for name, span in self.ranges.items() for form in span.forms()}
        return frozenset(forms | set(self.branches))

    def strata_of(self, case: Case) -> frozenset[str]:
        """What of it occurs in this case."""
        forms = {
            f"{name}: {span.form(_value(name, case))}"
            for name, span in self.ranges.items()
            if span.forms()
        }
        return frozenset(forms | {key for key, so in self.branches.items() if so(**case)})


@dataclass(frozen=True)
class Exercise:
    name: str  # "int8-matmul": folder, notebook and nbgrader assignment
    title: str
    parts: tuple[Part, ...]


def combinations(**options: tuple[Any, ...]) -> dict[str, Callable[..., bool]]:
    """Branches: each value of each of these arguments together with each value of the others."""

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
