"""Repair of notebooks: each exercise cell is there once, with its metadata.

Editors strip metadata; learners copy cells, change their type and delete them. That costs no
points: a cell is recognized by its id, by the check that it calls, or by the function that it
defines.
"""

import copy
import re
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from grading.intake import reading
from grading.intake.order import reorder
from grading.intake.own_code import added, functions
from grading.release import exercises, translation
from roofkit.notebook_language import language_of

SourceCells = Mapping[str, NotebookNode]  # grade id → the cell of the source notebook


def repair(nb: NotebookNode, name: str) -> tuple[list[str], list[str]]:
    """Repair `nb` in place; return (remarks, tampering), a line per difference.

    Changes to the text or the points of a locked cell count as tampering: no editor makes them.
    """
    language = language_of(nb)
    _drop_metadata(nb)
    source = exercises.source(name)
    source_cells = {grade_id: cell for cell in source.cells if (grade_id := _grade_id(cell))}
    remarks = list(_restore_metadata(nb, source_cells))
    remarks += _remove_duplicates(nb, source_cells)
    tampering: list[str] = []
    for grade_id, original in source_cells.items():
        cell = next((cell for cell in nb.cells if _grade_id(cell) == grade_id), None)
        if cell is not None:
            if cell.cell_type != "code":
                remarks.append(f"the cell {grade_id} had become a {cell.cell_type} cell")
                _make_code(cell)
            found, kept = _restore_text(cell, original)
            tampering += found
            cell.metadata.nbgrader = copy.deepcopy(original.metadata.nbgrader)
            if kept:
                remarks.append(f"what was added to the locked cell {grade_id} was kept")
                # Code added to a check goes above the check: it may be the answer that is checked.
                place = _index(nb, cell) + (not exercises.is_check(cell))
                nb.cells.insert(place, _new_cell(nb, kept, f"added-to-{grade_id}"))
    remarks += _add_missing(nb, source_cells, name)
    remarks += reorder(nb, _checked_functions(name), list(source_cells))
    nb["metadata"] = copy.deepcopy(source.metadata)  # replaces the metadata of the learner's editor
    if language in translation.languages():
        nb.metadata["exercise"]["language"] = language
    return remarks, tampering


def _drop_metadata(nb: NotebookNode) -> None:
    """Remove all outputs, and all metadata but nbgrader's: a tag could skip a cell."""
    for cell in nb.cells:
        cell["metadata"] = NotebookNode(reading.nbgraders_own(cell.metadata))
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None


def _grade_id(cell: NotebookNode) -> str | None:
    grade_id: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return grade_id


def _restore_metadata(nb: NotebookNode, source_cells: SourceCells) -> Iterator[str]:
    """Restore nbgrader's metadata, remove that of other exercises; yield remarks."""
    by_cell_id = {cell.id: grade_id for grade_id, cell in source_cells.items()}
    taken = {_grade_id(cell) for cell in nb.cells}
    for cell in nb.cells:
        if "nbgrader" in cell.metadata and _grade_id(cell) not in source_cells:
            del cell.metadata["nbgrader"]
    for cell in nb.cells:
        if _grade_id(cell):
            continue
        found = by_cell_id.get(cell.get("id")) or _by_content(cell, source_cells)
        if found and found not in taken:
            taken.add(found)
            cell.metadata["nbgrader"] = copy.deepcopy(source_cells[found].metadata.nbgrader)
            yield f"the cell {found} had lost its metadata"


def _by_content(cell: NotebookNode, source_cells: SourceCells) -> str | None:
    """Return the grade id of the source cell with the same check or function."""
    call = re.match(r"""\s*check\(\s*["']([\w-]+)["']""", cell.source)
    if call and call.group(1) in source_cells:
        return call.group(1)
    defined = set(functions(cell.source))
    for grade_id, original in source_cells.items():
        if original.metadata.nbgrader.solution and defined & set(functions(original.source)):
            return grade_id
    return None


def _remove_duplicates(nb: NotebookNode, source_cells: SourceCells) -> list[str]:
    """Keep each grade id only in its last cell; return remarks.

    Earlier cells become the learner's own cells. Copies of a check cell are removed: they would
    only run the check again.
    """
    remarks, seen = [], set()
    for index in reversed(range(len(nb.cells))):
        grade_id = _grade_id(nb.cells[index])
        if grade_id is None:
            continue
        if grade_id not in seen:
            seen.add(grade_id)
            continue
        remarks.append(f"the cell {grade_id} was there more than once")
        if exercises.is_check(source_cells[grade_id]):
            del nb.cells[index]
        else:
            del nb.cells[index].metadata["nbgrader"]
    return remarks


def _make_code(cell: NotebookNode) -> None:
    """Make this a code cell, as all of an exercise's cells with a grade id are."""
    cell.cell_type = "code"
    cell.outputs, cell.execution_count = [], None
    cell.pop("attachments", None)


def _restore_text(cell: NotebookNode, original: NotebookNode) -> tuple[list[str], str]:
    """Restore a locked cell's text; return (lines about tampering, code added to it)."""
    marks = original.metadata.nbgrader
    if marks.solution:
        return [], ""
    tampering, kept = [], ""
    if cell.source.split() != original.source.split():
        kept, whole = added(cell.source, original.source)
        if not whole:
            tampering.append(f"the text of the locked cell {marks.grade_id} was changed")
    if marks.grade and cell.metadata.nbgrader.get("points", marks.points) != marks.points:
        tampering.append(f"the points of the cell {marks.grade_id} were changed")
    cell.source = original.source
    return tampering, kept


def _new_cell(nb: NotebookNode, source: str, name: str) -> NotebookNode:
    cell: NotebookNode = new_code_cell(source, id=name)
    if nb.get("nbformat_minor", 5) < 5:  # cells have no ids before 4.5
        del cell["id"]
    return cell


def _index(nb: NotebookNode, cell: NotebookNode) -> int:
    """Return the index of this cell, by identity: other cells may be equal to it."""
    return next(index for index, one in enumerate(nb.cells) if one is cell)


def _checked_functions(name: str) -> dict[str, str]:
    """Return each part's check → the function that it checks."""
    return {part.key: part.function for part in exercises.load(name).parts}


def _add_missing(nb: NotebookNode, source_cells: SourceCells, name: str) -> list[str]:
    """Restore deleted cells; return remarks.

    Checks go below the last cell that defines their function. Solution cells are restored empty:
    the gradebook needs a cell for each of its rows.
    """
    remarks = []
    checked = _checked_functions(name)
    place = -1
    for grade_id, original in source_cells.items():
        there = [index for index, cell in enumerate(nb.cells) if _grade_id(cell) == grade_id]
        if there:
            place = there[0]
            continue
        remarks.append(f"the cell {grade_id} was missing")
        if grade_id in checked:
            defined = [
                index
                for index, cell in enumerate(nb.cells)
                if cell.cell_type == "code" and checked[grade_id] in functions(cell.source)
            ]
            place = max([place, *defined])
        place += 1
        new = copy.deepcopy(original)
        if original.metadata.nbgrader.solution:
            new.source = ""
        nb.cells.insert(place, new)
    return remarks
