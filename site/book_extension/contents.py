"""The book's table of contents and languages, and the path of each page's copy below my-work/."""

import os
import tomllib
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import yaml

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
START = "start-here.ipynb"  # the notebook that lists all others
LANGUAGES = "locale"
# Environment variables that change pages and notebooks: an edition's name, and whether reference
# solutions are shown.
VARIABLES = ("EDITION", "SOLUTIONS")


@dataclass(frozen=True)
class Page:
    """Page of the table of contents: docname, part's caption, chapter number or ""."""

    docname: str
    caption: str
    number: str


def pages(toc: Path) -> list[Page]:
    """Return the pages of a table of contents, without its root, with their numbers."""
    found, numbers = [], count(1)
    for part in yaml.safe_load(toc.read_text(encoding="utf-8"))["parts"]:
        for entry in part["chapters"]:
            number = str(next(numbers)) if part.get("numbered") else ""
            found.append(Page(entry["file"], part.get("caption", ""), number))
    return found


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


def variables() -> list[str]:
    return [os.environ.get(name, "") for name in VARIABLES]


def languages(book: Path) -> list[str]:
    """Return the codes of the translations that are built, such as "zh_CN".

    ``published = false`` in a language's ``edition.toml`` leaves it out while it is incomplete. The
    variable TRANSLATIONS=1 has all of them built.
    """
    found = sorted(path.parent for path in (book / LANGUAGES).glob("*/LC_MESSAGES"))
    return [
        folder.name
        for folder in found
        if os.environ.get("TRANSLATIONS") == "1" or is_published(folder / "edition.toml")
    ]


def is_published(settings: Path) -> bool:
    found = tomllib.loads(settings.read_text(encoding="utf-8")) if settings.exists() else {}
    return bool(found.get("published", True))
