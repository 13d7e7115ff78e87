"""Grades one submission as a self-contained job, with plain data in and out.

A job needs neither a course folder nor a gradebook, so it can run in any process, on any machine
with the same exercises.
"""

import functools
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import LimitOutput  # type: ignore[import-untyped]
from nbgrader.utils import compute_checksum  # type: ignore[import-untyped]

from grading import sandbox
from grading.errors import Unable
from grading.execution.time_limits import TimeLimits
from grading.grade_notebook import grade
from grading.intake import reading
from grading.intake.missing_modules import missing_modules
from grading.intake.repair import repair
from grading.judging.verdicts import Graded, write
from grading.release import exercises
from grading.reports import feedback
from grading.reports.feedback_page import page
from grading.reports.similarity import code
from grading.sandbox import modules
from roofkit.notebook_language import language_of
from roofkit.words import N_, _, spoken

NO_RESPONSE = N_("No response.")  # nbgrader's comment for an unanswered cell
NOT_GRADED = "This could not be graded."
TOO_LARGE = "reading it takes more memory than there is for one"


@dataclass(frozen=True)
class Job:
    """A notebook as submitted, and everything that its grading depends on.

    content: bytes of the file. reason: why it can't be graded, if already known. released: text of
    the released notebook, which replaces one that can't be graded. manual: key of a cell → manual
    (points, extra credit), where None points mean that the automatic ones count. comments: key of
    a cell → the instructor's comment. version: digest of the exercise and the grader, which must
    match the worker's. earlier: text of the graded notebook of an earlier run that received hidden
    inputs, "" if there was none.
    """

    student: str
    exercise: str
    content: bytes
    released: str
    seed: str
    version: str
    reason: str
    limits: TimeLimits
    unsafe: bool
    modules: str
    manual: dict[str, tuple[float | None, float]]
    comments: dict[str, str]
    earlier: str


@dataclass(frozen=True)
class Outcome:
    """The result of a job.

    notebook, feedback: texts of the graded notebook and of its page. comments: key of a solution
    cell → automatic comment. parts: `Graded` as dictionaries. reason: why it was not graded, or not
    run to its end. remarks, tampering: as `repair` returns them. seconds: how long it took. again:
    whether the next grading must repeat the job, since the grader itself failed. late: whether a
    time limit was exceeded, possibly because of other load on the machine. code: the learner's
    code, as `similarity.code` encodes it. missing: modules that it imports but that are not
    installed. told: whether the notebook received hidden inputs.
    """

    notebook: str
    feedback: str
    comments: dict[str, str]
    parts: list[dict[str, Any]]
    reason: str
    remarks: list[str]
    tampering: list[str]
    seconds: float
    late: bool
    code: str
    missing: list[str]
    told: bool
    again: bool = False


def work(job: Job) -> Outcome:
    """Grade one notebook. Raises Unable if this worker cannot grade anything."""
    start = time.monotonic()
    if job.version != version(job.exercise):
        raise Unable(
            f"A worker has another version of the exercise {job.exercise}, or of the grading, than "
            "the grader. Bring them to the same state and run it again."
        )
    if job.modules and not Path(job.modules).is_dir():
        raise Unable(f"A worker does not find the modules that the course allows: {job.modules}.")
    modules.use(job.modules)
    try:
        return _worked(job, start)
    except Unable:
        raise
    except MemoryError:
        return _worked(replace(job, reason=TOO_LARGE), start)
    except Exception as error:  # a grader bug must not stop the other notebooks
        kind = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        failed = replace(job, reason=f"the grading itself failed ({kind})")
        return replace(_worked(failed, start), again=True)


@functools.cache
def version(exercise: str) -> str:
    """Return the digest of an exercise and the grader.

    It is cached at this process's first call.
    """
    return exercises.digest(exercise)


