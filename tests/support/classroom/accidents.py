"""What happens to a right notebook on its way to the grader, without anybody meaning harm."""

import copy

import nbformat

from classroom import cell, with_first

FULL = 20


def twice(nb, grade_id):
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
    one = cell(nb, grade_id)
    one.cell_type = "markdown"
    del one["outputs"], one["execution_count"]
    return nb


def stripped(nb, ids=True):
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
    mine = nbformat.v4.new_code_cell("1")
    marks = copy.deepcopy(cell(nb, "operations").metadata.nbgrader) | {"grade_id": "mine"}
    mine.metadata["nbgrader"] = marks
    nb.cells.append(mine)
    return nb


# What a right solution suffers on its way: (what is done to the notebook, points)
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
    "process-ended": (lambda nb: with_first(nb, "import os\nos._exit(0)"), 0),
}


OLD = {"nbformat-3": 3, "nbformat-4-0": 4}
