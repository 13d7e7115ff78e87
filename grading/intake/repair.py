"""Give a submitted notebook back what nbgrader needs: each part's cells, once, with metadata.

Editors strip metadata; learners copy, retype and delete cells. None of that is an answer, so none
of it costs points: a cell is recognised by its id, by the check it calls, or by the function that
it defines.
"""

import ast
import copy
import functools
import re
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode

from grading.release import exercises

SourceCells = Mapping[str, NotebookNode]  # grade id → the cell of the source notebook


def repair(nb: NotebookNode, name: str) -> tuple[list[str], list[str]]:
    """Repair `nb` in place: (remarks, tampering), a line for each thing that was not as released.

    Tampering is what no editor does by itself: the text or the points of a locked cell changed.
    """
    source = exercises.source(name)
    source_cells = {grade_id: cell for cell in source.cells if (grade_id := _grade_id(cell))}
    remarks = list(_restore_metadata(nb, source_cells))
    remarks += _remove_duplicates(nb, source_cells)
    tampering: list[str] = []
    for grade_id, original in source_cells.items():
        cell = next((cell for cell in nb.cells if _grade_id(cell) == grade_id), None)
        if cell is not None:
            if cell.cell_type != original.cell_type:
                remarks.append(f"the cell {grade_id} had become a {cell.cell_type} cell")
                _retype(cell, original)
            tampering += _restore_text(cell, original)
            cell.metadata.nbgrader = copy.deepcopy(original.metadata.nbgrader)
    remarks += _add_missing(nb, source_cells, name)
    nb.metadata["kernelspec"] = copy.deepcopy(source.metadata.kernelspec)
    return remarks, tampering


def _grade_id(cell: NotebookNode) -> str | None:
    grade_id: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return grade_id


def _restore_metadata(nb: NotebookNode, source_cells: SourceCells) -> Iterator[str]:
    """Metadata for cells that lost it; none for cells whose grade id is not of this exercise."""
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
    """The grade id that this cell had: it calls the same check or defines the same function."""
    call = re.match(r"""\s*check\(\s*["']([\w-]+)["']""", cell.source)
    if call and call.group(1) in source_cells:
        return call.group(1)
    functions = set(_functions(cell.source))
    for grade_id, original in source_cells.items():
        if original.metadata.nbgrader.solution and functions & set(_functions(original.source)):
            return grade_id
    return None


@functools.lru_cache(maxsize=100)
def _functions(source: str) -> list[str]:
    """Names of the functions that this source defines at its top level."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two for deep nesting
        return re.findall(r"^def\s+(\w+)", source, flags=re.MULTILINE)
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def _remove_duplicates(nb: NotebookNode, source_cells: SourceCells) -> list[str]:
    """Of cells with the same grade id the last keeps it; earlier ones run as the learner's own.

    A copy of a check cell is removed: it would only run the check once more.
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
        if exercises.is_check(source_cells[grade_id]):
            del nb.cells[index]
        else:
            del nb.cells[index].metadata["nbgrader"]
    return remarks


def _retype(cell: NotebookNode, original: NotebookNode) -> None:
    cell.cell_type = original.cell_type
    if original.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _restore_text(cell: NotebookNode, original: NotebookNode) -> Iterator[str]:
    """Give a locked cell its text back; a line for each thing that somebody changed."""
    marks = original.metadata.nbgrader
    if marks.solution:
        return
    if cell.source.split() != original.source.split():
        yield f"the text of the locked cell {marks.grade_id} was changed"
    if marks.grade and cell.metadata.nbgrader.get("points", marks.points) != marks.points:
        yield f"the points of the cell {marks.grade_id} were changed"
    cell.source = original.source


def _add_missing(nb: NotebookNode, source_cells: SourceCells, name: str) -> list[str]:
    """Put deleted cells back: checks behind the last cell that defines their function.

    A deleted solution cell has nothing in it that could be put back; an empty one takes its place,
    so that the gradebook finds all the cells that it knows.
    """
    remarks = []
    functions = {part.key: part.function for part in exercises.load(name).parts}
    place = -1
    for grade_id, original in source_cells.items():
        there = [index for index, cell in enumerate(nb.cells) if _grade_id(cell) == grade_id]
        if there:
            place = there[0]
            continue
        remarks.append(f"the cell {grade_id} was missing")
        if grade_id in functions:
            defined = [
                index
                for index, cell in enumerate(nb.cells)
                if cell.cell_type == "code" and functions[grade_id] in _functions(cell.source)
            ]
            place = max([place, *defined])
        place += 1
        new = copy.deepcopy(original)
        if original.metadata.nbgrader.solution:
            new.source = ""
        nb.cells.insert(place, new)
    return remarks
