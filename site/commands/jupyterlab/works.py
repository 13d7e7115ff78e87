"""Works in a BibTeX file: the citation in a sentence and the entry in the list."""

import re
from dataclasses import dataclass
from pathlib import Path

from pybtex.backends.markdown import Backend
from pybtex.database import Entry, Person, parse_file
from pybtex.style.formatting.alpha import Style


@dataclass(frozen=True)
class Work:
    """Cited work: short author names, year, and its full entry as Markdown."""

    authors: str
    year: str
    entry: str


def read_works(bibliography: Path) -> dict[str, Work]:
    """Return the works by key, in the order of the bibliography."""
    data = parse_file(str(bibliography), bib_format="bibtex")
    style, backend = Style(), Backend()
    return {
        entry.key: Work(
            authors(data.entries[entry.key]),
            data.entries[entry.key].fields.get("year", "n.d."),
            plain(entry.text.render(backend)),
        )
        for entry in style.format_bibliography(data)
    }


def plain(markdown: str) -> str:
    """Remove escapes that Markdown does not need and that would show up in links."""
    return re.sub(r"\\([.\-()#+!{}])", r"\1", markdown)


def authors(entry: Entry) -> str:
    """Return one name, two names, or the first with "et al."."""
    names = [last_name(person) for person in entry.persons.get("author", [])]
    return names[0] + " et al." if len(names) > 2 else " and ".join(names)


def last_name(person: Person) -> str:
    found = " ".join([*person.prelast_names, *person.last_names])
    return found.replace("{", "").replace("}", "")
