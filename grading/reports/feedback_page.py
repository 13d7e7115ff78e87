"""Rendering of a notebook's feedback page in a worker, without the gradebook."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback  # type: ignore[import-untyped]
from nbgrader.coursedir import CourseDirectory  # type: ignore[import-untyped]
from nbgrader.preprocessors import GetGrades  # type: ignore[import-untyped]

from grading.settings import settings


class GivenGrades(GetGrades):  # type: ignore[misc]
    """nbgrader's GetGrades, but with points and comments from the resources."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
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


def page(
    nb: NotebookNode,
    exercise: str,
    student: str,
    parts: Sequence[Mapping[str, Any]],
    comments: Mapping[str, str],
) -> str:
    """Return the HTML that `nbgrader generate_feedback` would write.

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
    html: str = _exporter().from_notebook_node(nb, resources)[0]
    return html


@functools.cache
def _exporter() -> HTMLExporter:
    """Return nbgrader's exporter with our settings.

    It is cached because it reads many templates.
    """
    config = settings()
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    exporter: HTMLExporter = converter.exporter_class(parent=converter, config=converter.config)
    for step in converter.preprocessors:
        register: Any = exporter.register_preprocessor
        register(GivenGrades if step is GetGrades else step)
    return exporter
