"""The feedback page of a graded notebook, without a gradebook: made where the notebook was run."""

import copy
import functools

from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades

from grading.nbgrader_setup.settings import settings


class Given(GetGrades):
    """Points and comments as nbgrader shows them, from what was given along with the notebook."""

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution"):
                marks["comment"] = about["comments"].get(marks["grade_id"])
            if marks.get("grade"):
                marks["score"] = about["scores"][marks["grade_id"]]
        about["score"] = sum(about["scores"].values())
        about["max_score"] = about["most"]
        about["late_penalty"] = 0
        return nb, resources


def page(nb, exercise, student, parts, comments):
    """HTML, as `nbgrader generate_feedback` would write it.

    parts: dictionaries with key, points, of. comments: key of a solution cell → text.
    """
    about = {
        "student": student,
        "assignment": exercise,
        "notebook": exercise,
        "scores": {part["key"]: part["points"] for part in parts},
        "most": sum(part["of"] for part in parts),
        "comments": comments,
    }
    resources = {
        "unique_key": exercise,
        "output_files_dir": f"{exercise}_files",
        "nbgrader": about,
        "metadata": {"name": exercise, "path": ""},
    }
    return _exporter().from_notebook_node(copy.deepcopy(nb), resources)[0]


@functools.cache
def _exporter():
    """nbgrader's own, with its settings; made once, since it reads many templates."""
    config = settings()
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    exporter = converter.exporter_class(parent=converter, config=converter.config)
    for step in converter.preprocessors:
        exporter.register_preprocessor(Given if step is GetGrades else step)
    return exporter
