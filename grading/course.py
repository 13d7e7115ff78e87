"""A course folder: release into it, grade what was handed in there, once for each change."""

import contextlib
import logging
import os
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Gradebook, InvalidEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import InterfaceError, OperationalError, SAWarning
from tqdm import tqdm

from grading import sandbox
from grading.execution.time_limits import TIME_LIMITS
from grading.intake import submissions
from grading.nbgrader_setup.settings import CONFIG, database, settings
from grading.parallel import pool
from grading.records import results
from grading.records.gradebook_writer import GradebookWriter, time_of
from grading.records.seed import FOLDER, course_seed
from grading.release import exercises
from grading.work import Job, Unable, work

OWN_CONFIG = """\
# Plain nbgrader commands and the formgrader find the course's settings through this file.
from pathlib import Path

SETTINGS = Path({path!r})

# nbgrader would go on without settings: submissions would run outside of the sandbox.
if not SETTINGS.exists():
    raise SystemExit(f"{{SETTINGS}} is gone; correct its place in {{__file__}}")
try:
    c = get_config()
    load_subconfig(str(SETTINGS))
except Exception as error:
    raise SystemExit(f"{{SETTINGS}} cannot be used: {{error}}") from None
"""
GAVE_UP = "the grader's own process ended each time that this was graded"


