"""The solutions of exercises agree with published numbers and stored measurements.

That they agree with right answers of others, test_answers.py says.
"""

from functools import cache
from typing import Any

import pytest
from learner import parts

import rooflib as rl
import roofmeter
from grading.release import exercises
from roofmeter.workloads import POLYNOMIAL_DEGREE


@cache
def reference(name: str) -> dict[str, Any]:
    """Return the names that the notebook with the solutions defines. Cached: do not modify."""
    names: dict[str, Any] = {}
    for cell in exercises.source(name).cells:
        if cell.cell_type == "code" and not exercises.is_check(cell):
            exec(cell.source, names)
    return names


def test_weights_per_example_are_compute_bound_on_no_chip() -> None:
    book = reference("weight-per-example")
    assert {"H100 SXM", "TPU v5e"} <= book["catalog"].keys() <= {chip.name for chip in rl.chips()}
    assert book["compute_bound_chips"](book["catalog"], 1) == []
    assert book["intensities"](64, 4096, 4096, 1)[0] == pytest.approx(2, rel=1e-3)


def test_h100_has_a_critical_batch_of_295_and_298_is_accepted() -> None:
    book = reference("h100-spec-sheet")
    sheet = {key: value for key, value in book["h100"].items() if key != "name"}
    batch = book["critical_batch"](**sheet)
    assert round(batch) == 295
    tolerance = parts("h100-spec-sheet")["critical-batch"].tolerance
    assert pytest.approx(batch, rel=tolerance) == 1e15 / 3.35e12


def test_critical_batches_of_other_chips_match_published_ones() -> None:
    book = reference("h100-spec-sheet")
    table = {"A100 80GB SXM": 153, "H200 SXM": 206, "B200": 292, "TPU v6e": 560, "TPU7x": 313}
    batches = {
        sheet["name"]: book["critical_batch"](**{key: sheet[key] for key in sheet if key != "name"})
        for sheet in book["sheets"]
    }
    assert {name: round(batches[name]) for name in table} == table


def test_the_notebook_defines_the_model_configs_of_the_checks() -> None:
    known = [case["config"] for case in parts("mixture-of-experts")["parameters"].cases]
    assert reference("mixture-of-experts")["configs"] == known
    for key in ("cache", "step", "gains"):
        assert all(case["config"] in known for case in parts("mixture-of-experts")[key].cases)


# ---- diagnose: measured times come from stored runs and published steps

DIGITS = 2e-5  # relative tolerance: the exercise states six digits
RUN = roofmeter.runs()["intel-r-xeon-r-processor-2026-11-22"]
# Operation in the exercise → (operation in the stored run, name of the bandwidth measured there).
FROM_THE_RUN = {
    "one row": ("thin 1", "read"),
    "256 rows": ("thin 256", "read"),
    "one row, same weights": ("thin 1, same weights", "read"),
    "polynomial": ("polynomial", "update"),
}


def published() -> dict[str, dict[str, Any]]:
    """Return the six operations of the published cases, by name."""
    return {one["name"]: one for one in parts("diagnose")["explained-by"].cases[0]["operations"]}


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
