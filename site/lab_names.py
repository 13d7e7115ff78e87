"""The pages of the book in their order, and where a reader's copy of each lies below my-work/."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Page:
    """A page as _toc.yml has it: its docname, the caption of its part, and its number or ""."""

    docname: str
    caption: str
    number: str


def pages(toc: Path) -> list[Page]:
    """The pages of a table of contents, without its root, numbered as the site numbers them."""
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
    """Docname → path of the copy below my-work/, in the order of the table of contents.

    JupyterLab's file browser sorts by name. So a numbered chapter begins with its number, and a
    page before the first of them with 0; pages without a number come after the digits. An
    exercise keeps the name under which it is handed in.
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
