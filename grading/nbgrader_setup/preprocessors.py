"""The preprocessors that this course adds to nbgrader's own."""

import itertools
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]
from traitlets import Float

from grading.execution.notebook import TimeLimits
from grading.grade_notebook import grade
from grading.intake.repair import repair
from grading.records.seed import course_seed
from grading.release import exercises
from grading.release.cases import published
from grading.schema.parts import Part
from roofkit.check.packing import literal, pack

Resources = dict[str, Any]


class EmbedCases(NbGraderPreprocessor):  # type: ignore[misc]
    """Release: add a cell with the published cases of all parts, as values."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        name = resources["nbgrader"]["assignment"]
        parts = exercises.load(name).parts
        data = pack({part.key: released(name, part) for part in parts})
        first = next(place for place, cell in enumerate(nb.cells) if cell.cell_type == "code")
        nb.cells.insert(first + 1, cases_cell(data))
        return nb, resources


class Repair(NbGraderPreprocessor):  # type: ignore[misc]
    """Autograde, first step: restore what nbgrader needs to find the cells of a submission."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        for line in itertools.chain(*repair(nb, resources["nbgrader"]["assignment"])):
            self.log.warning(line)
        return nb, resources


class Values(NbGraderPreprocessor):  # type: ignore[misc]
    """Autograde: run the notebook, ask its functions for values, and write the verdict into it."""

    cell_seconds = Float(30, help="how long one cell may run").tag(config=True)
    call_seconds = Float(5, help="how long one call of an asked function may run").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        limits = TimeLimits(cell=self.cell_seconds, call=self.call_seconds)
        seed = course_seed(Path.cwd())  # nbgrader converts in the course folder
        return grade(nb, resources["nbgrader"]["assignment"], seed, limits), resources


def cases_cell(data: str) -> NotebookNode:
    """A locked cell with the packed cases, collapsed where the editor can do that."""
    source = f'from roofkit.check import cases\n\ncases("""\n{data}\n""")'
    cell: NotebookNode = new_code_cell(  # type: ignore[no-untyped-call]
        source, id="cases", metadata={"jupyter": {"source_hidden": True}}
    )
    cell.metadata["nbgrader"] = {
        "grade": False,
        "grade_id": "cases",
        "locked": True,
        "solution": False,
        "task": False,
        "schema_version": 3,
        "cell_type": "code",
    }
    return cell


def released(name: str, part: Part) -> dict[str, Any]:
    """What a released notebook contains about a part: values, no formula."""
    cases = published(name, part)
    return {
        "function": part.function,
        "kind": part.kind,
        "tolerance": part.tolerance,
        "cases": literal(cases.inputs),
        "expected": short(cases.expected),
        "misconceptions": [
            {"key": one.key, "says": one.says, "read": one.read, "values": short(one.values)}
            for one in cases.misconceptions
        ],
        "ranges": {key: str(span) for key, span in part.ranges.items()},
    }


def short(value: Any) -> Any:
    """The same values, rounded to the digits that a comparison needs."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: short(entry) for key, entry in value.items()}
    return [short(entry) for entry in value] if isinstance(value, list | tuple) else value
