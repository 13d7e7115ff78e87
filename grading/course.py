"""A course folder: submitted/<student>/<exercise>/ goes in, and what people read comes out.

    exercises/                         the class's own exercises, beside those of the repository
    source/ release/ release-zh_CN/    by `release`: notebooks with solutions, and without
    .grading/                          the seed of hidden inputs, and one result file per submission
    autograded/ gradebook.db feedback/ and tables, made of the result files

A result file is written whole or not at all. Gradebook, pages and tables are brought into line with
all result files at the end of each run. So a run may be stopped at any moment, and nothing goes
stale: the next one goes on where it was.
"""

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
import secrets
import sys
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, InvalidEntry  # type: ignore[import-untyped]
from nbgrader.apps.api import NbGraderAPI  # type: ignore[import-untyped]
from sqlalchemy.exc import InterfaceError, OperationalError, SAWarning
from tqdm import tqdm  # type: ignore[import-untyped]
from traitlets import TraitError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grading import cluster, gradebook, report
from grading.box import Server
from grading.files import Unable, put, read_json
from grading.grade import Outcome, grade
from grading.gradebook import Key
from grading.intake import Misplaced, Submission, listed, submissions
from grading.release import exercises, notebooks, translation
from roofkit.words import ORIGINAL

CONFIG = Path(__file__).with_name("nbgrader_config.py")
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
RETRY_SECONDS = 1_800  # for all submissions together that took too long
Result = dict[str, Any]  # a result file: the fields of `Outcome`, and digest, timestamp
# and the digest of the page that shows it, "" until gradebook and page do
State = dict[Key, Result]

# nbgrader runs its programs by name, and its queries raise warnings.
os.environ["PATH"] = os.pathsep.join([f"{sys.prefix}/bin", os.environ.get("PATH", "")])
warnings.simplefilter("ignore", SAWarning)


