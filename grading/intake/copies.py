"""Choice of the notebook in a folder that has the learner's work.

Browsers and JupyterLab save copies, such as `int8-matmul (1).ipynb`, beside a notebook that may
still be unchanged. So the notebooks are compared by what the learner wrote in them, not by their
names alone.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nbformat import NotebookNode

from grading.intake import reading, safe_files
from grading.intake.names import printable
from grading.intake.own_code import dump, is_unwritten, parsed, written
from grading.intake.repair import repair
from grading.limits import Overrun, run_limited
from grading.release import exercises

MAX_NOTEBOOK_BYTES = 20_000_000
MAX_NAMES = 10
MAX_COMPARED = 20  # notebooks of one folder
CPU_SECONDS, WALL_SECONDS = 10, 120  # limits for comparing one folder's notebooks
CHECK_CALL = r"""\s*check\(\s*["']([\w-]+)["']"""
SETUP_CALL = re.compile(r"^set_up_notebook\(", re.MULTILINE)  # call in a release's first cell
BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)

Parts = tuple[str, ...]  # components of a relative path


class Choice(NamedTuple):
    """The copy of a notebook that will be graded, or the reason why none will be.

    reason: "" if there is a notebook. question: what the instructor has to decide, if the learner
    may have meant another notebook. note: which copies hold less work than this one.
    """

    notebook: Parts | None
    reason: str = ""
    question: str = ""
    note: str = ""


@dataclass(frozen=True)
class Work:
    """Digests of the code and text that a learner wrote in one notebook.

    problem: why the notebook can't be read. is_copy: whether it was made from the released one.
    answers, others: digests of the answers, and of the learner's other code; `others` is the digest
    of the whole file if it can't be read.
    """

    problem: str
    is_copy: bool
    answers: frozenset[str]
    others: frozenset[str]

    def contains(self, other: "Work") -> bool:
        return self.answers | self.others >= other.answers | other.others


def choose(base: Path, place: Parts, notebooks: Sequence[Parts], exercise: str) -> Choice:
    """Choose among the notebooks in the folder `base`/`place`.

    The one that contains all the work of the others counts. If none does, the one named after the
    exercise counts until the instructor has decided; if there is none either, none counts.
    """
    if not notebooks:
        return Choice(None, "there is no notebook in the folder")
    if len(notebooks) == 1:
        return Choice(notebooks[0])
    ordered = sorted(notebooks, key=lambda path: _rank(path, exercise))
    compared = ordered[:MAX_COMPARED]
    try:
        reports = run_limited(
            lambda: [_report(base, place, path, exercise) for path in compared],
            cpu=CPU_SECONDS,
            wall=WALL_SECONDS,
        )
    except (Overrun, RuntimeError):
        return Choice(None, f"several notebooks, too large to compare: {_path_list(ordered)}")
    works = {
        path: Work(problem, is_copy, frozenset(answers), frozenset(others))
        for path, (problem, is_copy, answers, others) in zip(compared, reports, strict=True)
    }
    return _choice(works, ordered, exercise)


def _choice(works: Mapping[Parts, Work], ordered: Sequence[Parts], exercise: str) -> Choice:
    answered = [path for path, work in works.items() if work.answers]
    # A notebook that isn't a copy of the released one counts only if no such copy has an answer.
    worked = [path for path in answered if works[path].is_copy] or answered
    if not worked:
        return _without_answers(works, ordered, exercise)
    complete = [one for one in worked if all(works[one].contains(works[path]) for path in worked)]
    if complete:
        best = complete[0]
        rest = [one for one in works if works[one].is_copy and one not in complete]
        less = [one for one in rest if works[best].contains(works[one])]
        aside = [one for one in rest if one not in less]
        damaged = [one for one in works if works[one].problem]
        facts = [f"holds all the work in {_path_list(less)}"] if less else []
        facts += [f"{_path_list(aside)} has other work but no answers"] if aside else []
        facts += [f"{_path_list(damaged)} cannot be read"] if damaged else []
        note = ", ".join([f"{_path_list([best])} counts", *facts])
        return Choice(best, note=note if facts else "")
    said = f"several notebooks with different answers: {_path_list(worked)}"
    chosen = _preferred(worked, works, exercise)
    if chosen is None:
        return Choice(None, f"{said}; remove all but the one that counts")
    counts = f"{_path_list([chosen])} counts until you remove it"
    return Choice(chosen, question=f"{said}; {counts}")


def _without_answers(
    works: Mapping[Parts, Work], ordered: Sequence[Parts], exercise: str
) -> Choice:
    if len(ordered) > len(works):
        return Choice(None, f"more than {MAX_COMPARED} notebooks, and no answers in the first")
    unclear = [path for path in ordered if works[path].problem]
    empty = [path for path in ordered if path not in unclear]
    if unclear and empty:
        return Choice(
            None, f"no answers in {_path_list(empty)}; {_path_list(unclear)} cannot be read"
        )
    if unclear and _preferred(unclear, works, exercise) is None:
        said = "several notebooks, and none has the exercise's name"
        return Choice(None, f"{said}: {_path_list(unclear)}")
    # Prefer the notebook with all the work: an answer to the open question gives no points, but
    # the feedback shows it.
    complete = [one for one in empty if all(works[one].contains(works[path]) for path in empty)]
    return Choice((complete or ordered)[0])


def _rank(path: Parts, exercise: str) -> tuple[bool, bool, bool, int]:
    """Return a rank that is lower the more a path is like the expected name and place."""
    name, stem, folded = path[-1], _stem(path[-1]), exercise.casefold()
    return (name != f"{exercise}.ipynb", stem != folded, not stem.startswith(folded), len(path))


def _preferred(paths: Sequence[Parts], works: Mapping[Parts, Work], exercise: str) -> Parts | None:
    """Return the first of the paths, which are sorted by rank, None if there is a tie.

    There is a tie if notebooks of the same rank contain different work.
    """
    first = _rank(paths[0], exercise)
    equal = {works[path] for path in paths if _rank(path, exercise) == first}
    return paths[0] if len(equal) == 1 else None


def _stem(name: str) -> str:
    return re.sub(r"\.ipynb(?:\.txt|\.json)?$", "", name.casefold())


def _path_list(paths: Iterable[Parts]) -> str:
    return name_list(["/".join(path) for path in paths])


def name_list(names: Sequence[str]) -> str:
    """Return up to MAX_NAMES of the names for a report, and how many more follow."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(map(printable, names[:MAX_NAMES])) + more


def _report(base: Path, place: Parts, path: Parts, exercise: str) -> list[Any]:
    """Read a notebook; return the fields of its `Work` as JSON data."""
    content, problem = safe_files.read(base, (*place, *path), MAX_NOTEBOOK_BYTES)
    if not problem:
        try:
            return ["", *_work(reading.of_bytes(content), exercise)]
        except MemoryError:
            raise
        except Exception:  # a malformed notebook can raise anything
            problem = "not a notebook"
    return [problem, False, [], [hashlib.sha256(content).hexdigest()]]


def _work(nb: NotebookNode, exercise: str) -> tuple[bool, list[str], list[str]]:
    """Return (whether it is a copy of the release, answer digests, other digests)."""
    source = exercises.source(exercise)
    shared = {name: _count_shared_cells(nb, exercises.source(name)) for name in exercises.names()}
    if shared[exercise] < max(shared.values()):
        return False, [], []  # another exercise's notebook, which may define the same functions
    is_copy = shared[exercise] > 0
    nb.cells = [cell for cell in nb.cells if not SETUP_CALL.search(cell.source)]
    repair(nb, exercise)
    functions = [part.function for part in exercises.load(exercise).parts]
    given = {text for cell in source.cells for text in _elements(cell)}
    answers: set[str] = set()
    others: set[str] = set()
    for cell in nb.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            answers |= {f"{marks['grade_id']} {text}" for text in _elements(cell)}
        else:
            is_answer = cell.cell_type == "code" and any(
                written(cell.source, function) for function in functions
            )
            (answers if is_answer else others).update(_elements(cell, BINDING))
    return is_copy, _digests(answers), _digests(others - given)


def _count_shared_cells(nb: NotebookNode, source: NotebookNode) -> int:
    """Count how often cells match the source's grade ids, cell ids and checks.

    A cell can count up to three times.
    """
    keys = {cell.metadata.nbgrader.grade_id for cell in source.cells if "nbgrader" in cell.metadata}
    ids = {cell.id for cell in source.cells}
    count = 0
    for cell in nb.cells:
        check = re.match(CHECK_CALL, cell.source)
        key = cell.metadata.get("nbgrader", {}).get("grade_id")
        count += (key in keys) + (cell.get("id") in ids) + bool(check and check[1] in keys)
    return count


def _elements(cell: NotebookNode, kinds: tuple[type[ast.stmt], ...] = (ast.stmt,)) -> set[str]:
    """Return a cell's statements of the given kinds as text, or its whole source.

    The source is returned for text cells and for code that cannot be parsed. Imports, released
    stubs and whitespace are ignored.
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
