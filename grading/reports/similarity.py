"""Measures how similar students' solutions are, for the instructor to judge.

The syntax trees of the learners' own code are compared element by element, in source order. The
elements are kinds of expressions and statements, names, and constants; comments, layout, docstrings
and released code do not count. The measure is RapidFuzz's normalized Indel similarity: the share of
all elements that belong to the longest common subsequence.
"""

import ast
import contextlib
import functools
import statistics
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, islice

import numpy
from nbformat import NotebookNode
from rapidfuzz import process
from rapidfuzz.distance import Indel

from grading.intake.own_code import MAX_CACHED_CHARACTERS, is_stub, parsed
from grading.records.results import Result
from grading.release import exercises

NAME_FIELDS: dict[type, str] = {  # kind of node → the field that holds its name
    **{ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg"},
    **{ast.alias: "name", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name"},
    **{ast.ClassDef: "name", ast.ExceptHandler: "name"},
}
MAX_ELEMENTS = 5_000  # elements of one notebook
MIN_ELEMENTS = 20  # shorter solutions are similar by chance
MAX_PAIRS = 10  # pairs reported for each exercise
MAX_SOURCE_CHARACTERS = 300_000  # characters parsed per notebook; later cells are ignored
# Syntax tree elements are hashed to characters of Unicode's private-use area.
CODES, FIRST_CODE = 6_400, 0xE000
OPERATORS = (ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
SKIPPED = (*OPERATORS, ast.expr_context, ast.arguments)


def code(nb: NotebookNode) -> str:
    """Encode the learner's own code as one character per syntax tree element."""
    found: list[str] = []
    left = MAX_SOURCE_CHARACTERS
    for cell in nb.cells:
        marks = cell.metadata.get("nbgrader", {})
        left -= len(cell.source)
        if cell.cell_type != "code" or (marks and not marks.get("solution")) or left < 0:
            continue
        encode = _cached_code if len(cell.source) <= MAX_CACHED_CHARACTERS else _code
        found.append(encode(cell.source))
    return "".join(found)[:MAX_ELEMENTS]


def _code(source: str) -> str:
    found = (
        chr(FIRST_CODE + zlib.crc32(element.encode("utf-8", "replace")) % CODES)
        for element in _elements(parsed(source) or ())
    )
    return "".join(islice(found, MAX_ELEMENTS))


# Cache, since most cells are identical in many submissions.
_cached_code = functools.lru_cache(_code)


def _elements(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield a string for each node in source order; skip top-level signatures."""
    waiting: list[ast.AST] = []
    for statement in body:
        waiting.append(statement)
        while waiting:
            node = waiting.pop()
            inner = list(ast.iter_child_nodes(node))
            if isinstance(node, ast.FunctionDef) and node is statement:
                inner = [] if is_stub(node) else list(node.body)
            elif _is_text(node):
                inner = []
            else:
                # Yield an operator with its expression, not as a separate element.
                signs = [type(one).__name__ for one in inner if isinstance(one, OPERATORS)]
                yield f"{type(node).__name__} {signs} {_text(node)}"
            waiting += [one for one in reversed(inner) if not isinstance(one, SKIPPED)]


def _is_text(node: ast.AST) -> bool:
    """Return whether this is a docstring or another bare string statement."""
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


def pairs(state: Mapping[str, Mapping[str, Result]]) -> list[Pair]:
    """Return the most similar pairs of solutions of each exercise.

    Each is (exercise, student, other student, similarity in %, median of all pairs in %, elements
    of the shorter solution).
    """
    rows: list[Pair] = []
    for name in exercises.names():
        codes = {
            student: text
            for student, own in sorted(state.items())
            if (text := own.get(name, {}).get("code")) and len(text) >= MIN_ELEMENTS
        }
        if len(codes) < 2:
            continue
        texts = list(codes.values())
        shares = process.cdist(texts, texts, scorer=Indel.normalized_similarity)
        among = shares[numpy.triu_indices(len(texts), 1)]
        median = statistics.median(among.tolist())
        found = sorted(zip((-among).tolist(), combinations(codes, 2), strict=True))[:MAX_PAIRS]
        rows += [
            (
                name,
                *both,
                round(-100 * share),
                round(100 * median),
                min(len(codes[one]) for one in both),
            )
            for share, both in found
        ]
    return rows
