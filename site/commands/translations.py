"""Update the translations' catalogs: ``python site translations [--complete] [page …]``.

Takes the messages out of all pages and of the code, merges them into the catalogs below
``locale/``, and prints what is left to translate, of all pages or of those that are named: its
place in the catalog, the English, and the earlier English if that has changed.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages import Catalog
from book_extension.languages import TRANSLATIONS, catalogs, code_words

from commands import slides
from commands.build import PYODIDE, build_pages, run_pages

ROOT = Path(__file__).resolve().parents[2]
# Of the page of rooflib's functions, translate only the title, which the table of contents shows on
# all pages, and the description. The rest comes from docstrings, which stay English.
TITLE_ONLY = {"chapters/api"}
TITLE = re.compile(r'^(?:# |    description: ")(.*?)"?$', re.MULTILINE)


class NotExtracted(Exception):
    """Raised if Sphinx could not read the pages; it has printed why."""


def templates(book: Path) -> dict[str, list[str]]:
    """Return catalog → its messages in the order of the page.

    Raises NotExtracted.
    """
    cache = run_pages(book)
    output = book / "_build" / "gettext"
    shutil.rmtree(output, ignore_errors=True)  # drop the catalogs of deleted pages
    decks, pages = output / "slides", output / "pages"
    os.environ[PYODIDE] = ""
    # Keep pictures, which MyST-NB drops for gettext: their words and alt texts are messages.
    pictures: dict[str, object] = {"nb_mime_priority_overrides": [("gettext", "image/svg+xml", 5)]}
    whole: dict[str, object] = {"gettext_compact": False}
    if not slides.make(book, decks, cache, "gettext", whole) or not build_pages(
        book, pages, cache, whole | pictures, builder="gettext", freshenv=True
    ):
        raise NotExtracted
    found = {}
    for folder in (pages, decks / "html"):
        for file in folder.rglob("*.pot"):
            name = file.relative_to(folder).with_suffix("").as_posix()
            messages = [str(message.id) for message in catalogs.messages(catalogs.read(file))]
            if name in TITLE_ONLY:
                titles = TITLE.findall((book / f"{name}.md").read_text(encoding="utf-8"))
                messages = [message for message in messages if message in titles]
            if messages and file.stem != "sphinx":  # words of Sphinx's own templates
                found[name] = messages
    return found | code_words.words(book)


def update(folder: Path, language: str, found: dict[str, list[str]]) -> None:
    """Merge messages into a language's catalogs; remove those of removed pages."""
    for name in catalogs.names(folder):
        if name not in found:
            (folder / name).with_suffix(".po").unlink()
    for name, template in found.items():
        file = (folder / name).with_suffix(".po")
        old = catalogs.read(file, language) if file.exists() else Catalog(locale=language)
        catalogs.write(catalogs.merged(old, template, language), file)


def left(file: Path, language: str) -> Iterator[str]:
    """Yield a text for each message of a catalog that is missing or outdated."""
    for message in catalogs.messages(catalogs.read(file, language)):
        if not catalogs.is_current(message):
            state = "outdated" if message.string else "missing"
            earlier = catalogs.previous(message) if message.string else ""
            was = f"\n  - {earlier}" if earlier else ""
            yield f"{file.relative_to(ROOT)}:{message.lineno}: {state}{was}\n  + {message.id}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="*", help="such as chapters/time: what is left of it alone")
    parser.add_argument("--complete", action="store_true", help="fail if anything is left")
    told = parser.parse_args()
    try:
        found = templates(ROOT)
    except NotExtracted:
        print("nothing was changed: see the messages above", file=sys.stderr)
        return 1
    is_complete = True
    for language in (one.code for one in TRANSLATIONS):
        folder = catalogs.folder(ROOT, language)
        update(folder, language, found)
        files = [(folder / name).with_suffix(".po") for name in told.page or sorted(found)]
        texts = [text for file in files for text in left(file, language)]
        print(*texts, f"{language}: {len(texts) or 'nothing'} left to translate", sep="\n")
        is_complete &= not texts
    return 0 if is_complete or not told.complete else 1


if __name__ == "__main__":
    sys.exit(main())
