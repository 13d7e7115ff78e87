"""Calls of a learner's function: each value as plain data, or the problem."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from textwrap import shorten
from traceback import walk_tb
from typing import Any

from roofkit.words import _

from .plain_data import Plain, Unusable, describe, plain, same
from .plot_reading import facts

__all__ = ["Answer", "Plain", "TooLate", "ask", "ask_all", "describe", "plain"]

AXIS = "ax"  # name of the parameter for the axes to draw on, as used in the questions
MAX_DETAIL = 300  # longest error message that is shown, in characters
REPEAT_TOLERANCE = 1e-12  # relative difference allowed when a case is repeated

Limit = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Answer:
    """The result of one call: a plain value, or the problem.

    `detail` may quote arguments and error texts, so only the learner may see it.
    """

    value: Plain = None
    problem: str = ""
    detail: str = ""


class TooLate(BaseException):
    """A timeout of a call; `except Exception` doesn't catch this BaseException."""


def ask(
    function: Callable[..., object],
    case: Mapping[str, Any],
    kind: str,
    limit: Limit = nullcontext,
) -> Answer:
    """Call `function` with a copy of the arguments `case`; return its answer.

    limit: a context manager around the call, which may raise TooLate.
    """
    return _asked(function, deepcopy(dict(case)), kind, limit)


def ask_all(
    function: Callable[..., object],
    cases: Sequence[Mapping[str, Any]],
    kind: str,
    limit: Limit = nullcontext,
) -> Iterator[Answer]:
    """Yield an answer for each case, and one about calling the first case again.

    Each call gets its own copy of the arguments; the repeated call gets the same objects as the
    first one. If its answer differs, the problem of the last answer says why: "changed-inputs" if
    the function has changed those objects and a new copy gives the first answer, else "changing".
    If the answers agree, or if the first call failed, the problem is "".

    limit: a context manager around each call. No more calls follow one that timed out.
    """
    if not cases:
        return
    first_arguments = deepcopy(dict(cases[0]))
    first = answer = _asked(function, first_arguments, kind, limit)
    yield answer
    for case in cases[1:]:
        if answer.problem != "too-late":
            answer = ask(function, case, kind, limit)
        yield answer
    if first.problem or answer.problem == "too-late":
        yield Answer()
        return
    changed = repr(first_arguments) != repr(dict(cases[0]))  # also in another order
    again = _asked(function, first_arguments, kind, limit)
    if again.problem != "too-late" and not _agree(again, first):
        fresh = ask(function, cases[0], kind, limit)
        if fresh.problem == "too-late":
            again = fresh
        else:
            changed = changed and _agree(fresh, first)
            again = Answer(problem="changed-inputs" if changed else "changing")
    yield Answer(problem=again.problem)


def _agree(answer: Answer, first: Answer) -> bool:
    return not answer.problem and same(answer.value, first.value, REPEAT_TOLERANCE)


def _asked(
    function: Callable[..., object], arguments: dict[str, Any], kind: str, limit: Limit
) -> Answer:
    """Call `function` with these objects, not copies, and return its answer."""
    if not callable(function):
        return Answer(problem="not-a-function", detail=_describe_non_function(function))
    figure = kind == "figure"
    names = [AXIS, *arguments] if figure else [*arguments]
    if mismatch := _mismatch(function, names):
        return Answer(problem="arguments", detail=mismatch)
    try:
        with limit():
            if figure:
                return Answer(facts(lambda **drawn: _call(function, drawn), arguments))
            return Answer(plain(_call(function, arguments), kind))
    except TooLate:
        return Answer(problem="too-late")
    except Unusable as unusable:
        problem, detail = unusable.args
        return Answer(problem=problem, detail=detail)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _failure(function, error)


def _call(function: Callable[..., object], named: Mapping[str, Any]) -> object:
    """Call `function` with arguments by name; those before a `/` by position."""
    signature = _signature(function)
    if signature is None:
        return function(**named)
    positional, rest = _placed(signature, named)
    return function(*positional, **rest)


def _mismatch(function: Callable[..., object], names: Sequence[str]) -> str:
    """Return the names and the parameter list if it doesn't accept them, else ""."""
    signature = _signature(function)
    if signature is None:
        return ""  # an invalid call raises its own error
    positional, rest = _placed(signature, dict.fromkeys(names))
    try:
        signature.bind(*positional, **rest)
    except TypeError:
        empty = inspect.Parameter.empty
        plain = [p.replace(default=empty, annotation=empty) for p in signature.parameters.values()]
        if takes := str(inspect.Signature(plain))[1:-1]:
            said = _("{names} (yours takes {parameters})")
        else:
            said = _("{names} (yours takes none)")
        return said.format(names=", ".join(names), parameters=takes)
    return ""


def _placed(
    signature: inspect.Signature, named: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Split arguments into those before a `/` and the others.

    The axes go to the first parameter if none is named `ax`.
    """
    rest, parameters = dict(named), list(signature.parameters.values())
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if AXIS in rest and AXIS not in signature.parameters and by_place:
        rest = {by_place[0].name: rest.pop(AXIS)} | rest
    first = [p.name for p in parameters if p.kind == p.POSITIONAL_ONLY and p.name in rest]
    return [rest.pop(name) for name in first], rest


def _signature(function: Callable[..., object]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # as for some functions written in C
        return None


def _describe_non_function(value: object) -> str:
    """Describe what was passed instead of a function, often after `name = name(…)`."""
    return _(
        "what was handed in is {kind}. If its name was given to a result, as in "
        "`name = name(…)`, run the cell with its `def` again, and give the result another name"
    ).format(kind=describe(value))


def _failure(function: Callable[..., object], error: BaseException) -> Answer:
    """Return the answer for an error that the function raised."""
    if isinstance(error, NotImplementedError) and not error.args:  # as released
        where = _innermost(error)
        if where == getattr(inspect.unwrap(function), "__name__", None):
            return Answer(problem="unwritten")
        return Answer(problem="calls-unwritten", detail=f"`{where}`")
    try:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # the error's __str__ fails
        text = type(error).__name__
    detail = _with_line(shorten(text, MAX_DETAIL, placeholder=" …"), error)
    return Answer(problem="raised", detail=detail)


def _innermost(error: BaseException) -> str:
    """Return the name of the function that raised the error."""
    return [frame.f_code.co_name for frame, line in walk_tb(error.__traceback__)][-1]


def _with_line(text: str, error: BaseException) -> str:
    """Add the line and function of the traceback's last entry in a learner's cell.

    Return the text unchanged if there is no such entry.
    """
    function = ""
    for frame, number in walk_tb(error.__traceback__):
        code = frame.f_code
        if "ipykernel" in code.co_filename or code.co_filename.startswith("<ipython"):
            if not (function and code.co_name.startswith("<")):  # as "<listcomp>" in it
                function = code.co_name
            line = number
    if not function:
        return text
    said = _("{error} (line {line} of the cell with {function})")
    return said.format(error=text, line=line, function=function)
