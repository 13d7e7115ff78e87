"""Tables of people and of grades, as platforms export and import them, and who is meant in them.

Canvas and Moodle import the format that they export. So the columns that say who somebody is are
kept, and one column for each exercise gets the points. Moodle's offline grading worksheet keeps all
other columns, too, since its import needs some of them; other tables lose theirs, since an import
would overwrite what the platform has.

Canvas has one number for a person. Moodle numbers people anew for each assignment, so a name that
only one student has comes before a number, and a student keeps all numbers.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grading.intake import MOST_TEXT, listed, name_problem, printable

MOST_NUMBERS = 10  # of one person, which fit into the gradebook
# Headings, in lower case, of columns that say who somebody is. The first that has an entry names
# the folder. A table of one's own, or of nbgrader, has `id`, which then comes before all others; in
# Canvas's table that column holds a number.
IDS = ("sis login id", "username", "id number", "email address", "email", "sis user id", "id")
NUMBERS = ("lms_user_id", "identifier", "id")
FIRST = ("first name", "first_name", "firstname", "full name")
LAST = ("last name", "last_name", "lastname", "surname")
KEPT = {*IDS, *NUMBERS, *FIRST, *LAST, "student", "institution", "department"}
# Canvas finds the assignments by the number of columns before them, so all of these stay.
CANVAS = (
    *("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID"),
    *("Integration ID", "Root Account", "Section"),
)
POINTS, EXCUSED = "Points Possible", "EX"  # in Canvas's table: a row, and a grade
NOBODY = "Test Student"  # of Canvas, for teachers who look at the course as a student does
MOST = "Maximum grade"  # a column of Moodle's worksheet
MOST_CELL = 20_000_000  # characters, for what a learner typed into Moodle
SAVE_AS = "save it as CSV in UTF-8"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Label = tuple[str, str]  # a kind, and a text of this kind by which somebody is known


# --- people ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Person:
    """A row of a platform's table: `id` names the folder, `number` is the platform's."""

    id: str
    number: str
    first_name: str
    last_name: str
    email: str

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    @property
    def labels(self) -> list[Label]:
        # An id that is only a number is another person's in the next assignment.
        own = "" if self.id == self.number else self.id
        return labels(own, self.email, self.name, self.number)


def labels(student: str, email: str, name: str, *numbers: str) -> list[Label]:
    """Return what somebody is known by, the surest first."""
    found = [("id", student), ("email", email.casefold()), ("name", _key(name))]
    found += [("number", number) for number in numbers]
    return [one for one in found if one[1]]


class People:
    """The students in nbgrader's gradebook."""

    def __init__(self, students: Iterable[Any]) -> None:
        self.students = {one.id: one for one in students}
        self.fitting: defaultdict[Label, set[str]] = defaultdict(set)
        for key, one in self.students.items():
            name = f"{one.first_name or ''} {one.last_name or ''}".strip()
            numbers = (one.lms_user_id or "").split()
            # Whoever was in no roster has a folder with the platform's name and number.
            if not name and (unknown := re.fullmatch(r"(.+) (\d+)", key)):
                name, numbers = unknown[1], [unknown[2]]
            for label in labels(key, one.email or key, name, *numbers):
                self.fitting[label].add(key)

    def student(self, own: Sequence[Label]) -> str:
        """Return the student whom these labels fit, "" if nobody, or more than one."""
        left: set[str] | None = None
        for label in own:
            if fits := self.fitting.get(label):
                left = fits if left is None else left & fits
                if len(left) == 1:
                    return min(left)
        return ""

    def updates(self, people: Sequence[Person]) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield (student, what the gradebook is to say), also for new ones.

        Nothing is erased by a table that lacks it.
        """
        found = [(one, self.student(one.labels)) for one in people]
        claims = Counter(student for _, student in found)
        for one, student in found:
            if claims[student] > 1:  # a newcomer may have the name of another
                sure = [label for label in one.labels if label[0] in ("id", "email")]
                student = self.student(sure)
            student = student or one.id
            before = self.students.get(student)
            about = {"email": one.email}
            if one.last_name or not (before and before.last_name):
                about |= {"first_name": one.first_name, "last_name": one.last_name}
            numbers = (before.lms_user_id or "").split() if before else []
            own = [*(number for number in numbers if number != one.number), one.number]
            about["lms_user_id"] = " ".join(own[-MOST_NUMBERS:]).strip()
            yield student, {key: text[:MOST_TEXT] for key, text in about.items() if text}


def _key(name: str) -> str:
    """Return a name's words in one order, without marks that Moodle leaves out of files' names."""
    # The gradebook may hold no more of it.
    folded = unicodedata.normalize("NFKC", name[:MOST_TEXT]).casefold()
    kept = "".join(one for one in folded if one.isalnum() or one.isspace())
    return " ".join(sorted(kept.split()))


# --- tables ---------------------------------------------------------------------------------------


class Table:
    """A platform's table: headings, and rows, most of which are about a person.

    of_canvas: whether it is Canvas's gradebook. of_worksheet: whether it is Moodle's offline
    grading worksheet, in any language. Raises ValueError with the reason, as the end of a line that
    begins with the file's name.
    """

    def __init__(self, content: bytes) -> None:
        text = _text(content)
        self.marked = text.startswith("\ufeff")
        lines = text.removeprefix("\ufeff")
        csv.field_size_limit(MOST_CELL)
        try:
            self.delimiter = max(",;\t", key=lambda one: len(next(_rows(lines, one), [])))
            rows = list(_rows(lines, self.delimiter))
        except csv.Error as error:
            raise ValueError(f"is not a table that can be read: {error}; {SAVE_AS}") from None
        self.heads: Sequence[str] = rows[0] if rows else []
        wide = len(self.heads)
        self.rows = [[*row, *[""] * wide][:wide] for row in rows[1:] if any(map(str.strip, row))]
        names = (
            {"Student", *self.heads} if {"LastName", "FirstName"} <= {*self.heads} else self.heads
        )
        self.of_canvas = "ID" in self.heads and "Student" in names
        # nbgrader's own tables begin with `id`, whose entries may be like a1, a2, a3.
        is_own = self.of_canvas or self.heads[:1] == ["id"]
        self.of_worksheet = not is_own and _are_participants([row[0] for row in self.rows])
        known = {head.strip().lower() for head in self.heads} & {*IDS, *NUMBERS}
        if not (known or self.of_worksheet):
            raise ValueError(
                f"no column says who somebody is: there is {listed(self.heads) or 'nothing'}; "
                f"one of these is needed: {', '.join(sorted({*IDS, *NUMBERS}))}"
            )

    def person(self, row: Sequence[str]) -> Person | None:
        """Return the person in a row, None for rows such as Canvas's "Points Possible"."""
        cells = zip(self.heads, row, strict=False)
        about = {head.strip().lower(): cell.strip() for head, cell in cells}
        if self.of_canvas and not about["id"].isdecimal():
            return None
        if self.of_worksheet:  # its first column may be headed `ID`
            about |= {"id": "", "identifier": re.sub(r".*\D", "", row[0].strip())}

        def first_of(heads: Sequence[str]) -> str:
            return next((about[one] for one in heads if about.get(one)), "")

        number = first_of(NUMBERS)
        is_own = not self.of_canvas and about.get("id")
        own = about["id"] if is_own else first_of(IDS) or number
        last, _, first = about.get("student", "").partition(",")  # "Lovelace, Ada"
        person = Person(
            own,
            number if number.isdecimal() else "",
            first.strip() or first_of(FIRST),
            last.strip() or first_of(LAST),
            first_of(("email address", "email")),
        )
        return person if own and not (self.of_canvas and person.name == NOBODY) else None

    def people(self) -> tuple[list[Person], list[str]]:
        """Return (the people in the table, a line for each whose name is no folder's)."""
        found, refused = [], []
        for one in map(self.person, self.rows):
            if one and (problem := name_problem(one.id)):
                refused.append(f"{printable(one.id)}: {problem}")
            elif one:
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

    # --- grades ----------------------------------------------------------------------------------

    def columns(self, exercises: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
        """Return exercise → heading of its column: as `named`, or else the one that has its name.

        Canvas writes "int8-matmul (4711)", Moodle "Assignment:int8-matmul (Real)". Raises
        ValueError if there is none, or if a column is missing or named twice.
        """
        found = dict(named)
        for name in exercises:
            meant = [head for head in self.heads if _own_name(head) == name]
            if name not in found and len(meant) == 1:
                found[name] = meant[0]
        there = ", ".join(map(repr, self.heads))
        for name, head in found.items():
            if (count := self.heads.count(head)) != 1:
                says = "two columns" if count else "no column"
                raise ValueError(f"has {says} {head!r} for {name}; there is {there}")
            if list(found.values()).count(head) > 1:
                raise ValueError(f"has one column {head!r}, given for more than one exercise")
        if not found:
            raise ValueError(
                "has no column with the name of an exercise; say which one is meant: --column "
                f"EXERCISE=HEAD, as int8-matmul=Grade; there is {there}"
            )
        return found

    def fill(
        self,
        scores: Mapping[tuple[str, str], str],
        columns: Mapping[str, str],
        people: People,
    ) -> tuple[str, list[str]]:
        """Return (the table to import, lines about what could not be filled in).

        scores: (student, exercise) → points.
        """
        known = {student for student, _ in scores}
        about = {self.heads.index(head): name for name, head in columns.items()}
        kept = [place for place, head in enumerate(self.heads) if self._is_kept(head)]
        places = sorted({*kept, *about})
        rows, lines, seen = [], [], set()
        for row in self.rows:
            cells, person = list(row), self.person(row)
            if person is None:
                if self.of_canvas and row[0].strip() == POINTS:
                    rows.append([cells[place] for place in places])
                continue
            student = people.student(person.labels)
            if student not in known:
                lines.append(f"{printable(person.id)}: nothing is graded")
            else:
                seen.add(student)
                for place, name in about.items():
                    if self.of_canvas and cells[place].strip().upper() == EXCUSED:
                        lines.append(f"{printable(student)}: excused from {name}, and stays so")
                    else:  # an empty cell would delete the platform's grade
                        cells[place] = scores.get((student, name), cells[place])
            rows.append([cells[place] for place in places])
        lines += [f"{printable(one)}: not in the platform's table" for one in sorted(known - seen)]
        return self.text([self.heads[place] for place in places], rows), lines

    def _is_kept(self, head: str) -> bool:
        if self.of_canvas:
            return head in CANVAS
        return self.of_worksheet or head.strip().lower() in KEPT

    def most(self, head: str) -> float | None:
        """Return the most points that the platform gives in this column, None if it says none."""
        cells = []
        if self.of_canvas:
            cells = [row[self.heads.index(head)] for row in self.rows if row[0].strip() == POINTS]
        elif self.of_worksheet and MOST in self.heads:
            cells = [row[self.heads.index(MOST)] for row in self.rows]
        found = cells[0].strip().replace(",", ".") if cells else ""
        return float(found) if re.fullmatch(r"\d+(\.\d+)?", found) else None


def _text(content: bytes) -> str:
    """Return a table in UTF-8, or in UTF-16 with its mark: in others, names would be garbled."""
    try:
        text = content.decode("utf-16" if content.startswith(UTF16) else "utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"is a workbook, or is not in UTF-8; {SAVE_AS}")
    return text


def _rows(lines: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter)


def _are_participants(cells: Sequence[str]) -> bool:
    """Return whether each cell is like "Participant 1234", in any one language."""
    found = [re.fullmatch(r"(.*\D)\d+", cell.strip(), re.DOTALL) for cell in cells]
    words = {one and one[1] for one in found}
    return len(words) == 1 and None not in words and words.pop() != "-"


def _own_name(head: str) -> str:
    name = head.strip()
    if name.endswith(")"):
        name = name.rpartition("(")[0].strip()
    return name.rpartition(":")[2].strip()
