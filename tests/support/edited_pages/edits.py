"""Edits that a reader might make.

They set another chip, model, data type, size, rate or list.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import rooflib as rl
from rooflib.dtypes import DTYPES

FACTORS = (1 / 1000, 1 / 10, 1 / 2, 2, 10, 1000)
NAMES = (
    tuple(chip.name for chip in rl.chips()),
    tuple(model.name for model in rl.models()),
    tuple(DTYPES),
)
# Arguments that only say how something is written or drawn aren't edited: all but the first in
# calls of the functions in FORMATTING, and all in calls of methods of the objects in DRAWING.
FORMATTING = {"text", "scientific", "percent", "round", "join", "format"}
DRAWING = {"ax", "axes", "fig", "figure", "plt", "plots"}


@dataclass(frozen=True)
class Edit:
    """Replacement of a piece of a cell's code."""

    step: int
    start: int
    end: int
    old: str
    new: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]

    def __str__(self) -> str:
        return f"{self.old} → {self.new}"


def edits(step: int, source: str) -> Iterator[Edit]:
    """Yield the edits that a reader might make to a cell."""
    tree = ast.parse(source)
    starts = line_starts(source)
    for node in changeable(tree):
        start = starts[node.lineno - 1] + column(source, node.lineno, node.col_offset)
        end = starts[node.end_lineno - 1] + column(source, node.end_lineno, node.end_col_offset)
        for new in replacements(node):
            if new != source[start:end]:
                yield Edit(step, start, end, source[start:end], new)


def line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def column(source: str, line: int, offset: int) -> int:
    """Convert an offset in bytes, as in a syntax tree, to one in characters."""
    return len(source.splitlines()[line - 1].encode()[:offset].decode())


def changeable(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the literals and lists of literals that a reader might change.

    Search the node itself and everything below it.
    """
    if (isinstance(node, ast.Constant) and replacements(node)) or (
        isinstance(node, ast.List | ast.Tuple)
        and node.elts
        and all(isinstance(element, ast.Constant) for element in node.elts)
    ):
        yield node
    # Skip f-strings: before Python 3.12, the positions of literals inside them are unknown.
    if isinstance(node, ast.JoinedStr):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Subscript) and child is node.slice:
            continue
        if isinstance(node, ast.Call):
            if root(node.func) in DRAWING:
                return
            is_format = isinstance(node.func, ast.Attribute) and node.func.attr in FORMATTING
            if is_format and child in (*node.args[1:], *node.keywords):
                continue
        yield from changeable(child)


def root(node: ast.expr) -> str:
    """Return the first name of an expression such as `a.b.c`: `a`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def replacements(node: ast.expr) -> list[str]:
    """Return code to put in place of a literal or a list of literals."""
    if isinstance(node, ast.Constant):
        return [repr(value) for value in others(node.value)]
    assert isinstance(node, ast.List | ast.Tuple)
    values = [element.value for element in node.elts if isinstance(element, ast.Constant)]
    last = values[-1]
    more = next(iter(others(last)[-1:]), last)
    lists = [
        [*values, more],
        values[:-1],
        values[:1],
        values[-1:],
        [*values, *values],
        values[::-1],
    ]
    kind = list if isinstance(node, ast.List) else tuple
    return list(dict.fromkeys(repr(kind(found)) for found in lists if found))


def others(value: object) -> list[object]:
    """Return replacements for a literal; none if readers would hardly change it."""
    for names in NAMES:
        if value in names:
            return [name for name in names if name != value]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value:
        return []
    if isinstance(value, int):
        found = [1, *(int(value * factor) for factor in FACTORS), value + 1]
        return [number for number in dict.fromkeys(found) if number > 0 and number != value]
    return [1.0, *(value * factor for factor in FACTORS)]
