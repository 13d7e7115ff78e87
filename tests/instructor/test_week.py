"""An instructor's week: the commands of the page for instructors, as it prints them, in order.

The class is one of Canvas: Ada (right), 王 小明 (a known mistake, in the Chinese notebook, whose
last cell ends Python, and would act on a terminal and in a spreadsheet), Zoë (the same mistake in
the English one), Nobody, who hands in nothing, and a folder named like a formula.
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
from classroom import (
    COMMAND,
    NAME,
    Classroom,
    answers,
    code,
    command,
    on_the_page,
    one_line,
    points,
    said,
)
from importers import canvas_takes_feedback, of_canvas, zipped
from reports import check_page
from repository import ROOT

from grading.release import exercises

FULL = sum(points().values())
WRONG, WRONG_POINTS = "wrong_output_not_counted", 7.0
TRANSLATED = ROOT / "locale" / "zh_CN" / "LC_MESSAGES" / "exercises"
HAN = re.compile("[\u4e00-\u9fff]")
GRADE = f"{NAME} (4711)"
PEOPLE = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,{GRADE},Other (12),Current Score
    Points Possible,,,,,20.0,5.0,(read only)
"Lovelace, Ada",7,u7,ada,One,,3,88
"小明, 王",12,u12,wang,One,,,
"Alvarez, Zoë",15,u15,zoe,One,,,
"Nobody, Is",99,u99,nobody,One,11,,
"""
# What stands for what on the page.
FILES = ("people.csv", "submissions.zip", "feedback.zip", "theirs.csv", "to-import.csv")
FORMULA = "=1+1"
MISTYPED = f"my-{NAME}"


@dataclass
class Week:
    """A course folder in which each command of a week has been run once."""

    room: Classroom
    folder: Path
    lines: dict[str, str] = field(default_factory=dict)  # step → what the command printed

    def run(self, *words: str) -> CompletedProcess[str]:
        """Run the page's command that has these words, in this process, which saves seconds."""
        _, step, _, *rest = shlex.split(on_the_page(*words))
        given = dict(one.split("=", 1) for one in rest)
        arguments = shlex.split(given.get("ARGS", ""))
        arguments = [str(self.folder / one) if one in FILES else one for one in arguments]
        if language := given.get("LANGUAGE"):
            arguments += ["--language", language]
        return self.room.here(step, *arguments)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    folder = tmp_path_factory.mktemp("week")
    room = Classroom(folder / "my-class")
    week = Week(room, folder)
    for name in ("people.csv", "theirs.csv"):
        (folder / name).write_text(PEOPLE, encoding="utf-8")
    week.lines["early"] = one_line(week.run("make due", "--student"))
    said(week.run("make roster"))
    week.lines["release"] = said(week.run("make release", "LANGUAGE=zh_CN"))
    said(week.run("make due", "2026-11-30"))
    week.lines["extension"] = said(week.run("make due", "--student"))
    chinese = room.solved(submission=WRONG, language="zh_CN")
    chinese.cells.append(code(f"#\x1b[2J;{FORMULA}\nimport os\nos._exit(0)"))
    files = {
        of_canvas("Ada Lovelace", 7, f"{NAME}.ipynb"): room.solved(),
        of_canvas("王 小明", 12, f"{NAME}.ipynb"): chinese,
        of_canvas("Zoë Alvarez", 15, f"{NAME}.ipynb"): room.solved(submission=WRONG),
    }
    content = {name: nbformat.writes(notebook) for name, notebook in files.items()}
    (folder / "submissions.zip").write_bytes(zipped(dict(content), marked=False))
    week.lines["collect"] = said(week.run("make collect"))
    room.hand_in(FORMULA, NAME, room.released())
    for late in ("ada", "zoe"):
        (room.folder_of(late) / "timestamp.txt").write_text("2026-12-02 08:00 UTC")
    (room.folder_of("wang") / "timestamp.txt").write_text("on Monday")
    room.hand_in("zoe", MISTYPED, room.released())
    line = on_the_page("make grade").replace("../my-class", str(room.folder))
    week.lines["grade"] = said(command(*shlex.split(line)))
    shutil.rmtree(room.folder / "autograded" / "ada" / NAME)
    # When a notebook came is learned later.
    (room.folder_of("zoe") / "timestamp.txt").write_text("2026-12-02 12:00 UTC")
    week.lines["again"] = said(week.run("make grade"))
    week.lines["return"] = said(week.run("make return"))
    week.lines["export"] = said(week.run("make export"))
    return week


