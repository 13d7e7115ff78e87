"""Selection of the prose blocks of a page to update after a reader's changes.

A block is ``{"values": {expression: text}, "premise": expression}``: its computed texts when the
page was built and, if the author gave one, a condition. A block is updated only if its condition
is true; otherwise it keeps the texts of the build.
"""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, TypedDict

from rooflib.quantities import Quantity

Block = Mapping[str, Any]


class State(TypedDict):
    """Decision whether a block of prose is updated.

    follows: it shows the values computed now; otherwise it describes the page as built. now: the
    values that differ from those of the build, None for one that can't be computed. undefined: a
    name is missing, as in a notebook whose cells have not been run.
    """

    follows: bool
    now: dict[str, str | None]
    undefined: bool


class Failed:
    """Result of an expression that raised an error."""

    def __init__(self, error: Exception) -> None:
        self.undefined = isinstance(error, NameError)


def state(block: Block, names: dict[str, Any]) -> State:
    """Decide whether a block shows current values; `names` are the page's variables."""
    found = {expression: evaluated(expression, names) for expression in block["values"]}
    texts = {expression: shown(value) for expression, value in found.items()}
    now = {e: text for e, text in texts.items() if text != block["values"][e]}
    results = list(found.values())
    follows = not now
    if premise := block.get("premise"):
        results.append(evaluated(premise, names))
        follows = is_true(results[-1]) and None not in now.values()
    undefined = any(isinstance(result, Failed) and result.undefined for result in results)
    return {"follows": follows, "now": now, "undefined": undefined}


def evaluated(expression: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression, or Failed."""
    try:
        return eval(expression, names)
    except Exception as error:
        return Failed(error)


def is_true(value: Any) -> bool:
    """Return whether the value of a block's condition counts as true."""
    try:
        return not isinstance(value, Failed) and bool(value)
    except Exception:  # the truth of an array is ambiguous
        return False


def shown(value: Any) -> str | None:
    """Return a string, an integer or a quantity as text in prose; None for anything else."""
    if isinstance(value, str | Quantity):
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{value:,}"
    return None
