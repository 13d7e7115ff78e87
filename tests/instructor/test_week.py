"""An instructor's week: the commands of the page for instructors, as it prints them, in order.

The class is one of Canvas: Ada (right), 王 小明 (a known mistake, in the Chinese notebook), Björn
(a zip, right), Zoë (a known mistake, late), Nobody, who hands in nothing, and a stranger.
"""

import csv
import io
import re
import shlex
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

import nbformat
import pytest
from classroom import NAME, Classroom, command, one_line, points, said, with_first
from importers import canvas_imports, of_canvas, zipped
from repository import ROOT

from grading.release import exercises

FULL = sum(points().values())
WRONG, WRONG_POINTS = "wrong_output_not_counted", 6.0
HAN = re.compile("[\u4e00-\u9fff]")
GRADE = f"{NAME} (4711)"
PEOPLE = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,{GRADE},Other (12),Current Score
    Points Possible,,,,,20.0,5.0,(read only)
"Lovelace, Ada",7,u7,ada,One,,3,88
"小明, 王",12,u12,wang,One,,,
"O'Neil, Björn",14,u14,bjorn,One,,,
"Alvarez, Zoë",15,u15,zoe,One,,,
"Nobody, Is",99,u99,nobody,One,11,,
"""
# What stands for what on the page.
FILES = ("people.csv", "submissions.zip", "feedback.zip", "theirs.csv", "to-import.csv")
LATE_IS_ZERO = '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'


def on_the_page(*words: str) -> str:
    """Return the first command on the page for instructors that has all these words."""
    text = (ROOT / "chapters" / "instructors.md").read_text(encoding="utf-8")
    fence = r"```.*?\n(.*?)```"
    lines = "".join(re.findall(fence, text, re.DOTALL)).splitlines()
    lines += re.findall("`([^`\n]+)`", re.sub(fence, "", text, flags=re.DOTALL))
    found = [
        line
        for line in lines
        if line.startswith((".venv/bin/python -m grading ", "make "))
        and all(word in line for word in words)
    ]
    assert found, f"the page has no command with {words}"
    return found[0]


@dataclass
class Week:
    """A course folder in which each command of the page has been run once."""

    room: Classroom
    folder: Path
    lines: dict[str, str] = field(default_factory=dict)  # step → what the command printed

    def run(self, *words: str, **others: str) -> CompletedProcess[str]:
        """Run the page's command that has these words; `others` replace words in it."""
        line = on_the_page(*words).replace("my-class", str(self.room.folder))
        for old, new in others.items():
            assert old in line, (old, line)
            line = line.replace(old, new)
        for name in FILES:
            line = re.sub(rf"(?<= ){re.escape(name)}", str(self.folder / name), line)
        program, *rest = shlex.split(line)
        if program == "make":
            return command(program, *rest)
        flag, module, step, folder, *arguments = rest
        assert (flag, module, folder) == ("-m", "grading", str(self.room.folder)), line
        return self.room.here(step, *arguments)  # in this process: starting another takes seconds

    def download(self, files: dict[str, bytes | str]) -> None:
        (self.folder / "submissions.zip").write_bytes(zipped(files, marked=False))

    def export(self) -> dict[tuple[str, str], str]:
        (self.folder / "to-import.csv").unlink(missing_ok=True)  # nothing is written over
        said(self.run("grading export"))
        return canvas_imports((self.folder / "to-import.csv").read_bytes())


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    folder = tmp_path_factory.mktemp("week")
    room = Classroom(folder / "my-class")
    week = Week(room, folder)
    for name in ("people.csv", "theirs.csv"):
        (folder / name).write_text(PEOPLE, encoding="utf-8")
    # Before.
    week.lines["early"] = one_line(week.run("grading due", "--student"))
    week.lines["roster"] = said(week.run("grading roster"))
    week.lines["due"] = said(week.run("grading due", "2026-11-30"))
    week.lines["extension"] = said(week.run("grading due", "--student"))
    week.lines["release"] = said(week.run("make release", "LANGUAGE=zh_CN"))
    # Learners hand in.
    right = nbformat.writes(room.solved())
    week.download(
        {
            of_canvas("Ada Lovelace", 7, f"{NAME}.ipynb"): right,
            of_canvas("王 小明", 12, f"{NAME}.ipynb"): nbformat.writes(
                room.solved(submission=WRONG, language="zh_CN")
            ),
            of_canvas("Björn O'Neil", 14, "mine.zip"): zipped({f"mine/{NAME}.ipynb": right}),
            of_canvas("Zoë Alvarez", 15, f"{NAME}-1.ipynb", late=True): nbformat.writes(
                room.solved(submission=WRONG)
            ),
            of_canvas("Eve Stranger", 77, f"{NAME}.ipynb"): right,
            "readme.txt": "not a hand-in",
        }
    )
    week.lines["collect"] = said(week.run("grading collect"))
    week.lines["collect again"] = said(week.run("grading collect"))
    for student, time in {
        "ada": "2026-12-01 12:00:00 UTC",
        "zoe": "2026-12-05 08:00:00 UTC",
    }.items():
        (room.folder_of(student) / "timestamp.txt").write_text(time)
    week.lines["grade"] = said(week.run("make grade COURSE=my-class"))
    week.lines["again"] = said(week.run("make grade", '--again ada"'))
    # After.
    week.lines["return"] = said(week.run("grading return"))
    week.lines["export"] = said(week.run("grading export"))
    return week


