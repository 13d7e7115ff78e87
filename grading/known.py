"""Cases with what is known about them: the expected values and those of each wrong turn."""

import itertools
import random
from dataclasses import dataclass

from rooflib.check.compare import Known, same
from rooflib.check.figure import looked_at, reading
from rooflib.check.values import plain

from . import exercises

HIDDEN = {"figure": 2}  # how many cases a part is judged by; a figure takes longer
CASES = 8
TRIES = 200


@dataclass(frozen=True)
class Cases:
    """Inputs with the reference's values, and the values that the known wrong turns give."""

    inputs: tuple
    expected: tuple
    turns: tuple


def published(name, part):
    return known(name, part, part.cases)


def hidden(name, part, seed):
    """Cases that nobody has seen: the same for the same seed.

    Drawn again until each wrong turn gives something else than the reference in at least one of
    them, so that none of them gets through by luck.
    """
    draws = part.draws(random.Random(f"{seed}/{name}/{part.key}"))
    for _ in range(TRIES):
        cases = known(name, part, itertools.islice(draws, HIDDEN.get(part.kind, CASES)))
        if all(_told_apart(turn, cases, part.tolerance) for turn in cases.turns):
            return cases
    raise ValueError(
        f"{name}, {part.key}: the ranges don't tell its wrong turns from the right one"
    )


def known(name, part, inputs):
    inputs = tuple(dict(case) for case in inputs)
    return Cases(
        inputs=inputs,
        expected=tuple(_readable(exercises.expected(name, part, case), case) for case in inputs),
        turns=tuple(
            Known(turn.key, turn.says, turn.read, [_value(turn, part, case) for case in inputs])
            for turn in part.turns
        ),
    )


def _told_apart(turn, cases, tolerance):
    return any(
        value is None or not same(value, right, tolerance)
        for value, right in zip(turn.values, cases.expected, strict=True)
    )


def _value(turn, part, case):
    """What this wrong turn gives, None where it gives nothing."""
    try:
        value = turn.answer(**case)
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
