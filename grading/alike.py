"""How similar solutions are, for the instructor to judge.

What learners wrote is compared without comments, layout, docstrings and what was released. The
measure is RapidFuzz's normalized Indel similarity: the share of all characters that belong to the
longest common subsequence.
"""

import ast
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy
from nbformat import NotebookNode
from rapidfuzz import process
from rapidfuzz.distance import Indel

from grading.notebook import STUB, key_of, parsed, written

MOST, FEWEST = 10_000, 60  # characters of one notebook; shorter solutions are similar by chance
MOST_PAIRS = 10  # of each exercise
FEWEST_STUDENTS = 4  # fewer have no quartiles
FENCE = 1.5  # Tukey's: what is so many ranges between the quartiles above the upper one stands out


def code(nb: NotebookNode) -> str:
    """Return the learner's own code, as Python would write it."""
    found = [
        text
        for cell in nb.cells
        if cell.cell_type == "code" and (not key_of(cell) or key_of(cell).endswith("-solution"))
        for statement in parsed(cell.source) or ()
        for text in _written(statement)
    ]
    return "\n".join(found)[:MOST]


def _written(statement: ast.stmt) -> Iterator[str]:
    """Yield the statements of a function, or this one; signatures and stubs were released."""
    for one in statement.body if isinstance(statement, ast.FunctionDef) else [statement]:
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue  # a docstring
        text = written(one)
        if text and text not in STUB:
            yield text


Pair = tuple[str, str, str, int, int, int]


def pairs(codes: Mapping[str, Mapping[str, str]]) -> Iterator[Pair]:
    """Yield the pairs of each exercise that are more similar than the class explains.

    In a short exercise, where most right solutions are the same, nobody stands out. Each is
    (exercise, student, other student, similarity in %, median of all pairs in %, characters of the
    shorter solution). codes: exercise → student → what `code` returned.
    """
    for exercise, all_own in codes.items():
        own = {one: text for one, text in sorted(all_own.items()) if len(text) >= FEWEST}
        if len(own) < FEWEST_STUDENTS:
            continue
        texts = list(own.values())
        shares = process.cdist(texts, texts, scorer=Indel.normalized_similarity)
        among = 100 * shares[numpy.triu_indices(len(texts), 1)]
        lower, median, upper = numpy.percentile(among, (25, 50, 75))
        fence = min(upper + FENCE * (upper - lower), 100)
        ranked = sorted(zip((-among).tolist(), combinations(own, 2), strict=True))
        for share, both in ranked[:MOST_PAIRS]:
            if -share > upper and -share >= fence:
                shorter = min(len(own[one]) for one in both)
                yield exercise, *both, round(-share), round(median), shorter
