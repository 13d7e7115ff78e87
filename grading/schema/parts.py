"""What an exercise asks: its parts, the cases that are published, and the known misconceptions.

Nothing here computes an answer: the reference solution stands in the source notebook.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grading.schema.ranges import Range

Case = Mapping[str, Any]  # the keyword arguments of one call: numbers, texts, lists, dictionaries
Kind = Literal["number", "numbers", "names", "figure"]


@dataclass(frozen=True)
class Misconception:
    """A known misconception."""

    key: str  # "output-not-counted"
    says: str  # to the learner: names the misconception, never the answer
    read: str  # where to read: chapter and heading
    answer: Callable[..., object]  # what it gives for the keyword arguments of a case


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
    ranges: Mapping[str, Range]  # hidden cases are drawn from these
    misconceptions: tuple[Misconception, ...]
    kind: Kind = "number"
    tolerance: float = 1e-5  # relative; wide enough for float32

    def draws(self, rng: random.Random) -> Iterator[Case]:
        """Endless hidden cases: the same ones for the same state of `rng`."""
        columns = {name: span.draws(rng) for name, span in self.ranges.items()}
        while True:
            yield {name: next(column) for name, column in columns.items()}


@dataclass(frozen=True)
class Exercise:
    name: str  # "int8-matmul": folder, notebook and nbgrader assignment
    title: str
    parts: tuple[Part, ...]
