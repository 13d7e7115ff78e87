"""nbgrader's settings for this course.

A course folder's own nbgrader_config.py loads this file. source/, submitted/, autograded/,
feedback/, release/ and gradebook.db belong to the course folder that nbgrader runs in;
`python -m grading release` writes source/ from this repository's exercises.
"""

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from nbgrader.converters import (  # type: ignore[import-untyped]  # noqa: E402
    Autograde,
    GenerateAssignment,
)
from nbgrader.preprocessors import (  # type: ignore[import-untyped]  # noqa: E402
    ComputeChecksums,
    Execute,
)

from grading import sandbox  # noqa: E402
from grading.nbgrader_setup import exchange, patches  # noqa: E402
from grading.nbgrader_setup import preprocessors as ours  # noqa: E402
from grading.release.embedding import EmbedCases  # noqa: E402
from grading.release.facts_line import AddFactsLine  # noqa: E402
from grading.release.opening import AddOpening  # noqa: E402
from grading.reports import feedback  # noqa: E402
from grading.settings import DATABASE, database  # noqa: E402


def default(converter: Any, name: str) -> list[Any]:
    return list(converter.class_traits()[name].default())


c = get_config()  # type: ignore[name-defined]  # noqa: F821 - traitlets defines it

c.CourseDirectory.course_id = "roofline"
if os.environ.get(DATABASE):
    c.CourseDirectory.db_url = database(Path())

# Our preprocessors must precede the one that records the checksums of the check cells.
steps = default(GenerateAssignment, "preprocessors")
at = steps.index(ComputeChecksums)
steps[at:at] = [AddFactsLine, EmbedCases, AddOpening]
c.GenerateAssignment.preprocessors = steps
# Keep this stub as it is: the introductions of the exercise notebooks quote it.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}

# Refuse to grade without a sandbox: the command ends with one line that says why.
c.Autograde.pre_convert_hook = sandbox.require
patches.install()
c.ExchangeFactory.collect = exchange.Collect
c.ExchangeFactory.release_feedback = exchange.ReleaseFeedback

# `Repair` precedes nbgrader's steps: nbconvert stops if a notebook is invalid after any of them.
c.Autograde.sanitize_preprocessors = [
    ours.RemoveCopiedFiles,
    ours.Repair,
    *default(Autograde, "sanitize_preprocessors"),
]
c.Autograde.autograde_preprocessors = [
    ours.Values if step is Execute else step
    for step in default(Autograde, "autograde_preprocessors")
]

# Graded notebooks, feedback pages and the formgrader show text and pictures but no active content.
c.Autograde.autograde_preprocessors.append(feedback.Clean)
c.HTMLExporter.preprocessors = [feedback.Clean]
c.HTMLExporter.filters = feedback.FILTERS
# Check a notebook's format once, after the last preprocessor, and not after each one.
c.Page.optimistic_validation = True
c.HTMLExporter.extra_template_basedirs = feedback.TEMPLATES
c.GenerateFeedback.exporter_class = feedback.Page