def _worked(job: Job, start: float) -> Outcome:
    nb: NotebookNode | None = None
    reason = job.reason
    remarks: list[str] = []
    tampering: list[str] = []
    if not reason:
        nb, reason = read(job.content)
    if nb is not None:
        try:
            remarks, tampering = repair(nb, job.exercise)
            nbformat.validate(nb)
        except MemoryError:
            raise
        except Exception:  # a malformed notebook can raise anything
            nb, reason = None, "the file is not a notebook"
    written, missing = "", []
    if nb is not None:
        written, missing = code(nb), missing_modules(nb)
        nb = _run(nb, job)
    if nb is None:
        nb = placeholder(job.released, job.exercise, reason)
    found = nb.metadata["rooflib"]
    with spoken(language_of(nb)):
        comments = dict.fromkeys(untouched(nb, job.released), _(NO_RESPONSE))
    feedback.clean(nb)
    return Outcome(
        notebook=nbformat.writes(nb),
        feedback=page(
            nb, job.exercise, job.student, _final(found["parts"], job), comments | job.comments
        ),
        comments=comments,
        parts=found["parts"],
        reason=reason or found["trouble"].rstrip("."),
        remarks=remarks,
        tampering=[*tampering, *found["refused"]],
        seconds=time.monotonic() - start,
        late=found["late"],
        code=written,
        missing=missing,
        told=found["told"],
    )


def untouched(nb: NotebookNode, released: str) -> list[str]:
    """Return the keys of the solution cells that the learner has not changed."""
    before = _checksums(released)
    return [
        cell.metadata.nbgrader.grade_id
        for cell in nb.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
        and before.get(cell.metadata.nbgrader.grade_id) == compute_checksum(cell)
    ]


@functools.lru_cache(maxsize=20)
def _checksums(released: str) -> dict[str, str | None]:
    """Return key → checksum of each solution cell of a released notebook."""
    return {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.get("checksum")
        for cell in _notebook(released).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def _final(parts: list[dict[str, Any]], job: Job) -> list[dict[str, Any]]:
    """Return the parts with their final points, including manual ones."""
    final = []
    for part in parts:
        manual, extra = job.manual.get(part["key"], (None, 0))
        points = part["points"] if manual is None else manual
        final.append(part | {"points": points + extra})
    return final


def _run(nb: NotebookNode, job: Job) -> NotebookNode:
    nb, _ = ClearOutputPreprocessor().preprocess(nb, {})  # type: ignore[no-untyped-call]
    earlier = _notebook(job.earlier) if job.earlier else None
    given = (nb, job.exercise, job.seed, job.limits, job.unsafe, False, earlier)
    try:
        nb = grade(*given)
    except sandbox.Refused:  # perhaps by chance
        try:
            nb = grade(*given)
        except sandbox.Refused as refused:  # a SystemExit would end the worker
            raise Unable(str(refused)) from None
    nb, _ = LimitOutput().preprocess(nb, {})
    return nb


def _notebook(text: str) -> NotebookNode:
    nb: NotebookNode = nbformat.reads(text, as_version=4)
    return nb


def read(content: bytes) -> tuple[NotebookNode | None, str]:
    """Return (notebook, ""), or (None, why the bytes are not a valid notebook)."""
    try:
        nb = reading.of_bytes(content)
    except UnicodeDecodeError:
        return None, "the file is not text"
    except reading.TooManyCells:
        return None, f"the notebook has more than {reading.MAX_CELLS} cells"
    except MemoryError:
        raise
    except Exception as error:  # a malformed notebook can raise anything
        kind = "JSON" if "JSON" in type(error).__name__ + str(error) else "a notebook"
        return None, f"the file is not {kind}"
    return (nb, "") if nb.get("cells") else (None, "the notebook has no cells")


def placeholder(released: str, exercise: str, reason: str) -> NotebookNode:
    """Return the released notebook with zero points, and the reason in a first cell."""
    nb = _notebook(released)
    text = f"**Could not be graded**: {reason}."
    nb.cells.insert(0, new_markdown_cell(text, id="not-graded"))
    parts = {
        part.key: Graded(part.key, 0, part.points, "not-graded", (NOT_GRADED,))
        for part in exercises.load(exercise).parts
    }
    for cell in nb.cells:
        if exercises.is_check(cell):
            write(cell, parts[cell.metadata.nbgrader.grade_id])
    nb.metadata["rooflib"] = {
        "trouble": "",
        "parts": [asdict(part) for part in parts.values()],
        "refused": [],
        "late": False,
        "told": False,
    }
    return nb
