"""A course folder: release into it, grade what was handed in there, once for each change."""

import json
import logging
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from tqdm import tqdm
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from . import exercises, intake
from .seed import FOLDER, course_seed

CONFIG = exercises.ROOT / "exercises" / "nbgrader_config.py"
OWN_CONFIG = """\
# Plain nbgrader commands and the formgrader find the course's settings through this file.
c = get_config()
load_subconfig({path!r})
"""


class Course:
    """A folder with submitted/<student>/<exercise>/<exercise>.ipynb in it."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.state_file = self.folder / FOLDER / "state.json"

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
                    raise RuntimeError(f"{name} could not be released:\n{result.get('log', '')}")

    def grade(self):
        """Grade what is new or changed. Returns how many submissions that were."""
        self._release_what_changed()
        state = self.state()
        todo = [one for one in intake.submissions(self.folder) if not self._done(one, state)]
        inbox = intake.inbox(self.folder)
        with self._nbgrader(inbox) as api, tqdm(todo, disable=not todo) as progress:
            for submission in progress:
                progress.set_description(f"{submission.student} {submission.exercise}")
                entry = self._grade_one(api, submission)
                state.setdefault(submission.student, {})[submission.exercise] = entry
                self._save(state)
        return len(todo)

    def state(self):
        """student → exercise → what came out when it was last graded."""
        if not self.state_file.exists():
            return {}
        return json.loads(self.state_file.read_text(encoding="utf-8"))

    def gradebook(self):
        return Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}", "roofline")

    def graded(self, student, name):
        return self.folder / "autograded" / student / name / f"{name}.ipynb"

    def feedback(self, student, name):
        return self.folder / "feedback" / student / name / f"{name}.html"

    def _digest(self, submission):
        return f"{exercises.digest(submission.exercise)[:16]}-{submission.digest()}"

    def _done(self, submission, state):
        entry = state.get(submission.student, {}).get(submission.exercise)
        place = (submission.student, submission.exercise)
        return (
            entry is not None
            and entry["digest"] == self._digest(submission)
            and self.graded(*place).exists()
            and self.feedback(*place).exists()
        )

    def _grade_one(self, api, submission):
        reason = submission.reason
        intake.lay_out(self.folder, submission)
        place = (submission.exercise, submission.student)
        result = api.autograde(*place)
        if not result["success"] and not reason:
            reason = _last_line(result)
            intake.lay_out(self.folder, submission, reason)
            result = api.autograde(*place)
        if result["success"]:
            if reason:
                self._flag(*place)
            result = api.generate_feedback(*place)
        if not result["success"]:
            raise RuntimeError(f"{submission.student}, {submission.exercise}: {_last_line(result)}")
        found = nbformat.read(self.graded(*place[::-1]), as_version=4).metadata["rooflib"]
        return {
            "digest": self._digest(submission),
            "reason": reason or found["trouble"].rstrip("."),
            "remarks": list(submission.remarks),
            "parts": found["parts"],
        }

    def _flag(self, name, student):
        """Mark what could not be graded for a human to look at; its points stay 0."""
        with self.gradebook() as gradebook:
            for grade in gradebook.find_submission_notebook(name, name, student).grades:
                grade.auto_score, grade.needs_manual_grade = 0, True
            gradebook.db.commit()

    def _release_what_changed(self):
        self.prepare()
        file = self.folder / FOLDER / "released.json"
        before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        now = {name: exercises.digest(name) for name in exercises.names()}
        released = self.folder / "release"
        changed = [
            name
            for name in now
            if before.get(name) != now[name]
            or not (released / name / f"{name}.ipynb").exists()
            or not (self.folder / "gradebook.db").exists()
        ]
        if changed:
            self.release(changed)
            file.write_text(json.dumps(now), encoding="utf-8")

    def _save(self, state):
        new = self.state_file.with_suffix(".new")
        new.write_text(json.dumps(state, indent=1, sort_keys=True), encoding="utf-8")
        new.replace(self.state_file)

    @contextmanager
    def _nbgrader(self, submitted=None):
        """nbgrader with the course's settings, in the course folder."""
        log = logging.getLogger("traitlets")
        before, log.propagate = log.propagate, False
        here, paths = Path.cwd(), os.environ["PATH"]
        os.chdir(self.folder)
        # nbgrader calls a tool of its own environment (alembic) by its bare name.
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), paths])
        try:
            config = Config(PyFileConfigLoader(CONFIG.name, path=str(CONFIG.parent)).load_config())
            config.CourseDirectory.root = str(self.folder)
            if submitted:
                config.CourseDirectory.submitted_directory = str(submitted)
            with warnings.catch_warnings():
                # nbgrader's own business with its database, of no use to an instructor
                warnings.simplefilter("ignore", SAWarning)
                yield NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
        finally:
            os.chdir(here)
            os.environ["PATH"] = paths
            log.propagate = before


def _last_line(result):
    """What nbgrader says last about a failure, without paths."""
    lines = [line for line in result.get("log", "").splitlines() if "Error" in line]
    text = lines[-1] if lines else "nbgrader could not convert it"
    return text.split("] ")[-1].strip().rstrip(".")
