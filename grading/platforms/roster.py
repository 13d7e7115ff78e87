"""Who is in the class: a table of people, as a platform exports it or as somebody wrote it."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grading.intake.names import shown, unfit

# Columns in which a table names a person, in small letters; the first that is filled is the name
# of the folder. `id` is nbgrader's own, unless the table is one of Canvas's, where it is a number.
IDS = ("sis login id", "username", "id number", "email address", "email", "sis user id", "id")
NUMBERS = ("lms_user_id", "identifier", "id")
NAMES = ("student", "full name", "first name", "first_name", "last name", "last_name", "surname")
KEPT = {*IDS, *NUMBERS, *NAMES, "integration id", "section", "institution", "department"}


@dataclass(frozen=True)
class Person:
    """A student: id is the name of the folder, number the platform's own."""

    id: str
    number: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""


class Table:
    """A table of a platform's: its heads, and its rows of which each may be a person.

    ValueError if no column says who somebody is.
    """

    def __init__(self, text: str) -> None:
        self.marked = text.startswith("\ufeff")
        lines = text.removeprefix("\ufeff")
        first = lines.partition("\n")[0]
        self.delimiter = max(",;\t", key=first.count)
        rows = list(csv.reader(io.StringIO(lines), delimiter=self.delimiter))
        self.heads: Sequence[str] = rows[0] if rows else []
        self.rows = [row for row in rows[1:] if any(map(str.strip, row))]
        self.of_canvas = "Student" in self.heads and "ID" in self.heads
        if not {head.strip().lower() for head in self.heads} & {*IDS, *NUMBERS}:
            raise ValueError(
                f"no column says who somebody is: there is {', '.join(self.heads) or 'nothing'}; "
                f"one of these is needed: {', '.join(sorted({*IDS, *NUMBERS}))}"
            )

    def person(self, row: Sequence[str]) -> Person | None:
        """Who is in this row; None for what is no person, as Canvas's row of points is none."""
        about = {
            head.strip().lower(): cell.strip() for head, cell in zip(self.heads, row, strict=False)
        }
        if self.of_canvas and not about.get("id", "").isdecimal():
            return None
        number = next((about[one] for one in NUMBERS if about.get(one)), "")
        # Moodle's grading worksheet has "Participant 1234", in the language of the site.
        number = number.rpartition(" ")[2]
        own = next((about[one] for one in IDS if about.get(one)), "") or number
        if not own:
            return None
        first, last = _names(about)
        email = about.get("email address") or about.get("email", "")
        return Person(own, number if number.isdecimal() else "", first, last, email)

    def people(self) -> tuple[list[Person], list[str]]:
        """(who is in it, lines about those who cannot be students)."""
        found, refused = [], []
        for one in map(self.person, self.rows):
            if one is None:
                continue
            if "/" in one.id or unfit(one.id):
                refused.append(f"{shown(one.id)}: not a name that a student can have")
            else:
                found.append(one)
        return found, refused

    def text(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        """A table written as this one was."""
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=self.delimiter, lineterminator="\r\n")
        writer.writerow(heads)
        writer.writerows(rows)
        return ("\ufeff" if self.marked else "") + stream.getvalue()


def _names(about: Mapping[str, str]) -> tuple[str, str]:
    """(first, last) name, as far as the table has them apart."""
    if "student" in about:  # "Lovelace, Ada"
        last, _, first = about["student"].partition(",")
        return first.strip(), last.strip()
    first = about.get("first name") or about.get("first_name") or about.get("full name", "")
    last = about.get("last name") or about.get("last_name") or about.get("surname", "")
    return first, last
