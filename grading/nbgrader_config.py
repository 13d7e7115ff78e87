"""nbgrader's settings for this course: its own commands and the formgrader grade as `make grade`.

A course folder's own nbgrader_config.py loads this file. source/, submitted/, autograded/,
feedback/, release/ and gradebook.db belong to the course folder that nbgrader runs in;
`make release` writes source/ from this repository's exercises.
"""

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

import nbformat  # noqa: E402
import nbgrader.server_extensions.formgrader as formgrader  # type: ignore[import-untyped]  # noqa: E402
from nbconvert.exporters.exporter import Exporter  # noqa: E402
from nbformat import NotebookNode  # noqa: E402
from nbgrader.preprocessors import (  # type: ignore[import-untyped]  # noqa: E402
    AssignLatePenalties,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from traitlets import default  # noqa: E402

from grading import exchange, gradebook, report  # noqa: E402
from grading.box import own_server  # noqa: E402
from grading.course import Course  # noqa: E402
from grading.grade import grade  # noqa: E402
from grading.intake import name_problem, printable  # noqa: E402
from grading.release import exercises  # noqa: E402

Resources = dict[str, Any]


def refuse(notebooks: list[str], **_: Any) -> None:
    """End `autograde` if a folder would harm, or if no sandbox is possible."""
    folder = Path(notebooks[0]).absolute().parent
    student, assignment = folder.parent.name, folder.name
    try:
        if assignment not in exercises.names():
            raise ValueError("no exercise of this course; nbgrader would run it with your rights")
        if folder.parent.is_symlink():
            raise ValueError("a link and not a folder")
        if problem := name_problem(student):
            raise ValueError(problem)
        exchange.refuse_odd(folder)
        with own_server().box():
            pass
    except Exception as error:  # nbgrader would go on after one
        raise SystemExit(f"{printable(student)}/{assignment}: {error}") from None


def remove_others(notebooks: list[str], **_: Any) -> None:
    """Remove what nbgrader copied beside a notebook: the formgrader would serve it."""
    folder = Path(notebooks[0]).absolute().parent
    for path in Path("autograded", folder.parent.name, folder.name).iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".ipynb" and path.name != "timestamp.txt":
            path.unlink()


class Grade(NbGraderPreprocessor):  # type: ignore[misc]
    """Step of autograde that does all that `make grade` does with a notebook."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        name, course = resources["nbgrader"]["assignment"], Course(Path.cwd())
        content = nbformat.writes(nb).encode("utf-8", "replace")
        outcome = grade(own_server(), name, content, "", course.texts(name), course.seed())
        for line in filter(None, (outcome.reason, *outcome.remarks)):
            self.log.warning(line)
        return nbformat.reads(outcome.notebook, as_version=4), resources


class Page(Exporter):
    """Makes the course's page of feedback."""

    @default("file_extension")
    def _file_extension(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        nb, resources = super().from_notebook_node(nb, resources, **options)
        about = resources["nbgrader"]
        key = about["student"], about["assignment"]
        with Course(Path.cwd()).gradebook() as book:
            return report.page(nb, *key, gradebook.marks(book)[key]), resources


c = get_config()  # type: ignore[name-defined]  # noqa: F821 - traitlets defines it

c.CourseDirectory.course_id = "roofline"

# Keep this stub as it is: the introductions of the exercise notebooks quote it.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}

c.Autograde.pre_convert_hook = refuse
c.Autograde.post_convert_hook = remove_others
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = [Grade, SaveAutoGrades, AssignLatePenalties]
# What JupyterLab's Validate says, which is without this to run a submission, and its kernel in a
# folder of the learner's, with all your rights.
c.Execute.kernel_name = (
    "Validate: a submission would have all your rights; `make grade COURSE=…` runs it in a sandbox"
)
c.GenerateFeedback.preprocessors = []
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
