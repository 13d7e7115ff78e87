"""Course folders: releasing exercises into one, and grading its submissions."""

import contextlib
import errno
import logging
import os
import re
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import InvalidEntry  # type: ignore[import-untyped]
from nbgrader.apps.api import NbGraderAPI  # type: ignore[import-untyped]
from sqlalchemy.exc import InterfaceError, OperationalError, SAWarning
from tqdm import tqdm  # type: ignore[import-untyped]

from grading import sandbox
from grading.allowed_modules import modules_folder
from grading.errors import Unable
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.intake import submissions
from grading.intake.submissions import Submission
from grading.parallel import pool
from grading.parallel.workers import CannotWork
from grading.records import gradebook, results
from grading.records.gradebook_writer import GradebookWriter, parse_timestamp
from grading.records.seed import FOLDER, course_seed
from grading.release import exercises, translation
from grading.sandbox import modules
from grading.sandbox.modules import is_installed
from grading.settings import CONFIG, database, settings
from grading.work import Job, Outcome, work

OWN_CONFIG = """\
# Through this file plain nbgrader commands and the formgrader find the course's settings.
from pathlib import Path

SETTINGS = Path({path!r})

# Without settings nbgrader would go on, and run submissions outside of the sandbox.
if not SETTINGS.exists():
    raise SystemExit(f"{{SETTINGS}} is missing; correct the path in {{__file__}}")
try:
    c = get_config()
    load_subconfig(str(SETTINGS))
except Exception as error:
    raise SystemExit(f"{{SETTINGS}} cannot be used: {{error}}") from None
"""
EXCEPTION_LINE = r"\s*(?:\w+\.)*[A-Z]\w+: (.+)"  # the last line of a traceback
COURSE_ID = "roofline"  # in nbgrader's tables
GAVE_UP = "the process that graded it ended each time"
TOO_MUCH = "reading it takes more computing than there is for one"
LATE = "something took too long, and others took the time to try it again; the next run does"
DISK_IS_FULL = (
    "The disk is full ({}). Free some space and run this again: it continues where it stopped, and "
    "no grade is lost."
)
FULL_DISK = ("disk is full", os.strerror(errno.ENOSPC))  # words in SQLite's and PostgreSQL's errors
MIN_JOB_SECONDS = 10  # lowest CPU limit of a job, even if its notebook may run for less
RETRY_NOTEBOOKS = 3  # all retries together may take this many times one notebook's time limit


