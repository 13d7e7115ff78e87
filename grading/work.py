"""The unit of work: one submission in, one graded notebook out. Plain data both ways.

Needs no course folder and no gradebook, so it may be done in any process on any machine that has
the same exercises.
"""

import functools
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearOutputPreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import LimitOutput  # type: ignore[import-untyped]
from nbgrader.utils import compute_checksum  # type: ignore[import-untyped]

from grading import sandbox
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.grade_notebook import grade
from grading.intake import reading
from grading.intake.missing_modules import missing_modules
from grading.intake.repair import repair
from grading.judging.verdicts import Graded, write
from grading.release import exercises
from grading.reports import feedback
from grading.reports.alike import code
from grading.reports.feedback_page import page
from grading.sandbox import modules

NO_RESPONSE = "No response."  # what nbgrader says
NOT_GRADED = "This could not be graded."
TOO_LARGE = "reading it takes more memory than there is for one"


class Unable(Exception):
    """Nothing can be graded here; the text is one line that says why."""


@dataclass(frozen=True)
class Job:
    """A notebook as it was handed in, and all that its grading depends on.

    content: bytes of the file. reason: why it can't be graded, if that is known already.
    released: text of the released notebook, which stands in for what can't be graded. manual: what
    the instructor gave by hand, by the key of the cell: (points, or None if the automatic ones
    count; extra points). comments: what the instructor wrote, by the key of the cell. version:
    digest of exercises and grading, which must be the same where the work is done. earlier: text of
    the notebook as an earlier run of it, which was told hidden inputs, has graded it; "" if there
    was none.
    """

    student: str
    exercise: str
    content: bytes
    released: str
    seed: str
    version: str
    reason: str = ""
    limits: TimeLimits = TIME_LIMITS
    unsafe: bool = False
    modules: str = ""
    manual: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    earlier: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    notebook, feedback: texts of the graded notebook and of its page. comments: key of a solution
    cell → what nbgrader remarks on it. parts: `Graded` as dictionaries. reason: why it was not
    graded, or not run to its end. remarks, tampering: what was put right, and what was found.
    seconds: how long it took. again: whether the next run should do this again, since the grading
    itself failed. late: whether something took too long, for which others on the machine may be to
    blame: those who have the cores make it wait, and those who share its caches make it slow.
    code: what the learner wrote, as `alike.code` has it. missing: modules that it imports and that
    are not there. told: whether hidden inputs were asked.
    """

    notebook: str
    feedback: str
    comments: dict[str, str]
    parts: list[dict[str, Any]]
    reason: str
    remarks: list[str]
    tampering: list[str]
    seconds: float
    again: bool = False
    late: bool = False
    code: str = ""
    missing: list[str] = field(default_factory=list)
    told: bool = False


def work(job: Job) -> Outcome:
    """Grade one notebook. Unable if nothing can be graded here."""
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
    except Exception as error:  # a fault of ours, for which the class must not wait
        kind = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        failed = replace(job, reason=f"the grading itself failed ({kind})")
        return replace(_worked(failed, start), again=True)


@functools.cache
def version(exercise: str) -> str:
    """Of the exercise and the grading: as they were when this process first asked."""
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
        except Exception:  # it may be anything that JSON can say
            nb, reason = None, "the file is not a notebook"
    written, missing = "", []
    if nb is not None:
        written, missing = code(nb), missing_modules(nb)
        nb = _run(nb, job)
    if nb is None:
        nb = stand_in(job.released, job.exercise, reason)
    found = nb.metadata["rooflib"]
    comments = dict.fromkeys(untouched(nb, job.released), NO_RESPONSE)
    feedback.clean(nb)
    return Outcome(
        notebook=nbformat.writes(nb),
        feedback=page(
            nb, job.exercise, job.student, _shown(found["parts"], job), comments | job.comments
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
    """Keys of the solution cells that are as they were released."""
    before = _checksums(released)
    return [
        cell.metadata.nbgrader.grade_id
        for cell in nb.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
        and before.get(cell.metadata.nbgrader.grade_id) == compute_checksum(cell)
    ]


@functools.lru_cache(maxsize=20)
def _checksums(released: str) -> dict[str, str | None]:
    """Key of each solution cell of a released notebook → its checksum."""
    return {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.get("checksum")
        for cell in _notebook(released).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def _shown(parts: list[dict[str, Any]], job: Job) -> list[dict[str, Any]]:
    """The parts with the points that count."""
    shown = []
    for part in parts:
        manual, extra = job.manual.get(part["key"], (None, 0))
        points = part["points"] if manual is None else manual
        shown.append(part | {"points": points + extra})
    return shown


def _run(nb: NotebookNode, job: Job) -> NotebookNode:
    nb, _ = ClearOutputPreprocessor().preprocess(nb, {})  # type: ignore[no-untyped-call]
    earlier = _notebook(job.earlier) if job.earlier else None
    for attempt in (1, 2):
        try:
            nb = grade(nb, job.exercise, job.seed, job.limits, job.unsafe, False, earlier)
            break
        except sandbox.Refused as refused:  # SystemExit, which would end a worker
            if attempt == 2:
                raise Unable(str(refused)) from None
    nb, _ = LimitOutput().preprocess(nb, {})
    return nb


def _notebook(text: str) -> NotebookNode:
    nb: NotebookNode = nbformat.reads(text, as_version=4)
    return nb


def read(content: bytes) -> tuple[NotebookNode | None, str]:
    """(notebook, why this is none) of a file's bytes."""
    try:
        nb = reading.of_bytes(content)
    except UnicodeDecodeError:
        return None, "the file is not text"
    except reading.TooManyCells:
        return None, f"the notebook has more than {reading.MAX_CELLS} cells"
    except MemoryError:
        raise
    except Exception as error:  # whatever is wrong with it, it is no notebook
        kind = "JSON" if "JSON" in type(error).__name__ + str(error) else "a notebook"
        return None, f"the file is not {kind}"
    return (nb, "") if nb.get("cells") else (None, "the notebook has no cells")


def stand_in(released: str, exercise: str, reason: str) -> NotebookNode:
    """The released notebook with no points in it, and on top why that is so."""
    nb = _notebook(released)
    said = f"**Could not be graded**: {reason}."
    nb.cells.insert(0, new_markdown_cell(said, id="not-graded"))
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
