"""Which functions of earlier parts a function calls, read from its code."""

import dis
import inspect
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType

MOST = 200  # functions that are looked into


def called(function: Callable[..., object], names: Collection[str]) -> dict[str, object]:
    """Return those of `names` that the function reads, itself or through the notebook's helpers.

    Each with what the name stands for there.

    Names of the notebook alone: an attribute or a local variable of the same name is another thing.
    """
    found: dict[str, object] = {}
    waiting: list[object] = [inspect.unwrap(function)]
    seen: set[FunctionType] = set()
    while waiting and len(seen) < MOST:
        current = waiting.pop()
        if not isinstance(current, FunctionType) or current in seen:
            continue
        seen.add(current)
        for name in _globals(current.__code__):
            helper = current.__globals__.get(name)
            if name in names:
                found[name] = helper
            elif getattr(helper, "__globals__", None) is current.__globals__:
                waiting.append(helper)
    return found


def _globals(code: CodeType) -> Iterator[str]:
    """The names of the notebook that the code reads, and functions inside of it."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
        elif isinstance(step.argval, CodeType):
            yield from _globals(step.argval)
