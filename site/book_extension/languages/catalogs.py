"""Catalogs of translations: gettext files below ``locale/``.

Babel reads and writes them. A language has one catalog for each page, named after it, and those of
``code_words`` for the words in code and templates. Files have no dates, no source positions and no
wrapped lines, so that a diff shows changed messages only.
"""

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from babel.messages import Catalog, Message
from babel.messages.pofile import read_po, unescape, write_po

from book_extension.contents import LANGUAGES

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
# Header lines to drop, such as people and dates, but not those that programs need.
HEADER = re.compile(r'^"(?!Language:|Plural-Forms:|MIME|Content-)[A-Z][\w-]+: .*\n', re.MULTILINE)


def folder(book: Path, language: str) -> Path:
    return book / LANGUAGES / language / "LC_MESSAGES"


def names(catalogs: Path) -> list[str]:
    """Return the names of a folder's catalogs, such as "chapters/time"."""
    files = catalogs.rglob("*.po")
    return sorted(path.relative_to(catalogs).with_suffix("").as_posix() for path in files)


def read(file: Path, language: str | None = None) -> Catalog:
    with file.open("rb") as source:
        return read_po(source, locale=language)


def merged(old: Catalog, template: Iterable[str], language: str) -> Catalog:
    """Return a catalog of these messages, in this order, with the old translations.

    The translation of a message that has changed a little is kept as outdated ("fuzzy"), beside the
    English that it translates.
    """
    new = Catalog()
    for english in template:
        new.add(english)
    result = Catalog(locale=language, header_comment="", fuzzy=False)
    for message in messages(old):
        result[message.id] = message
    result.update(new, update_header_comment=False)
    result.obsolete.clear()
    for message in messages(result):
        # Babel mistakes roles for Python placeholders and flags their messages: drop these flags.
        message.flags &= {"fuzzy"}
        # Babel reads the earlier English as comments, and writes it from `previous_id`.
        earlier = previous(message)
        message.user_comments = [c for c in message.user_comments if not c.startswith("|")]
        if earlier == message.id:  # it is as it was
            message.flags.clear()
        message.previous_id = [earlier] if earlier and message.fuzzy else []
    return result


def messages(catalog: Catalog) -> Iterator[Message]:
    """Yield the messages of a catalog, without its header."""
    return (message for message in catalog if message.id)


def is_current(message: Message) -> bool:
    """Return whether a message has a translation that isn't outdated."""
    return bool(message.string) and not message.fuzzy


def previous(message: Message) -> str:
    """Return the English that an outdated translation is of, as far as it is known."""
    written = " ".join(c[2:] for c in message.user_comments if c.startswith("| "))  # in lines
    quoted = "".join(unescape(text) for text in QUOTED.findall(written))
    return quoted or "".join(message.previous_id[:1])


def text(catalog: Catalog) -> str:
    """Return a catalog as the text of a .po file."""
    file = io.BytesIO()
    write_po(file, catalog, width=0, include_previous=True)
    header, *rest = file.getvalue().decode("utf-8").strip().split("\n\n", 1)
    return "\n".join([HEADER.sub("", f"{header}\n"), *rest, ""])


def write(catalog: Catalog, file: Path) -> None:
    """Write a catalog, unless the file has the same text already."""
    new = text(catalog)
    if not file.exists() or file.read_text(encoding="utf-8") != new:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(new, encoding="utf-8")
