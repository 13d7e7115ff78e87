"""What hangs this course into nbgrader: three steps in its lists of preprocessors."""

import itertools
from pathlib import Path

from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float

from grading.execution.notebook import TimeLimits
from grading.grade_notebook import grade
from grading.intake.repair import repair
from grading.records.seed import course_seed
from grading.release import exercises
from grading.release.cases import published
from roofkit.check.packing import literal, pack


class EmbedCases(NbGraderPreprocessor):
    """Release: add a cell that holds the published cases of all parts, as values."""

    def preprocess(self, nb, resources):
        name = resources["nbgrader"]["assignment"]
        parts = exercises.load(name).parts
        data = pack({part.key: released(name, part) for part in parts})
        first = next(place for place, cell in enumerate(nb.cells) if cell.cell_type == "code")
        nb.cells.insert(first + 1, cases_cell(data))
        return nb, resources


class Repair(NbGraderPreprocessor):
    """Autograde, first: give a submission back what nbgrader needs to find its cells."""

    def preprocess(self, nb, resources):
        for line in itertools.chain(*repair(nb, resources["nbgrader"]["assignment"])):
            self.log.warning(line)
        return nb, resources


class Values(NbGraderPreprocessor):
    """Autograde: run the notebook, take values out of it, and write the verdict into it."""

    cell_seconds = Float(30, help="how long one cell may run").tag(config=True)
    call_seconds = Float(5, help="how long one call of an asked function may run").tag(config=True)

    def preprocess(self, nb, resources):
        limits = TimeLimits(cell=self.cell_seconds, call=self.call_seconds)
        seed = course_seed(Path.cwd())  # nbgrader converts in the course folder
        return grade(nb, resources["nbgrader"]["assignment"], seed, limits), resources


def cases_cell(data):
    """A locked cell, folded where a front end can fold it."""
    source = f'from roofkit.check import cases\n\ncases("""\n{data}\n""")'
    cell = new_code_cell(source, id="cases", metadata={"jupyter": {"source_hidden": True}})
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


def released(name, part):
    """What a released notebook knows of a part: values, no formula."""
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


def short(value):
    """The same values with no more digits than a comparison needs."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: short(entry) for key, entry in value.items()}
    return [short(entry) for entry in value] if isinstance(value, list | tuple) else value
