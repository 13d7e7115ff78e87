"""Reorders the cells of a submission so that they run from top to bottom.

Learners may run cells out of order, while the grader runs all cells once, from the top. So a cell
moves below the cells that it needs, and a check moves below the function that it checks and
everything this function needs. Cells move only if a name would be undefined otherwise, or if the
exercise's own cells are not in the released order. If several cells bind a name, the last one above
a check counts.
"""

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from itertools import pairwise

from nbformat import NotebookNode

from grading.intake.dependencies import CellNames, Names, closure, names_of
from grading.intake.own_code import functions, written
from grading.release import exercises

MAX_CELLS = 500  # code cells; in longer notebooks, checks are only moved below their functions
MAX_NAMED = 5  # names in one remark


def reorder(nb: NotebookNode, checked: Mapping[str, str], released: Sequence[str]) -> list[str]:
    """Move cells of `nb` where needed; return remarks about the moves.

    checked: key of each check → the function that it checks. released: the keys of all cells in the
    order of the released notebook.
    """
    order = _Order(nb) if sum(map(_is_own, nb.cells)) <= MAX_CELLS else None
    remarks = order.sort_by_needs(checked.values()) if order else []
    checks = {key: cell for cell in nb.cells if (key := _key(cell)) in checked}
    for key, function in checked.items():
        remarks += _move_below_function(nb, checks[key], function)
    present = [key for cell in nb.cells if (key := _key(cell)) in released]
    moved = present != [key for key in released if key in present]
    for key, function in checked.items():
        if order:
            remarks += order.move_below_needs(checks[key], function)
        if order and moved:
            remarks += order.move_above_clash(checks[key], function)
    return remarks


class _Order:
    """The cells of a notebook in order, with the names that each binds and needs."""

    def __init__(self, nb: NotebookNode) -> None:
        self.nb = nb
        self.names = {id(cell): names_of(cell.source) for cell in nb.cells if _is_own(cell)}
        self.later: dict[str, Names] = {}  # function → names that it needs when called
        for one in self.names.values():
            for name, needed in one.later.items():
                if name not in one.stubs:
                    self.later[name] = self.later.get(name, frozenset()) | needed

    def places(self) -> list[tuple[int, CellNames]]:
        """Return (index, names) of each code cell that is not a check."""
        found = enumerate(self.nb.cells)
        return [(place, self.names[id(cell)]) for place, cell in found if id(cell) in self.names]

    def sort_by_needs(self, functions: Iterable[str]) -> list[str]:
        """Move cells below those that bind the names they need; return remarks.

        There is no remark if no cell moved. Only cells whose remaining statements matter to
        `functions` move. Cells that bind the same name, and those that read it between them, keep
        their order. If that is impossible, nothing moves.
        """
        cells = self.places()
        binders: dict[str, list[int]] = {}  # name → the cells, in order, that bind it
        for number, (_, names) in enumerate(cells):
            for name in names.binds:
                binders.setdefault(name, []).append(number)
        first = {name: numbers[0] for name, numbers in binders.items()}
        wanted: list[set[str]] = [set() for _ in cells]  # cell → names whose last binding it has
        for name in closure(functions, self.all_needs()) & binders.keys():
            wanted[binders[name][-1]].add(name)
        absent = [
            self._absent(names, number, first, wanted[number])
            for number, (_, names) in enumerate(cells)
        ]
        if not any(absent):
            return []
        above: list[set[int]] = [set() for _ in cells]  # cell → cells that must be above it
        for numbers in binders.values():
            for one, other in pairwise(numbers):
                above[other].add(one)
        for number, (_, names) in enumerate(cells):
            for name in names.needs | absent[number]:
                others = [other for other in binders.get(name, ()) if other != number]
                place = bisect(others, number)
                if not place and name in absent[number]:
                    place = 1
                above[number].update(others[place - 1 : place])
                for later in others[place : place + 1]:
                    above[later].add(number)
        order = _sorted(above)
        if order is None:
            return []
        places = [place for place, _ in cells]
        moved = [self.nb.cells[places[number]] for number in order]
        for place, cell in zip(places, moved, strict=True):
            self.nb.cells[place] = cell
        needed = ", ".join(sorted(set().union(*absent))[:MAX_NAMED])
        return [f"cells stood above those that they need ({needed})"]

    def all_needs(self) -> dict[str, Names]:
        """Return name → the names needed to compute its value and to call it."""
        needs = dict(self.later)
        for one in self.names.values():
            for step in one.steps:
                for name in step.binds:
                    needs[name] = needs.get(name, frozenset()) | step.needs
        return needs

    def _absent(
        self, names: CellNames, place: int, first: Mapping[str, int], wanted: set[str]
    ) -> set[str]:
        """Return the names that a cell needs and only cells further down bind.

        Returns an empty set if the rest of the cell binds no `wanted` name.
        """
        bound: set[str] = set()
        for index, step in enumerate(names.steps):
            needed = step.needs | closure(step.calls & self.later.keys(), self.later)
            absent = {
                name for name in needed - bound - step.binds if first.get(name, place) > place
            }
            if absent:
                rest = names.steps[index:]
                return absent if any(wanted & further.binds for further in rest) else set()
            bound |= step.binds
        return set()

    def move_below_needs(self, check: NotebookNode, function: str) -> list[str]:
        """Move a check below the cells that its function needs, if they come later."""
        at = _index(self.nb, check)
        lowest = self._lowest_need(at, function)
        if lowest is None:
            return []
        place, name = lowest
        self.nb.cells.insert(place, self.nb.cells.pop(at))
        return [f"{name}, which {function} needs, stood below its check"]

    def _lowest_need(self, at: int, function: str) -> tuple[int, str] | None:
        """Return (index, name) of the lowest binding that a function needs, from `at` on.

        Names that are also bound above `at` don't count.
        """
        cells = self.places()
        above = {name for place, names in cells if place < at for name in names.binds}
        found = []
        for name in closure([function], self.later) - above:
            below = [place for place, names in cells if place >= at and name in names.binds]
            if below:
                # Take the last definition of a function, but the first binding of any other name.
                found.append((below[-1 if name in self.later else 0], name))
        return max(found, default=None)

    def move_above_clash(self, check: NotebookNode, function: str) -> list[str]:
        """Move a check above another part's cell that rebinds a name its function uses.

        For example, two parts may each define a helper with the same name.
        """
        at = _index(self.nb, check)
        cells = [(place, names) for place, names in self.places() if place < at]
        own, mine = max(
            ((place, names) for place, names in cells if function in names.binds),
            default=(at, CellNames()),
        )
        shared = mine.binds & closure([function], mine.later)
        clashes = any(
            place > own and _key(self.nb.cells[place]) and shared & names.binds
            for place, names in cells
        )
        if not clashes or self._lowest_need(own + 1, function):
            return []
        self.nb.cells.insert(own + 1, self.nb.cells.pop(at))
        return [f"another part stood between {function} and its check"]


