"""Reads tables of people: a platform's export, or one written by hand."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grading.intake.names import name_problem, printable

# Headings, in lower case, of columns that identify a person. The first of them that has an entry
# names the folder. `id` is nbgrader's heading; in Canvas's table the column holds a number.
IDS = ("sis login id", "username", "id number", "email address", "email", "sis user id", "id")
NUMBERS = ("lms_user_id", "identifier", "id")
NAMES = (
    *("student", "full name", "first name", "first_name", "firstname"),
    *("last name", "last_name", "lastname", "surname"),
)
MAX_CELL_CHARACTERS = 20_000_000  # enough for text that a learner typed into Moodle
SAVE_AS = (
    "save it as CSV in UTF-8 (Excel: Save As, CSV UTF-8; LibreOffice: Save As, Text CSV, "
    "character set UTF-8)"
)
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WORKBOOKS = {
    b"PK\3\4": "a workbook or another zip",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel",
}


@dataclass(frozen=True)
class Person:
    """A student: `id` names the folder, `number` is the platform's id."""

    id: str
    number: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""


def text_of(content: bytes) -> str:
    """Decode a table in UTF-8, or in UTF-16 with a byte order mark.

    Raises ValueError for any other encoding, since names would be garbled. The message completes a
    line that begins with the file's name.
    """
    for sign, what in WORKBOOKS.items():
        if content.startswith(sign):
            raise ValueError(f"is {what} and not a table in text; {SAVE_AS}")
    try:
        text = content.decode("utf-16" if content.startswith(UTF16) else "utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"is not in UTF-8; {SAVE_AS}")
    return text


class Table:
    """A platform's table: headings, and rows, most of which describe a person.

    of_canvas: whether it is Canvas's gradebook. of_worksheet: whether it is Moodle's offline
    grading worksheet, in any language. Raises ValueError if no column identifies people.
    """

    def __init__(self, text: str) -> None:
        self.marked = text.startswith("\ufeff")
        lines = text.removeprefix("\ufeff")
        # Drop a first line such as `sep=;`, in which Excel declares the delimiter.
        lines = re.sub(r"\Asep=.\r?\n", "", lines, flags=re.IGNORECASE)
        csv.field_size_limit(MAX_CELL_CHARACTERS)
        try:
            self.delimiter = max(",;\t", key=lambda one: len(next(_rows(lines, one), [])))
            rows = list(_rows(lines, self.delimiter))
        except csv.Error as error:
            raise ValueError(f"is not a table that can be read: {error}; {SAVE_AS}") from None
        self.heads: Sequence[str] = rows[0] if rows else []
        wide = len(self.heads)
        self.rows = [[*row, *[""] * wide][:wide] for row in rows[1:] if any(map(str.strip, row))]
        self.of_canvas = "ID" in self.heads and (
            "Student" in self.heads or {"LastName", "FirstName"} <= set(self.heads)
        )
        self.of_worksheet = not self.of_canvas and _are_participants([row[0] for row in self.rows])
        known = {head.strip().lower() for head in self.heads} & {*IDS, *NUMBERS}
        if not (known or self.of_worksheet):
            raise ValueError(
                f"no column says who somebody is: there is {', '.join(self.heads) or 'nothing'}; "
                f"one of these is needed: {', '.join(sorted({*IDS, *NUMBERS}))}"
            )

    def person(self, row: Sequence[str]) -> Person | None:
        """Return the person in a row, None for rows such as Canvas's "Points Possible"."""
        about = {
            head.strip().lower(): cell.strip() for head, cell in zip(self.heads, row, strict=False)
        }
        if self.of_canvas and not about["id"].isdecimal():
            return None
        if self.of_worksheet:  # the worksheet's first column may be headed `ID`
            about |= {"id": "", "identifier": re.sub(r".*\D", "", row[0].strip())}
        number = next((about[one] for one in NUMBERS if about.get(one)), "")
        own = next((about[one] for one in IDS if about.get(one)), "") or number
        if not own:
            return None
        first, last = _names(about)
        email = about.get("email address") or about.get("email", "")
        return Person(own, number if number.isdecimal() else "", first, last, email)

    def people(self) -> tuple[list[Person], list[str]]:
        """Return (the people in the table, a line for each person with an invalid name)."""
        found, refused = [], []
        for one in map(self.person, self.rows):
            if one is None:
                continue
            if "/" in one.id or name_problem(one.id):
                refused.append(f"{printable(one.id)}: not a name that a student can have")
            else:
                found.append(one)
        return found, refused

    def text(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        """Return CSV in this table's format; Canvas and Moodle's worksheet need commas."""
        stream = io.StringIO()
        delimiter = "," if self.of_canvas or self.of_worksheet else self.delimiter
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(heads)
        writer.writerows(rows)
        return ("\ufeff" if self.marked else "") + stream.getvalue()


def _rows(lines: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter)


def _are_participants(cells: Sequence[str]) -> bool:
    """Return whether each cell is like "Participant 1234", in any one language."""
    found = [re.fullmatch(r"(.*\D)\d+", cell.strip(), re.DOTALL) for cell in cells]
    words = {one and one[1] for one in found}
    return len(words) == 1 and None not in words and words.pop() != "-"


def _names(about: Mapping[str, str]) -> tuple[str, str]:
    """Return (first name, last name); a full name counts as the first name."""
    if "student" in about:  # "Lovelace, Ada"
        last, _, first = about["student"].partition(",")
        return first.strip(), last.strip()
    first = about.get("first name") or about.get("first_name") or about.get("firstname", "")
    first = first or about.get("full name", "")
    last = about.get("last name") or about.get("last_name") or about.get("lastname", "")
    last = last or about.get("surname", "")
    return first, last
