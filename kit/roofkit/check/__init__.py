"""Checks that learners run in an exercise: `check("part", function)`.

It compares the function's answers for a few published cases, explains in words what is wrong, and
never shows a right answer. `check.hint("part")` prints a stronger hint, which is offered after two
failed checks. The check that finds the last part right also prints the exercise's moral, and
`check.thoughts()` then prints what to compare the answer to the last question with, and
`check.solution()` the reference solution if it was released.
"""

import base64
import inspect
import json
import os
import sys
import textwrap
import zlib
from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from roofkit.words import _, spoken

from .answers import ask_all
from .call_limit import CALL_SECONDS, CALL_WALL_SECONDS, limited
from .compare import MisconceptionValues, Verdict, judge
from .newer_syntax import remark
from .report import Offer, Report
from .wording import case_text, listed, wrapped

__all__ = ["CheckFailed", "CheckInterrupted", "cases", "check"]

TRIES = 2  # offer a stronger hint after this many failed checks

_published: dict[str, Any] = {}  # part → its published cases
_languages: dict[str, str] = {}  # part → the language of its notebook
_failed: dict[str, int] = {}  # part → failed checks, not counting an unwritten function
# part → what its last check found: "right", "wrong" or "unwritten".
_last: dict[str, str] = {}


class CheckFailed(Exception):
    """A failed check, or one that can't run; shown as its sentences, without a traceback."""

    def __init__(self, report: Report | str) -> None:
        super().__init__(report.text() if isinstance(report, Report) else report)
        self.report = report if isinstance(report, Report) else None

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class CheckInterrupted(KeyboardInterrupt):
    """An interrupted check; shown in one line, and stops "Run all" as usual."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def cases(data: str, language: str = "") -> None:
    """Load the published cases of all parts, as packed into the released notebook.

    language: the language of the notebook, which its checks speak; "" for the one in force.
    """
    try:
        parts = json.loads(zlib.decompress(base64.b64decode("".join(data.split()), validate=True)))
    except (ValueError, zlib.error):
        with _speaking(language):
            said = _("the data of this check were changed. Take the cell from a fresh copy.")
            raise CheckFailed(wrapped(said)) from None
    _published.update(parts)
    _languages.update(dict.fromkeys(parts, language))


def pack(data: dict[str, Any]) -> str:
    """Return the data of all parts as `cases` takes them: compressed JSON in lines of base64."""
    packed = base64.b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode()
    return "\n".join(textwrap.wrap(packed, 88))


class Check:
    """`check("part", function)` checks a part; `check.hint("part")` prints a hint."""

    def __call__(self, part: str, function: object) -> None:
        """Compare `function` with the published cases of `part`, and show a report.

        Where no notebook shows it, as in `nbgrader validate`, raise CheckFailed with the report if
        the part is not right. Raise CheckInterrupted if the learner interrupts the check.
        """
        with _speaking(_languages.get(part, "")):
            report = _checked(part, _data(part), function)
            if report.state != "right" and not _in_notebook():
                raise CheckFailed(report)
            _show(report)

    def hint(self, part: str) -> None:
        """Print the stronger hint of `part`: what to write down next."""
        with _speaking(_languages.get(part, "")):
            hint = _data(part).get("hint")
            none = _("There is no stronger hint for this part.")
            headed = _("{part}:").format(part=title(part))
            _show(Report("note", headed, [_(hint) if hint else none]))

    def thoughts(self) -> None:
        """Print what to compare the last question's answer with, if all parts are right."""
        with _speaking(next(iter(_languages.values()), "")):
            _require_all()
            found = {text for known in _published.values() if (text := known.get("thoughts"))}
            for text in found or {_("This exercise has nothing to compare with.")}:
                _show(Report("note", "", [_(text)]))

    def solution(self) -> None:
        """Print the reference solution, if the release has it and all parts are right."""
        with _speaking(next(iter(_languages.values()), "")):
            _require_all()
            found = [code for known in _published.values() if (code := known.get("solution"))]
            print("\n\n\n".join(found) or _("This copy of the course holds no solutions."))


check = Check()


def title(part: str) -> str:
    """Return the title of a part in the notebook's language; a release without it has its key."""
    return str(_published.get(part, {}).get("title") or part)


def _checked(part: str, known: Mapping[str, Any], function: object) -> Report:
    """Call the function, remember what came out, and return the report."""
    inputs = literal_eval(known["cases"])
    misconceptions = [MisconceptionValues(**entry) for entry in known["misconceptions"]]
    try:
        *answers, again = ask_all(function, inputs, known["kind"], limited)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        said = _("{part}: the check was interrupted.").format(part=title(part))
        raise CheckInterrupted(said) from None
    if again.problem:  # of the repeated call: then none of the answers counts
        answers = [again] * len(answers)
    verdict = judge(
        answers, known["expected"], misconceptions, known["tolerance"], inputs, private=True
    )
    if verdict.passed:
        _last[part] = "right"
    elif verdict.cause == "unwritten":
        _last[part] = "unwritten"
    else:
        _last[part] = "wrong"
        _failed[part] = _failed.get(part, 0) + 1
    state = _last[part]
    report = Report(state, headline(part, verdict), cases=list(scope(known)))
    report.reasons.extend(_reasons(part, known, function, verdict))
    if state == "right" and (moral := known.get("moral")) and not _left():
        report.more.append(_("All parts are right. {moral}").format(moral=_(moral)))
        if known.get("thoughts"):
            says = _("To compare your answer to the last question, run:")
            report.offers.append(Offer(says, "check.thoughts()"))
        if known.get("solution"):
            says = _("To compare your code with another solution, run:")
            report.offers.append(Offer(says, "check.solution()"))
    if state == "wrong" and _failed.get(part, 0) >= TRIES and known.get("hint"):
        report.offers.append(Offer(_("For a stronger hint, run:"), f'check.hint("{part}")'))
    return report