class Course:
    """A course folder."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).resolve()
        self.given, self.own = self.folder / "submitted", self.folder / ".grading"
        self.released = self.own / "released.json"  # exercise → the version that was released
        exercises.use(self.folder / "exercises")

    # --- what is there ---------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the folder usable for nbgrader, without overwriting anything."""
        self.own.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (own := self.folder / "nbgrader_config.py").exists():
            put(own, OWN_CONFIG.format(path=str(CONFIG)))
        self.seed()

    def seed(self) -> str:
        """Return the seed from which hidden inputs are drawn; draw it on first use."""
        file = self.own / "seed"
        if not file.exists() or not file.read_text(encoding="ascii").strip():
            put(file, secrets.token_hex(16) + "\n")
            file.chmod(0o600)
        return file.read_text(encoding="ascii").strip()

    def names(self) -> list[str]:
        """Return the exercises that this class was given, in the book's order."""
        place = self.folder / "release"
        return [one for one in exercises.names() if (place / one / f"{one}.ipynb").is_file()]

    def check_name(self, name: str) -> None:
        """Raise Unable for a name that is no exercise's."""
        if name not in exercises.names():
            raise Unable(f"{name!r} is not an exercise; there is {', '.join(exercises.names())}")

    def settings(self) -> Config:
        """Return nbgrader's settings: this folder's own file, which loads the repository's."""
        loader = PyFileConfigLoader("nbgrader_config.py", path=str(self.folder))
        config = Config(loader.load_config())
        config.CourseDirectory.root = str(self.folder)
        if "db_url" not in config.CourseDirectory:
            config.CourseDirectory.db_url = f"sqlite:///{self.folder / 'gradebook.db'}"
        return config

    def gradebook(self) -> Any:
        directory = self.settings().CourseDirectory
        return Gradebook(directory.db_url, directory.course_id)

    def state(self) -> State:
        """Return all results; a damaged file, or one of an older grader, counts as none."""
        found = {}
        for file in sorted((self.own / "graded").glob("*/*.json")):
            if "page" in (result := read_json(file) or {}):
                found[file.parent.name, file.stem] = result
        return found

    def graded(self, student: str, name: str) -> Path:
        return self.folder / "autograded" / student / name / f"{name}.ipynb"

    def feedback(self, student: str, name: str) -> Path:
        return self.folder / "feedback" / student / name / f"{name}.html"

    # --- release ---------------------------------------------------------------------------------

    def release(self, names: Sequence[str] = (), languages: Sequence[str] = ()) -> None:
        """Write release/<exercise>/<exercise>.ipynb and add it to the gradebook.

        names: the exercises to release; if empty, those that were released, or else all. languages:
        write the notebooks in these languages, too, below release-<language>, and in those in which
        there are any; all are graded alike.
        """
        for name in names:
            self.check_name(name)
        known = translation.languages()
        for code in languages:
            if code not in known:
                raise Unable(f"no translation is called {code!r}, only {', '.join(known)}")
        self.prepare()
        self.gradebook().close()  # nbgrader's API needs one
        given = {code for code in known if (self.folder / f"release-{code}").is_dir()}
        for name in names or self.names() or exercises.names():
            file = Path(name, f"{name}.ipynb")
            source, made = self.folder / "source" / file, self.folder / "release" / file
            before = {
                one: one.read_text(encoding="utf-8") for one in (source, made) if one.exists()
            }
            put(source, nbformat.writes(notebooks.complete(name)) + "\n")
            try:
                self._generate(name)
            except BaseException:  # nbgrader has removed what it could not make anew
                for one, text in before.items():
                    put(one, text)
                raise
            nb = nbformat.read(made, as_version=4)
            for code in given | {*languages}:
                text = nbformat.writes(notebooks.translated(nb, name, code))
                put(self.folder / f"release-{code}" / file, f"{text}\n")
            versions = read_json(self.released) or {}
            put(self.released, json.dumps(versions | {name: exercises.version(name)}))

    def _generate(self, name: str) -> None:
        """Have nbgrader make the notebook in release/ of the one in source/."""
        logging.getLogger("traitlets").propagate = False  # its log is in each result
        result = NbGraderAPI(config=self.settings()).generate_assignment(name)
        if not result["success"]:
            said = f"{result['error']}\n{result['log']}".strip()
            errors = re.findall(r"^ *[\w.]+(?:Error|Exception): (.+)", said, re.MULTILINE)
            raise Unable(f"{name} could not be released: {[said, *errors][-1]}")

    def _release_what_changed(self) -> None:
        """Release again what this course has changed; else what is edited by hand stays."""
        before, names = read_json(self.released) or {}, self.names()
        with self.gradebook() as book:
            known = {one.name for one in book.assignments if one.notebooks}
        changed = [
            one for one in names if before.get(one) != exercises.version(one) or one not in known
        ]
        if changed or not names:
            self.release(changed)

    # --- grade -----------------------------------------------------------------------------------

    def grade(self, workers: int | None = None, scheduler: str = "") -> tuple[int, list[str]]:
        """Grade what is new or has changed; return how many that was, and lines to print.

        workers: how many notebooks run at once, default cores + 1. scheduler: the address of a
        Dask scheduler that has the work done.
        """
        self.prepare()  # creates the lock's folder, which other users may not read
        with (self.own / "lock").open("a") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Unable(f"{self.folder} is being graded already; wait for its end") from None
            state = self.state()
            self._release_what_changed()
            found, misplaced = submissions(self.folder, self.names())
            todo = [
                one
                for one in found
                if state.get(one.key, {}).get("digest") != one.digest
                or not self.graded(*one.key).exists()
            ]
            if todo:
                self._grade(todo, workers, scheduler)
            return len(todo), self._write({one.key for one in found}, misplaced)

    def _grade(self, todo: Sequence[Submission], workers: int | None, scheduler: str) -> None:
        released = {name: self.texts(name) for name in self.names()}

        def job(one: Submission) -> tuple[Any, ...]:
            return one.exercise, *one.read(), released[one.exercise], self.seed()

        with contextlib.ExitStack() as stack:
            if scheduler:
                send = stack.enter_context(cluster.sender(scheduler))
            else:
                server = stack.enter_context(Server())
                workers = workers or len(os.sched_getaffinity(0)) + 1
                threads = ThreadPoolExecutor(workers)
                stack.callback(threads.shutdown, wait=False, cancel_futures=True)
                with server.box():  # raises Unable if no sandbox is possible here
                    pass

            def submit(one: Submission) -> "Future[Outcome]":
                if scheduler:
                    return send(*job(one))
                return threads.submit(lambda: grade(server, *job(one)))

            progress = stack.enter_context(tqdm(total=len(todo)))
            running = {submit(one): one for one in todo}
            held_up = []
            for future in as_completed(list(running)):
                one, outcome = running.pop(future), future.result()
                if outcome.held_up:
                    held_up.append((one, outcome))
                else:
                    self._keep(one, outcome)
                progress.set_description(" ".join(one.key))
                progress.update()
            # Perhaps others took the time: once more, one after the other.
            end = time.monotonic() + RETRY_SECONDS
            for one, outcome in held_up:
                progress.set_description(f"{' '.join(one.key)}, once more")
                self._keep(one, submit(one).result() if time.monotonic() < end else outcome)

    def texts(self, name: str) -> Mapping[str, str]:
        """Return language → text of a released notebook."""
        file = Path(name, f"{name}.ipynb")
        places = {ORIGINAL: self.folder / "release" / file}
        places |= {code: self.folder / f"release-{code}" / file for code in translation.languages()}
        return {
            code: place.read_text(encoding="utf-8")
            for code, place in places.items()
            if place.exists()
        }

    def _keep(self, one: Submission, outcome: Outcome) -> None:
        """Write the graded notebook, and then the result file, which says that it is there."""
        put(self.graded(*one.key), outcome.notebook)
        result = asdict(outcome) | {"digest": one.digest, "page": ""}
        del result["notebook"], result["held_up"]
        result["reason"] = "; ".join(filter(None, (outcome.reason, one.question)))
        result["timestamp"] = one.timestamp.decode("utf-8-sig", errors="replace").strip()
        result["remarks"] = [*one.remarks, *outcome.remarks]
        if result["timestamp"] and gradebook.time_of(result["timestamp"]) is None:
            result["remarks"].append("timestamp.txt does not say a time")
        put(self._result(*one.key), json.dumps(result))

    def _result(self, student: str, exercise: str) -> Path:
        return self.own / "graded" / student / f"{exercise}.json"

    def _write(self, found: Collection[Key], misplaced: Sequence[Misplaced]) -> list[str]:
        """Bring gradebook, pages of feedback and tables into line with the results."""
        sys.path.append(str(self.folder))  # a plugin may lie there, as for plain nbgrader
        names = self.names()
        with self.gradebook() as book:
            people = {one.id for one in book.students}
            state = {  # without people and exercises that were taken out of the class
                (student, name): result
                for (student, name), result in self.state().items()
                if name in names and (student in people or (self.given / student).is_dir())
            }
            gradebook.record(book, state, self.settings())
            marks = gradebook.marks(book)
            for key in sorted(state.keys() & found):
                text, page = self.graded(*key).read_text(encoding="utf-8"), self.feedback(*key)
                shown = hashlib.sha256(f"{text}{marks[key]}".encode()).hexdigest()
                if state[key]["page"] == shown and page.exists():
                    continue
                put(page, report.page(nbformat.reads(text, as_version=4), *key, marks[key]))
                # Only now that the gradebook and the page say so.
                put(self._result(*key), json.dumps(state[key] | {"page": shown}))
            # A folder with a mistyped name would otherwise be one more student, and nobody notices.
            new = sorted({student for student, _ in state} - people) if people else []
            lines = [f"new in the class: {listed(new)}"] if new else []
            return lines + report.write(self, state, marks, people, misplaced)


@contextlib.contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Convert errors that the instructor can put right (disk, gradebook) to Unable."""
    logging.getLogger("tornado.application").disabled = True  # nbgrader's gradebook's tracebacks
    try:
        yield
    except TraitError as error:
        raise Unable(f"a setting in nbgrader_config.py cannot be used: {error}") from None
    except (OperationalError, InterfaceError, InvalidEntry, OSError) as error:
        # PostgreSQL's messages have several lines.
        said = re.sub(r"^\[Errno \d+\] ", "", " ".join(str(getattr(error, "orig", error)).split()))
        what = "" if isinstance(error, OSError) else "the gradebook could not be used: "
        raise Unable(
            f"{what}{said}. Put that right, or let another program that uses it finish, and run "
            "this again: it goes on where it stopped, and no grade is lost."
        ) from None
