"""A semester: three exercises in three weeks, with real files of Moodle.

Moodle numbers everybody anew in each assignment, and two people are called Kim Lee. Whoever is late
loses two points for each day begun, by a plugin as nbgrader's documentation has it.
"""

import shutil
import zipfile
from pathlib import Path

import nbformat
from classroom import Classroom, points, said
from importers import moodle_imports, moodle_takes_feedback, of_moodle, written, zipped
from reports import check_page, check_report, check_tables

from grading.release import exercises

WEEKS = ("int8-matmul", "int8-weights", "many-chips")  # 20 points each
PEOPLE = {
    "ada": "Ada Lovelace",
    "wang": "王 小明",
    "bjorn": "Björn O'Neil",
    "zoe": "Zoë Alvarez",
    "kim1": "Kim Lee",
    "kim2": "Kim Lee",
}
DUE = ("2026-11-02 23:59+00:00", "2026-11-09 23:59+00:00", "2026-11-16 23:59+00:00")
# week → who → what is handed in, and the time where the instructor has noted one
HANDED_IN = {
    1: {
        "ada": ("wrong_output_not_counted", ""),
        "wang": ("wrong_output_not_counted", ""),
        "bjorn": ("right", ""),
        "zoe": ("right", "2026-11-04 20:00:01 UTC"),
        "kim1": ("right", ""),
        "kim2": ("empty", ""),
    },
    2: {
        "ada": ("right", ""),
        "wang": ("the notebook of attention", ""),
        "bjorn": ("wrong_always_two", "2026-11-13 10:00:40 UTC"),
        "zoe": ("right", "2026-11-12 05:59:00 UTC"),
        "kim2": ("right", ""),
    },
    3: {
        "ada": ("right", ""),
        "wang": ("wrong_pair", ""),
        "bjorn": ("right", "2026-11-16 20:00:00 UTC"),
        "zoe": ("right", "2026-11-18 08:00:00 UTC"),
        "kim1": ("right", ""),
        "kim2": ("empty", ""),
    },
}
GRADES = [
    ("ada", 1, 20, "7 in the first week, all right when handed in again in the second"),
    ("wang", 1, 8.5, "7, and 1.5 by hand for a part, which stay when it is graded again"),
    ("bjorn", 1, 20, "right, in a zip of his own"),
    ("zoe", 1, 16, "right, and in the second day after the date: 20 - 2 · 2"),
    ("kim1", 1, 20, "right"),
    ("kim2", 1, 0, "as it was released"),
    ("ada", 2, 20, "right"),
    ("wang", 2, 0, "the notebook of another exercise"),
    ("bjorn", 2, 11, "one part of 7 is wrong; ten hours after an extension: 13 - 2"),
    ("zoe", 2, 16, "right, 30 hours after the date that was moved for all: 20 - 2 · 2"),
    ("kim1", 2, None, "not handed in"),
    ("kim2", 2, 20, "right"),
    ("ada", 3, 20, "right"),
    ("wang", 3, 13, "one part of 7 is wrong"),
    ("bjorn", 3, 20, "right and in time"),
    ("zoe", 3, 20, "right, and in the second day after the date, but then given an extension"),
    ("kim1", 3, 20, "right"),
    ("kim2", 3, 0, "as it was released"),
]
FULL = {1: "20.00", 2: "20.00", 3: "100.00"}  # of the platform's own columns
PENALTY = """\
from nbgrader.plugins import BasePlugin

class TwoADay(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 2 * -(-total_seconds_late // 86400)
"""


def student(who: str) -> str:
    return f"{who}@x.org"


def number(week: int, who: str) -> int:
    return 100 * week + list(PEOPLE).index(who)


def worksheet(week: int) -> str:
    """Return a week's worksheet, which is the roster as well as the table to fill."""
    heads = "Identifier|Full name|Email address|Status|Grade|Maximum grade|Grade can be changed"
    rows = [[*heads.split("|"), "Last modified (grade)", "Feedback comments"]]
    for who, name in PEOPLE.items():
        about = [f"Participant {number(week, who)}", name, student(who), "Submitted"]
        rows.append([*about, "", FULL[week], "Yes", "-", ""])
    return written(rows)


