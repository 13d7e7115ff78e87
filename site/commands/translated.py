"""Build the pages in a language: ``python site translated LANGUAGE BOOK CACHE``.

`make book` runs this beside the build of the original. The cells have been run before: CACHE is the
folder of their outputs. The pages are written below ``_build/<language>``.
"""

import argparse
import gc
import sys
from pathlib import Path

from book_extension import contents
from book_extension.languages import catalogs, chosen

from commands import slides
from commands.build import GC_THRESHOLD, build_pages


def build(
    book: Path,
    language: str,
    cache: Path,
    *,
    fresh: bool,
    force_all: bool,
) -> bool:
    """Build a translation; return whether that succeeded.

    fresh: parse all pages again. force_all: write all pages again.
    """
    output = book / "_build" / language
    environment = output / ".doctrees" / "environment.pickle"
    if fresh:
        environment.unlink(missing_ok=True)
    in_language = settings(book, language, output)
    status = build_pages(book, output / "html", cache, in_language, force_all=force_all)
    if status != 0:
        environment.unlink(missing_ok=True)
        return False
    return slides.build(book, cache, chosen(language))


def settings(book: Path, language: str, output: Path) -> dict[str, object]:
    """Copy a language's catalogs below `output`; return Sphinx's settings for the language."""
    compiled, source = output / "compiled-catalogs", catalogs.folder(book, language)
    catalogs.copy_for_sphinx(source, catalogs.folder(compiled, language), language)
    return {
        "language": language,
        "locale_dirs": [str(compiled / contents.LANGUAGES)],
        "gettext_compact": False,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", help="such as zh_CN")
    parser.add_argument("book", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--fresh", action="store_true", help="parse all pages again")
    parser.add_argument("--force-all", action="store_true", help="write all pages again")
    told = parser.parse_args()
    gc.set_threshold(GC_THRESHOLD)
    built = build(told.book, told.language, told.cache, fresh=told.fresh, force_all=told.force_all)
    return 0 if built else 1


if __name__ == "__main__":
    sys.exit(main())
