"""Tests of an instructor's weekly commands in a new course folder, in any order.

No order blocks a course or loses data; a refused command says why in one line, and works once its
prerequisites are there.
"""

import itertools
import json
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import zipfile

import pytest
from classroom import Classroom, done
from classroom.accidents import FULL
from repository import ROOT

from grading.__main__ import main
from grading.course import Course
from grading.records import gradebook
from grading.release import exercises
from grading.reports import rows
from grading.settings import database

NAME = "int8-matmul"
DUE, LATER = "2026-11-30 23:59+00:00", "2026-12-02 23:59+00:00"
PEOPLE = (
    "Student,ID,SIS User ID,SIS Login ID,Section,int8-matmul (1)\n"
    '    Points Possible,,,,,20\n"Lovelace, Ada",7,,ada,1,\n"Ross, Bob",8,,bob,1,\n'
)
SHORT_PATH = "/usr/bin:/bin"
LONG = pytest.mark.long


@pytest.fixture
def bare(monkeypatch):
    """Set a PATH without the environment's programs, as if it were not activated."""
    monkeypatch.setenv("PATH", SHORT_PATH)


@pytest.fixture
def one_exercise(monkeypatch):
    monkeypatch.setattr(exercises, "names", lambda: [NAME])


def downloaded(folder, release):
    """Write a platform's exports: a table, and a zip with a right submission by Ada."""
    folder.joinpath("people.csv").write_text(PEOPLE)
    room = Classroom(folder / "made", release)
    notebook = room.hand_in("ada", NAME, room.solved(NAME))
    with zipfile.ZipFile(folder / "submissions.zip", "w") as made:
        made.write(notebook, f"lovelaceada_7_1_{NAME}.ipynb")


def version(course):
    """Return the schema versions in the gradebook, which `nbgrader db upgrade` reads."""
    with sqlite3.connect(course / "gradebook.db") as book:
        return [row[0] for row in book.execute("SELECT version_num FROM alembic_version")]


def commands(folder):
    """Return the commands in the table of the instructors' page as lists of words.

    Files in the commands are in this folder.
    """
    page = (ROOT / "chapters/instructors.md").read_text()
    table = page.split("## An instructor's week")[1].split("\nEach step")[0]
    found = []
    for cell in re.findall(r"^\|.*\| ([^|]+) \|$", table, re.MULTILINE)[1:]:
        quoted = re.match(r"`(\S+ [^`]+)`", cell)
        if quoted:
            found.append(words_of(quoted[1]))
        elif "--student" in cell:
            found.append(["due", "my-class", NAME, LATER, "--student", "ada"])
    places = {
        word: str(folder / word)
        for word in ("my-class", "people.csv", "submissions.zip", "feedback.zip", "to-import.csv")
    } | {"theirs.csv": str(folder / "people.csv")}
    return [[places.get(word, word) for word in words] for words in found]


def words_of(command):
    """Return the arguments of `python -m grading`, also for a make command."""
    first, *words = shlex.split(command)
    if first == "make":
        options = dict(word.split("=", 1) for word in words[1:])
        return [words[0], options["COURSE"], *shlex.split(options.get("GRADE_ARGS", ""))]
    assert words[:2] == ["-m", "grading"]
    return words[2:]


# This script runs commands on a course of one exercise until one fails. Each command runs in a
# fork; successive gradings share one, since the processes that grade take longer to start than to
# grade.
FORKED = """
import itertools, json, os, sys
import grading.course
from grading.__main__ import main
from grading.release import exercises
exercises.names = lambda: [sys.argv[1]]
for name, calls in itertools.groupby(json.loads(sys.argv[2]), key=lambda words: words[0]):
    child = os.fork()
    if child == 0:
        for words in calls:
            main(words)
        sys.exit()
    if status := os.waitpid(child, 0)[1]:
        sys.exit(f"{name} ended with {status}")
"""


