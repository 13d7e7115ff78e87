"""Grades in the platform's own table, so that its import takes them as they are.

Canvas and Moodle import what they export. So their table is filled in: who somebody is stays as it
was, and one column for each exercise gets the points. Other columns are left out, since an import
would write them again.
"""

from collections.abc import Mapping, Sequence

from grading.intake.names import shown
from grading.platforms.roster import KEPT, Person, Table

POINTS = "Points Possible"  # begins the second row of Canvas's table


def fill(
    text: str, scores: Mapping[tuple[str, str], str], columns: Mapping[str, str]
) -> tuple[str, list[str]]:
    """(the table to import, lines about what could not be filled in).

    text: the table that the platform exported. scores: (student, exercise) → points. columns:
    exercise → head of its column. ValueError if a column is not there.
    """
    table = Table(text)
    missing = sorted(set(columns.values()) - set(table.heads))
    if missing:
        raise ValueError(f"no column {missing[0]!r}; there is {', '.join(table.heads)}")
    known = {student for student, _ in scores}
    about = {head: name for name, head in columns.items()}
    places = [
        place
        for place, head in enumerate(table.heads)
        if head.strip().lower() in KEPT or head in about
    ]
    rows, lines, seen = [], [], set()
    for row in table.rows:
        cells = dict(zip(table.heads, row, strict=False))
        person = table.person(row)
        if person is None:
            if table.of_canvas and row[0].strip().startswith(POINTS):
                rows.append([cells.get(table.heads[place], "") for place in places])
            continue
        student = _student(person, known)
        if student is None:
            lines.append(f"{shown(person.id)}: nothing is graded")
        else:
            seen.add(student)
        cells |= {head: scores.get((student or "", name), "") for head, name in about.items()}
        rows.append([cells.get(table.heads[place], "") for place in places])
    lines += [f"{shown(student)}: not in the platform's table" for student in sorted(known - seen)]
    return table.text([table.heads[place] for place in places], rows), lines


def columns(text: str, exercises: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """exercise → the column that is meant: `named`, or the one that has the exercise's name in it.

    "int8-matmul (4711)" is Canvas's way, "Assignment:int8-matmul (Real)" Moodle's.
    """
    found = dict(named)
    for name in exercises:
        meant = [head for head in Table(text).heads if _own_name(head) == name]
        if name not in found and len(meant) == 1:
            found[name] = meant[0]
    return found


def _own_name(head: str) -> str:
    name = head.strip()
    if name.endswith(")"):
        name = name.rpartition("(")[0].strip()
    return name.rpartition(":")[2].strip()


def _student(person: Person, known: set[str]) -> str | None:
    """The student who is meant; more than one name can be that of the folder."""
    return next(
        (one for one in (person.id, person.email, person.number) if one and one in known), None
    )