def copied(week: Week, folder: Path) -> Week:
    """Return a copy of the graded course, to go on with."""
    shutil.copytree(week.folder, folder / "week")
    return Week(Classroom(folder / "week" / "my-class"), folder / "week")


def test_a_command_that_comes_too_early_says_so_in_one_line(week: Week) -> None:
    assert "roster" in week.lines["early"] or "due date" in week.lines["early"]


def test_the_release_has_every_exercise_in_both_languages(week: Week) -> None:
    for name in exercises.names():
        english, chinese = week.room.released(name), week.room.released(name, "zh_CN")
        texts = [cell.source for cell in chinese.cells if cell.cell_type == "markdown"]
        assert [text for text in texts[1:] if not HAN.search(text)] == [], name
        assert not any(
            HAN.search(cell.source) for cell in english.cells if cell.cell_type != "code"
        )
        one, other = (
            [cell.metadata.get("nbgrader") for cell in nb.cells] for nb in (english, chinese)
        )
        points = [[mark.get("points") for mark in marks if mark] for marks in (one, other)]
        assert points[0] == points[1], name
        for part in exercises.load(name).parts:
            assert any(f"def {part.function}(" in cell.source for cell in chinese.cells)
        assert "SOLUTION" not in nbformat.writes(english) + nbformat.writes(chinese)
    # An exercise's module has its hidden ranges, solutions' formulas and hints.
    assert not list(week.room.folder.glob("release*/**/*.py"))


def test_collecting_puts_each_hand_in_where_it_belongs_and_says_what_does_not(week: Week) -> None:
    submitted = week.room.folder / "submitted"
    found = sorted(path.relative_to(submitted).as_posix() for path in submitted.rglob("*.ipynb"))
    assert f"ada/{NAME}/{NAME}.ipynb" in found
    assert f"wang/{NAME}/{NAME}.ipynb" in found
    assert f"bjorn/{NAME}/{NAME}.ipynb" in found
    assert f"zoe/{NAME}/{NAME}-1.ipynb" in found
    assert len(found) == 5
    assert "readme.txt" in week.lines["collect"]
    assert "5 collected, 0 as they were" in week.lines["collect"]
    assert "0 collected, 5 as they were" in week.lines["collect again"]


def test_everybody_gets_points_and_who_handed_in_nothing_has_a_row(week: Week) -> None:
    scores = week.room.scores()
    stranger = {name: score for name, score in scores.items() if "stranger" in name}
    assert scores == {
        **{"ada": FULL, "wang": WRONG_POINTS, "bjorn": FULL, "zoe": WRONG_POINTS, "nobody": 0},
        **stranger,
    }
    assert list(stranger.values()) == [FULL]
    rows = [row for row in week.room.table("grades.csv") if row["student"] == "nobody"]
    assert {row["note"] for row in rows} == {"not handed in"}
    assert week.lines["grade"].startswith("5 graded")
    assert week.lines["again"].startswith("1 graded")


def test_the_gradebook_has_people_by_first_and_last_name(week: Week) -> None:
    with week.room.gradebook() as book:
        zoe = book.find_student("zoe")
        assert (zoe.first_name, zoe.last_name) == ("Zoë", "Alvarez")


def test_nobody_else_on_the_machine_can_look_into_hidden_cases_and_results(week: Week) -> None:
    assert (week.room.folder / ".grading").stat().st_mode & 0o077 == 0