def _in_notebook() -> bool:
    """Return whether a notebook shows reports, and no program looks for errors.

    nbgrader sets the variable for Validate and for autograding, which count errors.
    """
    ipython = sys.modules.get("IPython")  # imported in each notebook
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "NBGRADER_EXECUTION" not in os.environ


def _show(report: Report) -> None:
    """Show a report in a notebook or on a page, else print it."""
    if "IPython" not in sys.modules:
        print(report)
        return
    from IPython.display import display

    display(report, metadata={"roofkit": {"state": report.state}})


def headline(part: str, verdict: Verdict) -> str:
    """Return the result of a check in one line."""
    right, total = verdict.right, verdict.total
    if verdict.passed and total == 1:
        said = _("{part}: right for the published case.")
    elif verdict.passed:
        said = _("{part}: right for {total} published cases.")
    elif verdict.cause == "unwritten":
        said = _("{part}: still to be written.")
    elif total == 1 or verdict.cause in ("changing", "changed-inputs"):
        said = _("{part}: not right yet.")
    else:
        said = _("{part}: not right yet ({right} of {total} published cases).")
    return said.format(part=title(part), right=right, total=total)


def _reasons(
    part: str, known: Mapping[str, Any], function: object, verdict: Verdict
) -> Iterator[str]:
    """Yield sentences that explain the result, the most important first."""
    if not verdict.passed and verdict.cause not in ("unwritten", "calls-unwritten"):
        yield from _wrong_parts_called(known, function)
    if verdict.cause != "unwritten":
        yield from verdict.sentences
    if verdict.cause == "too-late":
        said = _(
            "It was stopped: a call gets {seconds} s of computing and {wall_seconds} s in all, in "
            "grading too."
        )
        yield said.format(seconds=f"{CALL_SECONDS:g}", wall_seconds=f"{CALL_WALL_SECONDS:g}")
    if said := remark(function):
        yield said


def _wrong_parts_called(known: Mapping[str, Any], function: object) -> Iterator[str]:
    """Yield a sentence if the function calls others that were wrong when checked."""
    code = getattr(inspect.unwrap(function), "__code__", None)  # type: ignore[arg-type]
    names = code.co_names if code else ()
    functions = [_published[key]["function"] for key in _parts("wrong", "unwritten")]
    wrong = [f"`{name}`" for name in functions if name in names and name != known["function"]]
    if wrong:
        if len(wrong) == 1:
            said = _(
                "`{function}` calls {others}, which was not right at the last check: put that "
                "right first."
            )
        else:
            said = _(
                "`{function}` calls {others}, which were not right at the last check: put that "
                "right first."
            )
        yield said.format(function=known["function"], others=listed(wrong))


def scope(known: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about the cases checked here and the cases of grading."""
    cases = literal_eval(known["cases"])
    if shown := [line for line in dict.fromkeys(map(_short, cases)) if line]:
        if len(shown) == len(cases):
            yield _("Checked here:")
        else:
            yield _("Checked here (without long arguments, equal lines once):")
        yield from (f"– {line}" for line in shown)
    else:
        yield _("Checked here: the cases of the question.")
    if known["kind"] != "names":
        said = _("A value counts within {tolerance} of the right one.")
        yield said.format(tolerance=f"{100 * known['tolerance']:g}%")
    said = _("Grading asks {function} with these values and with others, not shown here:")
    yield said.format(function=known["function"])
    for name, values in known["ranges"].items():
        yield "– " + _("{name}: {values}").format(name=name, values=values)


def _short(case: Mapping[str, Any]) -> str:
    """Return a case as text without lists and dictionaries, which would be too long."""
    plain = {key: value for key, value in case.items() if isinstance(value, int | float | str)}
    return case_text(plain)


def _parts(*states: str) -> list[str]:
    """Return the parts whose last check found one of these states."""
    return [part for part, state in _last.items() if state in states and part in _published]


def _left() -> list[str]:
    """Return the parts that were not checked yet, or whose last check did not pass."""
    return [part for part in _published if _last.get(part) != "right"]


def _require_all() -> None:
    """Raise CheckFailed unless the last checks of all parts passed."""
    if left := _left():
        said = _("First run the checks of all parts. Left: {parts}.")
        raise CheckFailed(wrapped(said.format(parts=listed([*map(title, left)]))))


def _speaking(language: str) -> AbstractContextManager[None]:
    """Use a notebook's language in a `with` block; "" keeps the one in force."""
    return spoken(language) if language else nullcontext()


def _data(part: str) -> Mapping[str, Any]:
    if part not in _published:
        said = _(
            "{part}: nothing to compare with yet. Run the cell of the released notebook that "
            "begins with `cases(`."
        )
        raise CheckFailed(wrapped(said.format(part=part)))
    data: Mapping[str, Any] = _published[part]
    return data
