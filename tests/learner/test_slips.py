"""A slip in a right solution fails the check, or is wrong in every class, or changes nothing.

Slips are made by program: a number is another one, an operation is exchanged, a term is left out.
"""

import ast
import contextlib
import copy
import io
import signal
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from solutions import in_check, in_class, parts, reference
from submissions import submissions

from grading.release import exercises
from grading.release.cases import Cases
from grading.schema import Part
from roofkit.check.answers import ask
from roofkit.check.compare import same

CLASSES = 20
SECONDS = 5  # a slip may make a loop endless
SWAPPED = {
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
OTHER_NAMES = {"max": ("min", "sum_of"), "min": ("max",), "ceil": ("floor",), "floor": ("ceil",)}


def slips(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Yield a function once for each slip in its body."""
    for place, node in enumerate(ast.walk(function)):
        for change in changes(node):
            slipped = copy.deepcopy(function)
            change(list(ast.walk(slipped))[place])
            yield ast.fix_missing_locations(slipped)


def changes(node: ast.AST) -> Iterator[Any]:
    """Yield functions, each of which makes a slip in a copy of this node."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for value in {node.value * 2, node.value / 2, node.value + 1, 0, 1} - {node.value}:
            yield lambda copied, value=value: setattr(copied, "value", value)
    if isinstance(node, ast.BinOp):
        if type(node.op) in SWAPPED:
            yield lambda copied: setattr(copied, "op", SWAPPED[type(copied.op)]())
        for kept in ("left", "right"):
            yield lambda copied, kept=kept: alone(copied, getattr(copied, kept))
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield lambda copied: setattr(copied, "ops", [SWAPPED[type(copied.ops[0])]()])
    if isinstance(node, ast.Name | ast.Attribute):
        name = "id" if isinstance(node, ast.Name) else "attr"
        for other in OTHER_NAMES.get(getattr(node, name), ()):
            yield lambda copied, name=name, other=other: setattr(copied, name, other)


def alone(node: ast.BinOp, operand: ast.expr) -> None:
    """Turn an operation into one of its operands: the other is left out."""
    node.op, node.left = ast.Mult(), operand
    node.right = ast.Constant(1)


def sum_of(*values: Any) -> Any:
    return sum(values) if len(values) > 1 else sum(*values)


def is_right(function: Any, part: Part, cases: Cases) -> bool:
    """Return whether a function gives the expected answer to each case."""
    for case, expected in zip(cases.inputs, cases.expected, strict=True):
        with contextlib.redirect_stdout(io.StringIO()):
            answer = ask(function, copy.deepcopy(case), part.kind)
        if answer.problem or not same(answer.value, expected, part.tolerance):
            return False
    return True


@cache
def written(name: str) -> list[tuple[str, str]]:
    """Return (who, code) of the reference and of the right answers in the library.

    Without the one that rounds a single peak: a slip in that line matters only in a class that has
    a peak nearby.
    """
    right = [one for one in submissions(name) if not one.told and not one.open]
    found = [(one.name, one.source) for one in right if one.name != "right_rounded"]
    return [("the reference", ""), *found][:4]


def solutions(name: str, part: Part) -> Iterator[tuple[str, ast.FunctionDef, dict[str, Any]]]:
    """Yield who wrote a solution of a part, its definition, and the names that it needs."""
    for who, code in written(name):
        names = {**reference(name), "sum_of": sum_of}
        if code:
            with contextlib.suppress(Exception):
                exec(code, names)
        else:
            code = "\n".join(
                cell.source
                for cell in exercises.source(name).cells
                if cell.metadata.get("nbgrader", {}).get("solution")
            )
        for node in ast.parse(code).body:
            if isinstance(node, ast.FunctionDef) and node.name == part.function:
                yield who, node, names


def grades(function: Any, part: Part, published: Cases, classes: list[Cases]) -> list[bool]:
    """Return for each class whether an answer is right; nothing if the check says that it isn't.

    Return nothing, either, if it takes too long: the check would say so.
    """
    late = []

    def stop(*_: object) -> None:
        late.append(True)
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        given = []
        if is_right(function, part, published):
            given = [is_right(function, part, one) for one in classes]
    except TimeoutError:
        return []
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return [] if late else given


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "part"),
    [
        pytest.param(name, part, id=f"{name}/{part.key}")
        for name, part in parts()
        if part.kind != "figure"
    ],
)
def test_no_slip_that_passes_the_check_depends_on_the_class(name: str, part: Part) -> None:
    lucky, published = [], in_check(name, part.key)
    classes = [in_class(name, part.key, seed) for seed in range(CLASSES)]
    for who, function, names in solutions(name, part):
        for slipped in slips(function):
            exec(compile(ast.Module([slipped], []), who, "exec"), names)
            given = grades(names[part.function], part, published, classes)
            if any(given) and not all(given):
                lucky.append(f"{who}, {sum(given)} classes: {ast.unparse(slipped)}")
    assert lucky == [], "\n\n".join(lucky)