def test_a_mistake_has_the_same_cause_in_both_languages_and_a_page_in_each(week: Week) -> None:
    causes = week.room.causes()
    assert causes["wang"] == causes["zoe"]
    assert "output-not-counted" in causes["wang"].values()
    chinese, english = week.room.page("wang"), week.room.page("zoe")
    assert 'lang="zh-CN"' in chinese
    assert not HAN.search(re.sub(r"<style.*?</style>", "", english, flags=re.DOTALL))
    visible = re.sub(r"<(style|pre|code).*?</\1>|<[^>]*>", " ", chinese, flags=re.DOTALL)
    assert len(HAN.findall(visible)) > 200
    for words in ("Score:", "Comments", "points"):
        assert words not in visible, words
    tables = [path.read_text(encoding="utf-8-sig") for path in week.room.folder.glob("*.csv")]
    assert len(tables) == 4
    assert not any(HAN.search(table) for table in tables)


def test_feedback_goes_back_under_the_names_of_the_download(week: Week) -> None:
    with zipfile.ZipFile(week.folder / "feedback.zip") as made:
        pages = {name: made.read(name) for name in made.namelist()}
    assert len(pages) == 5
    name = of_canvas("王 小明", 12, f"{NAME}.html")
    assert pages[name].decode() == week.room.page("wang")
    assert of_canvas("Zoë Alvarez", 15, f"{NAME}.html", late=True) in pages


def test_canvas_imports_the_points_and_nothing_else(week: Week) -> None:
    assert canvas_imports((week.folder / "to-import.csv").read_bytes()) == {
        ("Points Possible", GRADE): "20.0",
        ("7", GRADE): f"{FULL:g}",
        ("12", GRADE): f"{WRONG_POINTS:g}",
        ("14", GRADE): f"{FULL:g}",
        ("15", GRADE): f"{WRONG_POINTS:g}",
        ("99", GRADE): "11",  # Canvas's own points stay: an empty cell would delete them
    }
    assert "stranger" in week.lines["export"]


def test_lateness_costs_what_the_instructor_set_unless_there_is_an_extension(
    week: Week, tmp_path: Path
) -> None:
    later = copied(week, tmp_path)
    with (later.room.folder / "nbgrader_config.py").open("a") as file:
        file.write(LATE_IS_ZERO)
    printed = later.room.grade()
    assert printed.startswith("0 graded"), "lateness needs no grading"
    scores = later.room.scores()
    assert (scores["ada"], scores["bjorn"], scores["zoe"]) == (FULL, FULL, 0)
    notes = [row for row in later.room.table("grades.csv") if row["student"] == "zoe"]
    assert any("late" in row["note"] for row in notes), notes
    assert "submission penalty" in later.room.page("zoe")
    assert [row["student"] for row in later.room.remarks("late")] == ["zoe"]
    assert "submission penalty" not in later.room.page("ada")
    assert later.export()["15", GRADE] == "0"


def test_points_and_comments_given_by_hand_count_and_survive_a_second_hand_in(
    week: Week, tmp_path: Path
) -> None:
    """Give them as the formgrader does, then take in a newer download and grade again."""
    later, room = copied(week, tmp_path), Classroom(tmp_path / "week" / "my-class")
    first = next(iter(points()))
    with room.gradebook() as book:
        book.find_grade(first, NAME, NAME, "zoe").manual_score = 1.5
        book.find_comment(f"{first}-solution", NAME, NAME, "zoe").manual_comment = "Look again."
        book.db.commit()
    newer = nbformat.writes(with_first(room.solved(submission=WRONG), "'the second'"))
    later.download({of_canvas("Zoë Alvarez", 15, f"{NAME}-1.ipynb"): newer})
    assert "--replace" in said(later.run("grading collect"))
    assert room.grade().startswith("0 graded"), "the first hand-in was kept"
    assert room.scores()["zoe"] == WRONG_POINTS + 1.5
    assert "Look again." in room.page("zoe")
    words = ("collect", NAME, later.folder / "submissions.zip", "--replace")
    assert "1 collected" in said(room.here(*words))
    assert room.grade().startswith("1 graded")
    assert room.scores()["zoe"] == WRONG_POINTS + 1.5
    assert "Look again." in room.page("zoe")
    assert "the second" in nbformat.writes(room.graded("zoe"))
    with room.gradebook() as book:
        assert book.find_grade(first, NAME, NAME, "zoe").needs_manual_grade
    assert later.export()["15", GRADE] == "7.5"