class Semester:
    """A course folder, and the files on the instructor's desk beside it."""

    def __init__(self, desk: Path) -> None:
        self.desk = desk
        self.room = Classroom(desk / "course")

    def download(self, week: int) -> Path:
        return self.desk / f"submissions-{week}.zip"

    def hand_in(self, week: int, **instead: str) -> None:
        """Write the platform's download of a week."""
        files: dict[str, bytes | str] = {}
        for who, (what, _) in HANDED_IN[week].items():
            text = self.notebook(WEEKS[week - 1], instead.get(who, what))
            title, content = f"{WEEKS[week - 1]}.ipynb", text
            if who == "bjorn":
                title, content = "mine.zip", zipped({f"mine/{title}": text})
            files[of_moodle(PEOPLE[who], number(week, who), title)] = content
        self.download(week).write_bytes(zipped(files, marked=False))

    def notebook(self, name: str, what: str) -> str:
        if what == "empty":
            return nbformat.writes(self.room.released(name))
        if what.startswith("the notebook of "):
            return nbformat.writes(exercises.source(what.split()[-1]))  # from the site, say
        return nbformat.writes(self.room.solved(name, "" if what == "right" else what))

    def note_times(self, week: int) -> None:
        for who, (_, time) in HANDED_IN[week].items():
            if time:
                place = self.room.folder_of(student(who), WEEKS[week - 1])
                (place / "timestamp.txt").write_text(time)

    def roster(self, week: int) -> None:
        table = self.desk / f"table-{week}.csv"
        table.write_text(worksheet(week), encoding="utf-8")
        assert f"{len(PEOPLE)} students" in said(self.room.here("roster", table))

    def collect(self, week: int, *words: str) -> str:
        return said(self.room.here("collect", WEEKS[week - 1], self.download(week), *words))

    def given_back(self, week: int) -> dict[str, str]:
        """Return who → page, as the platform takes them from our zip."""
        target = self.desk / "feedback.zip"
        target.unlink(missing_ok=True)
        said(self.room.here("return", WEEKS[week - 1], self.download(week), target))
        with zipfile.ZipFile(target) as made:
            taken = moodle_takes_feedback(made.namelist())
            pages = {one: made.read(name).decode() for one, name in taken.items()}
        numbers = {who: str(number(week, who)) for who in HANDED_IN[week]}
        assert pages.keys() == set(numbers.values())
        return {who: pages[numbers[who]] for who in numbers}

    def exported(self, week: int) -> dict[str, str]:
        target = self.desk / "to-import.csv"
        target.unlink(missing_ok=True)
        theirs, column = self.desk / f"table-{week}.csv", f"{WEEKS[week - 1]}=Grade"
        printed = said(self.room.here("export", theirs, target, "--column", column))
        assert "not in the platform's table" not in printed
        found = moodle_imports(target.read_bytes())
        return {who: found[str(number(week, who))][0] for who in PEOPLE}

    def expected(self, week: int, factor: float = 1) -> dict[str, str]:
        own = {who: points for who, in_week, points, _ in GRADES if in_week == week}
        return {who: "" if own[who] is None else f"{own[who] * factor:g}" for who in PEOPLE}


