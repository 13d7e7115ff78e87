"""Functions of the same notebook that a function calls, read from its bytecode."""

import dis
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType


def called(function: object) -> list[str]:
    """Return the names of the functions that this one calls, itself or through others.

    Only functions from its own notebook count, by the global names that code uses for them.
    Attributes and local variables of the same name don't count.
    """
    found: dict[str, FunctionType] = {}
    waiting = [inspect.unwrap(function)] if callable(function) else []
    while waiting:
        current = waiting.pop()
        if not isinstance(current, FunctionType):
            continue
        for name in _globals(current.__code__):
            other = current.__globals__.get(name)
            other = getattr(other, "__wrapped__", other)  # as by functools.cache
            if (
                isinstance(other, FunctionType)
                and other.__globals__ is current.__globals__
                and name not in found
            ):
                found[name] = other
                waiting.append(other)
    return sorted(found)


def _globals(code: CodeType) -> Iterator[str]:
    """Yield the global names that the code and its nested functions read."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
        elif isinstance(step.argval, CodeType):
            yield from _globals(step.argval)
