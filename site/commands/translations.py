"""Update the translations' catalogs: ``python site translations [page …]``.

Takes the messages out of all pages and of the code, merges them into the catalogs below
``locale/``, and prints how far each is translated. For pages that are named, it prints the messages
that are missing or outdated, too.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from babel.messages import Catalog
from book_extension.languages import TRANSLATIONS, catalogs, code_words

from commands import slides
from commands.build import PYODIDE, build_pages, run_pages
from commands.slides import NotExtracted

ROOT = Path(__file__).resolve().parents[2]
# Of the page of rooflib's functions, translate only the title, which the table of contents shows on
# all pages, and the description. The rest comes from docstrings, which stay English.
TITLE_ONLY = {"chapters/api"}
TITLE = re.compile(r'^(?:# |    description: ")(.*?)"?$', re.MULTILINE)
WIDTH = 70  # characters of a message that are printed


def templates(book: Path) -> dict[str, list[str]]:
    """Return catalog → its messages in the order of the page.

    Raises NotExtracted.
    """
    cache = run_pages(book)
    output = book / "_build" / "gettext" / "pot"
    shutil.rmtree(output, ignore_errors=True)  # drop the catalogs of deleted pages
    decks = slides.templates(book, cache)
    os.environ[PYODIDE] = ""
    # Keep pictures, which MyST-NB drops for gettext: their words and alt texts are messages.
    pictures = [("gettext", "image/svg+xml", 5)]
    settings = {"gettext_compact": False, "nb_mime_priority_overrides": pictures}
    status = build_pages(book, output, cache, settings, builder="gettext", freshenv=True)
    if status != 0:
        raise NotExtracted
    pages = (path.relative_to(output) for path in output.rglob("*.pot"))
    names = sorted({page.with_suffix("").as_posix() for page in pages} - {"sphinx"})
    found = {name: ids(catalogs.read((output / name).with_suffix(".pot"))) for name in names}
    for name in TITLE_ONLY & set(found):
        titles = TITLE.findall((book / f"{name}.md").read_text(encoding="utf-8"))
        found[name] = [message for message in found[name] if message in titles]
    for deck in sorted(decks.glob("*.pot")):
        if deck.stem != "sphinx":
            found[f"{slides.NAME}/{deck.stem}"] = ids(catalogs.read(deck))
    return {name: page for name, page in found.items() if page} | code_words.words(book)


def ids(catalog: Catalog) -> list[str]:
    return [str(message.id) for message in catalogs.messages(catalog)]


def update(folder: Path, language: str, found: dict[str, list[str]]) -> None:
    """Merge messages into a language's catalogs; remove those of removed pages."""
    for name in catalogs.names(folder):
        if name not in found:
            (folder / name).with_suffix(".po").unlink()
    for name, template in found.items():
        file = (folder / name).with_suffix(".po")
        old = catalogs.read(file, language) if file.exists() else Catalog(locale=language)
        catalogs.write(catalogs.merged(old, template, language), file)


def report(folder: Path, language: str, chosen: Iterable[str]) -> Iterator[str]:
    """Yield a line for each catalog; for chosen ones, also messages to translate."""
    for name in catalogs.names(folder):
        state = catalogs.progress(catalogs.read((folder / name).with_suffix(".po"), language))
        open_ones = len(state.missing) + len(state.outdated)
        yield (
            f"{name}: {state.total - open_ones} of {state.total} translated, "
            f"{len(state.missing)} missing, {len(state.outdated)} outdated"
        )
        if name in chosen:
            yield from (f"  missing: {short(message)}" for message in state.missing)
            yield from (f"  outdated: {short(message)}" for message in state.outdated)


def short(message: str) -> str:
    return message if len(message) <= WIDTH else f"{message[: WIDTH - 1]}…"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="*", help="such as chapters/time: print what it lacks")
    chosen = parser.parse_args().page
    try:
        found = templates(ROOT)
    except NotExtracted:
        print("nothing was changed: see the messages above", file=sys.stderr)
        return 1
    for language in (one.code for one in TRANSLATIONS):
        folder = catalogs.folder(ROOT, language)
        update(folder, language, found)
        print(f"{language}:")
        for line in report(folder, language, chosen):
            print(f"  {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
