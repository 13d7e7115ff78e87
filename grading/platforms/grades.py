"""Fills grades into a table that the platform exported, ready for its import.

Canvas and Moodle import the format that they export. So the columns that identify a learner are
kept, and one column for each exercise gets the points. Moodle's offline grading worksheet keeps all
other columns too, since its import needs some of them. Other tables lose theirs, since an import
would overwrite the platform's values. `tests/support/importers.toml` has the rules of both imports.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from grading.intake.names import printable
from grading.platforms.roster import IDS, NAMES, NUMBERS, Person, Table

POINTS = "Points Possible"  # first cell of the second row in Canvas's table
EXCUSED = "EX"  # an excused student's grade in Canvas's table
# Canvas finds the assignments by the number of columns before them, so keep all these columns.
CANVAS = (
    *("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID"),
    *("Integration ID", "Root Account", "Section"),
)
KEPT = {*IDS, *NUMBERS, *NAMES, "institution", "department"}
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def fill(
    text: str, scores: Mapping[tuple[str, str], str], columns: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Return (the table to import, lines about what could not be filled in).

    text: the table that the platform exported. scores: (student, exercise) → points. columns:
    exercise → heading of its column. Raises ValueError if a column is missing or given twice.
    """
    table = Table(text)
    _check_columns(table.heads, columns)
    known = {student for student, _ in scores}
    about = {table.heads.index(head): name for name, head in columns.items()}
    kept = [place for place, head in enumerate(table.heads) if _is_kept(table, head)]
    places = sorted({*kept, *about})
    rows, lines, seen = [], [], set()
    for row in table.rows:
        cells = list(row)
        person = table.person(row)
        if person is not None:
            student = _student(person, known)
            if student is None:
                lines.append(f"{printable(person.id)}: nothing is graded")
            else:
                seen.add(student)
                for place, name in about.items():
                    if cells[place].strip().upper() == EXCUSED and table.of_canvas:
                        lines.append(f"{printable(student)}: excused from {name}, and stays so")
                    else:  # without a score keep the cell's text: an empty cell deletes the grade
                        cells[place] = scores.get((student, name), cells[place])
        elif not (table.of_canvas and row[0].strip() == POINTS):
            continue
        rows.append([cells[place] for place in places])
    absent = sorted(known - seen)
    lines += [f"{printable(student)}: not in the platform's table" for student in absent]
    lines += _too_many(table, about, scores, seen)
    return table.text([table.heads[place] for place in places], rows), lines


def columns(text: str, exercises: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return exercise → column heading, from `named` or else matched by name.

    An exercise without exactly one matching heading is left out. Canvas writes
    "int8-matmul (4711)", Moodle "Assignment:int8-matmul (Real)".
    """
    found = dict(named)
    for name in exercises:
        meant = [head for head in Table(text).heads if _own_name(head) == name]
        if name not in found and len(meant) == 1:
            found[name] = meant[0]
    return found


def no_column(table: Table) -> str:
    """Return a line that says that no column names an exercise, and what to do."""
    if table.of_worksheet:
        return (
            "a grading worksheet does not name its assignment; say which column is for which "
            f"exercise: --column EXERCISE=HEAD, as int8-matmul=Grade; there is {_all(table.heads)}"
        )
    return (
        f"no column has the name of an exercise; there is {_all(table.heads)}. Say which one is "
        "meant: --column EXERCISE=HEAD"
    )


def _check_columns(heads: Sequence[str], columns: Mapping[str, str]) -> None:
    for name, head in columns.items():
        if head not in heads:
            folded = {one.casefold(): one for one in reversed(heads)}
            near = difflib.get_close_matches(head.casefold(), folded, 1)
            hint = f"; the nearest is {folded[near[0]]!r}" if near else ""
            raise ValueError(f"no column {head!r} for {name}{hint}; there is {_all(heads)}")
        if heads.count(head) > 1:
            raise ValueError(f"two columns are headed {head!r}; rename one")
        if list(columns.values()).count(head) > 1:
            raise ValueError(f"column {head!r} is given for more than one exercise")


def _is_kept(table: Table, head: str) -> bool:
    if table.of_canvas:
        return head in CANVAS
    return table.of_worksheet or head.strip().lower() in KEPT


def _too_many(
    table: Table,
    about: Mapping[int, str],
    scores: Mapping[tuple[str, str], str],
    seen: Iterable[str],
) -> list[str]:
    """Report points above the assignment's maximum; Moodle's import skips them."""
    if not table.of_worksheet or "Maximum grade" not in table.heads:
        return []
    found = NUMBER.fullmatch(table.rows[0][table.heads.index("Maximum grade")].strip())
    most = float(found[0].replace(",", ".")) if found else float("inf")
    return [
        f"{printable(student)}: {points} points for {name} are above Moodle's "
        f"maximum of {most:g}, and its import would skip them"
        for student in sorted(seen)
        for name in about.values()
        if (points := scores.get((student, name))) and float(points) > most
    ]


def _all(heads: Iterable[str]) -> str:
    return ", ".join(repr(head) for head in heads)


def _own_name(head: str) -> str:
    name = head.strip()
    if name.endswith(")"):
        name = name.rpartition("(")[0].strip()
    return name.rpartition(":")[2].strip()


def _student(person: Person, known: set[str]) -> str | None:
    """Return the graded student with this person's id, email or number."""
    return next((one for one in (person.id, person.email, person.number) if one in known), None)
