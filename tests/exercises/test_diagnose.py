"""Tests of the measured times in the exercise “diagnose”.

They come from stored runs and published steps.
"""

from typing import Any

import pytest
from solutions import part_of, reference

import rooflib as rl
import roofmeter
from grading.release import exercises
from roofmeter.workloads import POLYNOMIAL_DEGREE

DIGITS = 2e-5  # relative tolerance: the exercise states six digits
RUN = roofmeter.runs()["intel-r-xeon-r-processor-2026-11-22"]
# Operation in the exercise → (operation in the stored run, name of the bandwidth measured there).
FROM_THE_RUN = {
    "one row": ("thin 1", "read"),
    "256 rows": ("thin 256", "read"),
    "one row, same weights": ("thin 1, same weights", "read"),
    "polynomial": ("polynomial", "update"),
}
CAUSES = {
    "one row": "memory",
    "256 rows": "compute",
    "one row, same weights": "cache",
    "polynomial": "traffic",
    "one sequence on eight A100": "overhead",
    "60 sequences on one A100": "memory",
}


def published() -> dict[str, dict[str, Any]]:
    """Return the six operations of the published cases, by name."""
    return {one["name"]: one for one in part_of("diagnose", "explained-by").cases[0]["operations"]}


def in_notebook() -> dict[str, dict[str, Any]]:
    """Return the operations that the notebook defines, by name."""
    return {one["name"]: one for one in reference("diagnose")["operations"]}


@pytest.mark.parametrize("name", FROM_THE_RUN)
def test_measurements_and_roofs_are_those_of_the_stored_run(name: str) -> None:
    key, roof = FROM_THE_RUN[name]
    one, measured = published()[name], RUN.operations[key].figure
    assert one["measured"] == pytest.approx(measured.median, rel=DIGITS)
    assert one["flops"] == measured.counted.flops
    assert one["needed"] == measured.counted.bytes
    assert one["peak"] == pytest.approx(RUN.figures["peak fp32"].best, rel=DIGITS)
    assert one["bandwidth"] == pytest.approx(RUN.figures[roof].best, rel=DIGITS)
    calls = 2 * POLYNOMIAL_DEGREE if name == "polynomial" else 1
    assert one["overhead"] == pytest.approx(calls * RUN.figures["call"].best, rel=DIGITS)


def test_the_polynomial_moves_five_arrays_for_each_degree() -> None:
    one = published()["polynomial"]
    assert one["moved"] == one["needed"] / 2 * 5 * POLYNOMIAL_DEGREE


@pytest.mark.parametrize(
    ("name", "chips", "B"),
    [("one sequence on eight A100", 8, 1), ("60 sequences on one A100", 1, 60)],
)
def test_operations_missing_from_the_stored_run_match_published_steps(
    name: str, chips: int, B: int
) -> None:
    (step,) = (
        step
        for step in rl.published_steps()
        if (step.model, step.chips, step.B) == ("Llama 2 7B", chips, B) and "A100" in step.chip
    )
    one, bound = published()[name], rl.bound(step.step, step.chip, "NVLink")
    assert one["measured"] == step.seconds
    assert one["needed"] / one["bandwidth"] == pytest.approx(bound.times["HBM"])
    assert one["flops"] / one["peak"] == pytest.approx(bound.times["compute"])
    # The link can't be the cause: its bytes take less than 1% of the measured time.
    assert bound.times["NVLink"] < one["measured"] / 100


def test_the_notebook_has_the_operations_of_the_check() -> None:
    shown, asked = in_notebook(), published()
    eighth = reference("diagnose")["fixed_time"](1, 104.9, 4, 254.02)
    shown["one sequence on eight A100"] = {
        **shown["one sequence on eight A100"],
        "overhead": eighth,
    }
    assert list(shown) == list(asked) == list(CAUSES)
    for name, one in shown.items():
        assert {**one, "name": 0} == pytest.approx({**asked[name], "name": 0}, rel=1e-5)


def test_the_notebook_has_the_invented_programs_of_the_check() -> None:
    assert (
        reference("diagnose")["invented"]
        == (part_of("diagnose", "explained-by").cases[5]["operations"])
    )


def test_the_six_operations_have_the_causes_that_chapters_give() -> None:
    explained_by, operations = reference("diagnose")["explained_by"], [*published().values()]
    for cause in exercises.load("diagnose").parts[1].ranges["cause"].options:
        assert explained_by(operations, cause) == [n for n, c in CAUSES.items() if c == cause]


def test_a_fixed_plus_a_divided_time_fits_the_published_steps_of_one_sequence() -> None:
    steps = {
        step.chips: step
        for step in rl.published_steps()
        if (step.model, step.B) == ("Llama 2 7B", 1)
    }
    assert set(steps) == {1, 2, 4, 8}
    first, fourth = steps[1], steps[4]
    fixed = reference("diagnose")["fixed_time"](
        1, first.tokens_per_second, 4, fourth.tokens_per_second
    )
    for chips, step in steps.items():
        assert fixed + (first.seconds - fixed) / chips == pytest.approx(step.seconds, rel=0.03)


@pytest.mark.parametrize("key", ["explained-by", "telling", "gain"])
def test_published_cases_satisfy_the_condition_for_hidden_cases(key: str) -> None:
    part = part_of("diagnose", key)
    for case in part.cases:
        assert part.allowed(**case), case


@pytest.mark.parametrize(("key", "function"), [("rates", "rates"), ("layer-times", "layer_times")])
def test_the_faulty_draft_in_the_task_gives_the_answers_of_its_misconception(
    key: str, function: str
) -> None:
    (question,) = (
        cell.source
        for cell in exercises.source("diagnose").cells
        if cell.cell_type == "markdown" and f"def {function}(" in cell.source
    )
    draft: dict[str, Any] = {}
    exec(question.split("```python\n")[1].split("```")[0], draft)
    part = part_of("diagnose", key)
    (known,) = (one for one in part.misconceptions if one.key == "as-in-the-draft")
    for case in part.cases:
        assert draft[function](**case) == pytest.approx(known.answer(**case))
