"""Calls of a learner's function with a question's arguments, by name.

A question names the arguments. Any parameter list that accepts these names works, also one with
defaults, `/`, `*`, `*rest` or `**rest`.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from roofkit.words import _

AXIS = "ax"  # name of the parameter for the axes to draw on, as used in the questions


class Mismatch(Exception):
    """The parameter list doesn't accept the arguments; the message names both lists."""


def caller(function: Callable[..., Any], names: Iterable[str], figure: bool) -> Callable[..., Any]:
    """Return a wrapper that calls `function` with keyword arguments of these names.

    figure: whether the wrapper takes the axes to draw on as its first argument.
    Raise Mismatch if the parameter list of `function` doesn't accept these arguments.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function  # no signature available: an invalid call will raise its own error

    # Pass the axes by name to a parameter named ax, else to the first parameter.
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
        if takes := _as_written(signature):
            said = _("{names} (yours takes {parameters})")
        else:
            said = _("{names} (yours takes none)")
        raise Mismatch(said.format(names=", ".join(wanted), parameters=takes)) from None
    return call


def _named(signature: inspect.Signature) -> set[str]:
    """Return the names of the parameters that take a single argument."""
    collecting = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {p.name for p in signature.parameters.values() if p.kind not in collecting}


def _split(
    signature: inspect.Signature, leading: tuple[Any, ...], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Split arguments into those for positional-only parameters and the others.

    leading: arguments for the first parameters, whatever their names.
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
    """Return the parameter list as in the `def`, without defaults and annotations."""
    empty = inspect.Parameter.empty
    plain = [p.replace(default=empty, annotation=empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain))[1:-1]
