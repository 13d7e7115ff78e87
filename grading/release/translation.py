"""What notebooks and feedback say in another language, from the catalogs of the course's pages."""

import functools
import re
from pathlib import Path

from babel.messages.pofile import read_po

from grading.release import exercises
from grading.schema import Part
from roofkit.words import _, language

CATALOGS = exercises.ROOT / "locale"
TITLE = re.compile(r"“([^”]+)”")
# "Part 2: bytes moved (4 points)", also with the full-width punctuation of Chinese.
HEADING = re.compile(
    r"(?P<whole>[^:\uff1a]*\d[^:\uff1a]*[:\uff1a]\s*(?P<title>.*\S)"
    r"\s*[(\uff08][^()\uff08\uff09]*[)\uff09])"
)


def languages() -> list[str]:
    """Return the codes of the languages that there are catalogs for."""
    return sorted(folder.parent.name for folder in CATALOGS.glob("*/LC_MESSAGES"))


@functools.cache
def messages(name: str, code: str) -> dict[str, str]:
    """Return English → translation of an exercise's page and of the notebooks."""
    found: dict[str, str] = {}
    for catalog in (f"exercises/{name}", "notebooks"):
        found |= _read(CATALOGS / code / "LC_MESSAGES" / f"{catalog}.po")
    return found


def question(name: str, part: Part) -> tuple[str, str]:
    """Return the heading of a part's question, and its title, in the language in force."""
    said = HEADING.match(messages(name, language()).get(part.heading, part.heading))
    return (said["whole"], said["title"]) if said else (part.heading, part.title)


def place(read: str) -> str:
    """Translate a reference to a chapter or heading, using the translated titles."""
    if not read.startswith("“"):
        return _(read)
    first, *others = (f"“{heading(title)}”" for title in TITLE.findall(read))
    for other in others:
        first = _("{chapter}, {heading}").format(chapter=first, heading=other)
    return first


def heading(english: str) -> str:
    """Translate a heading of a chapter into the language in force."""
    return _headings(language()).get(english, english)


@functools.cache
def _headings(code: str) -> dict[str, str]:
    """Return English → translation of the chapters' texts."""
    found: dict[str, str] = {}
    for file in sorted((CATALOGS / code / "LC_MESSAGES" / "chapters").glob("*.po")):
        found |= _read(file)
    return found


def _read(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    with file.open("rb") as source:
        return {
            str(message.id): str(message.string)
            for message in read_po(source)
            if message.id and message.string and not message.fuzzy
        }
