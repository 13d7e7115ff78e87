"""Puts moved cells of a submission into an order in which its functions can be asked.

A learner who moves cells, and runs them in another order than they stand in, has a notebook that
works. Here all cells run from the top, once. So a cell moves down to what it needs when it runs,
and a check moves down to the function that it asks and to all that this function needs. Nothing
moves unless a name would be missing otherwise, or unless cells of the exercise stand in another
order than they were released in: where a name is given two values, the last above a check counts.
"""

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise

from nbformat import NotebookNode

from grading.intake.dependencies import CellNames, Names, closure, names_of
from grading.intake.own_code import functions, written
from grading.release import exercises

MAX_CELLS = 500  # of code, beyond which nothing is looked for but a check's own function
MAX_NAMED = 5  # names in a remark


def settle(nb: NotebookNode, asked: Mapping[str, str], released: Sequence[str]) -> list[str]:
    """Move cells of `nb` where that is needed; a remark for each move.

    asked: key of each check → the function that it asks. released: the keys of all cells in the
    order of the released notebook.
    """
    order = _Order(nb) if sum(map(_is_own, nb.cells)) <= MAX_CELLS else None
    remarks = order.sort_by_needs(asked.values()) if order else []
    checks = {key: cell for cell in nb.cells if (key := _key(cell)) in asked}
    for key, function in asked.items():
        remarks += _meet(nb, checks[key], function)
    present = [key for cell in nb.cells if (key := _key(cell)) in released]
    moved = present != [key for key in released if key in present]
    for key, function in asked.items():
        if order:
            remarks += order.below_needs(checks[key], function)
        if order and moved:
            remarks += order.before_clash(checks[key], function)
    return remarks


class _Order:
    """The cells of a notebook in their order, and the names that each of them has to do with."""

    def __init__(self, nb: NotebookNode) -> None:
        self.nb = nb
        self.names = {id(cell): names_of(cell.source) for cell in nb.cells if _is_own(cell)}
        self.later: dict[str, Names] = {}  # of all cells: what a function needs when it is called
        for one in self.names.values():
            for name, needed in one.later.items():
                if name not in one.stubs:
                    self.later[name] = self.later.get(name, frozenset()) | needed

    def places(self) -> list[tuple[int, CellNames]]:
        """(place, names) of each cell that is run."""
        found = enumerate(self.nb.cells)
        return [(place, self.names[id(cell)]) for place, cell in found if id(cell) in self.names]

    def sort_by_needs(self, asked: Iterable[str]) -> list[str]:
        """Sort the cells so that none stops for want of a name that a cell below gives a value to.

        Only where the rest of a cell is needed. All else stays in its order: cells that give one
        name a value, and those that read it between them. If that is impossible, nothing moves.
        """
        cells = self.places()
        binders: dict[str, list[int]] = {}  # name → the cells, in order, that give it a value
        for number, (_, names) in enumerate(cells):
            for name in names.binds:
                binders.setdefault(name, []).append(number)
        first = {name: numbers[0] for name, numbers in binders.items()}
        counts: list[set[str]] = [set() for _ in cells]  # cell → what counts of what it gives
        for name in closure(asked, self.all_needs()) & binders.keys():
            counts[binders[name][-1]].add(name)
        absent = [
            self._absent(names, number, first, counts[number])
            for number, (_, names) in enumerate(cells)
        ]
        if not any(absent):
            return []
        above: list[set[int]] = [set() for _ in cells]  # cell → cells that must come before it
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
        """Name → all that is needed to give it its value, and when it is called."""
        needs = dict(self.later)
        for one in self.names.values():
            for step in one.steps:
                for name in step.binds:
                    needs[name] = needs.get(name, frozenset()) | step.needs | step.calls
        return needs

    def _absent(
        self, names: CellNames, place: int, first: Mapping[str, int], wanted: set[str]
    ) -> set[str]:
        """What a cell lacks at this place and would have further down; nothing if no matter."""
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

    def below_needs(self, check: NotebookNode, function: str) -> list[str]:
        """Have a check come after all that its function needs and that stands below it alone."""
        at = _index(self.nb, check)
        place, name = self._lowest_need(at, function)
        if place <= at:
            return []
        self.nb.cells.insert(place, self.nb.cells.pop(at))
        return [f"{name}, which {function} needs, stood below its check"]

    def _lowest_need(self, at: int, function: str) -> tuple[int, str]:
        """(last place, name) of what a function needs and what is not above this place."""
        cells = self.places()
        above = {name for place, names in cells if place < at for name in names.binds}
        lowest = (-1, "")
        for name in closure([function], self.later) - above:
            below = [place for place, names in cells if place >= at and name in names.binds]
            if below:
                # Of a function the last that was written, of other names the first value.
                lowest = max(lowest, (below[-1 if name in self.later else 0], name))
        return lowest

    def before_clash(self, check: NotebookNode, function: str) -> list[str]:
        """Have a check come before another part's cell that gives another value to a name.

        Of a name to which the function's own cell gives one too, as to a helper of the same name.
        """
        at = _index(self.nb, check)
        cells = [(place, names) for place, names in self.places() if place < at]
        own, mine = max(
            ((place, names) for place, names in cells if function in names.binds),
            key=lambda one: one[0],
            default=(at, CellNames()),
        )
        shared = mine.binds & closure([function], mine.later)
        clashes = any(
            place > own and _key(self.nb.cells[place]) and shared & names.binds
            for place, names in cells
        )
        if not clashes or self._lowest_need(own + 1, function)[0] > own:
            return []
        self.nb.cells.insert(own + 1, self.nb.cells.pop(at))
        return [f"another part stood between {function} and its check"]


def _sorted(above: Sequence[set[int]]) -> list[int] | None:
    """All numbers, each after those that must be above it, else in their order; None if none is."""
    below: list[list[int]] = [[] for _ in above]
    for number, others in enumerate(above):
        for other in others:
            below[other].append(number)
    waits = [len(others) for others in above]
    ready = [number for number, count in enumerate(waits) if not count]
    order = []
    while ready:
        number = heappop(ready)
        order.append(number)
        for other in below[number]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, other)
    return order if len(order) == len(above) else None


def _meet(nb: NotebookNode, check: NotebookNode, function: str) -> list[str]:
    """Have a check come after the function that it checks, wherever that was written.

    A check moves down to a function that is written below it alone. A cell that is still as it was
    released moves up before one that is written above it, or it would undo that.
    """
    answers = [cell for cell in nb.cells if _is_own(cell) and written(cell.source, function)]
    places = [_index(nb, cell) for cell in answers]
    at = _index(nb, check)
    if places and min(places) > at:
        nb.cells.insert(max(places), nb.cells.pop(at))
        return [f"{function} was written below its check"]
    last = max((place for place in places if place < at), default=at)
    undone = next(
        (
            cell
            for cell in nb.cells[last + 1 : at]
            if cell.cell_type == "code" and function in functions(cell.source)
        ),
        None,
    )
    if undone is None:
        return []
    nb.cells.insert(last, nb.cells.pop(_index(nb, undone)))
    return [f"{function} was written above its question"]


def _is_own(cell: NotebookNode) -> bool:
    """Whether this is code that is run."""
    return cell.cell_type == "code" and not exercises.is_check(cell)


def _key(cell: NotebookNode) -> str | None:
    grade_id: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return grade_id


def _index(nb: NotebookNode, cell: NotebookNode) -> int:
    """Its place; two cells may be equal."""
    return next(index for index, one in enumerate(nb.cells) if one is cell)
