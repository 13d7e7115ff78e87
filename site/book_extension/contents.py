"""The book's table of contents, and the path of each page's copy below my-work/."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
START = "start-here.ipynb"  # the notebook that lists all others


@dataclass(frozen=True)
class Page:
    """Page of the table of contents: docname, part's caption, chapter number or ""."""

    docname: str
    caption: str
    number: str


def pages(toc: Path) -> list[Page]:
    """Return the pages of a table of contents, without its root, with their numbers."""
    parts = yaml.safe_load(toc.read_text(encoding="utf-8"))["parts"]
    return list(_pages(parts))


def _pages(parts: list[dict[str, object]]) -> Iterator[Page]:
    numbered = 0
    for part in parts:
        chapters = part["chapters"]
        assert isinstance(chapters, list)
        for entry in chapters:
            number = ""
            if part.get("numbered"):
                numbered += 1
                number = str(numbered)
            yield Page(entry["file"], str(part.get("caption", "")), number)


def names(toc: Path) -> dict[str, str]:
    """Return the path of each page's copy below my-work/ by docname, in order.

    JupyterLab's file browser sorts by name. So the name of a numbered chapter starts with its
    number, and that of a page before the first chapter with 0; other pages sort after the digits.
    An exercise keeps the name under which it is handed in.
    """
    found, seen_number = {}, False
    for page in pages(toc):
        seen_number |= bool(page.number)
        found[page.docname] = _name(page, before=not seen_number)
    return found


def _name(page: Page, *, before: bool) -> str:
    folder, *_, stem = page.docname.split("/")
    if folder == "exercises":
        return f"{stem}/{stem}.ipynb"
    number = page.number or ("0" if before else "")
    return f"{folder}/{number}-{stem}.ipynb" if number else f"{folder}/{stem}.ipynb"
