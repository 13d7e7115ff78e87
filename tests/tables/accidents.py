"""What happens to correct notebooks by accident, and the points that they should get.

RIGHT: edits of the notebook. COSTS: cells and answers that harm themselves,
with the parts that may be lost. BESIDE: further notebooks in the folder.
"""

import copy

import nbformat
from classroom import answers, cell, code, points, with_first
from nbformat.v4 import new_notebook

from grading.release import exercises

FULL = 20  # points of the exercise


def twice(nb, grade_id):
    """Duplicate a cell, and drop all cell ids."""
    place = nb.cells.index(cell(nb, grade_id))
    nb.cells.insert(place, copy.deepcopy(nb.cells[place]))
    for one in nb.cells:
        one.pop("id", None)
    return nb


def without(nb, grade_id):
    nb.cells.remove(cell(nb, grade_id))
    return nb


def edited(nb, grade_id, source):
    cell(nb, grade_id).source = source
    return nb


def retyped(nb, grade_id):
    """Turn a code cell into a Markdown cell."""
    one = cell(nb, grade_id)
    one.cell_type = "markdown"
    del one["outputs"], one["execution_count"]
    return nb


def stripped(nb):
    """Remove all metadata and cell ids."""
    for one in nb.cells:
        one.metadata = {}
        one.pop("id", None)
    nb.metadata = {}
    return nb


def more_points(nb):
    cell(nb, "bytes-moved").metadata.nbgrader.points = 1000
    return nb


def foreign(nb):
    """Append a cell that the learner marked with nbgrader's metadata."""
    mine = nbformat.v4.new_code_cell("1")
    marks = copy.deepcopy(cell(nb, "intensity").metadata.nbgrader) | {"grade_id": "mine"}
    mine.metadata["nbgrader"] = marks
    nb.cells.append(mine)
    return nb


def answered_in_the_check(nb, part="bounds"):
    """Reset a part's solution cell as released, and write its answer above the check."""
    solution, check = cell(nb, f"{part}-solution"), cell(nb, part)
    check.source = f"{solution.source}\n\n\n{check.source}"
    head = solution.source[: solution.source.index("):") + 2]
    solution.source = f"{head}\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    return nb


def given_more(nb):
    """Add an import and a constant to the locked first cell; use both in answers."""
    given = cell(nb, "given")
    given.source = f"import math\n{given.source}\nBYTES = 1"
    for one in answers(nb):
        one.source = one.source.replace("return ", "return math.floor(BYTES) and ")
    return nb


def merged(nb, part="bounds"):
    """Merge a part's check into its solution cell."""
    solution, check = cell(nb, f"{part}-solution"), cell(nb, part)
    solution.source = f"{solution.source}\n\n{check.source}"
    nb.cells.remove(check)
    return nb


def backwards(nb):
    """Put the cells with answers and checks into the opposite order."""
    graded = [one for one in nb.cells if exercises.is_check(one)] + answers(nb)
    places = [n for n, one in enumerate(nb.cells) if one in graded]
    graded = [nb.cells[n] for n in places]
    for place, one in zip(places, reversed(graded), strict=True):
        nb.cells[place] = one
    return nb


def one_cell(nb):
    """Put all answers into the first answer's cell, as Colab's and VS Code's "merge" does."""
    answers = [cell(nb, f"{part}-solution") for part in points()]
    answers[0].source = "\n\n\n".join(one.source for one in answers)
    nb.cells = [one for one in nb.cells if one not in answers[1:]]
    return nb


def split(nb):
    """Move the answer to a new cell below the emptied one."""
    one = cell(nb, "times-solution")
    nb.cells.insert(nb.cells.index(one) + 1, code(one.source))
    one.source = ""
    return nb


def stub_below(nb):
    """Leave the released last line below an answer that replaces an earlier attempt."""
    one = cell(nb, "bounds-solution")
    nb.cells.insert(2, code(one.source.replace("return ", "return 0, ")))
    one.source += "\n    raise NotImplementedError()"
    return nb


def helper_below(nb):
    """Answer by a call of a function that is written further down, below the answer's check."""
    one = cell(nb, "bytes-moved-solution")
    nb.cells.append(code(one.source.replace("def bytes_moved(", "def helper(")))
    one.source = "def bytes_moved(B, D, F):\n    return helper(B, D, F)"
    return nb


def magics(nb):
    """Use magics, one of which writes a file that an answer imports."""
    nb = answering("bounds", "import mine\nmine.ONE")(nb)
    nb = with_first(nb, "%matplotlib inline\n!ls\n%timeit -n1 -r1 sum([1])")
    return with_first(nb, "%%writefile mine.py\nONE = 1")


# name → (edit of a correct notebook, points that it should get)
RIGHT = {
    "solution-twice": (lambda nb: twice(nb, "intensity-solution"), FULL),
    "check-deleted": (lambda nb: without(nb, "bytes-moved"), FULL),
    "first-and-last-deleted": (lambda nb: without(without(nb, "given"), "bounds"), FULL),
    "check-edited": (lambda nb: edited(nb, "times", "check('times', print)"), FULL),
    "check-retyped": (lambda nb: retyped(nb, "times"), FULL),
    "metadata-stripped": (stripped, FULL),
    "points-edited": (more_points, FULL),
    "cell-of-its-own-marked": (foreign, FULL),
    "other-kernel": (lambda nb: nb.metadata.update(kernelspec={"name": "no"}) or nb, FULL),
    "solution-deleted": (lambda nb: without(nb, "bounds-solution"), 17),
    "more-in-the-first-cell": (given_more, FULL),
    "answer-in-the-check": (answered_in_the_check, FULL),
    "merged-cells": (merged, FULL),
    "in-reverse-order": (backwards, FULL),
    "all-in-one-cell": (one_cell, FULL),
    "an-answer-in-two-cells": (split, FULL),
    "an-import-that-nothing-needs": (
        lambda nb: answering("bounds", "import a_package_that_nobody_has, math\nmath.pi")(nb),
        FULL,
    ),
    "the-stub-left-below-an-answer": (stub_below, FULL),
    "a-helper-further-down": (helper_below, FULL),
    "an-error-of-its-own": (lambda nb: with_first(nb, "1 / 0"), FULL),
    "magics": (magics, FULL),
}


