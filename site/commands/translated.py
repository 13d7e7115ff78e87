"""Build the pages in a language: ``python site translated LANGUAGE BOOK CACHE``.

`make book` runs this beside the build of the original. The cells have been run before: CACHE is the
folder of their outputs. The pages are written below ``_build/<language>``.
"""

import argparse
import gc
import sys
from pathlib import Path

from book_extension import published
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
    source: Path | None,
    output: Path | None,
) -> bool:
    """Build a translation; return whether that succeeded.

    fresh: parse all pages again. force_all: write all pages again. source: a folder of catalogs
    instead of the book's. output: where to build instead of below ``_build``.
    """
    output = output or book / "_build" / language
    source = source or catalogs.folder(book, language)
    environment = output / ".doctrees" / "environment.pickle"
    if fresh:
        environment.unlink(missing_ok=True)
    in_language = settings(language, source, output)
    status = build_pages(book, output / "html", cache, in_language, force_all=force_all)
    if status != 0:
        environment.unlink(missing_ok=True)
        return False
    return slides.build(book, cache, chosen(language), output=output, source=source)


def settings(language: str, source: Path, output: Path) -> dict[str, object]:
    """Compile a folder of catalogs below `output`; return Sphinx's settings for the language."""
    compiled = output / "compiled-catalogs"
    catalogs.compile_all(source, catalogs.folder(compiled, language), language)
    return {
        "language": language,
        "locale_dirs": [str(compiled / published.FOLDER)],
        "gettext_compact": False,
        "gettext_auto_build": False,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", help="such as zh_CN")
    parser.add_argument("book", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--fresh", action="store_true", help="parse all pages again")
    parser.add_argument("--force-all", action="store_true", help="write all pages again")
    parser.add_argument("--catalogs", type=Path, help="a folder instead of the book's")
    parser.add_argument("--output", type=Path, help="where to build, instead of _build/<language>")
    told = parser.parse_args()
    gc.set_threshold(GC_THRESHOLD)
    built = build(
        told.book,
        told.language,
        told.cache,
        fresh=told.fresh,
        force_all=told.force_all,
        source=told.catalogs,
        output=told.output,
    )
    return 0 if built else 1


if __name__ == "__main__":
    sys.exit(main())
