"""Released notebooks in another language: only texts, docstrings and comments are translated."""

import copy
import functools
import re
from pathlib import Path

from babel.messages.pofile import read_po
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum  # type: ignore[import-untyped]

from grading.release import exercises, notebooks
from roofkit.texts import in_code, in_words, with_docstrings
from roofkit.words import _, language, spoken

CATALOGS = exercises.ROOT / "locale"
TITLE = re.compile(r"“([^”]+)”")


def languages() -> list[str]:
    """Return the codes of the languages that there are catalogs for."""
    return sorted(folder.parent.name for folder in CATALOGS.glob("*/LC_MESSAGES"))


def translated(nb: NotebookNode, name: str, code: str) -> NotebookNode:
    """Return a released notebook in another language.

    Text without a translation stays English.
    """
    nb = copy.deepcopy(nb)
    english = notebooks.facts_line(nb)
    with spoken(code):
        texts = {english: notebooks.facts_line(nb, heading), **messages(name, code)}

        def words(message: str) -> str:
            return texts.get(message, message)

        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "markdown" and not marks:
                cell.source = in_words(cell.source, words)
            elif marks.get("solution") or marks.get("grade_id") == exercises.GIVEN:
                cell.source = in_code(with_docstrings(cell.source, words), words)
            elif marks.get("grade_id") == notebooks.CASES:
                cell.source = notebooks.cases(name, place, texts)
            elif marks.get("grade_id") == notebooks.OPENING:
                cell.source = notebooks.opening()
            if "checksum" in marks:
                marks["checksum"] = compute_checksum(cell)
    nb.metadata["exercise"]["language"] = code
    return nb


@functools.cache
def messages(name: str, code: str) -> dict[str, str]:
    """Return English → translation of an exercise's page and of the notebooks."""
    found: dict[str, str] = {}
    for catalog in (f"exercises/{name}", "notebooks"):
        found |= _read(CATALOGS / code / "LC_MESSAGES" / f"{catalog}.po")
    return found


def place(read: str) -> str:
    """Translate a reference to a chapter or heading, using the translated titles."""
    if not read.startswith("“"):
        return _(read)
    first, *others = (f"“{heading(title)}”" for title in TITLE.findall(read))
    for other in others:
        first = _("{chapter}, {heading}").format(chapter=first, heading=other)
    return first


def heading(english: str) -> str:
    """Translate a heading of a chapter into the language in force."""
    return _headings(language()).get(english, english)


@functools.cache
def _headings(code: str) -> dict[str, str]:
    """Return English → translation of the chapters' texts."""
    found: dict[str, str] = {}
    for file in sorted((CATALOGS / code / "LC_MESSAGES" / "chapters").glob("*.po")):
        found |= _read(file)
    return found


def _read(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    with file.open("rb") as source:
        return {
            str(message.id): str(message.string)
            for message in read_po(source)
            if message.id and message.string and not message.fuzzy
        }
