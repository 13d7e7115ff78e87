"""Which of several notebooks in one folder counts: the one that holds the learner's work.

Browsers and JupyterLab write a copy, such as `int8-matmul (1).ipynb`, beside a notebook that may
still be as it was released. So the notebooks are compared by what the learner wrote in them, and
not by their names alone.
"""

import ast
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nbformat import NotebookNode

from grading.intake import careful, reading
from grading.intake.names import shown
from grading.intake.own_code import dump, is_unwritten, parsed, written
from grading.intake.repair import repair
from grading.limits import Overrun, apart
from grading.release import exercises

NOTEBOOK_BYTES = 20_000_000
NAMES_SHOWN = 10
MAX_COMPARED = 20  # notebooks of one folder
CPU_SECONDS, WALL_SECONDS = 10, 120  # to compare the notebooks of one folder
CHECK = r"""\s*check\(\s*["']([\w-]+)["']"""
OPENING = re.compile(r"^set_up_notebook\(", re.MULTILINE)  # the first cell of a released notebook
BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)

Parts = tuple[str, ...]  # a path from the exercise's folder


class Choice(NamedTuple):
    """The notebook that counts; else why none does, and what the instructor has to decide.

    reason: "" if there is a notebook. question: another notebook may be the one that is meant.
    note: other copies hold less work than this one.
    """

    notebook: Parts | None
    reason: str = ""
    question: str = ""
    note: str = ""


@dataclass(frozen=True)
class Work:
    """What a learner wrote in one notebook.

    problem: why the notebook can't be read. is_copy: whether it was made from the released one.
    answers, others: digests of the answers, and of what else the learner wrote; of the whole file
    if it can't be read.
    """

    problem: str = ""
    is_copy: bool = False
    answers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def contains(self, other: "Work") -> bool:
        return self.answers | self.others >= other.answers | other.others


def choose(base: Path, place: Parts, notebooks: Sequence[Parts], exercise: str) -> Choice:
    """Choose among the notebooks in the folder `base`/`place`.

    The one counts that holds all the work of the others. Where each holds work of its own, the one
    with the exercise's name counts until the instructor has decided; without such a name none does.
    """
    if not notebooks:
        return Choice(None, "there is no notebook in the folder")
    if len(notebooks) == 1:
        return Choice(notebooks[0])
    ordered = _by_name(notebooks, exercise)
    compared = ordered[:MAX_COMPARED]
    try:
        reports = apart(
            lambda: [_report(base, place, path, exercise) for path in compared],
            cpu=CPU_SECONDS,
            wall=WALL_SECONDS,
        )
    except (Overrun, RuntimeError):
        return Choice(None, f"several notebooks, too large to compare: {_names(ordered)}")
    works = {
        path: Work(problem, is_copy, frozenset(answers), frozenset(others))
        for path, (problem, is_copy, answers, others) in zip(compared, reports, strict=True)
    }
    return _choice(works, ordered, exercise)


def _choice(works: Mapping[Parts, Work], ordered: Sequence[Parts], exercise: str) -> Choice:
    answered = [path for path, work in works.items() if work.answers]
    # A draft with functions of the same names counts only where no copy holds an answer.
    worked = [path for path in answered if works[path].is_copy] or answered
    if not worked:
        return _without_answers(works, ordered, exercise)
    complete = [one for one in worked if all(works[one].contains(works[path]) for path in worked)]
    if complete:
        best = _preferred(complete, works, exercise) or complete[0]
        less = [one for one in works if works[one].is_copy and one not in complete]
        damaged = [one for one in works if works[one].problem]
        facts = [f"holds all the work in {_names(less)}"] if less else []
        facts += [f"{_names(damaged)} cannot be read"] if damaged else []
        note = ", ".join([f"{_names([best])} counts", *facts])
        return Choice(best, note=note if facts else "")
    said = f"several notebooks with different answers: {_names(worked)}"
    chosen = _preferred(worked, works, exercise)
    if chosen is None:
        return Choice(None, f"{said}; remove all but the one that counts")
    counts = f"{_names([chosen])} counts until you remove it"
    return Choice(chosen, question=f"{said}; {counts}")


def _without_answers(
    works: Mapping[Parts, Work], ordered: Sequence[Parts], exercise: str
) -> Choice:
    if len(ordered) > len(works):
        return Choice(None, f"more than {MAX_COMPARED} notebooks, and no answers in the first")
    unclear = [path for path in ordered if works[path].problem]
    empty = [path for path in ordered if path not in unclear]
    if unclear and empty:
        return Choice(None, f"no answers in {_names(empty)}; {_names(unclear)} cannot be read")
    # The answer to the open question has no points, but is shown.
    told = [one for one in empty if all(works[one].contains(works[path]) for path in empty)]
    group = told or ordered
    chosen = _preferred(group, works, exercise)
    if chosen is None and unclear:
        said = "several notebooks, and none has the exercise's name"
        return Choice(None, f"{said}: {_names(group)}")
    return Choice(chosen or group[0])


