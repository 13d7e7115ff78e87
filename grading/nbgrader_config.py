"""nbgrader's settings for this course: its own commands and the formgrader grade as `make grade`.

A course folder's own nbgrader_config.py loads this file. source/, submitted/, autograded/,
feedback/, release/ and gradebook.db belong to the course folder that nbgrader runs in;
`make release` writes source/ from this repository's exercises.
"""

import functools
import os
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if sys.argv[1:2] == ["validate"]:  # has no setting for what runs a notebook
    raise SystemExit(
        "`nbgrader validate` would run this notebook with all your rights. `make grade COURSE=…` "
        "runs what is in submitted/ in its sandbox, and report.html says which parts are right."
    )

import nbgrader.server_extensions.formgrader as formgrader  # type: ignore[import-untyped]  # noqa: E402
from nbconvert.exporters.exporter import Exporter  # noqa: E402
from nbformat import NotebookNode  # noqa: E402
from nbgrader.converters import (  # type: ignore[import-untyped]  # noqa: E402
    Autograde,
    GenerateAssignment,
)
from nbgrader.preprocessors import (  # type: ignore[import-untyped]  # noqa: E402
    AssignLatePenalties,
    ComputeChecksums,
    GetGrades,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from traitlets import default  # noqa: E402

from grading import exchange, report  # noqa: E402
from grading.box import Server  # noqa: E402
from grading.course import Course  # noqa: E402
from grading.files import Unable  # noqa: E402
from grading.grade import graded, run_ordinary  # noqa: E402
from grading.gradebook import Marks  # noqa: E402
from grading.intake import name_problem, printable  # noqa: E402
from grading.notebook import cells_of, restored  # noqa: E402
from grading.release import exercises  # noqa: E402
from grading.release.notebooks import Complete  # noqa: E402

Resources = dict[str, Any]


@functools.cache
def server() -> Server:
    return Server(os.environ.get("GRADING_UNSAFE") == "1").__enter__()


def refuse(notebooks: list[str], **_: Any) -> None:
    """End the command if a folder would harm, or if no sandbox is possible."""
    folder = Path(notebooks[0]).absolute().parent
    student = folder.parent.name
    try:
        if folder.is_symlink() or folder.parent.is_symlink():
            raise ValueError("a link and not a folder")
        if problem := name_problem(student):
            raise ValueError(problem)
        exchange.refuse_odd(folder)
        with server().box():
            pass
    except (ValueError, OSError, Unable) as error:
        raise SystemExit(f"{printable(student)}/{folder.name}: {error}") from None


def remove_others(notebooks: list[str], **_: Any) -> None:
    """Remove what nbgrader copied beside a notebook: the formgrader would serve it."""
    folder = Path(notebooks[0]).absolute().parent
    for path in Path("autograded", folder.parent.name, folder.name).iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".ipynb" and path.name != "timestamp.txt":
            path.unlink()


class Restore(NbGraderPreprocessor):  # type: ignore[misc]
    """First step of autograde: the released notebook with the learner's cells."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        name, course = resources["nbgrader"]["assignment"], Course(Path.cwd())
        if name not in exercises.names():
            return nb, resources
        cells, language = cells_of(nb)
        functions = {part.key: part.function for part in exercises.load(name).parts}
        made, remarks = restored(cells, course.texts(name), language, functions)
        for line in remarks:
            self.log.warning(line)
        return made, resources


class Values(NbGraderPreprocessor):  # type: ignore[misc]
    """Step of autograde that asks, judges, and writes the verdicts into the notebook."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        name, course = resources["nbgrader"]["assignment"], Course(Path.cwd())
        if name in exercises.names():
            graded(server(), nb, name, course.seed())
        else:
            run_ordinary(server(), nb)
        return nb, resources


class Page(Exporter):
    """Makes the course's page of feedback, of what nbgrader has read from its gradebook."""

    @default("file_extension")
    def _file_extension(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        nb, resources = super().from_notebook_node(nb, resources, **options)
        about = resources["nbgrader"]
        with Course(Path.cwd()).gradebook() as book:
            own = book.find_submission(about["assignment"], about["student"])
            marks = Marks(penalty=about["late_penalty"], late=own.total_seconds_late)
        for cell in nb.cells:
            own = cell.metadata.get("nbgrader", {})
            if own.get("grade"):
                marks.scores[own["grade_id"]] = own["score"]
            if own.get("comment"):
                marks.comments[own["grade_id"]] = own["comment"]
        return report.page(nb, about["student"], about["assignment"], marks), resources


c = get_config()  # type: ignore[name-defined]  # noqa: F821 - traitlets defines it

c.CourseDirectory.course_id = "roofline"

# Our step must come before the one that records the checksums of the check cells.
steps = list(GenerateAssignment.class_traits()["preprocessors"].default())
steps.insert(steps.index(ComputeChecksums), Complete)
c.GenerateAssignment.preprocessors = steps
# Keep this stub as it is: the introductions of the exercise notebooks quote it.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}

c.Autograde.pre_convert_hook = refuse
c.Autograde.post_convert_hook = remove_others
c.Autograde.sanitize_preprocessors = [
    Restore,
    *Autograde.class_traits()["sanitize_preprocessors"].default(),
]
c.Autograde.autograde_preprocessors = [Values, SaveAutoGrades, AssignLatePenalties]
# What JupyterLab's Validate says, which is without this to run a submission, and its kernel in a
# folder of the learner's, with all your rights.
c.Execute.kernel_name = (
    "Validate: a submission would have all your rights; `make grade COURSE=…` runs it in a sandbox"
)
c.GenerateFeedback.preprocessors = [GetGrades]
c.GenerateFeedback.exporter_class = Page
c.ExportPlugin.to = "nbgrader.csv"  # grades.csv is the course's own table
c.ExchangeFactory.collect = exchange.Collect
c.ExchangeFactory.release_feedback = exchange.ReleaseFeedback

# The formgrader, where an instructor is logged in, shows Markdown as pages of feedback do, and
# fetches nothing: formgrade/ here has no MathJax.
c.HTMLExporter.filters = {"markdown2html": report.prose}
c.HTMLExporter.extra_template_basedirs = [
    str(Path(__file__).parent),
    str(Path(str(formgrader.__file__)).parent / "templates"),
]
