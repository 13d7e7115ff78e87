"""Give a submitted notebook back what nbgrader needs: each part's cells, once, with metadata.

Editors strip metadata, learners copy, retype and delete cells. None of that is an answer, so none
of it costs points: cells are known again by their id, by the check they call, or by the function
that they define.
"""

import ast
import copy
import functools
import re

from grading.release import exercises


def repair(nb, name):
    """Repair `nb` in place: (remarks, tampering), a line for each thing that was not as released.

    Tampering is what no editor does by itself: the text or the points of a locked cell changed.
    """
    ours = {_grade_id(cell): cell for cell in exercises.source(name).cells if _grade_id(cell)}
    remarks = list(_name_again(nb, ours, exercises.source(name)))
    remarks += _once(nb, ours)
    tampering = []
    for grade_id, cell in ours.items():
        mine = next((mine for mine in nb.cells if _grade_id(mine) == grade_id), None)
        if mine is not None:
            if mine.cell_type != cell.cell_type:
                remarks.append(f"the cell {grade_id} had become a {mine.cell_type} cell")
                _retype(mine, cell)
            tampering += _lock_again(mine, cell)
            mine.metadata.nbgrader = copy.deepcopy(cell.metadata.nbgrader)
    remarks += _add_missing(nb, ours, name)
    nb.metadata["kernelspec"] = copy.deepcopy(exercises.source(name).metadata.kernelspec)
    return remarks, tampering


def _lock_again(mine, ours):
    """Give a locked cell its text back; a fact for each thing that somebody changed."""
    marks = ours.metadata.nbgrader
    if marks.solution:
        return
    if mine.source.split() != ours.source.split():
        yield f"the text of the locked cell {marks.grade_id} was changed"
    if marks.grade and mine.metadata.nbgrader.get("points", marks.points) != marks.points:
        yield f"the points of the cell {marks.grade_id} were changed"
    mine.source = ours.source


def _grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _name_again(nb, ours, source):
    """Metadata for cells that lost it; none for cells that carry somebody else's."""
    by_cell_id = {cell.id: _grade_id(cell) for cell in source.cells if _grade_id(cell)}
    taken = {_grade_id(cell) for cell in nb.cells}
    for cell in nb.cells:
        if "nbgrader" in cell.metadata and _grade_id(cell) not in ours:
            del cell.metadata["nbgrader"]
    for cell in nb.cells:
        if _grade_id(cell):
            continue
        found = by_cell_id.get(cell.get("id")) or _by_content(cell, ours)
        if found and found not in taken:
            taken.add(found)
            cell.metadata["nbgrader"] = copy.deepcopy(ours[found].metadata.nbgrader)
            yield f"the cell {found} had lost its metadata"


def _by_content(cell, ours):
    """The cell of ours that this one was: it calls the same check or defines the same function."""
    call = re.match(r"""\s*check\(\s*["']([\w-]+)["']""", cell.source)
    if call and call.group(1) in ours:
        return call.group(1)
    functions = set(_functions(cell.source))
    for grade_id, our in ours.items():
        if our.metadata.nbgrader.solution and functions & set(_functions(our.source)):
            return grade_id
    return None


@functools.lru_cache(maxsize=100)
def _functions(source):
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two for deep nesting
        return re.findall(r"^def\s+(\w+)", source, flags=re.MULTILINE)
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def _once(nb, ours):
    """Of cells with the same id the last keeps it; earlier ones run as cells of the learner's.

    A copy of a check cell is left out: it would run the check once more, and no more.
    """
    remarks, seen = [], set()
    for index in range(len(nb.cells) - 1, -1, -1):
        grade_id = _grade_id(nb.cells[index])
        if grade_id is None:
            continue
        if grade_id not in seen:
            seen.add(grade_id)
            continue
        remarks.append(f"the cell {grade_id} was there more than once")
        if exercises.is_check(ours[grade_id]):
            del nb.cells[index]
        else:
            del nb.cells[index].metadata["nbgrader"]
    return remarks


def _retype(mine, ours):
    mine.cell_type = ours.cell_type
    if ours.cell_type == "code":
        mine.outputs, mine.execution_count = [], None
        mine.pop("attachments", None)
    else:
        mine.pop("outputs", None)
        mine.pop("execution_count", None)


def _add_missing(nb, ours, name):
    """Put deleted cells back: checks behind the last cell that defines their function.

    A deleted solution cell has nothing in it that could be put back; an empty one takes its place,
    so that the gradebook finds all the cells that it knows.
    """
    remarks = []
    functions = {part.key: part.function for part in exercises.load(name).parts}
    place = -1
    for grade_id, cell in ours.items():
        there = [index for index, mine in enumerate(nb.cells) if _grade_id(mine) == grade_id]
        if there:
            place = there[0]
            continue
        remarks.append(f"the cell {grade_id} was missing")
        if grade_id in functions:
            defined = [
                index
                for index, mine in enumerate(nb.cells)
                if mine.cell_type == "code" and functions[grade_id] in _functions(mine.source)
            ]
            place = max([place, *defined])
        place += 1
        new = copy.deepcopy(cell)
        if cell.metadata.nbgrader.solution:
            new.source = ""
        nb.cells.insert(place, new)
    return remarks