def _by_name(notebooks: Sequence[Parts], exercise: str) -> list[Parts]:
    """The notebooks, those first whose name and place are the expected ones."""
    name, alike = f"{exercise}.ipynb", exercise.casefold()

    def expected(path: Parts) -> tuple[bool, bool, bool, int]:
        own = path[-1]
        return (own != name, _stem(own) != alike, not _stem(own).startswith(alike), len(path))

    return sorted(notebooks, key=expected)


def _preferred(paths: Sequence[Parts], works: Mapping[Parts, Work], exercise: str) -> Parts | None:
    """The one with the name nearest to the exercise's; None if several have it, and differ."""
    alike = exercise.casefold()
    tests: Sequence[Callable[[str], bool]] = (
        lambda name: name == f"{exercise}.ipynb",
        lambda name: _stem(name) == alike,
        lambda name: _stem(name).startswith(alike),
        lambda name: True,
    )
    groups = ([path for path in paths if test(path[-1])] for test in tests)
    group = next(filter(None, groups))
    nearest = [path for path in group if len(path) == min(map(len, group))]
    return nearest[0] if len({works[path] for path in nearest}) == 1 else None


def _stem(name: str) -> str:
    return re.sub(r"\.ipynb(?:\.txt|\.json)?$", "", name.casefold())


def _names(paths: Iterable[Parts]) -> str:
    names = [shown("/".join(path)) for path in paths]
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _report(base: Path, place: Parts, path: Parts, exercise: str) -> list[Any]:
    """The fields of a `Work`, as JSON has them."""
    content, problem = careful.content(base, (*place, *path), NOTEBOOK_BYTES)
    if not problem:
        try:
            return ["", *_work(reading.of_bytes(content), exercise)]
        except MemoryError:
            raise
        except Exception:  # whatever is wrong with it, it is no notebook
            problem = "not a notebook"
    return [problem, False, [], [hashlib.sha256(content).hexdigest()]]


def _work(nb: NotebookNode, exercise: str) -> tuple[bool, list[str], list[str]]:
    """(whether this is a copy of the released notebook, its answers, what else was written)."""
    source = exercises.source(exercise)
    alike = {name: _alike(nb, exercises.source(name)) for name in exercises.names()}
    if alike[exercise] < max(alike.values()):
        return False, [], []  # another exercise's notebook, which may have functions of these names
    is_copy = alike[exercise] > 0
    nb.cells = [cell for cell in nb.cells if not OPENING.search(cell.source)]
    repair(nb, exercise)
    functions = [part.function for part in exercises.load(exercise).parts]
    given = {text for cell in source.cells for text in _elements(cell)}
    answers: set[str] = set()
    others: set[str] = set()
    for cell in nb.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            answers |= {f"{marks['grade_id']} {text}" for text in _elements(cell)}
        elif not marks:
            is_answer = cell.cell_type == "code" and any(
                written(cell.source, function) for function in functions
            )
            (answers if is_answer else others).update(_elements(cell, BINDING))
    return is_copy, _digests(answers), _digests(others - given)


def _alike(nb: NotebookNode, source: NotebookNode) -> int:
    """How many cells are also in the source: by their marks, their ids, or the check they call."""
    keys = {cell.metadata.nbgrader.grade_id for cell in source.cells if "nbgrader" in cell.metadata}
    ids = {cell.id for cell in source.cells}
    count = 0
    for cell in nb.cells:
        check = re.match(CHECK, cell.source)
        key = cell.metadata.get("nbgrader", {}).get("grade_id")
        count += (key in keys) + (cell.get("id") in ids) + bool(check and check[1] in keys)
    return count


def _elements(cell: NotebookNode, kinds: tuple[type[ast.stmt], ...] = (ast.stmt,)) -> set[str]:
    """What was written in a cell: its statements of these kinds, or its text if it has none.

    Neither imports nor functions that are still to be written. White space does not count.
    """
    body = parsed(cell.source) if cell.cell_type == "code" else None
    if body is None:
        return {" ".join(cell.source.split())} - {""}
    return {
        dump(node)
        for node in body
        if isinstance(node, kinds)
        and not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.FunctionDef) and is_unwritten(node))
    }


def _digests(texts: Iterable[str]) -> list[str]:
    return [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts]
