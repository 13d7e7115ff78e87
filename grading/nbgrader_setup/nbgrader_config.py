"""nbgrader for this course. A course folder's own nbgrader_config.py loads this file.

Sources come from here; submitted/, autograded/, feedback/, release/ and gradebook.db are those of
the course folder that nbgrader runs in.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from nbgrader.converters import Autograde, GenerateAssignment  # noqa: E402
from nbgrader.coursedir import CourseDirectory  # noqa: E402
from nbgrader.preprocessors import ComputeChecksums, Execute  # noqa: E402

from grading import sandbox  # noqa: E402
from grading.nbgrader_setup import odd_files  # noqa: E402
from grading.nbgrader_setup import preprocessors as ours  # noqa: E402
from grading.nbgrader_setup.settings import DATABASE, database  # noqa: E402
from grading.release.embedding import EmbedCases  # noqa: E402
from grading.reports import feedback  # noqa: E402


def default(converter, name):
    return list(converter.class_traits()[name].default())


c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "roofline"
c.CourseDirectory.source_directory = str(ROOT / "exercises")
if os.environ.get(DATABASE):
    c.CourseDirectory.db_url = database(".")

# nbgrader copies what lies beside a notebook: the page, and the parts with all that is hidden.
c.CourseDirectory.ignore = [*default(CourseDirectory, "ignore"), "*.md", "*.py"]

# Before the gradebook learns what a check cell must look like.
steps = default(GenerateAssignment, "preprocessors")
steps.insert(steps.index(ComputeChecksums), EmbedCases)
c.GenerateAssignment.preprocessors = steps
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}

# No sandbox, no grading: this ends the command with the one line that says why.
c.Autograde.pre_convert_hook = sandbox.require
odd_files.install()

# First of all, since nbconvert refuses what is no valid notebook after each of the steps.
c.Autograde.sanitize_preprocessors = [
    ours.Repair,
    *default(Autograde, "sanitize_preprocessors"),
]
c.Autograde.autograde_preprocessors = [
    ours.Values if step is Execute else step
    for step in default(Autograde, "autograde_preprocessors")
]

# Graded notebooks, feedback pages and the formgrader show text and pictures, and nothing that acts.
c.Autograde.autograde_preprocessors.append(feedback.Clean)
c.HTMLExporter.preprocessors = [feedback.Clean]
c.HTMLExporter.filters = feedback.FILTERS
c.HTMLExporter.extra_template_basedirs = feedback.TEMPLATES
c.GenerateFeedback.exporter_class = feedback.Page
