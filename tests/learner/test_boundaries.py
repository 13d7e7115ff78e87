"""Cases on a boundary: every equivalent formula gives an accepted answer."""

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from solutions import in_check, in_class, part_of

from grading.release import exercises
from grading.schema import Part, Real, Whole

CLASSES = 30
BOUNDED = [
    pytest.param(name, part, id=f"{name}/{part.key}")
    for name in exercises.names()
    for part in exercises.load(name).parts
    if part.boundaries
]


def asked(name: str, key: str) -> list[tuple[dict[str, Any], Any]]:
    """Return (case, expected answer) for the published and the hidden cases.

    The hidden cases are those of `CLASSES` classes of students.
    """
    cases = in_check(name, key)
    for seed in range(CLASSES):
        cases += in_class(name, key, seed)
    return list(zip(cases.inputs, cases.expected, strict=True))


def one_by_one(free: float, each: float) -> int:
    found = 0
    while free >= each:
        free, found = free - each, found + 1
    return found


FITS: dict[str, Callable[[float, float, float, float], float]] = {
    "a floor": lambda free, each, S, per: math.floor(free / each),
    "cut off": lambda free, each, S, per: int(free / each),
    "two slashes": lambda free, each, S, per: free // each,
    "whole numbers": lambda free, each, S, per: round(free) // round(each),
    "sequence, then position": lambda free, each, S, per: free / per // S,
    "position, then sequence": lambda free, each, S, per: free / S // per,
    "gigabytes": lambda free, each, S, per: free / 1e9 // (each / 1e9),
    "gibibytes": lambda free, each, S, per: free / 2**30 // (each / 2**30),
    "one by one": lambda free, each, S, per: one_by_one(free, each),
}


@pytest.mark.parametrize("written", FITS)
def test_sequences_that_fit_do_not_depend_on_how_the_formula_is_written(written: str) -> None:
    exact = 0
    for case, expected in asked("attention", "sequences-that-fit"):
        free = case["capacity"] - case["weights"]
        per = 2 * case["layers"] * case["K"] * case["H"] * case["kv_bytes"]
        if free >= 0:
            found = FITS[written](free, case["S"] * per, case["S"], per)
            assert found == expected, case
            exact += Fraction(free) == expected * Fraction(case["S"] * per)
    assert exact >= CLASSES


ROOMS: dict[str, Callable[..., float]] = {
    "flops": lambda H, width, peak, bandwidth: 4 * H - peak / bandwidth * 4 * width,
    "share": lambda H, width, peak, bandwidth: 1 - peak / bandwidth * width / H,
    "times": lambda H, width, peak, bandwidth: 4 * H / peak - 4 * width / bandwidth,
    "crosswise": lambda H, width, peak, bandwidth: H * bandwidth - width * peak,
    "intensity": lambda H, width, peak, bandwidth: H / width - peak / bandwidth,
}


@pytest.mark.parametrize("written", ROOMS)
def test_every_formula_agrees_on_whether_the_compute_bound_length_is_infinite(written: str) -> None:
    edges = 0
    for case, expected in asked("attention", "compute-bound-from"):
        if not case["fused"]:
            arguments = {key: case[key] for key in ("H", "width", "peak", "bandwidth")}
            room = ROOMS[written](**arguments)
            assert (room <= 0) == (expected == math.inf), case
            edges += room == 0
    assert edges > CLASSES


@pytest.mark.parametrize("cut", [math.floor, math.ceil, round])
def test_rounded_compute_bound_lengths_are_within_the_tolerance(
    cut: Callable[[float], int],
) -> None:
    part = part_of("attention", "compute-bound-from")
    for case, expected in asked("attention", "compute-bound-from"):
        if expected < math.inf:
            assert math.isclose(cut(expected), expected, rel_tol=part.tolerance), case


@pytest.mark.parametrize("name", exercises.names())
def test_each_class_has_inputs_of_its_own_of_the_kind_that_a_check_names(name: str) -> None:
    for part in exercises.load(name).parts:
        classes = [in_class(name, part.key, seed).inputs for seed in range(3)]
        assert len({repr(inputs) for inputs in classes}) == 3, part.key
        for argument, span in part.ranges.items():
            # Few numbers may have a common factor by chance.
            if isinstance(span, Whole) and span.high - span.low > 60:
                values = list(itertools.islice(span.draws(random.Random(argument)), 600))
                step, powers = math.gcd(*values), all(one.bit_count() == 1 for one in values)
                kind = "power of two" if powers else f"multiple of {step}" if step > 1 else "whole"
                assert kind in str(span), (part.key, argument, values)


@pytest.mark.parametrize(("name", "part"), BOUNDED)
def test_boundary_cases_are_within_the_ranges(name: str, part: Part) -> None:
    drawn = itertools.islice(part.draws(random.Random(name)), 600)
    for case in [*drawn]:
        assert part.allowed(**case)
        for argument, span in part.ranges.items():
            if isinstance(span, Real | Whole):
                assert span.low <= case[argument] <= span.high, case
    assert all(part.allowed(**case) for case in part.cases)
