"""Published and hidden cases: they cover every branch, unit and misconception."""

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from solutions import in_check, in_class, part_of, parts

from grading.release.cases import stratified
from grading.schema.parts import Part
from roofkit.check.answers import Answer
from roofkit.check.compare import judge, same

DRAWS = 12
each_part = pytest.mark.parametrize(
    ("name", "part"), [pytest.param(name, part, id=f"{name}/{part.key}") for name, part in parts()]
)
classes = pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 60), marks=pytest.mark.long)], ids=["20", "60"]
)


def drawn(part: Part, seed: int) -> list[dict[str, Any]]:
    """Return the first `DRAWS` cases that a part draws from this seed."""
    return [dict(case) for case in itertools.islice(part.draws(random.Random(seed)), DRAWS)]


@each_part
def test_published_cases_cover_all_branches(name: str, part: Part) -> None:
    if (name, part.key) == ("h100-spec-sheet", "one-way-bandwidth"):
        return  # its published cases don't have every unit both one way and both ways
    shown = {key for case in part.cases for key, so in part.branches.items() if so(**case)}
    assert shown == part.branches.keys()


@each_part
def test_same_seed_draws_the_same_cases(name: str, part: Part) -> None:
    assert drawn(part, 7) == drawn(part, 7)
    assert drawn(part, 7) != drawn(part, 8)


@each_part
def test_drawn_cases_are_new_but_have_the_argument_names_of_published_ones(
    name: str, part: Part
) -> None:
    arguments = {argument for case in part.cases for argument in case}
    assert all(case.keys() == arguments for case in [*part.cases, *drawn(part, 7)])
    assert not any(case in part.cases for case in drawn(part, 7))


# Parts with a tolerance of 1%, which accept a rounded batch, ratio, length or curve.
ROUNDED = {
    "critical-batch",
    "critical-batch-limit",
    "ceiling-batch",
    "delay",
    "figure",
    "compute-bound-from",
}
SHEET = {"critical-batch": 0.02, "critical-batches": 0.02}  # wide enough to accept 298 for 295


@each_part
def test_each_part_has_the_expected_tolerance(name: str, part: Part) -> None:
    if name == "h100-spec-sheet":
        assert part.tolerance == SHEET.get(part.key, 1e-5)
    else:
        assert part.tolerance == (0.01 if part.key in ROUNDED else 1e-5)


@each_part
def test_values_are_accepted_only_within_the_tolerance(name: str, part: Part) -> None:
    cases = in_check(name, part.key)

    def passed(factor: float) -> bool:
        answers = [Answer(scaled(value, factor)) for value in cases.expected]
        return judge(answers, cases.expected, (), part.tolerance, cases.inputs).passed

    if part.kind != "names":
        assert passed(1 + 0.9 * part.tolerance)
        assert not passed(1 + 1.2 * part.tolerance)
        assert not passed(1 - 1.2 * part.tolerance)


def scaled(value: Any, factor: float) -> Any:
    """Return a value with every number in it multiplied by `factor`."""
    if isinstance(value, dict):
        return {key: scaled(entry, factor) for key, entry in value.items()}
    if isinstance(value, list):
        return [scaled(entry, factor) for entry in value]
    return value * factor


@classes
@each_part
def test_every_class_of_students_gets_hidden_cases_of_all_branches_and_kinds_of_values(
    name: str, part: Part, seeds: range
) -> None:
    for seed in seeds:
        if part.kind == "figure":  # computing the expected values is slow
            cases = stratified(name, part, part.draws(random.Random(seed)))
        else:
            cases = list(in_class(name, part.key, seed).inputs)
        assert set().union(*map(part.strata_of, cases)) == part.strata()
        assert all(part.allowed(**case) for case in cases)


@classes
@each_part
def test_hidden_cases_expose_all_misconceptions(name: str, part: Part, seeds: range) -> None:
    if part.kind == "figure":
        return  # tested in tests/kit/test_figures.py, with two cases
    for seed in seeds:
        found = in_class(name, part.key, seed)
        for known in found.misconceptions:
            pairs = zip(known.values, found.expected, strict=True)
            assert not all(
                value is not None and same(value, right, part.tolerance) for value, right in pairs
            ), known.key


Cases = list[dict[str, Any]]


def options(cases: Cases, *names: str) -> set[tuple[Any, ...]]:
    """Return the combinations of these arguments that occur in the cases."""
    return {tuple(case[name] for name in names) for case in cases}


