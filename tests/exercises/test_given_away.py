"""Tests that the book does not give away the exercises' answers.

No page shows the value of a worked case. Each page is run, and the numbers in its sentences and
outputs are compared with the reference solution's answers for the cases that an exercise works
with: its own chip, the first sizes.
"""

import math
from collections.abc import Iterator
from typing import Any

import pytest
import rendered
from repository import ROOT
from told_numbers import Told, numbers

import rooflib as rl
from grading.release import exercises

GIVEN = 8.1e11  # bandwidth in B/s that exercises 1 to 3 state
V5E = rl.chip("TPU v5e")
PAGES = sorted(
    str(path.relative_to(ROOT).with_suffix(""))
    for places in ("index.md", "chapters/*.md", "exercises/*/*.md", "slides/*.md")
    for path in ROOT.glob(places)
)
# (page, part) → why the page may show a number equal to the part's answer.
HARMLESS = {
    ("chapters/intensity", "int8-weights/critical-batch-limit"): "ridge point, twice the bandwidth",
    ("chapters/roofline", "int8-weights/critical-batch-limit"): "ridge point, twice the bandwidth",
    ("slides/roofline", "int8-weights/critical-batch-limit"): "a golden rule of the lecture",
    ("chapters/machine", "roofline-plot/delay"): "a ratio of two measured times",
    ("chapters/summary", "int8-weights/critical-batch-limit"): "a golden rule of the course",
    ("chapters/summary", "roofline-plot/delay"): "folded, to open after the exercise",
}
FILES = ["README.md", *sorted(f"rooflib/{path.name}" for path in ROOT.glob("rooflib/*.py"))]


def worked(case: Any) -> Iterator[dict[str, Any]]:
    """Yield the case; if its bandwidth is `GIVEN`, also with the TPU v5e's instead."""
    yield dict(case)
    if case.get("bandwidth") == GIVEN:
        yield {**case, "bandwidth": V5E.bandwidth}


def single(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for entry in value:
            yield from single(entry)
    elif isinstance(value, int | float) and math.isfinite(value):
        yield float(value)


def in_the_catalog(value: float) -> bool:
    """Return whether a value is a chip's peak, bandwidth or ridge point.

    The course shows these values. Exercise 5 computes them from data sheets, but asks for
    functions, which are also checked with invented sheets.
    """
    known = [k for c in rl.chips() for k in (*c.peaks.values(), c.bandwidth, c.ridge())]
    return any(math.isclose(value, figure, rel_tol=1e-9) for figure in known)


def is_a_size(value: float) -> bool:
    """Return whether a value is a power of two, like the sizes on every page."""
    return value == int(value) and int(value).bit_count() == 1


def answers() -> Iterator[tuple[str, float]]:
    """Yield ("exercise/part", answer) for each worked case."""
    for name in exercises.names():
        for part in exercises.load(name).parts:
            if part.kind not in ("number", "numbers"):
                continue
            for case in part.cases:
                if case is part.cases[0] or case.get("bandwidth") == GIVEN:
                    for variant in worked(case):
                        for value in single(exercises.expected(name, part, variant)):
                            if not in_the_catalog(value) and not is_a_size(value):
                                yield f"{name}/{part.key}", value


ANSWERS = sorted(set(answers()))


def given_away(text: str) -> list[tuple[str, float]]:
    told = list(numbers(text))
    return [
        (part, value)
        for part, value in ANSWERS
        # Skip answers of one or two significant digits, which match by chance.
        if float(f"{value:.1e}") != value and any(number.tells(value) for number in told)
    ]


def test_published_answers_are_among_those_searched_for() -> None:
    for part, known in [
        ("int8-matmul/critical-batch", 243),
        ("int8-weights/critical-batch-limit", 120),
        ("int8-weights/critical-batch", 136),
        ("roofline-plot/ceiling-batch", 227),
        ("roofline-plot/delay", 1.66),
    ]:
        digits = len(str(known).replace(".", ""))
        assert any(Told(known, digits).tells(value) for at, value in ANSWERS if at == part), part


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_no_answer(page: str) -> None:
    found = given_away("\n".join(text for _, text in rendered.parts(page)))
    harmless = {part for at, part in HARMLESS if at == page}
    assert [answer for answer in found if answer[0] not in harmless] == []
    assert harmless <= {part for part, _ in found}


@pytest.mark.parametrize("file", FILES)
def test_the_readme_and_sources_of_rooflib_show_no_answer(file: str) -> None:
    assert given_away((ROOT / file).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "about 243 tokens",
        "243.2",
        "it is 120 on the v5e",
        "from 136.3 to 226.8",
        "1.66 times",
        "1.07\N{NO-BREAK SPACE}GB",
        "161\N{NO-BREAK SPACE}TFLOP/s",
        "1,074,069,504",
        "67.4\N{NO-BREAK SPACE}MB",
        "8.45×10⁻⁵",
    ],
)
def test_given_away_finds_an_answer_in_each_notation(text: str) -> None:
    assert given_away(text)


@pytest.mark.parametrize("text", ["120.9", "243.9", "24", "TPU v243", "1.6", "1.07", "67.4 GB"])
def test_numbers_that_only_resemble_an_answer_are_ignored(text: str) -> None:
    assert not given_away(text)
