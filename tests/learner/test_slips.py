"""A slip in a right solution fails the check, or is wrong in every class, or changes nothing.

Slips are made by program: a number is another one, an operation is exchanged, a term is left out.
"""

import ast
import copy
from collections.abc import Callable, Iterator

import pytest
from learner import book, parts, results, solutions
from submissions import Submission

from grading.release import exercises

CLASSES = 20
OTHERS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
NAMES = {"max": "min", "min": "max", "ceil": "floor", "floor": "ceil"}


def changes(node: ast.AST) -> Iterator[Callable[[ast.AST], object]]:
    """Yield functions, each of which makes a slip in a copy of this node."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for value in {node.value * 2, node.value / 2, node.value + 1, 0, 1} - {node.value}:
            yield lambda copied, value=value: setattr(copied, "value", value)
    if isinstance(node, ast.BinOp):
        if other := OTHERS.get(type(node.op)):
            yield lambda copied: setattr(copied, "op", other())
        for kept in ("left", "right"):  # multiplied by one, the other is left out
            yield lambda copied, kept=kept: vars(copied).update(
                op=ast.Mult(), left=getattr(copied, kept), right=ast.Constant(1)
            )
    if isinstance(node, ast.Compare) and (other := OTHERS.get(type(node.ops[0]))):
        yield lambda copied: setattr(copied, "ops", [other()])
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield lambda copied: setattr(copied, "id", NAMES[copied.id])
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda copied: setattr(copied, "attr", NAMES[copied.attr])


def slips(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        for change in changes(node):
            slipped = copy.deepcopy(tree)
            change(list(ast.walk(slipped))[place])
            yield ast.unparse(slipped)


@pytest.mark.long
@pytest.mark.parametrize("name", exercises.names())
def test_no_slip_that_passes_the_check_depends_on_the_class(name: str) -> None:
    keys = [key for key, part in parts(name).items() if part.kind != "figure"]
    sources = [slipped for key in keys for slipped in slips(solutions(name)[key])]
    books = [book(Submission(name, "slip", source, {}, open=True)) for source in sources]
    for source, (_, judged) in zip(sources, results(name, books, CLASSES), strict=True):
        for given in judged.values():
            assert all(given) or not any(given), f"{sum(given)} classes: {source}"
