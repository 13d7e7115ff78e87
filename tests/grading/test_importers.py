"""Tests that tables made by `export` follow the importers' rules.

The rules of both platforms are in `importers.toml`.
"""

import csv
import io
import re
import tomllib

import pytest
from classroom import Classroom
from repository import ROOT

from grading.errors import Unable
from grading.platforms import grades, week

RULES = tomllib.loads((ROOT / "tests" / "support" / "importers.toml").read_text(encoding="utf-8"))
MOODLE, CANVAS = RULES["moodle_worksheet"], RULES["canvas"]
NAME = "int8-matmul"
TYPED = 'See "my, site";\nand <b>more</b>\tthere'
WHEN = "Monday, 23 November 2026, 8:00 AM"


def written(rows, separator=",", end="\r\n"):
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end).writerows(rows)
    return text.getvalue()


def worksheet(language="en", comment="Feedback comments"):
    words = MOODLE["heads"][language]
    people = {"7": "Ada Lovelace", "12": "王 小明", "13": "Nobody, Is"}
    emails = ["ada@example.org", "wang@example.org", "n@example.org"]
    left = [
        [f"{words['participant']}{number}", name, email, "Submitted", ""]
        for (number, name), email in zip(people.items(), emails, strict=True)
    ]
    right = [
        ["20.00", "Yes", TYPED, WHEN, "my own: well done"],
        *[["20.00", "Yes", "", "-", ""]] * 2,
    ]
    heads = [words["identifier"], "Full name", "Email address", "Status", words["grade"]]
    heads += ["Maximum grade", "Grade can be changed", "Online text", words["modified"], comment]
    return [heads, *map(list.__add__, left, right)]


def table(language="en", separator=",", **others):
    return written(worksheet(language, **others), separator)


def moodle_imports(content, language="en"):
    """Import a file by Moodle's rules; return number → (grade, time, feedback)."""
    text = content.decode(MOODLE["encoding"]).removeprefix("\ufeff")
    heads, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=MOODLE["separator"])
    words = MOODLE["heads"][language]
    missing = {words[one] for one in ("identifier", "grade", "modified")} - set(heads)
    assert not missing, f"Moodle: the file is not a grading worksheet ({missing})"
    found = {}
    for row in rows:
        assert len(row) == len(heads), "Moodle: the number of columns is not constant"
        cells = dict(zip(heads, row, strict=True))
        number = cells[words["identifier"]].removeprefix(words["participant"])
        assert number.isdecimal()
        feedback = tuple(cells[one] for one in MOODLE["feedback"] if one in cells)
        found[number] = cells[words["grade"]], cells[words["modified"]], feedback
    return found


def canvas_imports(content):
    """Import a file by Canvas's rules; return (learner's number, heading) → cell.

    The heading is that of an assignment.
    """
    text = content.decode("utf-8").removeprefix("\ufeff")
    cells = {
        one: [len(row) for row in csv.reader(text.splitlines()[:3], delimiter=one)]
        for one in CANVAS["separators"]
    }
    counts = {one: wide[0] if len(set(wide)) == 1 else 0 for one, wide in cells.items()}
    separator = ";" if counts[";"] > counts[","] else ","
    heads, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    begin = next((one for one in CANVAS["begins"] if heads[: len(one)] == one), None)
    assert begin, "Canvas: invalid header row"
    rest = heads[len(begin) :]
    sis = next(one for one in CANVAS["sis"] if rest[: len(one)] == one)
    assert rest[len(sis)] == CANVAS["then"], "Canvas: invalid header row"
    first = len(begin) + len(sis) + 1
    behind = [
        (place, head)
        for place, head in enumerate(heads)
        if place >= first and not any(one in head for one in CANVAS["summaries"])
    ]
    assert all(re.fullmatch(CANVAS["assignment"], head) for _, head in behind), "a new assignment"
    found = {}
    for row in rows:
        number = row[begin.index("ID")]
        key = CANVAS["points_row"] if CANVAS["points_row"] in row[0] else number
        found |= {(key, head): row[place] for place, head in behind}
    return found