HOARD = "hoard = []\nwhile True:\n    hoard.append(bytearray(50_000_000))"
HOARDS = """\
import os, time
for _ in range(9):
    if os.fork() == 0:
        hoard = b"x" * 400_000_000
        time.sleep(90)
time.sleep(90)"""
END = "import os\nos._exit(0)"
EARLY = ("bytes-moved", "intensity")  # parts whose checks stand before "the middle"
LATER = tuple(part for part in points() if part not in EARLY)


def at(place, source):
    """Return an edit that puts a cell after the check of EARLY's last part, or last."""

    def edit(nb):
        middle = nb.cells.index(cell(nb, EARLY[-1])) + 1
        nb.cells.insert(middle if place == "middle" else len(nb.cells), code(source))
        return nb

    return edit


def answering(part, source):
    """Return an edit that puts these lines before a part's answer."""

    def edit(nb):
        one = cell(nb, f"{part}-solution")
        one.source = f"{source}\n\n\n{one.source}"
        return nb

    return edit


def inside(part, line):
    """Return an edit that puts this line at the beginning of a part's function."""

    def edit(nb):
        one = cell(nb, f"{part}-solution")
        head, _, body = one.source.partition("):\n")
        one.source = f"{head}):\n    {line}\n{body}"
        return nb

    return edit


# name → (edit, parts that may be lost, words on the page of feedback)
COSTS = {
    "memory-last": (at("last", HOARD), (), ""),
    "memory-in-the-middle": (at("middle", HOARD), LATER, "memory"),
    "memory-of-many-in-the-middle": (at("middle", HOARDS), LATER, "more memory than there is"),
    "sleeps-last": (at("last", "import time\ntime.sleep(10_000)"), (), "ran for more than 120 s"),
    "ends-last": (at("last", END), (), ""),
    "ends-in-the-middle": (at("middle", END), LATER, "ended"),
    "memory-in-an-answer": (inside("bounds", "[0.0] * 10**11"), ("bounds",), "error"),
    "newer-python": (answering("bounds", "type Bytes[T] = list[T]"), ("bounds",), "Python 3."),
    "half-a-line": (answering("bounds", "limit = ("), ("bounds",), "bounds"),
    "recursion": (
        inside("times", "return times(**locals())"),
        ("times", "bounds"),
        "which got no points",
    ),
    "typo": (inside("bounds", "lenght"), ("bounds",), "lenght"),
    "a-package-that-is-missing": (
        inside("bounds", "import a_package_that_nobody_has"),
        ("bounds",),
        "a_package_that_nobody_has",
    ),
    "a-package-above-the-function": (
        lambda nb: inside("bounds", "no.thing")(
            answering("bounds", "import a_package_that_nobody_has as no")(nb)
        ),
        ("bounds",),
        "a_package_that_nobody_has is not installed",
    ),
}


def untouched(nb):
    """Return the notebook without its answers."""
    nb = copy.deepcopy(nb)
    for part in points():
        one = cell(nb, f"{part}-solution")
        one.source = f"{one.source.partition('):')[0]}):\n    raise NotImplementedError()"
    return nb


def deep(nb):
    """Return the notebook with an expression that is nested too deeply for Python's own tools."""
    return inside("bounds", f"x = {'1 + ' * 2_000}1")(copy.deepcopy(nb))


def wrong(nb):
    """Return the notebook with a wrong last part."""
    return inside("bounds", "return 'nothing'")(copy.deepcopy(nb))


def draft(nb):
    """Return a notebook of the learner's own, in which the same functions were tried out."""
    cells = [copy.deepcopy(cell(nb, f"{part}-solution")) for part in points()]
    for one in cells:
        one.metadata = {}
        one.source += "\n    # not this one\n    return 'nothing'"
    return new_notebook(cells=cells)


# name → (file → which notebook it is; points; part of the note for the instructor)
BESIDE = {
    "untouched-copies": (
        {
            "int8-matmul.ipynb": untouched,
            "int8-matmul (1).ipynb": copy.deepcopy,
            "int8-matmul (2).ipynb": untouched,
        },
        FULL,
        "",
    ),
    "as-text": ({"int8-matmul.ipynb.txt": copy.deepcopy}, FULL, ""),
    "in-capitals": ({"INT8-MATMUL.IPYNB": copy.deepcopy}, FULL, ""),
    "in-a-folder": ({"homework/int8-matmul.ipynb": copy.deepcopy}, FULL, ""),
    "a-copy-that-is-nested-deeply": (
        {"int8-matmul.ipynb": copy.deepcopy, "int8-matmul (1).ipynb": deep},
        FULL,
        "different answers",
    ),
    "a-draft-without-checks": (
        {"int8-matmul.ipynb": copy.deepcopy, "draft.ipynb": draft},
        FULL,
        "",
    ),
    "copies-that-differ": (
        {"int8-matmul.ipynb": copy.deepcopy, "int8-matmul (1).ipynb": wrong},
        FULL,
        "different answers",
    ),
}
