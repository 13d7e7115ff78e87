"""Generates the slips of a function: changed copies of its syntax tree.

A slip is one small change: another operator or constant, a term left out, two arguments swapped,
one rounding too many. `variants` yields each of them once, as the changed function.
"""

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
COMMUTATIVE = (ast.Add, ast.Mult)
FACTORS = (2,)  # factors by which constants are multiplied and divided
PREFIXES = (2, 8, 10, 1000, 1.024)  # factors for constants that convert units
UNITS = 1000  # larger or equal constants are taken for unit conversions
ROUNDING_NAMES = ("int", "math.ceil", "math.floor", "round")
EXTREMES = ("max", "min", "sum")
ROUNDINGS = ("math.ceil({})", "math.floor({})", "round({})", "int({})")
# Ways in which learners round results: ROUNDINGS and others.
TIDIED = (*ROUNDINGS, "int({}) + 1", "math.ceil({}) - 1", "round({}, 2)", "round({}, 3)")

Replacement = ast.AST | list[ast.stmt]


@dataclass(frozen=True)
class Variant:
    """A changed copy of a function.

    line: the changed line of the original. rounding: whether the change only rounds a value, which
    has no effect on whole numbers. reordering: whether it only swaps arguments of a call, which has
    no effect if they are symmetric.
    """

    tree: ast.FunctionDef
    line: int
    rounding: bool
    reordering: bool


def variants(function: ast.FunctionDef) -> Iterator[Variant]:
    """Yield each changed copy of `function`."""
    texts = sorted({node.value for node in ast.walk(function) if _is_text(node, function)})
    names = _variables(function)
    for node, path in _with_path(function, frozenset()):
        for new in (*_replacements(node, names, texts), *_without_parentheses(node)):
            changed = _replaced(function, path, node, new)
            if changed.body:
                line = getattr(node, "lineno", 0)
                yield Variant(changed, line, _is_rounding(new), _is_reordering(node, new))


@cache
def _lines(statement: ast.stmt) -> list[str]:
    """Return the source lines of a statement of the unchanged function.

    They are cached because all variants ask for them.
    """
    return ast.unparse(statement).splitlines()


def change(before: ast.FunctionDef, after: ast.FunctionDef) -> str:
    """Return the lines that differ, as `before → after`, or ""."""
    pairs = itertools.zip_longest(before.body, after.body)
    apart = [pair for pair in pairs if pair[0] is not pair[1]]
    old = [line for tree, _ in apart if tree for line in _lines(tree)]
    new = [line for _, tree in apart if tree for line in ast.unparse(tree).splitlines()]
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    removed, added = (" ⏎ ".join(map(str.strip, lines)) for lines in (old, new))
    return f"{removed} → {added}" if removed or added else ""


def _is_rounding(new: Replacement) -> bool:
    match new:
        case ast.BinOp():
            return isinstance(new.op, ast.FloorDiv)
        case ast.Call():
            return ast.unparse(new.func) in ROUNDING_NAMES
        case ast.Return(value=ast.expr() as value):
            return _is_rounding(value)
        case ast.Tuple():
            return all(map(_is_rounding, new.elts))
        case ast.DictComp():
            return _is_rounding(new.value)
    return False


def _is_reordering(node: ast.AST, new: Replacement) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(new, ast.Call):
        return False
    before, after = (sorted(map(ast.unparse, call.args)) for call in (node, new))
    return ast.unparse(node.func) == ast.unparse(new.func) and before == after


def _replaced(node: Any, path: frozenset[int], target: ast.AST, new: Replacement) -> Any:
    """Return a copy of the tree with `target` replaced; other subtrees are shared.

    path: the ids of the target's ancestors.
    """
    if node is target:
        return new
    if id(node) not in path:
        return node
    changed = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            entries = []
            for entry in value:
                other = _replaced(entry, path, target, new)
                entries += other if isinstance(other, list) else [other]
            setattr(changed, name, entries)
        elif isinstance(value, ast.AST):
            setattr(changed, name, _replaced(value, path, target, new))
    return changed


def _with_path(node: ast.AST, above: frozenset[int]) -> Iterator[tuple[ast.AST, frozenset[int]]]:
    """Yield each node, with the ids of its ancestors."""
    yield node, above
    for child in ast.iter_child_nodes(node):
        yield from _with_path(child, above | {id(node)})


def _variables(function: ast.FunctionDef) -> list[str]:
    """Return the names of the function's arguments and assigned variables."""
    arguments = [argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)]
    assigned = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return list(dict.fromkeys([*arguments, *assigned]))


