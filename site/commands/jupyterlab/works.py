"""Works in a BibTeX file: the citation in a sentence and the entry in the list."""

import re
from dataclasses import dataclass
from pathlib import Path

from book_extension.languages.markdown import Words
from pybtex.backends.markdown import Backend
from pybtex.database import Entry, Person, parse_file
from pybtex.style.formatting.alpha import Style


@dataclass(frozen=True)
class Work:
    """Cited work: short author names, year, and its full entry as Markdown."""

    authors: str
    year: str
    entry: str


def read_works(bibliography: Path, words: Words = str) -> dict[str, Work]:
    """Return the works by key, in the order of the bibliography.

    words: returns the words between the authors' names in the reader's language.
    """
    data = parse_file(str(bibliography), bib_format="bibtex")
    style, backend = Style(), Backend()
    return {
        entry.key: Work(
            authors(data.entries[entry.key], words),
            data.entries[entry.key].fields.get("year", "n.d."),
            plain(entry.text.render(backend)),
        )
        for entry in style.format_bibliography(data)
    }


def plain(markdown: str) -> str:
    """Remove escapes that Markdown does not need and that would show up in links."""
    return re.sub(r"\\([.\-()#+!{}])", r"\1", markdown)


def authors(entry: Entry, words: Words) -> str:
    """Return one name, two names, or the first with "et al."."""
    names = [last_name(person) for person in entry.persons.get("author", [])]
    if len(names) > 2:
        return f"{names[0]} {words('et al.')}"
    if len(names) == 2:
        return words("{one} and {other}").format(one=names[0], other=names[1])
    return "".join(names)


def last_name(person: Person) -> str:
    found = " ".join([*person.prelast_names, *person.last_names])
    return found.replace("{", "").replace("}", "")
