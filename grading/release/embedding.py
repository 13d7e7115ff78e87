"""Embedding of the published cases and expected values in a released notebook."""

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]

from grading.release import exercises
from grading.release.cases import published
from grading.schema.parts import Part
from roofkit.check.answers import Plain
from roofkit.check.packing import literal, pack
from roofkit.words import ORIGINAL, _, language

CASES = "cases"  # grade id of the cell that EmbedCases adds

# "Part 2: bytes moved (4 points)", also with the full-width punctuation of Chinese.
TITLE = re.compile(
    r"(?:[^:\uff1a]*\d[^:\uff1a]*[:\uff1a]\s*)?(?P<title>.*?)(?:\s*[(\uff08][^()\uff08\uff09]*[)\uff09])?"
)
MARK = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


class EmbedCases(NbGraderPreprocessor):  # type: ignore[misc]
    """Preprocessor that adds a cell with the published cases.

    `nbgrader generate_assignment` runs it.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        name = resources["nbgrader"]["assignment"]
        first = next(place for place, cell in enumerate(nb.cells) if cell.cell_type == "code")
        nb.cells.insert(first + 1, cases_cell(data(name)))
        continue_after_errors(nb)
        return nb, resources


def data(
    name: str, place: Callable[[str], str] = str, words: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the packed data of all parts, with texts in the language in force.

    place: returns where to read in that language. words: the headings of the parts in it.
    """
    exercise = exercises.load(name)
    closing = {"moral": _(exercise.moral), "thoughts": _(exercise.thoughts)}
    parts = {part.key: released(name, part, place) | closing for part in exercise.parts}
    for part, heading in headings(name).items():
        parts[part]["title"] = title(words.get(heading, heading))
    if os.environ.get("SOLUTIONS"):
        for part, source in solutions(name).items():
            parts[part]["solution"] = source
    return pack(parts)


def continue_after_errors(nb: NotebookNode) -> None:
    """Tag answers and checks so that Run All continues after an error in them.

    Run All is JupyterLab's command. The grader continues after errors even without the tag.
    """
    for cell in nb.cells:
        kind = cell.metadata.get("nbgrader", {})
        if kind.get("grade") or kind.get("solution"):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]


def cases_cell(data: str) -> NotebookNode:
    """Return a cell that passes the published cases and language to the checks."""
    last = '"""' if language() == ORIGINAL else f'""", "{language()}"'
    return locked_cell(f'from roofkit.check import cases\n\ncases("""\n{data}\n{last})', CASES)


def locked_cell(source: str, name: str) -> NotebookNode:
    """Return a locked cell without points, collapsed in front ends that support it."""
    cell: NotebookNode = new_code_cell(
        source, id=name, metadata={"jupyter": {"source_hidden": True}}
    )
    cell.metadata["nbgrader"] = {
        "grade": False,
        "grade_id": name,
        "locked": True,
        "solution": False,
        "task": False,
        "schema_version": 3,
        "cell_type": "code",
    }
    return cell


def released(name: str, part: Part, place: Callable[[str], str] = str) -> dict[str, Any]:
    """Return a part's data for a released notebook: values but no formulas.

    place: returns where to read in the language in force.
    """
    cases = published(name, part)
    return {
        "function": part.function,
        "kind": part.kind,
        "tolerance": part.tolerance,
        "cases": literal(cases.inputs),
        "expected": short(cases.expected),
        "misconceptions": [
            {
                "key": known.key,
                "says": _(known.says),
                "read": place(known.read),
                "values": short(known.values),
            }
            for known in cases.misconceptions
        ],
        "ranges": {key: str(values) for key, values in part.ranges.items()},
        "hint": _(part.hint),
    }


def solutions(name: str) -> dict[str, str]:
    """Return the reference solution's code by part."""
    return {
        cell.metadata.nbgrader.grade_id.removesuffix("-solution"): MARK.sub(
            "", cell.source
        ).rstrip()
        for cell in exercises.source(name).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def headings(name: str) -> dict[str, str]:
    """Return the heading above each part, such as "Part 2: bytes moved (4 points)"."""
    found, heading = {}, ""
    for cell in exercises.source(name).cells:
        if cell.cell_type == "markdown" and (match := re.match(r"## (.+)", cell.source)):
            heading = match[1]
        elif exercises.is_check(cell):
            found[str(cell.metadata.nbgrader.grade_id)] = heading
    return found


def title(heading: str) -> str:
    """Return the name of a part from its heading, without number and points."""
    return TITLE.fullmatch(heading)["title"]  # type: ignore[index]


def short(value: Plain) -> Plain:
    """Round floats to nine significant digits, which suffice for comparisons."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: short(entry) for key, entry in value.items()}
    return [short(entry) for entry in value] if isinstance(value, list | tuple) else value
