"""Tests of submissions: points and hints, and failures in every class."""

import itertools
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest
from series import in_part
from solutions import NAMES, asked, defined, in_check, in_class, part_of
from submissions import Submission, hand_in, submissions

from grading.release import exercises
from grading.release.cases import Cases
from grading.schema.parts import Part
from roofkit.check.answers import Answer, ask_all
from roofkit.check.compare import Verdict, judge, same

matplotlib.use("agg")

ALL = [pytest.param(s, id=f"{s.exercise}/{s.name}") for name in NAMES for s in submissions(name)]
PARTS = [
    pytest.param(name, part.key, id=f"{name}/{part.key}")
    for name in NAMES
    for part in exercises.load(name).parts
]
# (submission, part): mistakes that hidden cases miss in some classes of students, mostly since
# these cases rarely repeat a value.
TOLD_BY_PUBLISHED_CASES = {
    *itertools.product(
        ("wrong_kept_for_the_batch", "wrong_kept_for_the_width"),
        ("bytes-moved", "operations", "intensity", "critical-batch", "times", "bounds"),
    ),
    ("wrong_kept_for_the_width", "compute-bound-chips"),
    ("wrong_empties", "intensity-limit"),
    ("wrong_empties", "compute-bound-chips"),  # the first list may already be empty
    # wrong_early_end empties its argument, so a repeated call returns []. A hidden case may expect
    # [] anyway.
    ("wrong_early_end", "enough-on"),
    ("wrong_sum", "dense-peak"),
    ("wrong_with_the_bound", "ceiling-batch"),  # large batches rounded up to 128s are within 1%
}


def functions(submission: Submission) -> dict[str, Any]:
    """Run a notebook with this submission, and return what it defines, by name."""
    keys = {part.key: part.function for part in exercises.load(submission.exercise).parts}
    book = exercises.source(submission.exercise)
    cells = hand_in(submission, book, book, keys).cells
    code = [c.source for c in cells if c.cell_type == "code" and not exercises.is_check(c)]
    return defined(tuple(code))


def verdict(found: list[Answer], part: Part, cases: Cases) -> Verdict:
    """Judge one answer per case.

    The last answer repeats a call; if it has a problem, all answers count as having it.
    """
    count = len(cases.inputs)
    shown = [found[-1]] * count if found[-1].problem else found[:count]
    return judge(shown, cases.expected, cases.misconceptions, part.tolerance, cases.inputs)


def is_reference_figure(submission: Submission, part: Part) -> bool:
    """Return whether the submission draws the reference figure.

    That figure is slow to judge.
    """
    return (
        part.kind == "figure"
        and part.key not in submission.expected
        and not {part.function, "attainable"} & submission.functions
    )


@pytest.mark.filterwarnings("ignore:this is only the least traffic")
@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("submission", in_part(ALL))
def test_submissions_get_their_points_and_hints(submission: Submission) -> None:
    name, names = submission.exercise, functions(submission)
    for part in exercises.load(name).parts:
        if is_reference_figure(submission, part):
            continue
        found = list(ask_all(names[part.function], asked(name, part.key, 0).inputs, part.kind))
        for cases in (in_check(name, part.key), asked(name, part.key, 0)):
            said = verdict(found, part, cases)
            assert said.passed == (part.key not in submission.expected), (part.key, said)
            assert said.passed or said.cause == (submission.expected[part.key] or ""), part.key


@pytest.mark.parametrize(("name", "key"), PARTS)
def test_each_part_has_a_wrong_submission(name: str, key: str) -> None:
    assert any(key in submission.expected for submission in submissions(name))


@pytest.mark.parametrize("name", NAMES)
def test_each_exercise_has_a_right_submission(name: str) -> None:
    assert any(not submission.expected for submission in submissions(name))


def is_wrong(function: Callable[..., Any], part: Part, cases: Cases) -> bool:
    """Return whether any answer is wrong, or the repeated call has a problem."""
    found = ask_all(function, cases.inputs, part.kind)
    for expected, answer in zip(cases.expected, found, strict=False):
        if answer.problem or not same(answer.value, expected, part.tolerance):
            return True
    return bool(next(found).problem)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [8, pytest.param(60, marks=pytest.mark.long)])
def test_wrong_answers_fail_in_every_class(name: str, classes: int) -> None:
    """Check that the hidden cases alone expose a wrong answer.

    Grading asks published cases, too.
    """
    for submission in submissions(name):
        names = functions(submission)
        for key in submission.expected:
            part = part_of(name, key)
            if part.kind == "figure" or (submission.name, key) in TOLD_BY_PUBLISHED_CASES:
                continue
            function = names[part.function]
            passing = [
                seed
                for seed in range(classes)
                if not is_wrong(function, part, in_class(name, key, seed))
            ]
            assert not passing, (submission.name, key, passing)


@pytest.mark.filterwarnings("ignore:this is only the least traffic")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [3, pytest.param(20, marks=pytest.mark.long)])
def test_right_answers_pass_in_every_class(name: str, classes: int) -> None:
    for submission in submissions(name):
        if submission.expected:
            continue
        names = functions(submission)
        for part in exercises.load(name).parts:
            if part.kind == "figure":
                continue
            for seed in range(classes):
                cases = in_class(name, part.key, seed)
                assert not is_wrong(names[part.function], part, cases), (part.key, seed)
