"""Steps of nbgrader's autograding that this course replaces or adds."""

import itertools
import shutil
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]
from traitlets import Float

from grading.allowed_modules import modules_folder
from grading.execution.time_limits import TIME_LIMITS, TimeLimits
from grading.grade_notebook import grade
from grading.intake.repair import repair
from grading.records.seed import course_seed
from grading.sandbox import modules

Resources = dict[str, Any]


class RemoveCopiedFiles(NbGraderPreprocessor):  # type: ignore[misc]
    """First step of autograde: removes files that nbgrader copied with the notebook.

    The formgrader would serve them, including a learner's own HTML pages, to the logged-in
    instructor.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        about = resources["nbgrader"]
        # nbgrader's working folder is the course folder.
        for path in Path("autograded", about["student"], about["assignment"]).glob("*"):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.suffix != ".ipynb" and path.name != "timestamp.txt":
                path.unlink()
        return nb, resources


class Repair(NbGraderPreprocessor):  # type: ignore[misc]
    """Step of autograde that repairs a submission, such as its cells' metadata.

    nbgrader finds the cells by their metadata.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        for line in itertools.chain(*repair(nb, resources["nbgrader"]["assignment"])):
            self.log.warning(line)
        return nb, resources


class Values(NbGraderPreprocessor):  # type: ignore[misc]
    """Step of autograde that grades the notebook and writes the verdict into it."""

    cell_seconds = Float(TIME_LIMITS.cell, help="CPU time of one cell").tag(config=True)
    call_seconds = Float(TIME_LIMITS.call, help="CPU time of one call").tag(config=True)
    cell_wall_seconds = Float(TIME_LIMITS.cell_wall, help="one cell, by the clock").tag(config=True)
    call_wall_seconds = Float(TIME_LIMITS.call_wall, help="one call, by the clock").tag(config=True)
    notebook_seconds = Float(TIME_LIMITS.notebook, help="all of it, by the clock").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        limits = TimeLimits(
            self.cell_seconds,
            self.call_seconds,
            self.cell_wall_seconds,
            self.call_wall_seconds,
            notebook=self.notebook_seconds,
        )
        seed = course_seed(Path.cwd())  # nbgrader's working folder is the course folder
        modules.use(modules_folder(Path.cwd()))
        return grade(nb, resources["nbgrader"]["assignment"], seed, limits), resources
