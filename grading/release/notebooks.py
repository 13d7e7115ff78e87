"""What a released notebook has beside its exercise: a line of facts, an opening, published cases.

The opening cell holds the source of `roofkit.first_cell`, which installs the course's packages and
so can't be imported before. The notebooks of the site's pages hold the same source (site/).
"""

import copy
import os
from pathlib import Path
from typing import Any

import yaml
from babel.messages.extract import extract_from_file
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum  # type: ignore[import-untyped]

import roofkit
import rooflib
from grading.release import exercises
from grading.release.cases import published
from grading.release.translation import heading, messages, place, question
from grading.schema import Part
from roofkit import first_cell
from roofkit.check import pack
from roofkit.check.answers import Plain
from roofkit.exercise_facts import chapter_title, of_notebook
from roofkit.texts import in_code, in_words, with_docstrings
from roofkit.words import N_, ORIGINAL, _, language, spoken

OPENING, CASES = "opening", "cases"  # grade ids of the cells that are added
DIFFICULTIES = (N_("easy"), N_("medium"), N_("hard"))


def complete(name: str) -> NotebookNode:
    """Return an exercise's notebook with all this, of which nbgrader makes the released one."""
    nb = copy.deepcopy(exercises.source(name))
    title, text = nb.cells[0].source.split("\n", 1)
    nb.cells[0].source = f"{title}\n\n{facts_line(nb)}\n{text}"
    first = next(place for place, cell in enumerate(nb.cells) if cell.cell_type == "code")
    nb.cells.insert(first, _collapsed(opening(), OPENING))
    nb.cells.insert(first + 2, _collapsed(cases(name), CASES))
    for cell in nb.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade") or marks.get("solution"):
            # JupyterLab's Run All then goes on after an error in it.
            cell.metadata["tags"] = ["raises-exception"]
    return nb


def translated(nb: NotebookNode, name: str, code: str) -> NotebookNode:
    """Return a released notebook in another language: its texts, docstrings and comments.

    Text without a translation stays English.
    """
    nb = copy.deepcopy(nb)
    english = facts_line(nb)
    with spoken(code):
        texts = {english: facts_line(nb), **messages(name, code)}

        def words(message: str) -> str:
            return texts.get(message, message)

        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "markdown" and not marks:
                cell.source = in_words(cell.source, words)
            elif marks.get("solution") or marks.get("grade_id") == exercises.GIVEN:
                cell.source = in_code(with_docstrings(cell.source, words), words)
            elif marks.get("grade_id") == CASES:
                cell.source = cases(name)
            elif marks.get("grade_id") == OPENING:
                cell.source = opening()
            if "checksum" in marks:
                marks["checksum"] = compute_checksum(cell)
    nb.metadata["exercise"]["language"] = code
    return nb


def _collapsed(source: str, name: str) -> NotebookNode:
    """Return a locked cell without points, collapsed in front ends that support it."""
    cell = exercises.marked(source, name)
    cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def facts_line(notebook: NotebookNode) -> str:
    """Return the line below a notebook's title: effort, and the chapter to read first."""
    facts = of_notebook(notebook)
    return _(
        "*Effort: about {minutes} minutes, {difficulty}. Read first: the chapter “{chapter}”.*"
    ).format(
        minutes=facts.minutes,
        difficulty=_(facts.difficulty),
        chapter=heading(chapter_title(facts.read_first)),
    )


# --- the opening ---------------------------------------------------------------------------------


def opening() -> str:
    """Return the opening cell's code, with its messages in the language in force."""
    text = Path(first_cell.__file__).read_text(encoding="utf-8")
    versions = {"rooflib": rooflib.__version__, "roofkit": roofkit.__version__}
    arguments = ", ".join(map(repr, (_address(), versions, "rooflib", "roofkit.check")))
    extracted = extract_from_file("python", first_cell.__file__)
    messages = [str(message) for _line, message, *_rest in extracted]
    words = {message: said for message in messages if (said := _(message)) != message}
    if words:
        arguments += f", words={words!r}, language={language()!r}"
    return f"{text}\n\nset_up_notebook({arguments})"


def _address() -> str:
    """Return the address of the course's site, or of the EDITION on it, "" if it is not set."""
    config = (exercises.ROOT / "_config.yml").read_text(encoding="utf-8")
    site = str((yaml.safe_load(config).get("html") or {}).get("baseurl") or "")
    edition = os.environ.get("EDITION", "")
    return f"{site.rstrip('/')}/{edition}" if site and edition else site


# --- the published cases -------------------------------------------------------------------------


def cases(name: str) -> str:
    """Return the code that passes cases to the checks, with texts in the language in force."""
    exercise = exercises.load(name)
    texts = {"moral": exercise.moral, "thoughts": exercise.thoughts}
    closing = {key: _(text) for key, text in texts.items() if text}
    parts = {part.key: _released(name, part) | closing for part in exercise.parts}
    for part in exercise.parts:
        if os.environ.get("SOLUTIONS"):
            parts[part.key]["solution"] = part.solution
        parts[part.key]["title"] = question(name, part)[1]
    last = '"""' if language() == ORIGINAL else f'""", "{language()}"'
    return f'from roofkit.check import cases\n\ncases("""\n{pack(parts)}\n{last})'


def _released(name: str, part: Part) -> dict[str, Any]:
    """Return a part's data for a released notebook: values but no formulas."""
    cases = published(name, part)
    return {
        "function": part.function,
        "kind": part.kind,
        "tolerance": part.tolerance,
        "cases": repr(cases.inputs),
        "expected": _short(cases.expected),
        "misconceptions": [
            {
                "key": known.key,
                "says": _(known.says),
                "read": place(known.read),
                "values": _short(known.values),
            }
            for known in cases.misconceptions
        ],
        "ranges": {key: str(values) for key, values in part.ranges.items()},
        "hint": _(part.hint),
    }


def _short(value: Plain) -> Plain:
    """Round floats to nine significant digits, which suffice for comparisons."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: _short(entry) for key, entry in value.items()}
    return [_short(entry) for entry in value] if isinstance(value, list | tuple) else value
