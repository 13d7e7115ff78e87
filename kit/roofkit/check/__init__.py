"""Checks that learners run in an exercise: `check("part", function)`.

It compares the function's answers for a few published cases, explains in words what is wrong, and
never shows a right answer. `check.hint("part")` prints a stronger hint, which is offered after two
failed checks. The check that finds the last part right also prints the exercise's moral, and
`check.thoughts()` then prints what to compare the answer to the last question with, and
`check.solution()` the reference solution if it was released.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from roofkit.words import _, spoken

from .answers import ask_all
from .call_limit import CALL_SECONDS, CALL_WALL_SECONDS, doubt, limited
from .compare import MisconceptionValues, Verdict, judge
from .earlier_parts import called
from .newer_syntax import remark
from .packing import cases_of, unpack
from .wording import listed, percent, series, wrapped, written

__all__ = ["CheckFailed", "CheckInterrupted", "cases", "check"]

TRIES = 2  # offer a stronger hint after this many failed checks

_published: dict[str, Any] = {}  # part → its published cases
_languages: dict[str, str] = {}  # part → the language of its notebook
_failed: dict[str, int] = {}  # part → failed checks, not counting an unwritten function
_wrong: set[str] = set()  # parts whose last check found a wrong answer
_passed: set[str] = set()  # parts whose last check passed without a time warning
_right: dict[str, object] = {}  # part → its function, if the last check found no wrong answer


class CheckFailed(Exception):
    """A failed check; shown as its sentences, without a traceback."""

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
        parts = unpack(data)
    except ValueError:
        with _speaking(language):
            said = _("the data of this check were changed. Take the cell from a fresh copy.")
            raise CheckFailed(wrapped(said)) from None
    _published.update(parts)
    _languages.update(dict.fromkeys(parts, language))


class Check:
    """`check("part", function)` checks a part; `check.hint("part")` prints a hint."""

    def __call__(self, part: str, function: object) -> None:
        """Compare `function` with the published cases of `part`.

        Print the result if all cases pass. Raise CheckFailed with an explanation otherwise, and
        CheckInterrupted if the learner interrupts the check.
        """
        with _speaking(_languages.get(part, "")):
            self._check(part, function)

    def _check(self, part: str, function: object) -> None:
        known = _data(part)
        try:
            verdict = _judged(known, function)
        except KeyboardInterrupt:
            said = _("{part}: the check was interrupted.").format(part=part)
            raise CheckInterrupted(said) from None
        _remember(part, function, verdict)
        slow = doubt()
        report = "\n".join(_report(part, known, function, verdict, slow))
        if slow or not verdict.passed:
            _passed.discard(part)
            raise CheckFailed(report)
        print(report)
        _passed.add(part)
        if (moral := known.get("moral")) and not _left():
            print("\n" + wrapped(_("All parts are right. {moral}").format(moral=_(moral))))
            if known.get("thoughts"):
                print(_("To compare your answer to the last question, run: check.thoughts()"))
            if known.get("solution"):
                print(_("To compare your code with another solution, run: check.solution()"))

    def hint(self, part: str) -> None:
        """Print the stronger hint of `part`: what to write down next."""
        with _speaking(_languages.get(part, "")):
            if hint := _data(part).get("hint"):
                said = _("{part}: {hint}").format(part=part, hint=_(hint))
            else:
                said = _("{part}: there is no stronger hint for this part.").format(part=part)
            print(wrapped(said))

    def thoughts(self) -> None:
        """Print what to compare the last question's answer with, if all parts are right."""
        with _speaking(next(iter(_languages.values()), "")):
            _require_all()
            found = {text for known in _published.values() if (text := known.get("thoughts"))}
            for text in found or {_("This exercise has nothing to compare with.")}:
                print(wrapped(_(text)))

    def solution(self) -> None:
        """Print the reference solution, if the release has it and all parts are right."""
        with _speaking(next(iter(_languages.values()), "")):
            _require_all()
            found = [code for known in _published.values() if (code := known.get("solution"))]
            print("\n\n\n".join(found) or _("This copy of the course holds no solutions."))


check = Check()


def headline(part: str, verdict: Verdict) -> str:
    """Return the result of a check in one line."""
    right, total = verdict.right, verdict.total
    if verdict.passed and total == 1:
        return _("{part}: right for the published case.").format(part=part)
    if verdict.passed:
        return _("{part}: right for {total} published cases.").format(part=part, total=total)
    if total == 1 or verdict.cause in ("changing", "changed-inputs"):
        return _("{part}: not right yet.").format(part=part)
    said = _("{part}: not right yet ({right} of {total} published cases).")
    return said.format(part=part, right=right, total=total)