def test_a_command_that_comes_too_early_says_so_in_one_line(week: Week) -> None:
    assert "roster" in week.lines["early"] or "due date" in week.lines["early"]


def test_the_release_has_every_exercise_in_both_languages(week: Week) -> None:
    for folder in ("release", "release-zh_CN"):
        assert f"{week.room.folder / folder}" in week.lines["release"].replace(":", " ").split()
    for name in exercises.names():
        english, chinese = week.room.released(name), week.room.released(name, "zh_CN")
        text = (ROOT / "exercises" / f"{name}.py").read_text(encoding="utf-8")
        facts = dict(re.findall("^# (.*): (.*)$", text, re.MULTILINE))
        for nb in (english, chinese):
            assert facts["minutes"] in re.findall(r"\d+", nb.cells[0].source.splitlines()[2]), name
        chapter = (ROOT / "chapters" / f"{facts['read_first']}.md").read_text(encoding="utf-8")
        assert re.findall("^# (.*)$", chapter, re.MULTILINE)[0] in english.cells[0].source
        assert not any(
            HAN.search(cell.source) for cell in english.cells if cell.cell_type != "code"
        )
        one, other = (
            [cell.metadata.get("nbgrader") for cell in nb.cells] for nb in (english, chinese)
        )
        points = [[mark.get("points") for mark in marks if mark] for marks in (one, other)]
        assert points[0] == points[1], name
        if (TRANSLATED / f"{name}.po").exists():
            texts = [cell.source for cell in chinese.cells[1:] if cell.cell_type == "markdown"]
            texts += [cell.source for cell in chinese.cells if cell.get("id") == "given"]
            asked = [cell.source for cell in answers(chinese)]
            texts += [code for code in asked if '"""' in code]
            assert [text for text in texts if not HAN.search(text)] == [], name
        for part in exercises.load(name).parts:
            assert any(f"def {part.function}(" in cell.source for cell in chinese.cells)
        assert "SOLUTION" not in nbformat.writes(english) + nbformat.writes(chinese)
    # An exercise's module has its hidden ranges, solutions' formulas and hints.
    assert not list(week.room.folder.glob("release*/**/*.py"))


def test_everybody_gets_points_and_who_handed_in_nothing_has_a_row(week: Week) -> None:
    scores = week.room.scores()
    known = {"ada": FULL, "wang": WRONG_POINTS, "zoe": WRONG_POINTS, "nobody": 0}
    assert scores == {f"'{FORMULA}": 0, **known}
    rows = [row for row in week.room.table("grades.csv") if row["student"] == "nobody"]
    assert {row["note"] for row in rows} == {"not handed in"}
    assert "3 collected" in week.lines["collect"]
    assert "4 graded" in week.lines["grade"]
    for place in (f"wang/{NAME}", f"zoe/{MISTYPED}"):  # what is listed is printed, too
        why = week.room.not_graded()[place].replace(f"'{FORMULA}", FORMULA)
        assert f"{place}: {why}" in week.lines["grade"]
    # A folder that no roster names may be a mistyped one.
    assert f"new in the class: {FORMULA}\n" in week.lines["grade"]
    assert "new in the class" not in week.lines["again"]
    assert str(week.room.folder / "report.html") in week.lines["grade"]
    told = {row["student"]: row["remark"] for row in week.room.remarks("changed")}
    assert "timestamp.txt" in told["wang"], "which says no time"
    assert week.lines["again"].startswith("2 graded")
    assert "3 pages" in week.lines["return"]
    with zipfile.ZipFile(week.folder / "feedback.zip") as pages:
        assert canvas_takes_feedback(pages.namelist()).keys() == {"7", "12", "15"}
    assert FORMULA in week.lines["export"], "who is not in the platform's table is named"
    assert f"{NAME} → {GRADE}\n" in week.lines["export"]
    for words in re.findall("2[0-9-]+ [0-9:]+|ada", on_the_page("make due", "--student")):
        assert words in week.lines["extension"]


