"""Translatable words in code, templates, settings and cells' metadata.

In Python and templates they stand in ``_("…")``, in JavaScript in ``phrase("…")``.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from babel.messages.extract import extract_from_file

from roofkit import lines

from .. import exercise_pages, maths
from . import markdown

FIRST_CELL = "first_cell.py"
README = Path("site/commands/handouts/bundle-readme.md")

# Catalog → where its messages come from: folders and patterns of files.
FOLDERS: dict[str, tuple[tuple[str, str], ...]] = {
    "course": (
        ("site/book_extension", "**/*.html"),
        ("site/book_extension", "**/*.py"),
        ("site/browser", "**/*.py"),
        ("site/browser", "**/*.js"),
    ),
    "figures": (
        ("kit/roofkit/figures", "**/*.py"),
        ("kit/roofkit/figures", "**/*.js"),
    ),
    "checks": (
        ("kit/roofkit", FIRST_CELL),
        ("kit/roofkit", "table_words.py"),
        ("kit/roofkit/check", "**/*.py"),
    ),
    "grading": (("grading", "**/*.py"),),
    "lab": (("site/commands", "**/*.py"),),
    "slides": (("site/slides_extension", "**/*.py"),),
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
OF_PAGES = ("course", "figures")  # message catalogs of the scripts that pages load
COMMENT = re.compile(r"^# .+(?:\n# .+)*|(?<=  )# .+$", re.MULTILINE)
NOTEBOOKS = "notebooks"  # the catalog of the exercises' notebooks


def words(book: Path) -> dict[str, list[str]]:
    """Return catalog → messages in a book's settings and code, in file order.

    A message that an earlier catalog has isn't repeated.
    """
    seen: set[str] = set()
    found: dict[str, list[str]] = {}
    for name in (*FOLDERS, NOTEBOOKS):
        if name == NOTEBOOKS:
            found[name] = list(dict.fromkeys(of_notebooks(book)))
            continue
        first = first_words(book) if name == "course" else []
        last = of_readme(book) if name == "lab" else []
        last += of_exercises(book) if name == "checks" else []
        last += of_mistakes(book) if name == "grading" else []
        messages = dict.fromkeys([*first, *extracted(book, FOLDERS[name]), *last])
        found[name] = [message for message in messages if message not in seen]
        seen.update(messages)
    return {name: messages for name, messages in found.items() if messages}


def first_words(book: Path) -> list[str]:
    """Return the messages of the catalog "course" that aren't in calls such as `_()`."""
    templates = *lines.VALUES, *lines.MESSAGES
    return [*of_settings(book), *THEMES, *templates, *of_cells(book), *of_formulas(book)]


def of_readme(book: Path) -> list[str]:
    """Return the messages of the README in the archive of exercises."""
    file = book / README
    return markdown.messages(file.read_text(encoding="utf-8")) if file.exists() else []


def of_exercises(book: Path) -> Iterator[str]:
    """Yield the hints of exercises, and what they say once all parts are right."""
    for file in exercise_pages.files(book):
        for _line, message, *_ in extract_from_file("python", file, keywords=IN_EXERCISES):
            yield str(message)
        yield from exercise_pages.closing(file)


def of_mistakes(book: Path) -> Iterator[str]:
    """Yield what mistakes are, and where to read if that isn't a chapter."""
    file = book / exercise_pages.MISTAKES
    for place, mistakes in tomllib.loads(file.read_text(encoding="utf-8")).items():
        if not place.startswith("“"):  # else headings, which the chapters' catalogs have
            yield place
        yield from mistakes.values()


def of_javascript(book: Path, names: Iterable[str] = OF_PAGES) -> list[str]:
    """Return the messages in scripts; by default, in the scripts of pages."""
    folders = [place for name in names for place in FOLDERS[name] if place[1].endswith(".js")]
    return list(dict.fromkeys(extracted(book, folders)))


def extracted(book: Path, sources: Iterable[tuple[str, str]]) -> Iterator[str]:
    for folder, pattern in sources:
        for file in sorted((book / folder).glob(pattern)):
            if not file.name.endswith(GENERATED):
                method = METHODS[file.suffix]
                for _line, message, *_ in extract_from_file(method, file, keywords=KEYWORDS):
                    yield str(message)


def of_notebooks(book: Path) -> Iterator[str]:
    """Yield the texts of the exercises' notebooks, docstrings, and comments of code that is given.

    A release finds them by the same rules (`grading.release.translation`).
    """
    for file in exercise_pages.files(book):
        shared = file.with_name(exercise_pages.SHARED).read_text(encoding="utf-8")
        for text in (*exercise_pages.texts(file), *shared.split("\n+++\n")):
            for block in re.split(r"\n{2,}", text.strip()):
                yield from pieces(block)
        for source in exercise_pages.given(file):
            yield from comments(source)
            yield from docstrings(source)
        for _part, source in exercise_pages.solutions(file):
            yield from docstrings(source)


def comments(source: str) -> Iterator[str]:
    """Yield the comments of code; whole lines, one below the other, are one comment."""
    for found in COMMENT.findall(source):
        yield " ".join(line.removeprefix("# ") for line in found.split("\n"))


def docstrings(source: str) -> Iterator[str]:
    """Yield the paragraphs of the functions' docstrings."""
    for text in filter(None, map(ast.get_docstring, functions(source))):
        yield from (" ".join(block.split()) for block in text.split("\n\n"))


def functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def pieces(block: str) -> Iterator[str]:
    if block.startswith("- "):
        items = re.split(r"\n?^- ", block, flags=re.MULTILINE)[1:]
        yield from (" ".join(item.split()) for item in items)
    elif block.startswith("```"):
        yield from comments(block)
    else:
        yield " ".join(re.sub(r"^#+ ", "", block).split())


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