def _sorted(above: Sequence[set[int]]) -> list[int] | None:
    """Sort topologically, in ascending order where possible; None for a cycle."""
    sorter = TopologicalSorter(dict(enumerate(above)))
    try:
        sorter.prepare()
    except CycleError:
        return None
    ready: list[int] = []
    order = []
    while sorter.is_active():
        for number in sorter.get_ready():
            heappush(ready, number)
        order.append(heappop(ready))
        sorter.done(order[-1])
    return order


def _move_below_function(nb: NotebookNode, check: NotebookNode, function: str) -> list[str]:
    """Move a check below the function that it checks.

    The check moves only if all definitions are below it. If a released stub lies between the
    learner's definition and the check, the stub moves above the definition, so that it does not
    overwrite it.
    """
    answers = [cell for cell in nb.cells if _is_own(cell) and written(cell.source, function)]
    places = [_index(nb, cell) for cell in answers]
    at = _index(nb, check)
    if places and min(places) > at:
        nb.cells.insert(max(places), nb.cells.pop(at))
        return [f"{function} was written below its check"]
    last = max((place for place in places if place < at), default=at)
    stub = next(
        (
            cell
            for cell in nb.cells[last + 1 : at]
            if cell.cell_type == "code" and function in functions(cell.source)
        ),
        None,
    )
    if stub is None:
        return []
    nb.cells.insert(last, nb.cells.pop(_index(nb, stub)))
    return [f"{function} was written above its question"]


def _is_own(cell: NotebookNode) -> bool:
    """Return whether this is a code cell other than a check."""
    return cell.cell_type == "code" and not exercises.is_check(cell)


def _key(cell: NotebookNode) -> str | None:
    grade_id: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return grade_id


def _index(nb: NotebookNode, cell: NotebookNode) -> int:
    """Return the index of this cell, by identity: other cells may be equal to it."""
    return next(index for index, one in enumerate(nb.cells) if one is cell)