def infinite_small_and_large(batches: list[float]) -> bool:
    """Return whether some batches are infinite, some small and some very large.

    The large ones are beyond a search's reach.
    """
    return (
        math.inf in batches
        and any(batch < 1_000 for batch in batches)
        and any(10_000 < batch < math.inf for batch in batches)
    )


def none_and_all(cases: Cases, values: list[Any], argument: str) -> bool:
    """Return whether some answers name no entry, some every entry, and some a part."""
    shares = {len(value) / len(case[argument]) for case, value in zip(cases, values, strict=True)}
    return {0, 1} < shares


def bound_by(cases: Cases, values: list[Any], flops: Callable[..., float]) -> set[bool]:
    """Return {True}, {False} or both: whether compute decides each lower bound."""
    return {
        math.isclose(flops(**case) / case["peak"], value[0])
        for case, value in zip(cases, values, strict=True)
    }


BANDWIDTH_UNITS = ("B/s", "GB/s", "TB/s", "Gbit/s")
# (exercise, part) → predicate: whether cases cover all situations that the question names.
NAMED: dict[tuple[str, str], Callable[[Cases, list[Any]], bool]] = {
    ("int8-matmul", "bounds"): lambda cases, values: (
        bound_by(cases, values, lambda B, D, F, **chip: 2 * B * D * F) == {True, False}
    ),
    ("int8-weights", "critical-batch"): lambda cases, values: infinite_small_and_large(values),
    ("int8-weights", "speedup"): lambda cases, values: (
        1 in values and any(1 < value < 1.999 for value in values)
    ),
    ("roofline-plot", "ceiling-batch"): lambda cases, values: infinite_small_and_large(values),
    ("weight-per-example", "intensity-limit"): lambda cases, values: set(values) == {4, 2, 1, 0.5},
    ("weight-per-example", "compute-bound-chips"): lambda cases, values: none_and_all(
        cases, values, "chips"
    ),
    ("h100-spec-sheet", "dense-peak"): lambda cases, values: (
        options(cases, "unit", "sparse")
        == set(itertools.product(("TFLOP/s", "PFLOP/s"), (True, False)))
    ),
    ("h100-spec-sheet", "one-way-bandwidth"): lambda cases, values: (
        options(cases, "unit", "both_ways")
        == set(itertools.product(BANDWIDTH_UNITS, (True, False)))
    ),
    ("h100-spec-sheet", "critical-batch"): lambda cases, values: (
        options(cases, "bandwidth_unit") == {(unit,) for unit in BANDWIDTH_UNITS}
        and options(cases, "peak_unit") == {("TFLOP/s",), ("PFLOP/s",)}
    ),
    ("h100-spec-sheet", "critical-batches"): lambda cases, values: (
        options([sheet for case in cases for sheet in case["sheets"]], "bandwidth_unit")
        == {(unit,) for unit in BANDWIDTH_UNITS}
    ),
    ("h100-spec-sheet", "enough-on"): lambda cases, values: none_and_all(cases, values, "sheets"),
    ("attention", "compute-bound-from"): lambda cases, values: (
        math.inf in values
        and {case["fused"] for case, value in zip(cases, values, strict=True) if value < math.inf}
        == {True, False}
    ),
    ("attention", "sequences-that-fit"): lambda cases, values: {0} < set(values),
    ("attention", "step-bounds"): lambda cases, values: (
        bound_by(cases, values, lambda B, parameters, **others: 2 * B * parameters) == {True, False}
    ),
    ("many-chips", "bytes-sent"): lambda cases, values: {0} < set(values),
    ("many-chips", "times"): lambda cases, values: len({a > b for a, b in values}) == 2,
    ("many-chips", "speedup"): lambda cases, values: min(values) < 1 < max(values),
}


@classes
@pytest.mark.parametrize(("name", "key"), NAMED)
def test_hidden_cases_cover_all_situations_in_the_question(
    name: str, key: str, seeds: range
) -> None:
    for seed in seeds:
        found = in_class(name, key, seed)
        assert NAMED[name, key](list(found.inputs), list(found.expected)), seed


@classes
def test_each_class_of_students_draws_a_figure_with_unsorted_sizes(seeds: range) -> None:
    part = part_of("roofline-plot", "figure")
    for seed in seeds:
        cases = stratified("roofline-plot", part, part.draws(random.Random(seed)))
        steps = [np.sign(np.diff(case["sizes"])) for case in cases]
        assert any(len(set(signs.tolist())) == 2 for signs in steps)
        assert len({tuple(case["batches"]) for case in cases}) == 2
