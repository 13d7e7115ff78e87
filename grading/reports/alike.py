"""How alike the solutions of a class are: facts for a person to look at, and no verdict.

What is compared is the syntax tree of what a learner wrote, element by element in its order: kinds
of expressions and statements, names, and constants. Comments, layout and docstrings are not in it,
nor is what was released. The share is that of RapidFuzz's Indel similarity: of all elements of
both, how many stand in both in the same order.
"""

import ast
import functools
import statistics
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, islice

import numpy
from nbformat import NotebookNode
from rapidfuzz import process
from rapidfuzz.distance import Indel

from grading.intake.own_code import KEPT_CHARACTERS, is_stub, parsed
from grading.records.results import Result
from grading.release import exercises

NAMED: dict[type, str] = {  # where the name stands in what has one
    **{ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg"},
    **{ast.alias: "name", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name"},
    **{ast.ClassDef: "name", ast.ExceptHandler: "name"},
}
MOST = 5_000  # elements of one hand-in
LEAST = 20  # of what is compared: shorter ones are alike by chance
PAIRS = 10  # the most alike, of each exercise
SOURCE = 300_000  # characters of a notebook, beyond which nothing is parsed
TEXT = 100  # characters of a name or a constant
LARGEST = 1e300  # whole numbers beyond may be no float
CODES, FIRST = 6_400, 0xE000  # characters for private use, each for some elements
SKIPPED = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.arguments)


def code(nb: NotebookNode) -> str:
    """What the learner wrote in this notebook: a character for each element of its syntax tree."""
    found: list[str] = []
    left = SOURCE
    for cell in nb.cells:
        marks = cell.metadata.get("nbgrader", {})
        left -= len(cell.source)
        if cell.cell_type != "code" or (marks and not marks.get("solution")) or left < 0:
            continue
        own = _kept if len(cell.source) <= KEPT_CHARACTERS else _code
        found.append(own(cell.source))
    return "".join(found)[:MOST]


def _code(source: str) -> str:
    found = (
        chr(FIRST + zlib.crc32(element.encode("utf-8", "replace")) % CODES)
        for element in _elements(parsed(source) or ())
    )
    return "".join(islice(found, MOST))


# Of most cells the text is the same in many hand-ins.
_kept = functools.lru_cache(maxsize=200)(_code)


def _elements(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Kind and text of each node in the order of the source; of a function only what it does."""
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
                # Operators stand with what they join.
                signs = [type(one).__name__ for one in inner if isinstance(one, SKIPPED[1:5])]
                yield " ".join([type(node).__name__, *signs, _text(node)])
            waiting += [one for one in reversed(inner) if not isinstance(one, SKIPPED)]


def _is_text(node: ast.AST) -> bool:
    """A docstring, or a text that stands where one might."""
    if isinstance(node, ast.Constant):
        return False
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _text(node: ast.AST) -> str:
    """A name, or a constant: cut where it is long, and the same for 2 and 2.0."""
    if type(node) is ast.Constant:
        value = node.value
        if isinstance(value, int | float) and abs(value) < LARGEST:
            return repr(float(value))
        return repr(value[:TEXT]) if isinstance(value, str | bytes) else type(value).__name__
    text = getattr(node, NAMED.get(type(node), ""), "")
    return text[:TEXT] if isinstance(text, str) else ""


Pair = tuple[str, str, str, int, int, int]


def pairs(state: Mapping[str, Mapping[str, Result]]) -> list[Pair]:
    """(exercise, student, other student, per cent alike, the median of all pairs, elements of the
    shorter) of the pairs that are most alike in each exercise."""
    rows: list[Pair] = []
    for name in exercises.names():
        codes = {
            student: text
            for student, own in sorted(state.items())
            if len(text := own.get(name, {}).get("code", "")) >= LEAST
        }
        if len(codes) < 2:
            continue
        texts = list(codes.values())
        shares = process.cdist(texts, texts, scorer=Indel.normalized_similarity)
        among = shares[numpy.triu_indices(len(texts), 1)]
        median = statistics.median(among.tolist())
        found = sorted(zip((-among).tolist(), combinations(codes, 2), strict=True))[:PAIRS]
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