class Course:
    """A course folder.

    Submissions are in submitted/<student>/<exercise>/<exercise>.ipynb.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).resolve()
        self.results = results.Results(self.folder / FOLDER / "graded")
        self._versions: dict[str, str] | None = None  # exercise → digest, cached while grading

    def prepare(self) -> None:
        """Make the folder usable for nbgrader, without overwriting anything."""
        self.folder.mkdir(parents=True, exist_ok=True)
        own = self.folder / "nbgrader_config.py"
        if not own.exists():
            results.replace(own, OWN_CONFIG.format(path=str(CONFIG)))
        course_seed(self.folder)

    def release(self, names: Sequence[str] = (), languages: Sequence[str] = ()) -> None:
        """Write release/<exercise>/<exercise>.ipynb and add it to the gradebook.

        names: the exercises to release, all if empty. languages: also write the notebooks in these
        languages, below release-<language>; all are graded alike. Raises Unable if nbgrader fails.
        """
        known = translation.languages()
        for code in languages:
            if code not in known:
                raise Unable(f"no translation is called {code!r}, only {', '.join(known)}")
        self.prepare()
        done = results.read(self._released) or {}
        names = names or exercises.names()
        self.write_sources(names)
        with self.gradebook() as book:
            gradebook.prepare_extended(book, names)
        with self._nbgrader() as api:
            for name in names:
                result = api.generate_assignment(name)
                if not result["success"]:
                    raise Unable(
                        f"{name} could not be released: {_reason(result)}. Put that right and "
                        "run this again."
                    )
                results.write(self._released, done := done | {name: exercises.digest(name)})
        with self.gradebook() as book:
            gradebook.add_missing_notebooks(book)
        for code in languages:
            for name in names:
                self._translate(name, code)

    def write_sources(self, names: Sequence[str] = ()) -> None:
        """Write source/<exercise>/<exercise>.ipynb, with solutions, all if `names` is empty."""
        for name in names or exercises.names():
            exercises.write_source(name, self.folder / "source")

    def _translate(self, name: str, language: str) -> None:
        """Write a released notebook in another language."""
        file = Path(name, f"{name}.ipynb")
        nb = nbformat.read(self.folder / "release" / file, as_version=4)
        text = nbformat.writes(translation.translated(nb, name, language))
        results.replace(self.folder / f"release-{language}" / file, f"{text}\n")

    def grade(
        self,
        backend: pool.Backend | None = None,
        unsafe: bool = False,
        limits: TimeLimits = TIME_LIMITS,
    ) -> int:
        """Grade new and changed submissions; return how many there were.

        backend: where the work is done, `pool.Local()` if None. unsafe: whether to run notebooks
        without a sandbox. Raises Unable with one line for the instructor; a second call continues
        where the first stopped.
        """
        with errors_in_one_line(), self._locked():
            if not unsafe:
                try:
                    # Cheap checks only: the first notebook will show whether a sandbox starts.
                    sandbox.refuse_what_cannot_work()
                except sandbox.Refused as refused:
                    raise Unable(str(refused)) from None
            self._release_what_changed()
            return self._grade(backend or pool.Local(), unsafe, limits)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.prepare()  # creates the lock file's folder, which other users may not read
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(results.lock(self.folder / FOLDER / "lock"))
            except BlockingIOError:
                raise Unable(
                    f"{self.folder} is being graded already; wait until that is done"
                ) from None
            yield

    def _grade(self, backend: pool.Backend, unsafe: bool, limits: TimeLimits) -> int:
        # Cache the digests while grading: each one reads over a hundred files.
        self._versions = {name: exercises.digest(name) for name in exercises.names()}
        try:
            return self._graded(backend, unsafe, limits)
        finally:
            self._versions = None

    def _graded(self, backend: pool.Backend, unsafe: bool, limits: TimeLimits) -> int:
        modules.use(modules_folder(self.folder))
        backend.limit(max(MIN_JOB_SECONDS, limits.notebook))
        state = self.state()
        found = submissions.submissions(self.folder)
        todo = [one for one in found if not self._done(one, state)]
        common: dict[str, Any] = {
            "seed": course_seed(self.folder),
            "limits": limits,
            "unsafe": unsafe,
            "modules": str(folder) if (folder := modules_folder(self.folder)).is_dir() else "",
        }
        with (
            warnings.catch_warnings(),
            GradebookWriter(self.folder, settings(self.folder)) as writer,
            tqdm(total=len(todo), disable=not todo) as progress,
            contextlib.ExitStack() as stack,
        ):
            warnings.simplefilter("ignore", SAWarning)  # raised by nbgrader's own queries
            given = writer.all_given()
            self._update_pages(writer, found, todo, given)
            jobs = (self._job(one, writer, common) for one in todo)
            graded = _done(backend, jobs, RETRY_NOTEBOOKS * limits.notebook)
            # On exit, close the generator, which ends the workers.
            stack.enter_context(contextlib.closing(graded))
            for (job, submission, timestamp), result in graded:
                name, student = job.exercise, job.student
                outcome = result if isinstance(result, Outcome) else self._given_up(job, result)
                if writer.record(student, name, outcome, timestamp):
                    self._make_page(student, name)
                remarks = [*submission.remarks, *outcome.remarks]
                if timestamp.strip() and parse_timestamp(timestamp) is None:
                    remarks.append("timestamp.txt does not say a time")
                reason = job.reason + submission.question
                digest = self._digest(name, job.content, timestamp, reason)
                record: results.Result = {
                    "digest": "" if outcome.again else digest,
                    "reason": "; ".join(filter(None, (outcome.reason, submission.question))),
                    "remarks": remarks,
                    "parts": outcome.parts,
                    "seconds": round(outcome.seconds, 3),
                    "tampering": [*submission.tampering, *outcome.tampering],
                    "unsafe": unsafe,
                    "code": outcome.code,
                    "given": given.get((student, name), []),
                    "told": digest if outcome.again and outcome.told else "",
                    "missing": outcome.missing,
                }
                self.results.put(student, name, record)
                progress.set_description(f"{student} {name}")
                progress.update()
        return len(todo)

    def _update_pages(
        self,
        writer: GradebookWriter,
        found: Sequence[Submission],
        todo: Sequence[Submission],
        given: dict[tuple[str, str], list[list[Any]]],
    ) -> None:
        """Rewrite feedback pages whose points or comments have changed since.

        Late penalties, manual points and comments may have changed after a page was written.
        """
        changed = set(writer.update_penalties())
        state, waiting = self.state(), set(todo)
        for one in found:
            if one in waiting:
                continue
            key = (one.student, one.exercise)
            result = state[one.student][one.exercise]
            if result.get("given", []) != given.get(key, []):
                changed.add(key)
                self.results.put(*key, result | {"given": given.get(key, [])})
        for student, name in sorted(changed):
            self._make_page(student, name)

    def _make_page(self, student: str, name: str) -> None:
        """Write a feedback page; if nbgrader fails, the next grading tries again."""
        with self._nbgrader() as api:
            result = api.generate_feedback(name, student)
        if os.strerror(errno.ENOSPC) in str(result):
            raise OSError(
                errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.feedback(student, name))
            )

    def _job(
        self, submission: Submission, writer: GradebookWriter, common: dict[str, Any]
    ) -> tuple[tuple[Job, Submission, bytes], Job]:
        """Return a submission's (name, job), as `pool.done` takes them.

        The name is (job, submission, content of timestamp.txt).
        """
        name, student = submission.exercise, submission.student
        content, timestamp, reason = submission.read()
        manual, comments = writer.given(student, name)
        released = self.folder / "release" / name / f"{name}.ipynb"
        job = Job(
            student=student,
            exercise=name,
            content=content,
            released=released.read_text(encoding="utf-8"),
            version=self._version(name),
            reason=reason,
            manual=manual,
            comments=comments,
            earlier=self._earlier(student, name, self._digest(name, content, timestamp, reason)),
            **common,
        )
        return (job, submission, timestamp), job

    def _earlier(self, student: str, name: str, digest: str) -> str:
        """Return the graded notebook of an earlier run that received hidden inputs.

        Returns "" if this grading does not repeat such a run.
        """
        before = results.read(self.results.folder / student / f"{name}.json")
        graded = self.graded(student, name)
        if not before or before.get("told") != digest or not graded.exists():
            return ""
        return graded.read_text(encoding="utf-8")

    def _given_up(self, job: Job, cause: str | None = None) -> Outcome:
        """Return the outcome of a job for which every worker process died.

        cause: `pool.TOO_MUCH` if a retry is pointless; otherwise the next grading retries the job.
        """
        reason = TOO_MUCH if cause == pool.TOO_MUCH else GAVE_UP
        outcome = work(replace(job, reason=reason))
        return replace(outcome, again=reason == GAVE_UP)

    def state(self) -> dict[str, dict[str, results.Result]]:
        """Return student → exercise → result of the last grading."""
        return self.results.all()

    def gradebook(self) -> Any:
        return gradebook.opened(database(self.folder), COURSE_ID)

    def graded(self, student: str, name: str) -> Path:
        return self.folder / "autograded" / student / name / f"{name}.ipynb"

    def feedback(self, student: str, name: str) -> Path:
        return self.folder / "feedback" / student / name / f"{name}.html"

    def _version(self, name: str) -> str:
        return self._versions[name] if self._versions else exercises.digest(name)

    def _digest(self, name: str, content: bytes, timestamp: bytes, reason: str) -> str:
        return f"{self._version(name)[:16]}-{submissions.digest(content, timestamp, reason)}"

    def _done(self, submission: Submission, state: dict[str, dict[str, results.Result]]) -> bool:
        result = state.get(submission.student, {}).get(submission.exercise)
        key = (submission.student, submission.exercise)
        if result is None or not (self.graded(*key).exists() and self.feedback(*key).exists()):
            return False
        if any(map(is_installed, result.get("missing", ()))):  # a missing module is now installed
            return False
        content, timestamp, reason = submission.read()
        reason += submission.question
        return result["digest"] == self._digest(submission.exercise, content, timestamp, reason)

    @property
    def _released(self) -> Path:
        """Return the path of the JSON file that maps released exercises to digests."""
        return self.folder / FOLDER / "released.json"

    def _release_what_changed(self) -> None:
        before = results.read(self._released) or {}
        released = self.folder / "release"
        with self.gradebook() as book:  # creates the gradebook if it is missing
            known = {one.name for one in book.assignments if one.notebooks}
        changed = [
            name
            for name in exercises.names()
            if before.get(name) != exercises.digest(name)
            or name not in known
            or not (released / name / f"{name}.ipynb").exists()
        ]
        if changed:
            self.release(changed)
        with self.gradebook() as book:
            gradebook.add_missing_notebooks(book)

    @contextmanager
    def _nbgrader(self) -> Iterator[Any]:
        """Yield nbgrader's API with the course's settings, in the course folder."""
        log = logging.getLogger("traitlets")
        before, log.propagate = log.propagate, False
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            config = settings(self.folder)
            with gradebook.tools_on_path(), warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)
                yield NbGraderAPI(config=config)
        finally:
            os.chdir(here)
            log.propagate = before


Named = tuple[Job, Submission, bytes]


def _done(
    backend: pool.Backend, jobs: Iterator[tuple[Named, Job]], seconds: float
) -> Generator[tuple[Named, Outcome | str | None]]:
    """Yield as `pool.done` does, but regrade notebooks that exceeded a time limit.

    They are regraded one at a time. The second round takes the fastest first and starts none after
    `seconds`; the notebooks left over keep their first outcome until the next grading.
    """
    late: list[tuple[Named, Outcome]] = []
    with contextlib.closing(pool.done(backend, work, jobs)) as first:
        for named, outcome in first:
            if isinstance(outcome, Outcome) and outcome.late:
                late.append((named, outcome))
            else:
                yield named, outcome
    late.sort(key=lambda one: one[1].seconds, reverse=True)
    end = time.monotonic() + seconds

    def repeated() -> Iterator[tuple[Named, Job]]:
        while late and time.monotonic() < end:
            named, before = late.pop()
            yield named, replace(named[0], earlier=before.notebook if before.told else "")

    yield from pool.done(backend, work, repeated(), window=1)
    for named, before in reversed(late):
        reason = "; ".join(filter(None, (before.reason, LATE)))
        yield named, replace(before, reason=reason, again=True)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Convert errors that the instructor can fix (disk, gradebook) to Unable."""
    log = logging.getLogger("tornado.application")  # nbgrader's gradebook logs tracebacks here
    before, log.disabled = log.disabled, True
    try:
        yield
    except CannotWork as error:
        raise Unable(f"{error}. Put that right and run this again.") from None
    except (OperationalError, InterfaceError, InvalidEntry) as error:
        # PostgreSQL's messages have several lines.
        message = " ".join(str(getattr(error, "orig", error)).split())
        message = message.removeprefix("(sqlite3.OperationalError) ").rstrip(".?")
        if any(words in message for words in FULL_DISK):
            raise Unable(DISK_IS_FULL.format(f"the gradebook: {message}")) from None
        raise Unable(
            f"The gradebook could not be used: {message}. If a formgrader or another program is "
            "using it, let that finish, then run this again. No grade is lost."
        ) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            where = error.filename or f"the course folder or {tempfile.gettempdir()}"
            raise Unable(DISK_IS_FULL.format(f"{where}: {error.strerror}")) from None
        where = f" ({error.filename})" if error.filename else ""
        raise Unable(
            f"{error.strerror or error}{where}. Put that right and run this again: it continues "
            "where it stopped."
        ) from None
    finally:
        log.disabled = before


def _reason(result: dict[str, Any]) -> str:
    """Return nbgrader's reason for a failure, from its error or its log."""
    lines = f"{result.get('error', '')}\n{result.get('log', '')}".splitlines()
    exceptions = [found[1] for line in lines if (found := re.match(EXCEPTION_LINE, line))]
    logged = [found[1] for line in lines if (found := re.match(r"\[.*ERROR\] (.+)", line))]
    reason = (exceptions or logged or ["nbgrader gave no reason"])[-1]
    return reason.split("Error) ")[-1].strip().rstrip(".")  # without SQLAlchemy's error class