def scope(known: Mapping[str, Any]) -> list[str]:
    """Return sentences on the cases checked here and on the cases of grading."""
    cases = cases_of(known["cases"])
    if shown := series(dict.fromkeys(line for case in cases if (line := _short(case)))):
        lines = [_("Checked here: {cases}.").format(cases=shown)]
    else:
        lines = [_("Checked here: the cases of the question.")]
    if known["kind"] != "names":
        said = _("A value counts within {tolerance} of the right one.")
        lines.append(said.format(tolerance=percent(known["tolerance"])))
    ranges = series(
        _("{name}: {values}").format(name=name, values=values)
        for name, values in known["ranges"].items()
    )
    said = _(
        "Grading asks {function} with these values and with others, not shown here ({ranges})."
    )
    return [*lines, said.format(function=known["function"], ranges=ranges)]


def tries() -> dict[str, Any]:
    """Return counts and results of checks, to restore after a restart of Python."""
    return {"failed": dict(_failed), "wrong": sorted(_wrong), "passed": sorted(_passed)}


def take_tries(data: Mapping[str, Any]) -> None:
    """Restore the `tries` of an earlier Python process."""
    _failed.update(data["failed"])
    _wrong.update(data["wrong"])
    _passed.update(data["passed"])


def _left() -> list[str]:
    """Return the parts that were not checked yet, or whose last check did not pass."""
    return [part for part in _published if part not in _passed]


def _require_all() -> None:
    """Raise CheckFailed unless the last checks of all parts passed."""
    if left := _left():
        said = _("First run the checks of all parts. Left: {parts}.")
        raise CheckFailed(wrapped(said.format(parts=listed(left))))


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


def _judged(known: Mapping[str, Any], function: Any) -> Verdict:
    inputs = cases_of(known["cases"])
    *answers, again = ask_all(function, inputs, known["kind"], limited)
    misconceptions = [MisconceptionValues(**entry) for entry in known["misconceptions"]]
    if any(one.excluded_by for one in misconceptions):
        right_parts = _right_parts_called(function)
        misconceptions = [one for one in misconceptions if one.excluded_by not in right_parts]
    return judge(
        answers, known["expected"], misconceptions, known["tolerance"], inputs, True, again
    )


def _right_parts_called(function: Any) -> set[str]:
    """Return the parts called by this function that were right at their last check."""
    parts = {_published[key]["function"]: key for key in _right if key in _published}
    return {
        parts[name]
        for name, found in called(function, parts).items()
        if found is _right[parts[name]]
    }


def _remember(part: str, function: object, verdict: Verdict) -> None:
    _wrong.discard(part)
    _right.pop(part, None)
    if verdict.passed:
        _right[part] = function
    else:
        _wrong.add(part)
        if verdict.cause != "unwritten":
            _failed[part] = _failed.get(part, 0) + 1


def _report(
    part: str, known: Mapping[str, Any], function: Any, verdict: Verdict, slow: str
) -> Iterator[str]:
    """Yield the lines to print; `slow`: a warning that grading may time out, or ""."""
    yield wrapped(headline(part, verdict))
    if verdict.passed and slow:
        yield wrapped(slow)
    if newer := remark(function):
        yield wrapped(newer)
    if not verdict.passed and verdict.cause != "calls-unwritten":
        yield from map(wrapped, _wrong_parts_called(part, known, function))
    yield from map(wrapped, verdict.sentences)
    if verdict.cause == "too-late":
        said = _(
            "It was stopped: a call gets {seconds} s of computing and {wall_seconds} s in all, in "
            "grading too."
        )
        limits = {"seconds": f"{CALL_SECONDS:g}", "wall_seconds": f"{CALL_WALL_SECONDS:g}"}
        yield wrapped(said.format(**limits))
    yield from map(wrapped, scope(known))
    if part in _wrong and _failed.get(part, 0) >= TRIES and known.get("hint"):
        yield _("For a stronger hint, run: {command}").format(command=f'check.hint("{part}")')


def _wrong_parts_called(part: str, known: Mapping[str, Any], function: Any) -> Iterator[str]:
    """Yield a sentence if the function calls others that were wrong when checked."""
    parts = {_published[key]["function"]: key for key in _wrong if key in _published}
    parts.pop(known["function"], None)
    wrong = [f"`{name}`" for name in called(function, parts)]
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


def _short(case: Mapping[str, Any]) -> str:
    """Return a case as text without lists and dictionaries, which would be too long."""
    plain = {key: value for key, value in case.items() if isinstance(value, int | float | str)}
    return ", ".join(f"{key} = {written(value)}" for key, value in plain.items())