def test_the_grades_of_a_semester_are_those_of_the_table(tmp_path: Path) -> None:
    semester = Semester(tmp_path)
    room = semester.room
    said(room.here("release", *WEEKS))
    (room.folder / "late.py").write_text(PENALTY)
    with (room.folder / "nbgrader_config.py").open("a") as file:
        file.write('\nc.AssignLatePenalties.plugin_class = "late.TwoADay"\n')

    # The first week: points by hand.
    semester.roster(1)
    said(room.here("due", WEEKS[0], DUE[0]))
    semester.hand_in(1)
    assert "6 collected" in semester.collect(1)
    semester.note_times(1)
    assert "0 collected, 6 as they were" in semester.collect(1)
    printed = said(room.here("return", WEEKS[0], semester.download(1), tmp_path / "early.zip"))
    assert [who for who in PEOPLE if f"{student(who)}: " not in printed] == [], "no page yet"
    assert said(room.here("grade")).startswith("6 graded")
    first = next(iter(points()))
    with room.gradebook() as book:
        book.find_grade(first, WEEKS[0], WEEKS[0], student("wang")).manual_score = 1.5
        about = (f"{first}-solution", WEEKS[0], WEEKS[0], student("wang"))
        book.find_comment(*about).manual_comment = "Nearly: look at the output again."
        book.db.commit()

    # The second: an extension, then another date for all; Ada hands in again.
    semester.roster(2)
    said(room.here("due", WEEKS[1], DUE[1]))
    for who in ("bjorn", "kim1"):  # of whom one hands in nothing
        said(room.here("due", WEEKS[1], "2026-11-12 23:59+00:00", "--student", student(who)))
    assert student("bjorn") in said(room.here("due", WEEKS[1], "2026-11-10 23:59+00:00"))
    semester.hand_in(2)
    line = next(one for one in semester.collect(2).splitlines() if student("wang") in one)
    assert "this is the notebook of attention" in line
    semester.note_times(2)
    semester.hand_in(1, ada="right")
    assert "--replace" in semester.collect(1)
    assert "1 collected, 5 as they were" in semester.collect(1, "--replace")
    shutil.rmtree(room.folder / "autograded" / student("wang") / WEEKS[0])  # is graded again
    assert said(room.here("grade")).startswith("7 graded")
    assert semester.exported(1) == semester.expected(1)
    assert semester.exported(2) == semester.expected(2)

    # The third; the platform gives 100 points for it.
    semester.roster(3)
    said(room.here("due", WEEKS[2], DUE[2]))
    printed = said(room.here("release", "--language", "zh_CN", "--language", "en"))
    named = [name for name in exercises.names() if name in printed]
    assert named == list(WEEKS), "what was released, and no more"
    semester.hand_in(3)
    assert "6 collected" in semester.collect(3)
    semester.note_times(3)
    shutil.rmtree(room.folder / "autograded" / student("ada"))
    # Both of hers, and all six that are new.
    assert said(room.here("grade")).startswith("8 graded")
    assert room.scores(WEEKS[2])[student("zoe")] == 16
    for by_hand in (0, None):  # a penalty takes no more than there is
        with room.gradebook() as book:
            for grade in book.find_submission(WEEKS[2], student("zoe")).notebooks[0].grades:
                grade.manual_score = by_hand
            book.db.commit()
        if by_hand == 0:
            assert semester.exported(3)["zoe"] == "0"
    said(room.here("due", WEEKS[2], "2026-11-30 23:59+00:00", "--student", student("zoe")))
    said(room.here("grade"))
    assert semester.exported(3) == semester.expected(3, 5)

    # What the tables and pages say at the end.
    for week, name in enumerate(WEEKS, 1):
        own = {student(who): points or 0 for who, in_week, points, _ in GRADES if in_week == week}
        assert room.scores(name) == own
    assert {row["assignment"] for row in room.table("grades.csv")} == {*WEEKS}
    (by_hand_row,) = room.remarks("by hand")
    assert by_hand_row["student"] == student("wang")
    assert "1.5 points by hand" in by_hand_row["remark"]
    columns = ("student", "assignment", "part")
    parts = {tuple(map(row.get, columns)): row["points"] for row in room.table("parts.csv")}
    assert parts[student("wang"), WEEKS[0], first] == "1.5"
    late = {(row["student"], row["assignment"]): row["remark"] for row in room.remarks("late")}
    assert late == {
        (student("bjorn"), WEEKS[1]): "10.03 h late, 2 points taken off",
        (student("zoe"), WEEKS[0]): "44.02 h late, 4 points taken off",
        (student("zoe"), WEEKS[1]): "30 h late, 4 points taken off",
    }
    assert not room.remarks("changed"), "the notebook of another exercise is no tampering"
    pages = semester.given_back(1)
    assert "were given by hand" in pages["wang"]
    assert "Nearly: look at the output again." in pages["wang"]
    assert "the notebook of attention" in semester.given_back(2)["wang"]
    check_tables(room)
    check_report(room)
    for who, week, score, _ in GRADES:
        if score is not None and (who, week) != ("wang", 2):
            check_page(room, student(who), WEEKS[week - 1])
