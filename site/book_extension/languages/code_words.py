"""Translatable words in code, templates, settings and cells' metadata.

In Python and templates they stand in ``_("…")``, in JavaScript in ``phrase("…")``.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import yaml
from babel.messages.extract import extract_from_file

from roofkit import lines, texts

from .. import exercise_pages, maths
from .translatable import has_words

FIRST_CELL = "kit/roofkit/first_cell.py"
README = Path("site/commands/handouts/bundle-readme.md")

# Catalog → the patterns of the files with its messages.
FOLDERS = {
    "course": (
        "site/book_extension/**/*.html",
        "site/book_extension/**/*.py",
        "site/browser/**/*.py",
        "site/browser/**/*.js",
    ),
    "figures": ("kit/roofkit/figures/**/*.py", "kit/roofkit/figures/**/*.js"),
    "checks": (FIRST_CELL, "kit/roofkit/check/**/*.py"),
    "grading": ("grading/**/*.py",),
    "lab": ("site/commands/**/*.py",),
    "slides": ("site/slides_extension/**/*.py",),
}
METHODS = {".html": "jinja2.ext:babel_extract", ".py": "python", ".js": "javascript"}
# Words of Sphinx that it doesn't translate into Chinese itself, and of folded cells (_config.yml).
THEMES = (
    "Hide the output",
    "Link to this definition",
    "Link to this heading",
    "Link to this image",
    "Link to this table",
    "Link to this term",
    "Show the output",
)
KEYWORDS = {"_": None, "N_": None, "phrase": None}
# Arguments that are messages: the hint of a part, and what a range of values is.
IN_EXERCISES = {"part": (2,), "Made": (2,)}
GENERATED = ".min.js"
PROMPT = re.compile(r'^ +code_prompt_(?:show|hide): "(.*)"$', re.MULTILINE)
NOTEBOOKS = "notebooks"  # the catalog of the exercises' notebooks


def words(book: Path) -> dict[str, list[str]]:
    """Return catalog → messages in a book's settings and code, in file order.

    A message that an earlier catalog has isn't repeated.
    """
    last = {"lab": of_readme, "checks": of_exercises, "grading": of_mistakes}
    seen: set[str] = set()
    found: dict[str, list[str]] = {}
    for name, patterns in FOLDERS.items():
        first = first_words(book) if name == "course" else []
        more = last[name](book) if name in last else []
        messages = dict.fromkeys([*first, *extracted(book, patterns), *more])
        found[name] = [message for message in messages if message not in seen]
        seen.update(messages)
    found[NOTEBOOKS] = of_notebooks(book)
    return {name: messages for name, messages in found.items() if messages}


def first_words(book: Path) -> list[str]:
    """Return the messages of the catalog "course" that aren't in calls such as `_()`."""
    templates = *lines.VALUES, *lines.MESSAGES
    return [*of_settings(book), *THEMES, *templates, *of_cells(book), *of_formulas(book)]


def of_readme(book: Path) -> list[str]:
    """Return the messages of the README in the archive of exercises."""
    file = book / README
    text = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return list(filter(has_words, found_by(lambda words: texts.in_words(text, words))))


def of_exercises(book: Path) -> Iterator[str]:
    """Yield the hints of exercises, and what they say once all parts are right."""
    for file in exercise_pages.files(book):
        for _line, message, *_ in extract_from_file("python", file, keywords=IN_EXERCISES):
            yield str(message)
        yield from exercise_pages.closing(exercise_pages.read(file))


def of_mistakes(book: Path) -> Iterator[str]:
    """Yield what mistakes are, and where to read if that isn't a chapter."""
    file = book / exercise_pages.MISTAKES
    for place, mistakes in tomllib.loads(file.read_text(encoding="utf-8")).items():
        if not place.startswith("“"):  # else headings, which the chapters' catalogs have
            yield place
        yield from mistakes.values()


def of_javascript(book: Path) -> list[str]:
    """Return the messages in scripts."""
    scripts = [one for patterns in FOLDERS.values() for one in patterns if one.endswith(".js")]
    return list(dict.fromkeys(extracted(book, scripts)))


def extracted(book: Path, patterns: Iterable[str]) -> Iterator[str]:
    for file in (file for pattern in patterns for file in sorted(book.glob(pattern))):
        if not file.name.endswith(GENERATED):
            method = METHODS[file.suffix]
            for _line, message, *_ in extract_from_file(method, file, keywords=KEYWORDS):
                yield str(message)


def of_notebooks(book: Path) -> list[str]:
    """Return the texts of the exercises' notebooks, docstrings, and comments of given code."""

    def all_texts(words: texts.Words) -> None:
        for file in exercise_pages.files(book):
            notebook = exercise_pages.read(file)
            shared = file.with_name(exercise_pages.SHARED).read_text(encoding="utf-8")
            for text in (*exercise_pages.texts(notebook), *shared.split("\n+++\n")):
                texts.in_words(text.strip(), words)
            for source in exercise_pages.cells(notebook, "code", "given"):
                texts.in_code(source, words)
                texts.with_docstrings(source, words)
            for source in exercise_pages.cells(notebook, "code", ""):
                texts.with_docstrings(source, words)

    return found_by(all_texts)


def found_by(translate: Callable[[texts.Words], object]) -> list[str]:
    """Return the messages that a translation asks for, in order."""
    found: dict[str, None] = {}

    def keep(message: str) -> str:
        found[message] = None
        return message

    translate(keep)
    return list(found)


def of_settings(book: Path) -> Iterator[str]:
    """Yield the book's title, author, and captions of parts."""
    config = yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))
    contents = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    yield from (config["title"], config["author"])
    yield from (part["caption"] for part in contents.get("parts", ()) if "caption" in part)


def of_formulas(book: Path) -> Iterator[str]:
    """Yield the words in formulas of pages and slides."""
    for pattern in ("chapters/*.md", "exercises/*.py", "slides/*.md"):
        for file in sorted(book.glob(pattern)):
            yield from maths.WORDS.findall(file.read_text(encoding="utf-8"))


def of_cells(book: Path) -> Iterator[str]:
    """Yield the prompts of the pages' folded cells."""
    for page in sorted((book / "chapters").glob("*.md")):
        yield from PROMPT.findall(page.read_text(encoding="utf-8"))
