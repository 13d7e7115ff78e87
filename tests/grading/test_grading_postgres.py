"""Tests that a gradebook in PostgreSQL gets the same grades as one in SQLite."""

import shutil

import pytest
from classroom import Classroom, done, dump, endtoend, postgres

from grading.__main__ import main
from grading.release import exercises
from grading.settings import DATABASE, database

# A second database: long.
pytestmark = pytest.mark.long

NAME = exercises.names()[0]
STUDENTS = {"right": 0, "wrong": 1, "others": ("anna", "half")}


@pytest.fixture(autouse=True, scope="module")
def _one_exercise():
    """Release only NAME: other exercises use the same tables, so they would test nothing new."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exercises, "names", lambda: [NAME])
        yield


@pytest.fixture(scope="module")
def server():
    """Start a PostgreSQL server; fail the test if none is installed."""
    found = postgres.binaries()
    if found is None:
        pytest.fail(postgres.MISSING, pytrace=False)
    with postgres.server(found) as folder:
        yield folder


@pytest.fixture(scope="module")
def in_a_file(tmp_path_factory):
    """Grade a class of students with a gradebook in an SQLite file."""
    room = Classroom(tmp_path_factory.mktemp("file"))
    room.course.release()
    room.expected = endtoend.hand_in_all(room, [NAME], **STUDENTS)
    main(["grade", str(room.folder)])
    return room


@pytest.fixture(scope="module")
def address(server):
    return f"postgresql://postgres@/gradebook?host={server}"


@pytest.fixture(scope="module")
def room(in_a_file, address, tmp_path_factory):
    """Grade the same submissions with a gradebook in PostgreSQL.

    One student is then graded again with plain nbgrader, and the grades are exported. `room.rows`
    holds the gradebook's rows before the plain nbgrader commands.
    """
    room = Classroom(tmp_path_factory.mktemp("server"))
    room.course.prepare()
    # Use the hidden cases and submissions of the course that is graded with SQLite.
    shutil.copy(in_a_file.folder / ".grading" / "seed", room.folder / ".grading" / "seed")
    shutil.copytree(in_a_file.folder / "submitted", room.folder / "submitted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATABASE, address)
        main(["release", str(room.folder)])
        main(["grade", str(room.folder)])
        room.rows = dump.gradebook(database(room.folder))
        done(room.nbgrader("autograde", NAME, "--student=half", "--force"))
        done(room.nbgrader("export", "--to", "exported.csv"))
    return room


def test_no_gradebook_file_is_created(room):
    assert list(room.folder.glob("*.db*")) == []


def test_every_student_gets_the_expected_points(room, in_a_file):
    got = endtoend.exported(room)
    assert {place: points for place, points in got.items() if points} == {
        place: points for place, points in in_a_file.expected.items() if points
    }
    assert got.keys() >= in_a_file.expected.keys()
    assert sorted(student for student, _ in in_a_file.expected) == ["anna", "half", "wrong-0"]


def test_postgresql_and_sqlite_hold_the_same_rows(room, in_a_file):
    assert room.rows == dump.gradebook(database(in_a_file.folder))


def test_graded_notebooks_explain_mistakes(room):
    for student in ("wrong-0", "half"):
        endtoend.assert_notebook_explains_points(room, student, NAME)


def test_feedback_pages_say_why_points_were_lost(room):
    for student in ("wrong-0", "half"):
        endtoend.assert_feedback_explains_lost_points(room, student, NAME)


def test_unchanged_submissions_are_not_graded_again(room, address, monkeypatch, capsys):
    monkeypatch.setenv(DATABASE, address)
    main(["grade", str(room.folder)])
    assert capsys.readouterr().out.startswith("0 graded")


def test_an_unreachable_postgresql_server_is_reported_in_one_line(in_a_file, tmp_path, monkeypatch):
    monkeypatch.setenv(DATABASE, f"postgresql://postgres@/gradebook?host={tmp_path}")
    with pytest.raises(SystemExit) as ended:
        main(["grade", str(in_a_file.folder)])
    assert "gradebook could not be used" in ended.value.code
    assert "\n" not in ended.value.code
