"""Functions of earlier parts that a function calls, read from its bytecode."""

import dis
import inspect
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType

MAX_FUNCTIONS = 200  # limit on functions inspected per search


def called(function: Callable[..., object], names: Collection[str]) -> dict[str, object]:
    """Return those of `names` that the function uses as globals, with their values.

    Helpers from the same notebook are searched as well. Attributes and local variables of the same
    name don't count.
    """
    found: dict[str, object] = {}
    waiting: list[object] = [inspect.unwrap(function)]
    seen: set[FunctionType] = set()
    while waiting and len(seen) < MAX_FUNCTIONS:
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
    """Yield the global names that the code and its nested functions read."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
        elif isinstance(step.argval, CodeType):
            yield from _globals(step.argval)