def test_a_class_can_be_given_some_exercises_only(tmp_path: Path) -> None:
    """What follows knows only what was released; more can be released later."""
    room = Classroom(tmp_path / "course")
    said(room.here("release", NAME, "attention"))
    assert sorted(path.name for path in (room.folder / "release").iterdir()) == ["attention", NAME]
    room.hand_in("ada", NAME, room.solved())
    other = room.folder_of("ada", "many-chips") / "many-chips.ipynb"
    other.write_text("{}")
    room.grade()
    rows = room.table("grades.csv")
    assert [(row["assignment"], row["score"]) for row in rows] == [(NAME, "20"), ("attention", "0")]
    assert "was not released" in room.not_graded()["ada/many-chips"]
    assert "many-chips" not in (room.folder / "parts.csv").read_text(encoding="utf-8")
    said(room.here("release", "many-chips"))
    room.grade()
    assert len(room.table("grades.csv")) == 3


def test_nbgrader_makes_no_course_of_a_mistyped_name(tmp_path: Path) -> None:
    room = Classroom(tmp_path / "typo")
    assert "typo" in one_line(room.nbgrader("db", "student", "list"))
    assert not room.folder.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["due", "int8-matmull", "2026-11-30"], NAME),
        (["due", NAME, "tomorrow"], "2026-11-30 23:59"),
        (["due", NAME, "2026-12-24", "--student", "Ada"], "ada"),
        (["due", NAME, "2026-11-01", "--student", "ada"], "before"),
        (["collect", NAME, "none.zip"], "none.zip"),
        (["grade", "--again", "eve"], "eve"),
        (["roster", "none.csv"], "none.csv"),
        (["return", NAME, "none.zip", "x.zip"], "none.zip"),
        (["export", "none.csv", "x.csv"], "none.csv"),
        (["release", "--language", "xx"], "zh_CN"),
        (["grade", "--workers", "0"], "1"),
    ],
)
def test_a_mistyped_command_is_refused_in_one_line_and_changes_nothing(
    week: Week, words: list[str], says: str
) -> None:
    before = week.room.files()
    assert says in one_line(week.room.here(*words))
    assert week.room.files() == before


def test_nothing_of_the_instructor_is_overwritten(week: Week) -> None:
    """Neither by `return` nor by `export`, whose target may be mistyped."""
    theirs = week.folder / "theirs.csv"
    mine = week.folder / "my-notes.csv"
    mine.write_text("my notes")
    for source, target in ((theirs, theirs), (theirs, mine), (theirs, week.folder)):
        one_line(week.room.here("export", source, target))
    download = week.folder / "submissions.zip"
    before = download.read_bytes()
    for target in (download, mine, week.folder / "none" / "x.zip"):
        one_line(week.room.here("return", NAME, download, target))
    assert (theirs.read_text(), mine.read_text()) == (PEOPLE, "my notes")
    assert download.read_bytes() == before


def test_a_row_for_other_platforms_has_the_columns_that_the_page_names(week: Week) -> None:
    text = (week.room.folder / "grades.csv").read_text(encoding="utf-8-sig")
    heads = next(csv.reader(io.StringIO(text)))
    page = (ROOT / "chapters" / "instructors.md").read_text(encoding="utf-8")
    named = page[page.index("For other platforms `grades.csv`") :].partition("\n\n")[0]
    assert re.findall("`([a-z_]+)`", named) == heads


def test_a_replaced_notebook_is_graded_again_and_names_like_formulas_are_kept_from_a_spreadsheet(
    week: Week, tmp_path: Path
) -> None:
    room = copied(week, tmp_path).room
    room.hand_in("wang", NAME, room.solved())
    (room.folder_of("wang") / "timestamp.txt").write_text("2026-12-06 09:00:00 UTC")
    formulas = ("=1+1", "+cmd", "@x")
    for name in formulas:
        (room.folder_of(name) / f"{NAME}.ipynb").write_text("{}")
    assert room.grade().startswith(f"{1 + len(formulas)} graded")
    assert room.scores()["wang"] == FULL
    with room.gradebook() as book:
        handed_in = book.find_submission(NAME, "wang").timestamp
    assert str(handed_in) == "2026-12-06 09:00:00"
    for path in room.folder.glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))):
            assert [cell for cell in row if cell.startswith(("=", "+", "@"))] == [], path.name
