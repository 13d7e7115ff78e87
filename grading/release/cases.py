"""Cases with their expected values, and those of each known misconception."""

import itertools
import random
from dataclasses import dataclass

from grading.release import exercises
from roofkit.check.answers import plain
from roofkit.check.compare import MisconceptionValues, same
from roofkit.check.plot_reading import looked_at, reading

HIDDEN = {"figure": 2}  # how many cases a part is judged by; a figure takes longer
CASES = 8
TRIES = 200


@dataclass(frozen=True)
class Cases:
    """Inputs with the reference's values, and the values that the known misconceptions give."""

    inputs: tuple
    expected: tuple
    misconceptions: tuple


def published(name, part):
    return with_values(name, part, part.cases)


def hidden(name, part, seed):
    """Cases that nobody has seen: the same for the same seed.

    Drawn again until each misconception gives something else than the reference in at least one of
    them, so that none of them gets through by luck.
    """
    draws = part.draws(random.Random(f"{seed}/{name}/{part.key}"))
    for _ in range(TRIES):
        cases = with_values(name, part, itertools.islice(draws, HIDDEN.get(part.kind, CASES)))
        if all(_told_apart(one, cases, part.tolerance) for one in cases.misconceptions):
            return cases
    raise ValueError(
        f"{name}, {part.key}: the ranges don't tell its misconceptions from the right one"
    )


def with_values(name, part, inputs):
    inputs = tuple(dict(case) for case in inputs)
    return Cases(
        inputs=inputs,
        expected=tuple(_readable(exercises.expected(name, part, case), case) for case in inputs),
        misconceptions=tuple(
            MisconceptionValues(
                one.key, one.says, one.read, [_value(one, part, case) for case in inputs]
            )
            for one in part.misconceptions
        ),
    )


def _told_apart(one, cases, tolerance):
    return any(
        value is None or not same(value, right, tolerance)
        for value, right in zip(one.values, cases.expected, strict=True)
    )


def _value(one, part, case):
    """What this misconception gives, None where it gives nothing."""
    try:
        value = one.answer(**case)
    except ArithmeticError:
        return None
    if part.kind == "figure":
        places = looked_at(case["batches"])
        return {str(size): [float(curve[at]) for at in places] for size, curve in value.items()}
    return plain(value, part.kind)


def _readable(value, case):
    """A figure as its reader takes it; other values as they are."""
    if not (isinstance(value, dict) and "curves" in value):
        return value
    values, problem = reading(value, case)
    if problem:
        raise ValueError(f"the reference figure: {problem}")
    return values