class Course:
    """A folder with submitted/<student>/<exercise>/<exercise>.ipynb in it."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.results = results.Results(self.folder / FOLDER / "graded")

    def prepare(self):
        """Make the folder one that nbgrader knows; nothing in it is written over."""
        self.folder.mkdir(parents=True, exist_ok=True)
        own = self.folder / "nbgrader_config.py"
        if not own.exists():
            own.write_text(OWN_CONFIG.format(path=str(CONFIG)), encoding="utf-8")
        course_seed(self.folder)

    def release(self, names=None):
        """Write release/<exercise>/<exercise>.ipynb, and tell the gradebook of it."""
        self.prepare()
        with self._nbgrader() as api:
            for name in names or exercises.names():
                result = api.generate_assignment(name, force=True, create=True)
                if not result["success"]:
                    raise Unable(
                        f"{name} could not be released: {_last_line(result)}. When that is cured, "
                        "run this again."
                    )

    def grade(self, hands=None, unsafe=False, limits=TIME_LIMITS):
        """Grade what is new or changed. Returns how many submissions that were.

        hands: where the work is done, `pool.Local()` if None. unsafe: without a sandbox. Raises
        Unable, with one line for the person who grades; then it can be called again.
        """
        with in_one_line(), self._alone():
            if not unsafe:
                try:
                    # Whether the system allows one, the first that is needed will show.
                    sandbox.refuse_what_cannot_work()
                except sandbox.Refused as refused:
                    raise Unable(str(refused)) from None
            self._release_what_changed()
            return self._grade(hands or pool.Local(), unsafe, limits)

    @contextmanager
    def _alone(self):
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(results.alone(self.folder / FOLDER / "lock"))
            except BlockingIOError:
                raise Unable(
                    f"{self.folder} is being graded already; wait until that is done"
                ) from None
            yield

    def _grade(self, hands, unsafe, limits):
        state = self.state()
        found = submissions.submissions(self.folder)
        todo = [one for one in found if not self._done(one, state)]
        if not todo:
            return 0
        common = {"seed": course_seed(self.folder), "limits": limits, "unsafe": unsafe}
        with (
            warnings.catch_warnings(),
            GradebookWriter(self.folder, settings(self.folder)) as writer,
            tqdm(total=len(todo)) as progress,
        ):
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own business with its database
            jobs = (self._job(one, writer, common) for one in todo)
            for (job, submission, stamp), outcome in pool.done(hands, work, jobs):
                name, student = job.exercise, job.student
                if outcome is None:
                    outcome = self._given_up(job)
                if writer.record(student, name, outcome, stamp):
                    with self._nbgrader() as api:
                        api.generate_feedback(name, student)
                remarks = [*submission.remarks, *outcome.remarks]
                if stamp.strip() and time_of(stamp) is None:
                    remarks.append("timestamp.txt does not say a time")
                entry = {
                    "digest": ""
                    if outcome.again
                    else self._digest(name, job.content, stamp, job.reason),
                    "reason": outcome.reason,
                    "remarks": remarks,
                    "parts": outcome.parts,
                    "seconds": round(outcome.seconds, 3),
                    "tampering": [*submission.tampering, *outcome.tampering],
                    "unsafe": unsafe,
                }
                self.results.put(student, name, entry)
                progress.set_description(f"{student} {name}")
                progress.update()
        return len(todo)

    def _job(self, submission, writer, common):
        """((the work, the submission, content of timestamp.txt), the work)"""
        name, student = submission.exercise, submission.student
        content, stamp, reason = submission.read()
        manual, comments = writer.given(student, name)
        released = self.folder / "release" / name / f"{name}.ipynb"
        job = Job(
            student=student,
            exercise=name,
            content=content,
            released=released.read_text(encoding="utf-8"),
            version=exercises.digest(name),
            reason=reason,
            manual=manual,
            comments=comments,
            **common,
        )
        return (job, submission, stamp), job

    def _given_up(self, job):
        """For work that ended each process that did it."""
        return replace(work(replace(job, reason=GAVE_UP, content=b"")), again=True)

    def state(self):
        """student → exercise → what came out when it was last graded."""
        return self.results.all()

    def gradebook(self):
        return Gradebook(database(self.folder), "roofline")

    def graded(self, student, name):
        return self.folder / "autograded" / student / name / f"{name}.ipynb"

    def feedback(self, student, name):
        return self.folder / "feedback" / student / name / f"{name}.html"

    def _digest(self, name, content, stamp, reason):
        return f"{exercises.digest(name)[:16]}-{submissions.digest(content, stamp, reason)}"

    def _done(self, submission, state):
        entry = state.get(submission.student, {}).get(submission.exercise)
        place = (submission.student, submission.exercise)
        return (
            entry is not None
            and self.graded(*place).exists()
            and self.feedback(*place).exists()
            and entry["digest"] == self._digest(submission.exercise, *submission.read())
        )

    def _release_what_changed(self):
        self.prepare()
        now = {name: exercises.digest(name) for name in exercises.names()}
        before = results.read(self.folder / FOLDER / "released.json") or {}
        released = self.folder / "release"
        with self._nbgrader(), self.gradebook() as gradebook:  # which may be made only now
            known = {one.name for one in gradebook.assignments if one.notebooks}
        changed = [
            name
            for name in now
            if before.get(name) != now[name]
            or name not in known
            or not (released / name / f"{name}.ipynb").exists()
        ]
        if changed:
            self.release(changed)
            results.write(self.folder / FOLDER / "released.json", now)

    @contextmanager
    def _nbgrader(self):
        """nbgrader with the course's settings, in the course folder."""
        log = logging.getLogger("traitlets")
        before, log.propagate = log.propagate, False
        here, paths = Path.cwd(), os.environ["PATH"]
        os.chdir(self.folder)
        # nbgrader calls a tool of its own environment (alembic) by its bare name.
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), paths])
        try:
            config = settings(self.folder)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)
                yield NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
        finally:
            os.chdir(here)
            os.environ["PATH"] = paths
            log.propagate = before


@contextmanager
def in_one_line():
    """Make Unable of what a machine may have against being graded on, and can be cured."""
    log = logging.getLogger("tornado.application")  # to which nbgrader's gradebook shows tracebacks
    before, log.disabled = log.disabled, True
    try:
        yield
    except (OperationalError, InterfaceError, InvalidEntry) as error:
        said = " ".join(str(getattr(error, "orig", error)).split())  # a server says several lines
        said = said.removeprefix("(sqlite3.OperationalError) ").rstrip(".?")
        raise Unable(
            f"The gradebook could not be used: {said}. If a formgrader or another program is at "
            "work on it, let it finish; then run this again. No grade is lost."
        ) from None
    except OSError as error:
        what = f" ({error.filename})" if error.filename else ""
        raise Unable(
            f"{error.strerror or error}{what}. When that is cured, run this again: it goes on "
            "where it was."
        ) from None
    finally:
        log.disabled = before


def _last_line(result):
    """What nbgrader says last about a failure, without paths."""
    lines = [line for line in result.get("log", "").splitlines() if "Error" in line]
    text = lines[-1] if lines else "nbgrader could not convert it"
    return text.split("] ")[-1].split("Error) ")[-1].strip().rstrip(".")
