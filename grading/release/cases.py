"""Test cases: inputs with the values of the reference and of the misconceptions."""

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from grading.release import exercises
from grading.schema import Case, Misconception, Part
from roofkit.check.answers import Plain, plain
from roofkit.check.compare import MisconceptionValues, same
from roofkit.check.plot_reading import looked_at, reading

HIDDEN_CASES = 8  # per part, and more if kinds of cases are many
HIDDEN_FIGURES = 2  # figures take longer
MAX_TRIES = 200
MAX_DRAWS = 20_000  # every stratum must occur within this many draws


@dataclass(frozen=True)
class Cases:
    """Inputs with the values of the reference and of the known misconceptions."""

    inputs: tuple[dict[str, Any], ...]
    expected: tuple[Plain, ...]
    misconceptions: tuple[MisconceptionValues, ...]

    def __add__(self, more: "Cases") -> "Cases":
        """Append more cases of the same part."""
        known = zip(self.misconceptions, more.misconceptions, strict=True)
        return Cases(
            self.inputs + more.inputs,
            self.expected + more.expected,
            tuple(replace(one, values=[*one.values, *other.values]) for one, other in known),
        )


def published(name: str, part: Part) -> Cases:
    """Return the cases in the released notebook."""
    return with_values(name, part, part.cases)


def hidden(name: str, part: Part, seed: str) -> Cases:
    """Return hidden cases, the same for the same seed.

    They cover all strata of the part, and each misconception differs from the reference in at least
    one of them, so that none passes by luck. Raises ValueError if the part's ranges make that
    impossible.
    """
    draws = part.draws(random.Random(f"{seed}/{name}/{part.key}"))
    for _ in range(MAX_TRIES):
        cases = with_values(name, part, stratified(name, part, draws))
        if all(_is_distinguished(known, cases, part.tolerance) for known in cases.misconceptions):
            return cases
    raise ValueError(
        f"{name}, {part.key}: the ranges don't tell its misconceptions from the right one"
    )


def stratified(name: str, part: Part, draws: Iterator[Case]) -> list[Case]:
    """Return hidden cases of a part, such that each stratum occurs.

    A draw is accepted if enough places remain for the missing strata, or if it covers one of them;
    then there may be more cases. Raises ValueError if a stratum never occurs.
    """
    count = HIDDEN_FIGURES if part.kind == "figure" else HIDDEN_CASES
    missing, taken = set(part.strata()), list[Case]()
    for case in itertools.islice(draws, MAX_DRAWS):
        brought = missing & part.strata_of(case)
        if brought or len(missing) < count - len(taken):
            taken.append(case)
            missing -= brought
        if len(taken) >= count and not missing:
            return taken
    raise ValueError(
        f"{name}, {part.key}: the ranges don't give cases with all of "
        f"{', '.join(sorted(part.strata()))}"
    )


def with_values(name: str, part: Part, inputs: Iterable[Case]) -> Cases:
    """Return these inputs with the answers of the reference and misconceptions."""
    cases = tuple(dict(case) for case in inputs)
    return Cases(
        inputs=cases,
        expected=tuple(_readable(exercises.expected(name, part, case), case) for case in cases),
        misconceptions=tuple(
            MisconceptionValues(
                known.key,
                known.says,
                known.read,
                [_value(known, part, case) for case in cases],
            )
            for known in part.misconceptions
        ),
    )


def _is_distinguished(known: MisconceptionValues, cases: Cases, tolerance: float) -> bool:
    return any(
        value is None or not same(value, right, tolerance)
        for value, right in zip(known.values, cases.expected, strict=True)
    )


def _value(known: Misconception, part: Part, case: Case) -> Plain:
    """Return a misconception's value, None if it raises ArithmeticError."""
    try:
        value: Any = known.answer(**case)
    except ArithmeticError:
        return None
    if part.kind == "figure":
        places = looked_at(case["batches"])
        return {str(size): [float(curve[at]) for at in places] for size, curve in value.items()}
    return plain(value, part.kind)


def _readable(value: Plain, case: Case) -> Plain:
    """Return a figure's values as a check reads them, other values unchanged."""
    if not (isinstance(value, dict) and "curves" in value):
        return value
    values, problem = reading(value, case)
    if problem:
        raise ValueError(f"the reference figure: {problem}")
    return values