def _replacements(node: ast.AST, names: list[str], texts: list[str]) -> Iterator[Replacement]:
    match node:
        case ast.BinOp():
            yield from _of_operation(node)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield ast.BoolOp(other, node.values)
            yield from node.values
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Compare(ops=[_], comparators=[right]):
            for way in COMPARISONS:
                if not isinstance(node.ops[0], way):
                    yield ast.Compare(node.left, [way()], [right])
        case ast.Constant():
            yield from _of_constant(node, texts)
        case ast.IfExp():
            yield node.body
            yield node.orelse
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.If():
            yield node.body
            if node.orelse:
                yield node.orelse
                yield ast.If(node.test, node.orelse, node.body)
            else:
                yield ast.Pass()
        case ast.Call():
            yield from _of_call(node)
        case ast.Name(ctx=ast.Load()) if node.id in names:
            yield from (ast.Name(name, ast.Load()) for name in names if name != node.id)
        case ast.Return(value=ast.expr() as value):
            yield from (ast.Return(tidied) for tidied in _tidied(value))
        case ast.Tuple(ctx=ast.Load()) if len(node.elts) > 1:
            yield ast.Tuple(node.elts[::-1], ast.Load())
            for dropped in range(len(node.elts)):
                yield ast.Tuple(_without(node.elts, dropped), ast.Load())
        case ast.comprehension() if node.ifs:
            for dropped in range(len(node.ifs)):
                yield ast.comprehension(node.target, node.iter, _without(node.ifs, dropped), 0)
        case ast.AugAssign():
            yield ast.Pass()
            yield ast.Assign([node.target], node.value, lineno=node.lineno)


def _of_operation(node: ast.BinOp) -> Iterator[ast.expr]:
    for operator in OPERATORS:
        if not isinstance(node.op, operator):
            # Powers of integers with exponents in the millions would fill the memory.
            left = _wrapped("float({})", node.left) if operator is ast.Pow else node.left
            yield ast.BinOp(left, operator(), node.right)
    yield node.left
    yield node.right
    if not isinstance(node.op, COMMUTATIVE):
        yield ast.BinOp(node.right, node.op, node.left)
    for form in TIDIED:
        yield _wrapped(form, node)


def _without_parentheses(node: ast.AST) -> Iterator[ast.expr]:
    """Yield expressions such as `(a + b) * c` without their parentheses.

    Another example is `a / (b * c)`.
    """
    if not isinstance(node, ast.BinOp) or isinstance(node.op, ast.Add):
        return
    left, right = node.left, node.right
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add | ast.Sub):
        yield ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right))
    if isinstance(right, ast.BinOp):
        yield ast.BinOp(ast.BinOp(node.left, node.op, right.left), right.op, right.right)


def _of_constant(node: ast.Constant, texts: list[str]) -> Iterator[ast.expr]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, str):
        yield from (ast.Constant(text) for text in texts if value in texts and text != value)
    elif isinstance(value, int | float):
        others = [value + 1, value - 1, 0, 1, -value]
        factors = PREFIXES if value >= UNITS else FACTORS
        others += [value * factor for factor in factors]
        others += [
            value // factor if isinstance(value, int) and value % factor == 0 else value / factor
            for factor in factors
        ]
        yield from (ast.Constant(other) for other in dict.fromkeys(others) if other != value)


def _of_call(node: ast.Call) -> Iterator[ast.expr]:
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    called = ast.unparse(node.func)
    if called in EXTREMES and len(node.args) > 1:
        yield from (_wrapped(f"{other}({{}})", *node.args) for other in EXTREMES[:2])
        yield _wrapped("sum([{}])", *node.args)
    if called in ROUNDING_NAMES:
        yield from (_wrapped(form, *node.args) for form in ROUNDINGS)
    yield from node.args
    for dropped in range(len(node.args)):
        yield ast.Call(node.func, _without(node.args, dropped), node.keywords)
    for one in range(len(node.args)):
        for other in range(one):
            args = list(node.args)
            args[one], args[other] = args[other], args[one]
            yield ast.Call(node.func, args, node.keywords)
    for one, first in enumerate(node.keywords):
        for second in node.keywords[:one]:
            swapped = {first.arg: second.value, second.arg: first.value}
            keywords = [
                ast.keyword(entry.arg, swapped.get(entry.arg, entry.value))
                for entry in node.keywords
            ]
            yield ast.Call(node.func, node.args, keywords)


def _tidied(value: ast.expr) -> Iterator[ast.expr]:
    """Yield a returned value with its numbers rounded.

    Numbers inside a tuple or dictionary are rounded too.
    """
    for form in TIDIED:
        match value:
            case ast.Tuple():
                yield ast.Tuple([_wrapped(form, entry) for entry in value.elts], ast.Load())
            case ast.DictComp():
                wrapped = _wrapped(form, value.value)
                yield ast.DictComp(value.key, wrapped, value.generators)
            case ast.ListComp():
                return
            case ast.BinOp():
                return  # _of_operation wraps this value
            case _:
                yield _wrapped(form, value)


def _wrapped(form: str, *parts: ast.expr) -> ast.expr:
    text = form.format(", ".join(map(ast.unparse, parts)))
    return ast.parse(text, mode="eval").body


def _without(entries: list[ast.expr], dropped: int) -> list[ast.expr]:
    return entries[:dropped] + entries[dropped + 1 :]


def _is_text(node: ast.AST, function: ast.FunctionDef) -> bool:
    documentation = function.body[0]
    inside = isinstance(documentation, ast.Expr) and node is documentation.value
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not inside
