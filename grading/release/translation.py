"""Released notebooks in another language: only texts, docstrings and comments are translated."""

import copy
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent

from babel.messages.pofile import read_po
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum  # type: ignore[import-untyped]

from grading.release import exercises, notebooks
from roofkit.check.wording import wrapped
from roofkit.words import _, language, spoken

CATALOGS = exercises.ROOT / "locale"
TITLE = re.compile(r"“([^”]+)”")
DOCSTRING = re.compile(r'(?<=^    """).*?(?=""")', re.DOTALL | re.MULTILINE)
# Whole lines, one below the other, are one comment; another stands two spaces after its code.
COMMENT = re.compile(r"^# .+(?:\n# .+)*|(?<=  )# .+$", re.MULTILINE)
WORDS = re.compile(r"(?<=\\text\{)[^{}]+(?=\})")  # of formulas


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
        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "markdown" and not marks:
                cell.source = in_words(cell.source, texts)
            elif marks.get("solution") or marks.get("grade_id") == exercises.GIVEN:
                cell.source = in_code(cell.source, texts)
            elif marks.get("grade_id") == notebooks.CASES:
                cell.source = notebooks.cases(name, place, texts)
            elif marks.get("grade_id") == notebooks.OPENING:
                cell.source = notebooks.opening()
            if "checksum" in marks:
                marks["checksum"] = compute_checksum(cell)
    nb.metadata["exercise"]["language"] = code
    return nb


def in_words(source: str, texts: Mapping[str, str]) -> str:
    """Return Markdown with its texts replaced by their translations, where known."""
    blocks = []
    for block in re.split(r"\n{2,}", source):
        if block.startswith("```"):
            blocks.append(in_code(block, texts))
            continue
        lines = []
        for mark, text in pieces(block):
            message = " ".join(text.split())
            lines.append(mark + WORDS.sub(_formula_word, texts.get(message, text)))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def in_code(source: str, texts: Mapping[str, str]) -> str:
    """Return code with its docstrings and comments translated, where known."""

    def comment(found: re.Match[str]) -> str:
        lines = [line.removeprefix("# ") for line in found[0].split("\n")]
        said = texts.get(" ".join(lines))
        if said is None:
            return found[0]
        whole_lines = found.start() == 0 or source[found.start() - 1] == "\n"
        return indent(wrapped(said), "# ") if whole_lines else f"# {said}"

    source = DOCSTRING.sub(lambda said: in_docstring(said[0], texts), source)
    return COMMENT.sub(comment, source)


def in_docstring(source: str, texts: Mapping[str, str]) -> str:
    """Return the inside of a docstring with its paragraphs translated, where known."""
    text = source.rstrip()
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        said = texts.get(" ".join(block.split()))
        blocks.append(indent(wrapped(said), "    ").strip() if said else block.strip())
    return "\n\n    ".join(blocks) + source[len(text) :]


def _formula_word(words: re.Match[str]) -> str:
    return _(words[0])


def pieces(block: str) -> Iterator[tuple[str, str]]:
    """Yield (mark, text) of each heading, list item or paragraph of a Markdown block without code.

    mark: the Markdown before the text, such as "- ".
    """
    if block.startswith("- "):
        yield from (("- ", item) for item in re.split(r"\n?^- ", block, flags=re.MULTILINE)[1:])
    else:
        heading = re.match(r"#+ ", block)
        mark = heading[0] if heading else ""
        yield mark, block.removeprefix(mark)


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
