"""What a learner's function answers: each call's value as plain data, or what stood in the way."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from .calling import Mismatch, caller
from .plain_data import Plain, Unusable, describe, plain, same
from .plot_reading import facts

__all__ = ["Answer", "Plain", "TooLate", "ask", "ask_all", "describe", "plain"]

DETAIL = 300  # characters of an error's text
# Frames that no learner named, and most of which a later Python does without.
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
AGAIN = 1e-12  # two answers for one case that differ by more than this are two answers

Limit = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Answer:
    """What came of one call: a plain value, or the problem that stood in the way.

    `detail` may quote what the function was given or said, so it is for the learner's own eyes.
    """

    value: Plain = None
    problem: str = ""
    detail: str = ""


class TooLate(BaseException):
    """A call took too long. No Exception, so that a learner's `except Exception` lets it pass."""


def ask(
    function: Callable[..., object],
    case: Mapping[str, Any],
    kind: str,
    limit: Limit = nullcontext,
) -> Answer:
    """Call `function` with a copy of the keyword arguments `case` and take its value out.

    limit: opened around the call; may raise TooLate in it.
    """
    return _asked(function, deepcopy(dict(case)), kind, limit)


def ask_all(
    function: Callable[..., object],
    cases: Sequence[Mapping[str, Any]],
    kind: str,
    limit: Limit = nullcontext,
) -> Iterator[Answer]:
    """One answer for each case, and then one more, about asking the first case again.

    Each case is asked with a copy of its own. Then the first is asked again with the very objects
    that the function got the first time. If the answer is another one, the problem of the last
    answer is "changing" if that is so with a new copy too, or if those objects are still what they
    were, else "changed-inputs": the function changed what it was given. If all is well, or if there
    was no first value, it is "".

    limit: opened around each single call. After a call that was too late no other is made.
    """
    if not cases:
        return
    handed = deepcopy(dict(cases[0]))
    first = answer = _asked(function, handed, kind, limit)
    yield answer
    for case in cases[1:]:
        if answer.problem != "too-late":
            answer = ask(function, case, kind, limit)
        yield answer
    if first.problem or answer.problem == "too-late":
        yield Answer()
        return
    changed = _shown(handed) != _shown(dict(cases[0]))
    again = _asked(function, handed, kind, limit)
    if again.problem != "too-late" and not _agree(again, first):
        fresh = ask(function, cases[0], kind, limit)
        if fresh.problem == "too-late":
            again = fresh
        else:
            changed = changed and _agree(fresh, first)
            again = Answer(problem="changed-inputs" if changed else "changing")
    yield Answer(problem=again.problem)


def _agree(answer: Answer, first: Answer) -> bool:
    return not answer.problem and same(answer.value, first.value, AGAIN)


def _shown(arguments: dict[str, Any]) -> str:
    """Arguments as text, in which the order of a dictionary counts too."""
    try:
        return repr(arguments)
    except Exception:  # an object that the function has put there
        return ""


def _asked(
    function: Callable[..., object], arguments: dict[str, Any], kind: str, limit: Limit
) -> Answer:
    """What `function` answers to these very objects."""
    if not callable(function):
        return Answer(problem="not-a-function", detail=_no_function(function))
    try:
        call = caller(function, arguments, figure=kind == "figure")
    except Mismatch as mismatch:
        return Answer(problem="arguments", detail=str(mismatch))
    try:
        with limit():
            if kind == "figure":
                return Answer(value=facts(call, arguments))
            return Answer(value=plain(call(**arguments), kind))
    except TooLate:
        return Answer(problem="too-late")
    except Unusable as unusable:
        problem, detail = unusable.args
        return Answer(problem=problem, detail=detail)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _failure(function, error)


def _no_function(value: object) -> str:
    """Why there is none: mostly because `operations = operations(…)` was run."""
    return (
        f"what was handed in is {describe(value)}. If its name was given to a result, as in "
        "`name = name(…)`, run the cell with its `def` again, and give the result another name"
    )


def _failure(function: Callable[..., object], error: BaseException) -> Answer:
    """What an error of the function's own means."""
    if isinstance(error, NotImplementedError) and not error.args:  # as it is released
        where = _innermost(error)
        if where in ("", getattr(inspect.unwrap(function), "__name__", "")):
            return Answer(problem="unwritten")
        return Answer(problem="calls-unwritten", detail=f"`{where}`")
    try:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # an error with a text of its own making
        text = type(error).__name__
    return Answer(problem="raised", detail=shorten(text, DETAIL, placeholder=" …") + _line(error))


def _innermost(error: BaseException) -> str:
    """The name of the function that raised the error."""
    name, trace = "", error.__traceback__
    while trace is not None:
        name, trace = trace.tb_frame.f_code.co_name, trace.tb_next
    return name


def _line(error: BaseException) -> str:
    """Where in the learner's own cell it happened: the last line that isn't in a file."""
    where = function = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "ipykernel" in code.co_filename or code.co_filename.startswith("<ipython"):
            if not (function and code.co_name in COMPREHENSIONS):
                function = code.co_name
            where = f" (line {trace.tb_lineno} of the cell with {function})"
        trace = trace.tb_next
    return where