def test_hidden_cases_are_kept_from_other_users_and_drawn_anew_for_the_next_term(
    week: Week, tmp_path: Path
) -> None:
    assert (week.room.folder / ".grading").stat().st_mode & 0o077 == 0
    following = Classroom(tmp_path / "next")
    following.folder.mkdir()
    shutil.copy(week.room.folder / "gradebook.db", following.folder)  # which takes a while to make
    said(following.here("roster", week.folder / "people.csv"))
    seeds = [(one.folder / ".grading" / "seed").read_text() for one in (week.room, following)]
    assert seeds[0] != seeds[1]


def test_late_work_costs_nothing_until_a_setting_says_so(week: Week, tmp_path: Path) -> None:
    """Ada, who was given more time, is not late."""
    room = Classroom(tmp_path / "course", week.room.folder)
    assert [row["student"] for row in room.remarks("late")] == ["zoe"]
    with (room.folder / "nbgrader_config.py").open("a") as file:
        file.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    assert room.grade().startswith("0 graded")
    assert room.scores() == week.room.scores() | {"zoe": 0}
    check_page(room, "zoe", NAME)


def test_a_mistake_has_the_same_cause_in_both_languages_and_a_page_in_each(week: Week) -> None:
    causes = week.room.causes()
    assert causes["wang"] == causes["zoe"]
    assert "output-not-counted" in causes["wang"].values()
    chinese, english = week.room.page("wang"), week.room.page("zoe")
    assert 'lang="zh-CN"' in chinese
    assert not HAN.search(re.sub(r"<style.*?</style>", "", english, flags=re.DOTALL))
    visible = re.sub(r"<(style|pre|code).*?</\1>|<[^>]*>", " ", chinese, flags=re.DOTALL)
    assert len(HAN.findall(visible)) > 200
    title = week.room.released(language="zh_CN").cells[0].source.partition("\n")[0].lstrip("# ")
    for tag in ("title", "h1"):
        assert title in re.findall(rf"<{tag}\b.*?>(.*?)</{tag}>", chinese, re.DOTALL)[0]
    listed = re.findall(r"<td><a [^>]*>(.*?)</a>", chinese)
    assert listed
    assert [words for words in listed if not HAN.search(words)] == []
    for words in ("Score:", "Comments", "points"):
        assert words not in visible, words
    assert not re.search(r"\d points", chinese)  # nor in what its cells printed
    tables = [path.read_text(encoding="utf-8-sig") for path in week.room.folder.glob("*.csv")]
    assert len(tables) == 4
    assert not any(HAN.search(table) for table in tables)


def test_no_course_is_made_of_a_mistyped_name(tmp_path: Path) -> None:
    room = Classroom(tmp_path / "typo")
    for words in (["nbgrader", "db", "student", "list"], ["grade"]):
        assert "typo" in one_line(room.here(*words))
        assert not room.folder.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["due", "int8-matmull", "2026-11-30"], NAME),
        (["due", NAME, "tomorrow"], "2026-11-30 23:59"),
        (["due", NAME, "2026-12-24", "--student", "Ada"], "roster"),
        (["due", NAME, "2026-11-01", "--student", "ada"], "before"),
        (["collect", NAME, "none.zip"], "none.zip"),
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


def test_no_name_is_a_formula_for_a_spreadsheet(week: Week) -> None:
    for path in week.room.folder.glob("*.csv"):
        text = path.read_text(encoding="utf-8-sig")
        for row in (*csv.reader(io.StringIO(text)), *csv.reader(io.StringIO(text), delimiter=";")):
            assert [cell for cell in row if cell.startswith(("=", "+", "@"))] == [], path.name


def test_no_text_of_a_learner_acts_on_the_terminal(week: Week) -> None:
    assert FORMULA in week.lines["grade"]
    assert {line for line in week.lines.values() if "\x1b" in line} == set()


def test_a_due_date_is_told_in_the_zone_of_the_class(week: Week) -> None:
    words = (*COMMAND, "due", week.room.folder, NAME, "2026-11-30 23:59")
    assert "2026-11-30 23:59 CET" in said(command(*words, TZ="Europe/Berlin"))
