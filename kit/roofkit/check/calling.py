"""How to call a learner's function with the arguments of a question, by name.

A question gives the names of the arguments. A function whose parameters have these names is called,
however its parameter list is written: with defaults, `/`, `*`, `*rest` or `**rest`.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

AXIS = "ax"  # what the questions call the axis to draw on


class Mismatch(Exception):
    """The parameter list does not take the arguments: (both lists, for the learner)."""


def caller(function: Callable[..., Any], names: Iterable[str], figure: bool) -> Callable[..., Any]:
    """Return what calls `function` with keyword arguments of these names.

    figure: what is returned takes the axis to draw on as its first argument.
    Mismatch if the parameter list of `function` doesn't take these arguments.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function  # no signature available: the call itself will tell

    # A parameter named ax gets the axis by name; else the first parameter gets it.
    axis_by_name = figure and AXIS in _named(signature)

    def call(*leading: Any, **named: Any) -> Any:
        if axis_by_name:
            named |= dict(zip((AXIS,), leading, strict=True))
            leading = ()
        positional, rest = _split(signature, leading, named)
        return function(*positional, **rest)

    axis, asked = (None,) if figure else (), dict.fromkeys(names)
    wanted = [*([AXIS] if figure else []), *asked]
    if axis_by_name:
        axis, asked = (), {AXIS: None, **asked}
    positional, rest = _split(signature, axis, asked)
    try:
        signature.bind(*positional, **rest)
    except TypeError:
        takes = _as_written(signature) or "none"
        raise Mismatch(f"{', '.join(wanted)} (yours takes {takes})") from None
    return call


def _named(signature: inspect.Signature) -> set[str]:
    """The names of the parameters that take a single argument."""
    collecting = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {p.name for p in signature.parameters.values() if p.kind not in collecting}


def _split(
    signature: inspect.Signature, leading: tuple[Any, ...], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Split arguments: those for positional-only parameters, and the others by name.

    leading: arguments for the first parameters, whatever the names of these are.
    """
    positional, rest = list(leading), dict(named)
    for parameter in list(signature.parameters.values())[len(leading) :]:
        if parameter.kind != inspect.Parameter.POSITIONAL_ONLY:
            break
        if parameter.name in rest:
            positional.append(rest.pop(parameter.name))
        elif parameter.default is not inspect.Parameter.empty:
            positional.append(parameter.default)
        else:
            break  # an argument is missing: binding fails
    return positional, rest


def _as_written(signature: inspect.Signature) -> str:
    """The parameter list as in the `def`, without defaults and annotations."""
    empty = inspect.Parameter.empty
    plain = [p.replace(default=empty, annotation=empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain))[1:-1]
