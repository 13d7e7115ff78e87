"""Accidental edits of a correct notebook, as learners and tools make them."""

import copy

import nbformat

from classroom import cell, with_first

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


def changed(nb, grade_id, **changes):
    cell(nb, grade_id).update(changes)
    return nb


def retyped(nb, grade_id):
    """Turn a code cell into a Markdown cell."""
    one = cell(nb, grade_id)
    one.cell_type = "markdown"
    del one["outputs"], one["execution_count"]
    return nb


def stripped(nb, ids=True):
    """Remove all metadata, and with `ids` all cell ids."""
    for one in nb.cells:
        one.metadata = {}
        if ids:
            one.pop("id", None)
    nb.metadata = {}
    return nb


def more_points(nb):
    cell(nb, "bytes-moved").metadata.nbgrader.points = 1000
    return nb


def foreign(nb):
    """Append a cell that the learner marked with nbgrader's metadata."""
    mine = nbformat.v4.new_code_cell("1")
    marks = copy.deepcopy(cell(nb, "operations").metadata.nbgrader) | {"grade_id": "mine"}
    mine.metadata["nbgrader"] = marks
    nb.cells.append(mine)
    return nb


def answered_elsewhere(nb, move, part="bounds"):
    """Reset a part's solution cell as released; `move` puts its answer elsewhere."""
    solution = cell(nb, f"{part}-solution")
    answer = solution.source
    head = answer[: answer.index("):") + 2]
    solution.source = f"{head}\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    move(nb, cell(nb, part), answer)
    return nb


def into_the_check(nb, check, answer):
    check.source = f"{answer}\n\n\n{check.source}"


def below_the_check(nb, check, answer):
    nb.cells.insert(nb.cells.index(check) + 1, nbformat.v4.new_code_cell(answer))


def above_the_question(nb, check, answer):
    place = nb.cells.index(cell(nb, "given")) + 1
    nb.cells.insert(place, nbformat.v4.new_code_cell(answer))


def given_more(nb):
    """Add an import and a constant to the locked first cell; use both in answers."""
    given = cell(nb, "given")
    given.source = f"import math\n{given.source}\nBYTES = 1"
    for one in nb.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = one.source.replace("return ", "return math.floor(BYTES) and ")
    return nb


def merged(nb, part="bounds"):
    """Merge a part's check into its solution cell."""
    solution, check = cell(nb, f"{part}-solution"), cell(nb, part)
    solution.source = f"{solution.source}\n\n{check.source}"
    nb.cells.remove(check)
    return nb


def check_first(nb, part="bounds"):
    """Move a part's check above its solution."""
    nb.cells.insert(2, nb.cells.pop(nb.cells.index(cell(nb, part))))
    return nb


# name → (edit of a correct notebook, points that it should get)
RIGHT = {
    "as-it-is": (lambda nb: nb, FULL),
    "check-twice": (lambda nb: twice(nb, "operations"), FULL),
    "solution-twice": (lambda nb: twice(nb, "operations-solution"), FULL),
    "check-deleted": (lambda nb: without(nb, "bytes-moved"), FULL),
    "first-and-last-deleted": (lambda nb: without(without(nb, "given"), "bounds"), FULL),
    "check-edited": (lambda nb: changed(nb, "times", source="check('times', print)"), FULL),
    "check-emptied": (lambda nb: changed(nb, "times", source=""), FULL),
    "check-retyped": (lambda nb: retyped(nb, "times"), FULL),
    "metadata-stripped": (stripped, FULL),
    "metadata-but-no-ids-stripped": (lambda nb: stripped(nb, ids=False), FULL),
    "points-edited": (more_points, FULL),
    "cell-of-its-own-marked": (foreign, FULL),
    "other-kernel": (lambda nb: nb.metadata.update(kernelspec={"name": "no"}) or nb, FULL),
    "solution-deleted": (lambda nb: without(nb, "bounds-solution"), 17),
    "solution-retyped": (lambda nb: retyped(nb, "bounds-solution"), FULL),
    "warns": (lambda nb: with_first(nb, "import warnings\nwarnings.warn('x')"), FULL),
    "more-in-the-first-cell": (given_more, FULL),
    "answer-in-the-check": (lambda nb: answered_elsewhere(nb, into_the_check), FULL),
    "answer-below-the-check": (lambda nb: answered_elsewhere(nb, below_the_check), FULL),
    "answer-above-the-question": (lambda nb: answered_elsewhere(nb, above_the_question), FULL),
    "merged-cells": (merged, FULL),
    "process-ended": (lambda nb: with_first(nb, "import os\nos._exit(0)"), 0),
    "check-moved-up": (check_first, FULL),
}


# Student → nbformat version of the notebook that is handed in.
OLD = {"nbformat-3": 3, "nbformat-4-0": 4}