@pytest.fixture
def room(tmp_path, release, monkeypatch):
    """Set up a course in which two students are graded."""
    room = Classroom(tmp_path / "course", release)
    points = [
        ("ada@example.org", NAME, "17.5", "20", ""),
        ("wang@example.org", NAME, "20", "20", ""),
        *(
            (student, NAME, "0", "20", week.rows.NOT_HANDED_IN)
            for student in ("n@example.org", "n")
        ),
    ]
    monkeypatch.setattr(week.rows, "grades", lambda course, state: points)
    return room


def exported(room, tmp_path, content, **named):
    """Run `export` on this table; return (bytes to import, lines printed)."""
    theirs, target = tmp_path / "theirs.csv", tmp_path / "to-import.csv"
    theirs.write_bytes(content)
    columns = {NAME: named["column"]} if "column" in named else {}
    lines = week.export(room.course, theirs, target, columns)
    return target.read_bytes(), lines


FORMS = {
    "as Moodle writes it": lambda text: text.encode(),
    "with a mark": lambda text: text.encode("utf-8-sig"),
    "Excel's Unicode Text": lambda text: text.encode("utf-16"),
}


@pytest.mark.parametrize("language", MOODLE["heads"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("form", FORMS)
def test_moodle_imports_each_variant_of_its_worksheet(room, tmp_path, language, separator, form):
    content = FORMS[form](table(language, separator))
    got, _ = exported(room, tmp_path, content, column=MOODLE["heads"][language]["grade"])
    assert moodle_imports(got, language) == {
        "7": ("17.5", WHEN, ("my own: well done",)),
        "12": ("20", "-", ("",)),
        "13": ("", "-", ("",)),
    }


def test_only_the_grade_column_of_a_worksheet_changes(room, tmp_path):
    got, _ = exported(room, tmp_path, table().encode(), column="Grade")
    before = list(csv.reader(io.StringIO(table(), newline="")))
    after = list(csv.reader(io.StringIO(got.decode(), newline="")))
    assert [row[:4] + row[5:] for row in after] == [row[:4] + row[5:] for row in before]
    assert [row[4] for row in after] == ["Grade", "17.5", "20", ""]


def test_columns_with_the_same_heading_stay_separate(room, tmp_path):
    got, _ = exported(room, tmp_path, table(comment="Status").encode(), column="Grade")
    row = next(csv.reader(io.StringIO(got.decode().partition("\r\n")[2], newline="")))
    assert (row[3], row[-1]) == ("Submitted", "my own: well done")


def test_points_above_moodles_maximum_are_reported(room, tmp_path):
    content = table().replace("20.00", "18.00").encode()
    _, lines = exported(room, tmp_path, content, column="Grade")
    assert (
        f"wang@example.org: 20 points for {NAME} are above Moodle's maximum of 18, and its import "
        "would skip them"
    ) in lines
    assert not any(line.startswith("ada") for line in lines)


@pytest.mark.parametrize(("most", "over"), [("17,50", False), ("17,49", True), ("-", False)])
def test_only_points_above_the_maximum_are_reported(most, over):
    text = written([["Identifier", "Maximum grade", "Grade"], ["Participant 7", most, ""]])
    _, lines = grades.fill(
        text, {("7", NAME): "17.5"}, {NAME: "Grade", "many-chips": "Maximum grade"}
    )
    assert len(lines) == over


def test_a_worksheet_may_lack_the_maximum_grade_column(room, tmp_path):
    rows = worksheet()
    place = rows[0].index("Maximum grade")
    content = written([[*row[:place], *row[place + 1 :]] for row in rows])
    got, lines = exported(room, tmp_path, content.encode(), column="Grade")
    assert moodle_imports(got).keys() == moodle_imports(table().encode()).keys()
    assert not any("maximum" in line for line in lines)


def test_a_missing_column_option_for_a_worksheet_is_explained(room, tmp_path):
    with pytest.raises(Unable, match="as int8-matmul=Grade"):
        exported(room, tmp_path, table().encode())


def test_a_table_without_a_column_for_an_exercise_is_explained(room, tmp_path):
    with pytest.raises(
        Unable, match="no column has the name of an exercise; there is 'id', 'email'"
    ):
        exported(room, tmp_path, b"id,email\nada,ada@example.org\n")


PEOPLE = [("7", "u7", "ada@example.org"), ("12", "u12", "wang@example.org"), ("13", "u13", "n")]
GRADE, OTHER = f"{NAME} (4711)", "Other (12)"


def gradebook(begin, sis, own, excused=False):
    """Return Canvas's gradebook with these columns first, then custom columns."""
    about = {
        "Student": lambda one: f"Name, {one[0]}",
        "LastName": lambda one: "Name",
        "FirstName": lambda one: one[0],
        "ID": lambda one: one[0],
        "SIS User ID": lambda one: one[1],
        "SIS Login ID": lambda one: one[2],
        "Section": lambda one: "One",
    }
    front = [*begin, *sis, "Section"]
    heads = [*front, *own, GRADE, OTHER, "Current Score", "Final Grade"]
    rows = [
        [*[about.get(head, lambda one: "")(one) for head in front], *["mine"] * len(own)]
        for one in PEOPLE
    ]
    points = ["    Points Possible", *[""] * (len(front) - 1 + len(own)), "20.00", "5.00"]
    behind = [["EX" if excused else "3", "1", "88", "B"], ["", "", "", ""], ["11", "2", "", ""]]
    return [heads, [*points, "(read only)", "(read only)"], *map(list.__add__, rows, behind)]


@pytest.mark.parametrize("begin", CANVAS["begins"], ids=len)
@pytest.mark.parametrize("sis", [one for one in CANVAS["sis"] if one], ids="+".join)
@pytest.mark.parametrize("own", [[], ["Notes", "Email", "Department"]], ids=len)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_canvas_imports_each_variant_of_its_gradebook(room, tmp_path, begin, sis, own, separator):
    text = written(gradebook(begin, sis, own), separator)
    got, _ = exported(room, tmp_path, text.encode("utf-8-sig"))
    assert canvas_imports(got) == {
        (CANVAS["points_row"], GRADE): "20.00",
        ("7", GRADE): "17.5",
        ("12", GRADE): "20",
        ("13", GRADE): "11",  # not graded by us: an empty cell would delete Canvas's grade
    }


def test_excused_students_stay_excused(room, tmp_path):
    text = written(gradebook(CANVAS["begins"][0], CANVAS["sis"][3], [], excused=True))
    got, lines = exported(room, tmp_path, text.encode())
    assert canvas_imports(got)["7", GRADE] == CANVAS["excused"]
    assert f"ada@example.org: excused from {NAME}, and stays so" in lines


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("int8-matmul(4711)", f"the nearest is {GRADE!r}; there is 'Student', 'ID'"),
        ("other (12)", f"the nearest is {OTHER!r}; there is"),
        ("zzz", "no column 'zzz' for int8-matmul; there is 'Student', 'ID'"),
    ],
)
def test_a_missing_column_is_reported_with_the_nearest_name(room, tmp_path, head, says):
    text = written(gradebook(CANVAS["begins"][0], CANVAS["sis"][3], []))
    with pytest.raises(Unable) as raised:
        exported(room, tmp_path, text.encode(), column=head)
    assert says in str(raised.value)


def test_a_column_given_for_two_exercises_is_refused(room, tmp_path):
    text = written(gradebook(CANVAS["begins"][0], CANVAS["sis"][3], []))
    with pytest.raises(ValueError, match="given for more than one exercise"):
        grades.fill(text, {}, {NAME: OTHER, "many-chips": OTHER})