@pytest.mark.long
def test_the_documented_weekly_commands_work_without_activation(tmp_path, release):
    downloaded(tmp_path, release)
    found = commands(tmp_path)
    named = " ".join(words[0] for words in found)
    assert named == "roster due release due collect check grade grade return export"
    # The first command starts Python; the others run in forks, where successive gradings share one.
    for words in (["-m", "grading", *found[0]], ["-c", FORKED, NAME, json.dumps(found[1:])]):
        ended = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env={"PATH": SHORT_PATH, "HOME": os.environ["HOME"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, (words, ended.stdout, ended.stderr)
        assert "Traceback" not in ended.stderr
    course = tmp_path / "my-class"
    assert len(version(course)) == 1
    assert f"ada,{NAME},{FULL},{FULL}," in (course / "grades.csv").read_text()
    assert zipfile.ZipFile(tmp_path / "feedback.zip").namelist() == [f"lovelaceada_7_1_{NAME}.html"]
    assert f"{FULL}" in (tmp_path / "to-import.csv").read_text().splitlines()[2]


STEPS = {
    "roster": ["roster", "my-class", "people.csv"],
    "due": ["due", "my-class", NAME, DUE],
    "extension": ["due", "my-class", NAME, LATER, "--student", "ada"],
    "release": ["release", "my-class"],
    "exchange": ["exchange", "my-class", "exchange"],
    "collect": ["collect", "my-class", NAME, "submissions.zip"],
    "check": ["check", "my-class"],
    "grade": ["grade", "my-class"],
    "again": ["grade", "my-class", "--again", "ada"],
    "return": ["return", "my-class", NAME, "submissions.zip", "feedback.zip"],
    "export": ["export", "my-class", "people.csv", "to-import.csv"],
}


def run(step):
    """Run a weekly command; return the line that refuses it, "" if it succeeded."""
    try:
        main(STEPS[step])
    except SystemExit as refused:
        return str(refused.code)
    return ""


def run_all(order, late=()):
    """Run weekly commands in this order, then retry the refused; return refused step → line.

    Retries follow the page's order. late: commands that may be refused again, until submissions are
    collected again.
    """
    refused = {step: line for step in order if (line := run(step))}
    assert all("\n" not in line and "Put that right" not in line for line in refused.values())
    for step in STEPS:
        if step in refused:
            assert run(step) == "" or step in late, (order, step)
    return refused


def check_entered(folder):
    course = Course(folder)
    with course.gradebook() as book:
        assert {one.id for one in book.students} >= {"ada", "bob"}
        assert str(book.find_assignment(NAME).duedate) == DUE.replace("+00:00", ":00")
        submission = book.find_submission(NAME, "ada")
        assert str(submission.duedate) == LATER.replace("+00:00", ":00")
        (notebook,) = submission.notebooks
        assert len(notebook.grades) == len(exercises.load(NAME).parts)
    assert (folder / "release" / NAME / f"{NAME}.ipynb").is_file()
    assert len(version(folder)) == 1


BEFORE = ("roster", "due", "extension", "release")


# Three orders in which any two of the four commands come in both orders; the others are long.
DRAWN = {(0, 1, 2, 3), (2, 3, 0, 1), (3, 1, 2, 0)}
ORDERS = [
    pytest.param([BEFORE[place] for place in order], marks=() if order in DRAWN else LONG)
    for order in itertools.permutations(range(len(BEFORE)))
]


@pytest.mark.parametrize("order", ORDERS)
def test_commands_before_submissions_work_in_any_order(
    tmp_path, monkeypatch, bare, one_exercise, order
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    refused = run_all(order)
    # Only an extension has prerequisites: a roster and a due date.
    needs = {"roster", "due"} - set(order[: order.index("extension")])
    assert set(refused) == ({"extension"} if needs else set())
    check_entered(tmp_path / "my-class")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_all_weekly_commands_work_in_any_order(
    tmp_path, monkeypatch, bare, one_exercise, release, seed
):
    monkeypatch.chdir(tmp_path)
    downloaded(tmp_path, release)
    order = random.Random(seed).sample([*STEPS], len(STEPS))
    # A submission collected before the roster is under the name from its file, not Ada's, so the
    # commands `check` and `again` may fail until it is collected again.
    run_all(order, late=("check", "again"))
    folder = tmp_path / "my-class"
    for step in ("collect", "grade", "again", "return", "export"):
        assert run(step) == "", (order, step)
    check_entered(folder)
    course = Course(folder)
    got = {row[0]: row[2] for row in rows.grades(course, course.state())}
    # If Ada was collected before the roster was entered, she is there under both names.
    assert got["ada"] == f"{FULL}", (order, got)
    assert set(got) - {"ada", "bob"} <= {"adalovelace 7", "lovelaceada 7"}


# --- gradebooks from interrupted commands and older versions --------------------------------------


def tables_without_version(folder):
    """Create a gradebook without a schema version.

    nbgrader does so if it does not find the program alembic.
    """
    Course(folder).prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nbgrader.api.get_alembic_version", stopped)
        with pytest.raises(KeyboardInterrupt):
            gradebook.Gradebook(database(folder), "roofline")


def stopped():
    raise KeyboardInterrupt


@pytest.mark.long
def test_an_incomplete_gradebook_is_repaired(tmp_path, bare):
    tables_without_version(tmp_path)
    with pytest.raises(sqlite3.OperationalError):
        version(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["nbgrader", str(tmp_path), "db", "upgrade"])
    assert ended.value.code == 0
    (head,) = version(tmp_path)
    with gradebook.tools_on_path():
        assert head == gradebook.get_alembic_version()


@pytest.mark.parametrize("table", ["missing", "empty"])
def test_a_missing_schema_version_is_written_once(tmp_path, bare, table):
    tables_without_version(tmp_path)
    if table == "empty":
        with sqlite3.connect(tmp_path / "gradebook.db") as book:
            book.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    with gradebook.tools_on_path():
        head = gradebook.get_alembic_version()
    for _ in range(2):
        gradebook.opened(database(tmp_path), "roofline").close()
        assert version(tmp_path) == [head]


def test_a_gradebook_that_cannot_be_repaired_is_closed(tmp_path, bare, monkeypatch):
    closed = []
    monkeypatch.setattr(gradebook, "_write_version", lambda book: stopped())
    monkeypatch.setattr(gradebook.Gradebook, "close", lambda book: closed.append(book))
    with pytest.raises(KeyboardInterrupt):
        gradebook.opened(database(tmp_path), "roofline")
    assert len(closed) == 1


def test_tables_of_older_nbgrader_versions_are_left_alone(tmp_path, bare):
    tables_without_version(tmp_path)
    with sqlite3.connect(tmp_path / "gradebook.db") as book:
        book.execute("ALTER TABLE student DROP COLUMN lms_user_id")
    book = gradebook.opened(database(tmp_path), "roofline")
    book.close()
    with pytest.raises(sqlite3.OperationalError):
        version(tmp_path)


def test_an_exercise_with_an_earlier_deadline_extension_can_be_released(
    tmp_path, bare, one_exercise
):
    """Check an extension that was entered before the release, without the `due` command.

    nbgrader itself refuses to release such an exercise.
    """
    course = Course(tmp_path)
    course.prepare()
    with course.gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=DUE)
        book.update_or_create_student("ada")
        book.update_or_create_student("bob")
        book.update_or_create_submission(NAME, "ada")
        book.grant_extension(NAME, "ada", days=2)
    course.release()
    check_entered(tmp_path)


@pytest.mark.long
def test_plain_nbgrader_can_release_after_the_due_command_entered_an_extension(
    tmp_path, one_exercise
):
    room = Classroom(tmp_path)
    room.course.prepare()
    room.folder_of("ada", NAME)
    for options in ([DUE], [LATER, "--student", "ada"]):
        main(["due", str(tmp_path), NAME, *options])
    done(room.nbgrader("generate_assignment", NAME, "--force"))
    with room.course.gradebook() as book:
        book.update_or_create_student("bob")
    check_entered(tmp_path)


def test_commands_say_if_they_create_a_course_folder(tmp_path, capsys):
    for expected in (f"{tmp_path / 'my-clas'} is a new course folder", f"{NAME} is due at"):
        main(["due", str(tmp_path / "my-clas"), NAME, DUE])
        assert capsys.readouterr().out.splitlines()[0].startswith(expected)


def test_a_failed_release_shows_nbgraders_reason(tmp_path, bare, one_exercise, monkeypatch):
    monkeypatch.setattr(gradebook, "prepare_extended", lambda *_: None)
    course = Course(tmp_path)
    course.prepare()
    with course.gradebook() as book:
        book.update_or_create_assignment(NAME)
        book.update_or_create_student("ada")
        book.update_or_create_submission(NAME, "ada")
    with pytest.raises(SystemExit) as refused:
        main(["release", str(tmp_path)])
    assert "because there are submissions associated with it" in str(refused.value)
    assert "\n" not in str(refused.value)
