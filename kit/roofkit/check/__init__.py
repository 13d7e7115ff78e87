"""The check that a learner runs after each part of an exercise: `check("part", function)`.

It compares with a few published cases, says in words what it found, and never shows an answer.
"""

import textwrap
from collections.abc import Mapping
from typing import Any

from .answers import ask
from .compare import MisconceptionValues, Verdict, judge
from .packing import cases_of, unpack

__all__ = ["CheckFailed", "cases", "check"]

_published: dict[str, Any] = {}  # part → its cases, of the notebook that this process runs


class CheckFailed(Exception):
    """A check that found something; shown as its sentences alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def cases(data: str) -> None:
    """Take in the published cases of all parts, as a released notebook carries them."""
    try:
        _published.update(unpack(data))
    except ValueError as error:
        raise CheckFailed(f"{error}. Take the cell from a fresh copy.") from None


def check(part: str, function: object) -> None:
    """Compare `function` with the published cases of `part`.

    Prints what passed. Raises CheckFailed with what is missing or wrong, and why where it is known.
    """
    if part not in _published:
        raise CheckFailed(
            f"{part}: nothing to compare with yet. Run the cell of the released notebook that "
            "begins with `cases(`."
        )
    known = _published[part]
    inputs = cases_of(known["cases"])
    answers = [ask(function, case, known["kind"]) for case in inputs]  # type: ignore[arg-type]
    misconceptions = [MisconceptionValues(**entry) for entry in known["misconceptions"]]
    verdict = judge(
        answers, known["expected"], misconceptions, known["tolerance"], inputs, private=True
    )
    lines = [headline(part, verdict), *verdict.sentences, *scope(known)]
    # `nbgrader validate` cuts longer lines off.
    report = "\n".join(textwrap.fill(line, 80) for line in lines)
    if not verdict.passed:
        raise CheckFailed(report)
    print(report)


def headline(part: str, verdict: Verdict) -> str:
    """What came out, in one line."""
    cases = "the published case" if verdict.total == 1 else f"{verdict.total} published cases"
    if verdict.passed:
        return f"{part}: right for {cases}."
    return f"{part}: not right yet ({verdict.right} of {cases})."


def scope(known: Mapping[str, Any]) -> list[str]:
    """What was checked here, and what grading does with the same function."""
    cases = cases_of(known["cases"])
    shown = "; ".join(dict.fromkeys(line for case in cases if (line := _short(case))))
    ranges = "; ".join(f"{name}: {values}" for name, values in known["ranges"].items())
    return [
        f"Checked here: {shown or 'the cases of the question'}.",
        f"Grading asks {known['function']} with values that are not shown here ({ranges}).",
    ]


def _short(case: Mapping[str, Any]) -> str:
    """The numbers and texts of a case; lists and dictionaries would fill the page."""
    plain = {key: value for key, value in case.items() if isinstance(value, int | float | str)}
    return ", ".join(f"{key} = {_number(value)}" for key, value in plain.items())


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
