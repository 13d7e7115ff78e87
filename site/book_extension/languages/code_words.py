"""Finds the words in code, templates and settings that a translation needs.

In Python and templates they stand in ``_("…")``, in JavaScript in ``phrase("…")``.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from babel.messages.extract import extract_from_file

# Folder and pattern of files, and the method of Babel that reads them.
PYTHON = (
    ("site/book_extension", "**/*.html", "jinja2.ext:babel_extract"),
    ("site/book_extension", "**/*.py", "python"),
    ("site/browser", "**/*.py", "python"),
)
JAVASCRIPT = (("site/browser", "**/*.js", "javascript"),)
# Words of the themes' templates that they don't translate into Chinese themselves.
THEMES = (
    "Back to top",
    "Link to this definition",
    "Link to this heading",
    "Link to this image",
    "Link to this table",
    "Link to this term",
    "Skip to main content",
    "Version warning",
    "next page",
    "previous page",
)
KEYWORDS = {"_": None, "phrase": None}
GENERATED = ".min.js"


def words(book: Path) -> list[str]:
    """Return the messages in a book's settings and code, each once, in the order of the files."""
    code = [*extracted(book, PYTHON), *of_javascript(book)]
    return list(dict.fromkeys([*of_settings(book), *THEMES, *code]))


def of_javascript(book: Path) -> list[str]:
    """Return the messages in the scripts of pages."""
    return list(dict.fromkeys(extracted(book, JAVASCRIPT)))


def extracted(book: Path, sources: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    for folder, pattern, method in sources:
        for file in sorted((book / folder).glob(pattern)):
            if not file.name.endswith(GENERATED):
                for _line, message, *_ in extract_from_file(method, file, keywords=KEYWORDS):
                    yield str(message)


def of_settings(book: Path) -> Iterator[str]:
    """Yield the book's title, the captions of its parts and the titles of its ways."""
    config = yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))
    contents = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    yield config["title"]
    yield from (part["caption"] for part in contents.get("parts", ()) if "caption" in part)
    ways = config["sphinx"]["config"].get("ways") or {}
    yield from (way["title"] for way in ways.values())
