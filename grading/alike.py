"""How similar solutions are, for the instructor to judge.

The syntax trees of what learners wrote are compared element by element, in their order: kinds of
expressions and statements, names and constants, without comments, layout, docstrings and what was
released. The measure is RapidFuzz's normalized Indel similarity: the share of all elements that
belong to the longest common subsequence.
"""

import ast
import contextlib
import statistics
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import numpy
from nbformat import NotebookNode
from rapidfuzz import process
from rapidfuzz.distance import Indel

from grading.notebook import STUB, key_of, parsed

NAME_FIELDS: dict[type, str] = {  # kind of node → the field that holds its name
    **{ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg"},
    **{ast.alias: "name", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name"},
    **{ast.ClassDef: "name", ast.ExceptHandler: "name"},
}
MOST_ELEMENTS = 5_000  # of one notebook
FEWEST_ELEMENTS = 20  # shorter solutions are similar by chance
MOST_PAIRS = 10  # of each exercise
# An element is one character of Unicode's private-use area.
CODES, FIRST_CODE = 6_400, 0xE000
OPERATORS = (ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
SKIPPED = (*OPERATORS, ast.expr_context, ast.arguments)


def code(nb: NotebookNode) -> str:
    """Return the learner's own code, a character for each element of its syntax trees."""
    found: list[str] = []
    for cell in nb.cells:
        key = key_of(cell)
        if cell.cell_type == "code" and (not key or key.endswith("-solution")):
            for element in _elements(parsed(cell.source) or ()):
                number = zlib.crc32(element.encode("utf-8", "replace")) % CODES
                found.append(chr(FIRST_CODE + number))
                if len(found) == MOST_ELEMENTS:
                    return "".join(found)
    return "".join(found)


def _elements(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield a text for each node in source order; signatures were released, and don't count."""
    for statement in body:
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            inner = list(ast.iter_child_nodes(node))
            if isinstance(node, ast.FunctionDef) and node is statement:
                last = ast.unparse(node.body[-1])
                inner = [] if STUB.search(last) else list(node.body)
            elif _is_text(node):
                inner = []
            else:
                signs = [type(one).__name__ for one in inner if isinstance(one, OPERATORS)]
                yield f"{type(node).__name__} {signs} {_text(node)}"
            waiting += [one for one in reversed(inner) if not isinstance(one, SKIPPED)]


def _is_text(node: ast.AST) -> bool:
    """Return whether this is a docstring or another bare text."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _text(node: ast.AST) -> object:
    """Return a node's name or constant; 2 and 2.0 give the same text."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, int | float):
            with contextlib.suppress(OverflowError):
                return repr(float(value))
        return repr(value) if isinstance(value, str | bytes) else type(value).__name__
    return getattr(node, NAME_FIELDS[type(node)]) if type(node) in NAME_FIELDS else None


Pair = tuple[str, str, str, int, int, int]


def pairs(codes: Mapping[str, Mapping[str, str]]) -> Iterator[Pair]:
    """Yield the most similar pairs of each exercise.

    Each is (exercise, student, other student, similarity in %, median of all pairs in %, elements
    of the shorter solution). codes: exercise → student → what `code` returned.
    """
    for exercise, all_own in codes.items():
        own = {one: text for one, text in sorted(all_own.items()) if len(text) >= FEWEST_ELEMENTS}
        if len(own) < 2:
            continue
        texts = list(own.values())
        shares = process.cdist(texts, texts, scorer=Indel.normalized_similarity)
        among = shares[numpy.triu_indices(len(texts), 1)]
        median = round(100 * statistics.median(among.tolist()))
        ranked = sorted(zip((-among).tolist(), combinations(own, 2), strict=True))
        for share, both in ranked[:MOST_PAIRS]:
            shorter = min(len(own[one]) for one in both)
            yield exercise, *both, round(-100 * share), median, shorter
