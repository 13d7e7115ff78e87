"""Cases with their expected values, and those of each known misconception."""

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from grading.release import exercises
from grading.schema.parts import Case, Misconception, Part
from roofkit.check.answers import Plain, plain
from roofkit.check.compare import MisconceptionValues, same
from roofkit.check.plot_reading import looked_at, reading

HIDDEN = {"figure": 2}  # how many hidden cases a part is judged by; a figure takes longer
CASES = 8
TRIES = 200
LOOKED_THROUGH = 20_000  # cases in which a branch that is rare must turn up


@dataclass(frozen=True)
class Cases:
    """Inputs with the reference's values, and the values that the known misconceptions give."""

    inputs: tuple[dict[str, Any], ...]
    expected: tuple[Plain, ...]
    misconceptions: tuple[MisconceptionValues, ...]

    def __add__(self, more: "Cases") -> "Cases":
        """The cases of one part, and then more of the same part."""
        known = zip(self.misconceptions, more.misconceptions, strict=True)
        return Cases(
            self.inputs + more.inputs,
            self.expected + more.expected,
            tuple(replace(one, values=[*one.values, *other.values]) for one, other in known),
        )


def published(name: str, part: Part) -> Cases:
    """The cases that the released notebook carries."""
    return with_values(name, part, part.cases)


def hidden(name: str, part: Part, seed: str) -> Cases:
    """Cases that nobody has seen: the same for the same seed.

    All strata of the part occur among them. Drawn again until each misconception gives something
    else than the reference in at least one of them, so that none of them gets through by luck.
    ValueError if the part's ranges never do so.
    """
    draws = part.draws(random.Random(f"{seed}/{name}/{part.key}"))
    for _ in range(TRIES):
        cases = with_values(name, part, stratified(name, part, draws))
        if all(_told_apart(known, cases, part.tolerance) for known in cases.misconceptions):
            return cases
    raise ValueError(
        f"{name}, {part.key}: the ranges don't tell its misconceptions from the right one"
    )


def stratified(name: str, part: Part, draws: Iterator[Case]) -> list[Case]:
    """As many of the draws as a part is judged by, with each of its strata in one of them or more.

    A draw counts if there are places enough for what hasn't occurred yet, or if it brings its
    share of that. ValueError if something doesn't turn up.
    """
    count = HIDDEN.get(part.kind, CASES)
    missing, taken = set(part.strata()), list[Case]()
    for case in itertools.islice(draws, LOOKED_THROUGH):
        brought, places = missing & part.strata_of(case), count - len(taken)
        if len(missing) < places or len(brought) * places >= len(missing):
            taken.append(case)
            missing -= brought
        if len(taken) == count:
            break
    if len(taken) < count:
        raise ValueError(
            f"{name}, {part.key}: the ranges don't give {count} cases with all of "
            f"{', '.join(sorted(part.strata()))}"
        )
    return taken


def with_values(name: str, part: Part, inputs: Iterable[Case]) -> Cases:
    """These cases, answered by the reference and by each known misconception."""
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
                known.excluded_by,
            )
            for known in part.misconceptions
        ),
    )


def _told_apart(known: MisconceptionValues, cases: Cases, tolerance: float) -> bool:
    return any(
        value is None or not same(value, right, tolerance)
        for value, right in zip(known.values, cases.expected, strict=True)
    )


def _value(known: Misconception, part: Part, case: Case) -> Plain:
    """What this misconception gives, None where it gives nothing."""
    try:
        value: Any = known.answer(**case)
    except ArithmeticError:
        return None
    if part.kind == "figure":
        places = looked_at(case["batches"])
        return {str(size): [float(curve[at]) for at in places] for size, curve in value.items()}
    return plain(value, part.kind)


def _readable(value: Plain, case: Case) -> Plain:
    """A figure as its reader takes it; other values as they are."""
    if not (isinstance(value, dict) and "curves" in value):
        return value
    values, problem = reading(value, case)
    if problem:
        raise ValueError(f"the reference figure: {problem}")
    return values
