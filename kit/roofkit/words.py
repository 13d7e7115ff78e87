"""Words in the reader's language, by gettext. English is the source.

``_("{n} of {all} parts").format(n=n, all=total)`` gives a sentence in the language in force, and
its English where there is no translation. Call it when the text is shown, with the literal text:
the extraction of messages reads the source.
"""

from __future__ import annotations

import gettext
import hashlib
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from roofkit.lines import value_in_words

ORIGINAL = "en"
VARIABLE = "ROOFLINE_LANGUAGE"  # environment variable with the language, such as "zh_CN"
# Catalogs: compiled ones in a built package, the sources in a clone of the repository.
COMPILED = Path(__file__).parent / "locale"
SOURCES = Path(__file__).parents[2] / "locale"
PRINTING = COMPILED / "printing.txt"  # the lines of the course's cells that print, in a package
# Cache of a clone's compiled catalogs, by hash of the sources: compiling takes half a second.
KEPT = SOURCES.parent / "_build" / "words"

NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)  # written in place of the time of compilation
NOT_OF_CODE = ("index", "notebooks")  # catalogs of texts that no code shows, beside those of code
GLOSSARY = "glossary"  # the page whose terms have the English in brackets: others' words come first
# Matches messages of pages that no output of a cell has: they have markup that tables lack.
OF_PROSE = re.compile(r"[`$*\n]|\{(?!\d)")

_chosen: ContextVar[str | None] = ContextVar("_chosen", default=None)


def language() -> str:
    """Return the code of the language in force, such as "en" or "zh_CN"."""
    return _chosen.get() or os.environ.get(VARIABLE) or ORIGINAL


def use(code: str) -> None:
    """Choose the language from now on, also for rooflib's tables."""
    from rooflib import table

    _chosen.set(code)
    table.translate = partial(value_in_words, power=0, translate=_)


@contextmanager
def spoken(code: str) -> Iterator[None]:
    """Choose the language inside a `with` block."""
    token = _chosen.set(code)
    try:
        yield
    finally:
        _chosen.reset(token)


def _(message: str) -> str:
    """Return a message in the language in force."""
    code = language()
    # The empty message is the catalog's header.
    return message if code == ORIGINAL or not message else translations(code).gettext(message)


def N_(message: str) -> str:
    """Mark a message in a table for extraction; ``_`` translates it when it is shown."""
    return message


@cache
def translations(code: str) -> gettext.NullTranslations:
    """Return a language's messages; a language without catalogs has none."""
    compiled = COMPILED / f"{code}.mo"
    if compiled.is_file():
        return gettext.GNUTranslations(io.BytesIO(compiled.read_bytes()))
    folder = SOURCES / code / "LC_MESSAGES"
    if not folder.is_dir():
        return gettext.NullTranslations()
    return gettext.GNUTranslations(io.BytesIO(compile_once(folder)))


def compile_once(folder: Path) -> bytes:
    """Return a folder's compiled catalogs, and cache them for the next call.

    Where the cache can't be written, each call compiles them.
    """
    code, total = folder.parent.name, hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted(folder.rglob("*.po")):
        content = file.read_bytes()
        total.update(f"{file.relative_to(folder)} {len(content)}\n".encode() + content)
    kept = KEPT / f"{code}-{total.hexdigest()}.mo"
    with suppress(OSError):
        return kept.read_bytes()
    compiled = compile_catalogs(folder)
    with suppress(OSError):  # a sandbox cannot write here
        KEPT.mkdir(parents=True, exist_ok=True)
        for old in KEPT.glob(f"{code}-*.mo"):
            old.unlink()
        unfinished = kept.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(compiled)
        unfinished.replace(kept)
    return compiled


def compile_catalogs(folder: Path) -> bytes:
    """Compile a folder's catalogs into one, without outdated messages.

    The catalogs of code lie in the folder itself, those of pages in folders inside it. Of pages,
    only messages that outputs of cells may have are included. The same messages give the same
    bytes: addresses in pages have a hash of them.
    """
    from babel.messages import Catalog
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    merged = Catalog(creation_date=NO_DATE, revision_date=NO_DATE)
    of_code = [file for file in sorted(folder.glob("*.po")) if file.stem not in NOT_OF_CODE]
    of_pages = sorted(folder.glob("*/**/*.po"), key=lambda file: (file.stem == GLOSSARY, file))
    for file in (*of_code, *of_pages):
        with file.open("rb") as source:
            for message in read_po(source):
                if not message.id or not message.string or message.fuzzy or message.id in merged:
                    continue
                if file in of_code or not OF_PROSE.search(str(message.id)):
                    merged.add(message.id, message.string)
    compiled = io.BytesIO()
    write_mo(compiled, merged)
    return compiled.getvalue()
