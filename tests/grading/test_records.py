"""Tests of what a grading stores: gradebook, results and seed.

No notebook is run.
"""

import contextlib
import json
import logging
import os
import random
import re
import secrets
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from classroom import Classroom, dump, made_up, points
from nbgrader.api import Assignment
from nbgrader.apps.api import NbGraderAPI
from repository import ROOT

from grading import sandbox
from grading.course import Course, _reason, errors_in_one_line
from grading.errors import Unable
from grading.execution.time_limits import TimeLimits
from grading.intake import submissions
from grading.parallel import pool
from grading.records import gradebook, results
from grading.records.gradebook_writer import GradebookWriter, parse_timestamp
from grading.records.results import Results
from grading.records.seed import course_seed
from grading.release import exercises
from grading.reports import overview, rows
from grading.settings import DATABASE, database, settings
from grading.work import placeholder

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NAME = "int8-matmul"
PARTS = list(points(NAME))
FULL = sum(points(NAME).values())
DUE = datetime(2026, 3, 1, 12)
LATE, EARLY = b"2026-03-02 10:00:00 UTC", b"2026-02-28 10:00:00 UTC"
PENALTY = "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"


def outcome(right=PARTS, cause="", **others):
    """Return the outcome of a notebook in which these parts are right."""
    return made_up.outcome(NAME, set(PARTS) - set(right), cause, **others)


@pytest.fixture
def room(tmp_path, release):
    return Classroom(tmp_path / "course", release)


@pytest.fixture
def writer(room):
    with GradebookWriter(room.folder, settings(room.folder)) as writer:
        yield writer


def submission(room, student="ada"):
    """Return (score, penalty, needs manual grade, timestamp) from the gradebook."""
    with room.course.gradebook() as gradebook:
        found = gradebook.find_submission(NAME, student)
        penalty = found.late_submission_penalty
        return found.score, penalty, found.needs_manual_grade, found.timestamp


# --- the gradebook -------------------------------------------------------------------------------


def test_results_are_written_to_gradebook_and_files(room, writer):
    late = writer.record("ada", NAME, outcome(PARTS[1:]), EARLY)
    assert not late
    assert submission(room) == (FULL - points(NAME)[PARTS[0]], 0, False, datetime(2026, 2, 28, 10))
    assert room.course.graded("ada", NAME).read_text() == made_up.NOTEBOOK
    assert room.course.feedback("ada", NAME).read_text() == "page"
    assert room.course.graded("ada", NAME).with_name("timestamp.txt").read_bytes() == EARLY
    with room.course.gradebook() as gradebook:
        grades = gradebook.find_submission(NAME, "ada").notebooks[0].grades
        assert {one.name: one.auto_score for one in grades} == {
            key: 0 if key == PARTS[0] else worth for key, worth in points(NAME).items()
        }


def entered(room, student):
    """Return the gradebook's rows of a student's submission, without ids."""
    with room.course.gradebook() as gradebook:
        assignment = gradebook.find_submission(NAME, student)
        (notebook,) = assignment.notebooks
        found = [assignment, notebook, *notebook.grades, *notebook.comments]
        return sorted(
            (
                {
                    column.name: getattr(one, column.name)
                    for column in one.__table__.columns
                    if column.name not in ("id", "student_id", "assignment_id")
                    and (column.name != "notebook_id" or one is notebook)
                }
                for one in found
            ),
            key=repr,
        )


@pytest.mark.parametrize("cause", ["", "not-graded"])
def test_a_first_submission_is_inserted_as_nbgrader_does(room, writer, cause):
    made = outcome(PARTS[1:], cause, comments={f"{PARTS[0]}-solution": "No response."})
    with room.course.gradebook() as gradebook:
        gradebook.update_or_create_student("bob")
        gradebook.update_or_create_submission(NAME, "bob")
    writer.record("ada", NAME, made, EARLY)
    writer.record("bob", NAME, made, EARLY)
    assert len(entered(room, "ada")) == 2 + 2 * len(PARTS)
    assert entered(room, "ada") == entered(room, "bob")


def test_a_submission_inserted_concurrently_is_tolerated(room, writer, monkeypatch):
    monkeypatch.setattr(writer, "_notebook", lambda student, exercise: None)
    writer.record("ada", NAME, outcome([]), b"")
    writer.record("ada", NAME, outcome(PARTS[1:]), EARLY)
    assert submission(room) == (FULL - points(NAME)[PARTS[0]], 0, False, datetime(2026, 2, 28, 10))
    with room.course.gradebook() as gradebook:
        assert len(gradebook.assignment_submissions(NAME)) == 1


def test_recording_again_replaces_earlier_points_comments_and_files(room, writer):
    writer.record("ada", NAME, outcome(comments={f"{PARTS[0]}-solution": "No response."}), EARLY)
    beside = room.course.graded("ada", NAME).with_name("left.html")
    beside.write_text("an older version's")
    writer.record("ada", NAME, outcome([], page="another page"), b"")
    assert submission(room) == (0, 0, False, None)
    assert [path.name for path in beside.parent.iterdir()] == [f"{NAME}.ipynb"]
    assert room.course.feedback("ada", NAME).read_text() == "another page"
    with room.course.gradebook() as gradebook:
        comments = gradebook.find_submission(NAME, "ada").notebooks[0].comments
        assert {one.auto_comment for one in comments} == {None}
        assert len(gradebook.assignment_submissions(NAME)) == 1


def test_automatic_comments_go_to_their_cells(room, writer):
    writer.record("ada", NAME, outcome(comments={f"{PARTS[0]}-solution": "No response."}), b"")
    with room.course.gradebook() as gradebook:
        comments = gradebook.find_submission(NAME, "ada").notebooks[0].comments
        said = {one.name: one.auto_comment for one in comments if one.auto_comment}
    assert said == {f"{PARTS[0]}-solution": "No response."}


def test_a_submission_without_any_graded_part_needs_manual_grading(room, writer):
    writer.record("ada", NAME, outcome([], "not-graded"), b"")
    writer.record("bob", NAME, outcome([], "output-not-counted"), b"")
    some = outcome(PARTS[1:], "not-graded")
    writer.record("eve", NAME, some, b"")
    assert [submission(room, one)[2] for one in ("ada", "bob", "eve")] == [True, False, False]


def give_by_hand(room, student, **given):
    with room.course.gradebook() as gradebook:
        grade = gradebook.find_grade(PARTS[0], NAME, NAME, student)
        for name, value in given.items():
            setattr(grade, name, value)
        comment = gradebook.find_comment(f"{PARTS[1]}-solution", NAME, NAME, student)
        comment.manual_comment = "Look again."
        gradebook.db.commit()


def test_manual_points_and_comments_are_found_and_points_count_in_the_score(room, writer):
    assert writer.given("ada", NAME) == ({}, {})
    writer.record("ada", NAME, outcome(), b"")
    assert writer.given("ada", NAME) == ({}, {})
    give_by_hand(room, "ada", manual_score=0.5)
    comments = {f"{PARTS[1]}-solution": "Look again."}
    assert writer.given("ada", NAME) == ({PARTS[0]: (0.5, 0)}, comments)
    writer.record("ada", NAME, outcome(), b"")
    assert submission(room)[0] == FULL - points(NAME)[PARTS[0]] + 0.5
    assert submission(room)[2], "a change of what was graded by hand needs a second look"
    assert writer.given("ada", NAME) == ({PARTS[0]: (0.5, 0)}, comments)


def test_manual_zero_points_and_extra_credit_are_respected(room, writer):
    writer.record("ada", NAME, outcome(), b"")
    give_by_hand(room, "ada", manual_score=0, extra_credit=None)
    assert writer.given("ada", NAME)[0] == {PARTS[0]: (0, 0)}
    give_by_hand(room, "ada", manual_score=None, extra_credit=2)
    assert writer.given("ada", NAME)[0] == {PARTS[0]: (None, 2)}
    writer.record("ada", NAME, outcome(), b"")
    assert submission(room)[0] == FULL + 2


@pytest.fixture
def strict(room):
    """Set up a course with a due date, where late submissions get no points."""
    own = room.folder / "nbgrader_config.py"
    own.write_text(own.read_text() + PENALTY)
    with room.course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE)
    return room


def test_a_late_submission_loses_its_points(strict, writer):
    with GradebookWriter(strict.folder, settings(strict.folder)) as writer:
        assert writer.record("late", NAME, outcome(), LATE)
        assert not writer.record("early", NAME, outcome(), EARLY)
        assert not writer.record("unknown", NAME, outcome(), b"")
    assert submission(strict, "late")[:2] == (FULL, FULL)
    assert submission(strict, "early")[:2] == (FULL, 0)
    for student in ("late", "early"):
        strict.course.results.put(student, NAME, {"reason": "", "parts": []})
    scores = {
        row[0]: row[2:]
        for row in rows.grades(strict.course, strict.course.state())
        if row[1] == NAME
    }
    assert scores["late"] == ("0", "20", "20 points taken off for being late")
    assert scores["early"] == ("20", "20", "")


def test_a_penalty_is_removed_if_a_newer_timestamp_is_in_time(strict):
    with GradebookWriter(strict.folder, settings(strict.folder)) as writer:
        assert writer.record("ada", NAME, outcome(), LATE)
        assert not writer.record("ada", NAME, outcome(), EARLY)
    assert submission(strict)[:2] == (FULL, 0)


def fails(*_, **__):
    pytest.fail("it should not be called")


def test_only_a_students_first_submission_is_inserted_directly(room, writer, monkeypatch):
    """nbgrader's SQL statements take longer than all other work on a notebook."""
    with monkeypatch.context() as patch:
        patch.setattr(writer.gradebook, "update_or_create_submission", fails)
        writer.record("ada", NAME, outcome(), b"")
        writer.record("bob", NAME, outcome(), b"")
    monkeypatch.setattr(writer, "_insert", fails)
    writer.record("ada", NAME, outcome([]), b"")
    assert submission(room)[0] == 0


def test_a_submission_one_second_after_the_due_date_is_late(strict, monkeypatch):
    """Submissions in time skip nbgrader's penalty step: it reopens the gradebook."""
    with GradebookWriter(strict.folder, settings(strict.folder)) as writer:
        assert writer.record("late", NAME, outcome(), b"2026-03-01 12:00:01 UTC")
        monkeypatch.setattr(writer, "_apply_penalty", fails)
        for stamp in (EARLY, b"2026-03-01 12:00:00 UTC", b""):
            assert not writer.record("early", NAME, outcome(), stamp)
    assert [submission(strict, one)[1] for one in ("late", "early")] == [FULL, 0]


def test_changed_due_dates_and_settings_change_penalties(strict, monkeypatch):
    late = [("late", NAME)]
    own = strict.folder / "nbgrader_config.py"

    def changed():
        with GradebookWriter(strict.folder, settings(strict.folder)) as writer:
            apply, applied = writer._apply_penalty, []
            monkeypatch.setattr(
                writer, "_apply_penalty", lambda *key: applied.append(key) or apply(*key)
            )
            found = writer.update_penalties()
        assert ("early", NAME) not in applied
        return found, submission(strict, "late")[1]

    def due(when):
        with strict.course.gradebook() as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=when)

    with GradebookWriter(strict.folder, settings(strict.folder)) as writer:
        writer.record("late", NAME, outcome(), b"2026-03-01 12:00:01 UTC")
        writer.record("early", NAME, outcome(), EARLY)
    assert changed() == ([], FULL)
    due(None)
    assert changed() == (late, 0)
    assert changed() == ([], 0)
    due(DUE)
    assert changed() == (late, FULL)
    own.write_text(own.read_text().replace(PENALTY, ""))
    assert changed() == (late, 0)
    assert changed() == ([], 0)


def test_a_due_date_changed_during_a_grading_is_used(strict):
    with GradebookWriter(strict.folder, settings(strict.folder)) as writer:
        writer.record("late", NAME, outcome(), b"2026-03-01 12:00:01 UTC")
        assert writer.update_penalties() == []
        with strict.course.gradebook() as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=None)
        assert writer.update_penalties() == [("late", NAME)]
    assert submission(strict, "late")[1] == 0


def test_all_points_and_comments_of_an_instructor_are_found(room, writer):
    students = ("ada", "bob", "eve", "joe")
    for student in students:
        writer.record(student, NAME, outcome(), b"")
    with room.course.gradebook() as gradebook:
        given = {"ada": (0, 0), "bob": (None, 2), "eve": (None, None), "joe": (1, 0)}
        for student, (points, more) in given.items():
            grade = gradebook.find_grade(PARTS[0], NAME, NAME, student)
            grade.manual_score, grade.extra_credit = points, more
        for student, text in {"eve": "", "joe": "Look again."}.items():
            comment = gradebook.find_comment(f"{PARTS[1]}-solution", NAME, NAME, student)
            comment.manual_comment = text
        # A cell that an instructor grades by hand has points and a comment.
        gradebook.add_assignment("own")
        gradebook.add_notebook("own", "own")
        gradebook.add_grade_cell("q", "own", "own", max_score=1, cell_type="code")
        gradebook.add_solution_cell("q", "own", "own")
        gradebook.update_or_create_submission("own", "ada")
        gradebook.find_grade("q", "own", "own", "ada").manual_score = 1
        gradebook.find_comment("q", "own", "own", "ada").manual_comment = "Right."
        gradebook.db.commit()
    assert writer.all_given() == {
        ("ada", NAME): [[PARTS[0], 0, 0]],
        ("bob", NAME): [[PARTS[0], None, 2]],
        ("joe", NAME): sorted([[PARTS[0], 1, 0], [f"{PARTS[1]}-solution", "Look again."]]),
        ("ada", "own"): [["q", "Right."], ["q", 1, None]],
    }


def test_a_gradebook_is_not_kept_open(room, writer):
    file = room.folder / "gradebook.db"
    writer.record("ada", NAME, outcome(), b"")
    assert is_open(file)
    writer.__exit__()
    assert not is_open(file)
    with gradebook.read_only(database(room.folder)) as session:
        assert session.query(Assignment).count() == len(exercises.names())
        assert is_open(file)
    assert not is_open(file)


def is_open(file):
    """Return whether this process has the file open."""
    opened = set()
    for one in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            opened.add(str(one.readlink()))
    return str(file) in opened


@pytest.mark.parametrize("exists", [False, True])
def test_a_gradebook_without_tables_is_not_read(tmp_path, exists):
    file = tmp_path / "gradebook.db"
    if exists:
        file.touch()
    with gradebook.read_only(f"sqlite:///{file}") as session:
        assert session is None
    assert file.exists() == exists


@pytest.mark.parametrize("before", [None, "/usr/bin:/bin"])
def test_tools_on_path_puts_the_environments_programs_first_temporarily(monkeypatch, before):
    monkeypatch.delenv("PATH") if before is None else monkeypatch.setenv("PATH", before)
    with gradebook.tools_on_path():
        first, *others = os.environ["PATH"].split(os.pathsep, 1)
    assert first == str(Path(sys.executable).parent)
    assert others == ([] if before is None else [before])
    assert os.environ.get("PATH") == before


def test_a_failed_write_leaves_no_outdated_notebook(room, writer, monkeypatch):
    """Check that the old notebook is gone, so that the next run grades the submission again."""
    writer.record("ada", NAME, outcome(), b"")

    def full(file, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grading.records.gradebook_writer.replace", full)
    with pytest.raises(OSError, match="No space"):
        writer.record("ada", NAME, outcome([]), b"")
    assert not room.course.graded("ada", NAME).exists()


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        (b"2026-03-02 10:00:00 UTC", datetime(2026, 3, 2, 10)),
        (b"2026-03-02T10:00:00\n", datetime(2026, 3, 2, 10)),
        (b"", None),
        (b"  \n", None),
        (b"yesterday", None),
        (b"\xff\xfe", None),
        (b"9" * 400, None),
        (b"2026-03-02 10:00:00 America/New_York", datetime(2026, 3, 2, 15)),
        (b"2026-03-02 10:00:00 " + b"x" * 900, None),
        (b"2026-03-02 10:00:00 ../../x", None),
        (b"2026-03-02 10:00:00 $\\\x1b[2J", None),
        (b"2026-13-02 10:00:00", None),
    ],
)
def test_timestamps_are_parsed(stamp, time):
    assert parse_timestamp(stamp) == time


@pytest.mark.parametrize(
    "stamp", [b"", b"yesterday", b"9" * 400, b"2026-03-02 10:00:00 ../../x", b"2026 $\x1b[2J"]
)
def test_malformed_timestamps_do_not_reach_nbgraders_parser(monkeypatch, stamp):
    """The parser opens files that are named after time zones."""
    monkeypatch.setattr("nbgrader.utils.parse_utc", fails)
    assert parse_timestamp(stamp) is None


# --- stored results -------------------------------------------------------------------------------


def test_stored_results_round_trip_and_damaged_ones_are_skipped(tmp_path):
    kept = Results(tmp_path / "kept")
    assert kept.all() == {}
    kept.put("ada", "one", {"digest": "1", "reason": "ö"})
    kept.put("bob", "two", {"digest": "2"})
    kept.put("ada", "one", {"digest": "3"})
    assert kept.all() == {"ada": {"one": {"digest": "3"}}, "bob": {"two": {"digest": "2"}}}
    (tmp_path / "kept" / "bob" / "two.json").write_text('{"dig')
    assert kept.all() == {"ada": {"one": {"digest": "3"}}}


class Killed(BaseException):
    """Simulates the death of the process."""


def ends(*_):
    raise Killed


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_file_is_never_half_written(tmp_path, monkeypatch, call):
    """If the process dies while it writes, the file keeps its old content."""
    file = tmp_path / "file"
    file.write_text("old")

    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (type(file), "replace")), ends)
    with pytest.raises(Killed):
        results.replace(file, "new")
    assert file.read_text() == "old"


def test_files_are_synced_before_they_are_renamed(tmp_path, monkeypatch):
    file, done = tmp_path / "file", []
    monkeypatch.setattr(
        os, "fsync", lambda number: done.append((os.fstat(number).st_size, file.exists()))
    )
    results.replace(file, "text")
    assert done == [(4, False)]
    assert file.read_text() == "text"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "file"
    results.replace(file, "old")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        results.replace(file, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "old"


def test_unfinished_files_are_not_read_as_results(tmp_path, monkeypatch):
    kept = Results(tmp_path)
    monkeypatch.setattr(os, "fsync", ends)
    with pytest.raises(Killed):
        kept.put("ada", "one", {"digest": "1"})
    assert len(list((tmp_path / "ada").iterdir())) == 1
    assert kept.all() == {}


def test_the_lock_is_exclusive(tmp_path):
    file = tmp_path / "lock"
    with results.lock(file), pytest.raises(BlockingIOError), results.lock(file):
        pass
    with results.lock(file):
        pass


def test_the_seed_is_drawn_once_and_is_private(tmp_path):
    seed = course_seed(tmp_path)
    assert len(bytes.fromhex(seed)) == 16
    assert course_seed(tmp_path) == seed
    other = tmp_path / "other"
    other.mkdir()
    assert course_seed(other) != seed
    assert stat.S_IMODE((tmp_path / ".grading").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / ".grading" / "seed").stat().st_mode) == 0o600
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_hex", fails)
        assert course_seed(tmp_path) == seed


def test_a_seed_drawn_concurrently_by_another_process_is_used(tmp_path, monkeypatch):
    file = tmp_path / ".grading" / "seed"
    monkeypatch.setattr(secrets, "token_hex", lambda size: file.write_text("other") and "own")
    assert course_seed(tmp_path) == "other"
    assert [one.name for one in file.parent.iterdir()] == ["seed"]


def test_an_error_while_a_seed_is_drawn_is_raised(tmp_path, monkeypatch):
    def full(size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(secrets, "token_hex", full)
    with pytest.raises(OSError, match="No space left"):
        course_seed(tmp_path)


def test_the_graders_folder_in_a_new_course_is_private(tmp_path):
    course = Course(tmp_path / "new" / "course")
    with course._locked():
        pass
    assert stat.S_IMODE((course.folder / ".grading").stat().st_mode) == 0o700


# --- what triggers regrading ----------------------------------------------------------------------


def graded_before(room, writer, student="ada", content=b"{}", stamp=b"", reason=""):
    """Add a submission with a stored result, as if it had been graded."""
    folder = room.folder_of(student, NAME)
    (folder / f"{NAME}.ipynb").write_bytes(content)
    if stamp:
        (folder / "timestamp.txt").write_bytes(stamp)
    writer.record(student, NAME, outcome(), stamp)
    digest = room.course._digest(NAME, content, stamp, reason)
    room.course.results.put(student, NAME, {"digest": digest, "reason": "", "parts": []})
    return folder


def todo(room):
    state = room.course.state()
    found = submissions.submissions(room.folder)
    return [one.student for one in found if not room.course._done(one, state)]


def test_unchanged_submissions_are_not_graded_again(room, writer):
    graded_before(room, writer, stamp=EARLY)
    assert todo(room) == []
    room.folder_of("bob", NAME)
    assert todo(room) == ["bob"]


@pytest.mark.parametrize("change", ["notebook", "timestamp", "no timestamp", "no notebook", "two"])
def test_changed_submissions_are_graded_again(room, writer, change):
    folder = graded_before(room, writer, stamp=EARLY)
    if change == "notebook":
        (folder / f"{NAME}.ipynb").write_bytes(b"{} ")
    elif change == "timestamp":
        (folder / "timestamp.txt").write_bytes(LATE)
    elif change == "no timestamp":
        (folder / "timestamp.txt").unlink()
    elif change == "no notebook":
        (folder / f"{NAME}.ipynb").unlink()
    else:
        (folder / f"{NAME}.ipynb").rename(folder / "a.ipynb")
        (folder / "b.ipynb").write_bytes(b"{ }")
    assert todo(room) == ["ada"]


@pytest.mark.parametrize("gone", ["graded", "feedback", "result"])
def test_missing_files_trigger_regrading(room, writer, gone):
    graded_before(room, writer)
    if gone == "result":
        shutil.rmtree(room.course.results.folder)
    else:
        getattr(room.course, gone)("ada", NAME).unlink()
    assert todo(room) == ["ada"]


def test_new_versions_of_exercise_or_grader_trigger_regrading(room, writer, monkeypatch):
    graded_before(room, writer)
    plain = exercises.digest
    monkeypatch.setattr(exercises, "digest", lambda name: plain(name)[::-1])
    assert todo(room) == ["ada"]


def test_an_exercises_version_is_computed_once_for_all_submissions(room, jobs, monkeypatch):
    students, asked, plain = ["ada", "bob", "eve"], [], exercises.digest
    for student in students:
        hand_in(room, student)
    monkeypatch.setattr(exercises, "digest", lambda name: asked.append(name) or plain(name))
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == len(students)
    assert asked.count(NAME) <= 2, "once for the release, and once for the grading"
    monkeypatch.setattr(exercises, "digest", lambda name: plain(name)[::-1])
    assert todo(room) == students, "the next grading does not use the old version"


def test_a_submission_with_an_open_question_is_graded_once(room, jobs, monkeypatch):
    """A question is what the instructor has to decide; its answer may change the notebook."""
    plain, question = submissions.submissions, ["which of two?"]
    monkeypatch.setattr(
        submissions,
        "submissions",
        lambda folder: [replace(one, question=question[0]) for one in plain(folder)],
    )
    hand_in(room, "ada")
    for expected in (1, 0):
        assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == expected
    assert room.course.state()["ada"][NAME]["reason"] == "which of two?"
    question[0] = ""
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1


def test_the_digest_depends_on_file_boundaries(room):
    digest = room.course._digest
    cases = [(b"ab", b"", ""), (b"a", b"b", ""), (b"", b"ab", ""), (b"", b"", "ab"), (b"", b"", "")]
    assert len({digest(NAME, *case) for case in cases}) == len(cases)
    assert digest(NAME, b"", b"", "") != digest(exercises.names()[1], b"", b"", "")


# --- runs of the grader, with made-up work instead of notebooks -----------------------------------


@pytest.fixture
def jobs(monkeypatch):
    """Replace `work` by a fake; return the list of its jobs.

    Jobs get full points, unless they have a reason for not being graded or end their process.
    """
    jobs = []

    def worked(job):
        jobs.append(job)
        if job.content == b"ends its process" and not job.reason:
            raise EOFError
        if job.reason:
            return outcome([], "not-graded")
        return outcome(page=json.dumps(job.manual))

    monkeypatch.setattr("grading.course.work", worked)
    return jobs


def hand_in(room, student, content=b"{}", stamp=None):
    (room.folder_of(student, NAME) / f"{NAME}.ipynb").write_bytes(content)
    if stamp:
        (room.folder_of(student, NAME) / "timestamp.txt").write_bytes(stamp)


def test_a_job_carries_everything_its_grading_depends_on(room, jobs):
    hand_in(room, "ada", b'{"a": 1}')
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1
    (job,) = jobs
    assert job.content == b'{"a": 1}'
    assert (job.student, job.exercise, job.reason, job.unsafe) == ("ada", NAME, "", True)
    assert job.seed == course_seed(room.folder)
    assert job.version == exercises.digest(NAME)
    assert job.released == (room.folder / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert room.course.state()["ada"][NAME]["unsafe"] is True
    give_by_hand(room, "ada", manual_score=0.5)
    hand_in(room, "ada", b'{"a": 2}')
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1
    assert jobs[1].manual == {PARTS[0]: (0.5, 0)}
    assert jobs[1].comments == {f"{PARTS[1]}-solution": "Look again."}
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 0
    assert len(jobs) == 2


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_a_failed_grading_that_showed_hidden_inputs_is_remembered(room, monkeypatch, again, told):
    made = replace(outcome(), again=again, told=told, seconds=1.23456)
    monkeypatch.setattr("grading.course.work", lambda job: made)
    hand_in(room, "ada")
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    result = room.course.state()["ada"][NAME]
    digest = room.course._digest(NAME, b"{}", b"", "")
    assert result["digest"] == ("" if again else digest)
    assert result["told"] == (digest if again and told else "")
    assert result["seconds"] == 1.235


def test_grading_needs_a_sandbox_unless_called_with_unsafe(room, jobs, monkeypatch):
    def refuse():
        raise sandbox.Refused("no sandbox here")

    hand_in(room, "ada")
    with monkeypatch.context() as patch:
        patch.setattr("grading.sandbox.refuse_what_cannot_work", refuse)
        with pytest.raises(Unable, match=r"^no sandbox here$"):
            room.course.grade(made_up.InProcessBackend())
        assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1
    hand_in(room, "ada", b"[]")
    monkeypatch.setattr("grading.sandbox.refuse_what_cannot_work", lambda: None)
    assert room.course.grade(made_up.InProcessBackend()) == 1
    assert [job.unsafe for job in jobs] == [True, False]


def test_retries_may_start_until_three_times_a_notebooks_time_limit(room, monkeypatch):
    asked = []
    monkeypatch.setattr("grading.course._done", lambda *given: asked.append(given) or iter_none())
    limits = TimeLimits(notebook=50)
    room.course.grade(made_up.InProcessBackend(), unsafe=True, limits=limits)
    assert [seconds for *_, seconds in asked] == [150]


def iter_none():
    yield from ()


def test_a_gradebook_submission_without_a_notebook_gets_one(room, jobs):
    """Plain nbgrader's release leaves no notebook if a student has an extension."""
    with room.course.gradebook() as gradebook:
        gradebook.update_or_create_student("ada")
        (notebook,) = gradebook.update_or_create_submission(NAME, "ada").notebooks
        gradebook.db.delete(notebook)
        gradebook.db.commit()
    hand_in(room, "ada")
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1
    assert submission(room)[0] == FULL
    with room.course.gradebook() as gradebook:
        (notebook,) = gradebook.find_submission(NAME, "ada").notebooks
        assert {one.name for one in notebook.grades} == set(PARTS)
        assert {one.name for one in notebook.comments} == {f"{part}-solution" for part in PARTS}


def test_a_given_up_job_is_reported_and_retried_by_the_next_grading(room, jobs):
    hand_in(room, "ada", b"ends its process")
    hand_in(room, "bob")
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 2
    assert [job.student for job in jobs] == ["ada"] * pool.MAX_TRIES + ["ada", "bob"]
    assert submission(room, "ada")[:3] == (0, 0, True)
    assert submission(room, "bob")[0] == FULL
    assert jobs[pool.MAX_TRIES].reason == "the process that graded it ended each time"
    assert room.course.state()["ada"][NAME]["digest"] == ""
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1


def test_an_invalid_timestamp_is_recorded_as_a_remark(room, jobs):
    hand_in(room, "ada", stamp=b"yesterday")
    hand_in(room, "bob", stamp=EARLY)
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    state = room.course.state()
    assert state["ada"][NAME]["remarks"] == ["timestamp.txt does not say a time"]
    assert state["bob"][NAME]["remarks"] == []


@pytest.mark.filterwarnings("error::sqlalchemy.exc.SAWarning")
def test_feedback_pages_show_the_late_penalty(strict, monkeypatch):
    """nbgrader rewrites the page once the penalty is in the gradebook."""
    released = (strict.folder / "release" / NAME / f"{NAME}.ipynb").read_text()

    def worked(job):
        notebook = nbformat.writes(placeholder(released, NAME, "made up"))
        return replace(outcome(), notebook=notebook)

    monkeypatch.setattr("grading.course.work", worked)
    hand_in(strict, "late", stamp=LATE)
    hand_in(strict, "early", stamp=EARLY)
    assert strict.course.grade(made_up.InProcessBackend(), unsafe=True) == 2
    assert strict.course.feedback("early", NAME).read_text() == "page"
    page = strict.course.feedback("late", NAME).read_text()
    assert "late submission penalty" in page.lower()


@pytest.mark.long
def test_changed_due_dates_and_penalties_apply_in_the_next_run(room, monkeypatch):
    """Check that changes count for earlier results too, without regrading.

    Revoking a due date or a penalty counts as well.
    """
    released = (room.folder / "release" / NAME / f"{NAME}.ipynb").read_text()

    def worked(job):
        notebook = nbformat.writes(placeholder(released, NAME, "made up"))
        return replace(outcome(), notebook=notebook)

    def due(when):
        with room.course.gradebook() as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=when)

    def counted():
        assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 0
        page = room.course.feedback("late", NAME).read_text().lower()
        assert ("late submission penalty" in page) == (submission(room, "late")[1] > 0)
        return [submission(room, student)[1] for student in ("late", "early")]

    monkeypatch.setattr("grading.course.work", worked)
    hand_in(room, "late", stamp=LATE)
    hand_in(room, "early", stamp=EARLY)
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 2
    assert counted() == [0, 0]
    due(DUE)
    assert counted() == [0, 0], "late, but nothing is said of a penalty"
    own = room.folder / "nbgrader_config.py"
    before = own.read_text()
    own.write_text(before + PENALTY)
    assert counted() == [FULL, 0]
    own.write_text(before)
    assert counted() == [0, 0]
    own.write_text(before + PENALTY)
    due(None)
    assert counted() == [0, 0]
    due(DUE)
    assert counted() == [FULL, 0]


def test_later_manual_points_appear_on_the_feedback_page(room, monkeypatch):
    released = (room.folder / "release" / NAME / f"{NAME}.ipynb").read_text()

    def worked(job):
        notebook = nbformat.writes(placeholder(released, NAME, "made up"))
        return replace(outcome(), notebook=notebook)

    monkeypatch.setattr("grading.course.work", worked)
    for student in ("ada", "bob"):
        hand_in(room, student)
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 2
    give_by_hand(room, "ada", manual_score=1.5, extra_credit=0)
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 0
    page = room.course.feedback("ada", NAME)
    assert f"{FULL - points(NAME)[PARTS[0]] + 1.5}" in page.read_text()
    assert room.course.feedback("bob", NAME).read_text() == "page"
    page.write_text("not made again")
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 0
    assert page.read_text() == "not made again"
    give_by_hand(room, "bob", manual_score=1)
    hand_in(room, "bob", b"[]")
    monkeypatch.setattr(Course, "_make_page", fails)
    assert room.course.grade(made_up.InProcessBackend(), unsafe=True) == 1


@pytest.mark.long
def test_a_missing_or_outdated_release_is_rebuilt(room, jobs, monkeypatch):
    made = []
    plain = Course.release
    monkeypatch.setattr(
        Course, "release", lambda self, names=(): made.append(list(names)) or plain(self, names)
    )
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    assert made == []
    (room.folder / "release" / NAME / f"{NAME}.ipynb").unlink()
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    assert made == [[NAME]]
    released = room.folder / ".grading" / "released.json"
    results.write(released, json.loads(released.read_text()) | {NAME: "an older version"})
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    assert made == [[NAME], [NAME]]


@pytest.mark.parametrize("change", ["nothing", "file", "version", "gradebook"])
def test_only_outdated_exercises_are_released_again(room, monkeypatch, change):
    made = []
    monkeypatch.setattr(Course, "release", lambda course, names: made.append(names))
    if change == "file":
        (room.folder / "release" / NAME / f"{NAME}.ipynb").unlink()
    elif change == "version":
        released = room.folder / ".grading" / "released.json"
        results.write(released, json.loads(released.read_text()) | {NAME: "an older version"})
    elif change == "gradebook":
        (room.folder / "gradebook.db").unlink()
        with room.course.gradebook() as gradebook:
            for name in exercises.names():
                gradebook.update_or_create_assignment(name, duedate=DUE)
    room.course._release_what_changed()
    expected = {"nothing": [], "gradebook": [exercises.names()]}
    assert made == expected.get(change, [[NAME]])


def test_a_release_of_one_exercise_keeps_the_stored_digests_of_the_others(room, monkeypatch):
    monkeypatch.setattr(NbGraderAPI, "generate_assignment", lambda *_: {"success": True})
    file = room.folder / ".grading" / "released.json"
    before = results.read(file)
    assert before == {name: exercises.digest(name) for name in exercises.names()}
    results.write(file, before | {NAME: "an older version"})
    room.course.release([NAME])
    assert results.read(file) == before


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({}, "nbgrader gave no reason"),
        ({"log": "[X | INFO] one\n[X | ERROR] two.\n[X | ERROR] three.\n"}, "three"),
        ({"error": "Traceback:\n  line\na.b.OneError: why\nOther: how\n"}, "how"),
        ({"error": "E: (sqlite3.OperationalError) full", "log": "[X | ERROR] other"}, "other"),
        ({"error": "AnError: (sqlite3.OperationalError) full ", "log": "[X | ERROR] x"}, "full"),
    ],
)
def test_nbgraders_reason_for_a_failure_is_taken_from_its_error_or_log(result, reason):
    assert _reason(result) == reason


def test_a_failed_release_is_reported_in_one_line(room, monkeypatch):
    log = "[X | ERROR] (sqlalchemy.OperationalError) disk full.\nlast line"
    monkeypatch.setattr(
        NbGraderAPI, "generate_assignment", lambda *_, **__: {"success": False, "log": log}
    )
    with pytest.raises(Unable) as unable:
        room.course.release([NAME])
    assert str(unable.value) == (
        f"{NAME} could not be released: disk full. Put that right and run this again."
    )


def test_nbgrader_calls_restore_the_working_folder_and_path(room, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    log = logging.getLogger("traitlets")
    monkeypatch.setattr(log, "propagate", True)
    paths = os.environ["PATH"]
    with room.course._nbgrader() as api:
        assert os.getcwd() == str(room.folder)  # noqa: PTH109
        assert not log.propagate, "nbgrader's log would appear among ours"
        assert api.coursedir.db_url == database(room.folder)
        assert api.coursedir.course_id == "roofline"
    assert os.getcwd() == str(tmp_path)  # noqa: PTH109
    assert os.environ["PATH"] == paths
    assert log.propagate


def test_errors_in_one_line_hides_tracebacks_in_nbgraders_log():
    log = logging.getLogger("tornado.application")
    with errors_in_one_line():
        assert log.disabled
    assert not log.disabled


# --- failures while results are recorded ----------------------------------------------------------

STUDENTS = {"ada": "", "bob": PARTS[0], "eve": PARTS[1]}  # student → the part they got wrong


def hand_in_all(room):
    (room.folder / ".grading" / "seed").write_text("0" * 32)
    for student, wrong in STUDENTS.items():
        hand_in(room, student, wrong.encode() or b"all right")
    return room


@pytest.fixture
def handed_in(room, monkeypatch):
    """Add three submissions, to be graded by made-up work."""
    monkeypatch.setattr("grading.course.work", made_up.work)
    return hand_in_all(room)


def finish(room):
    """Grade what is left, write the report, and return the course's files."""
    room.course.grade(made_up.InProcessBackend(), unsafe=True)
    with errors_in_one_line():
        overview.write(room.course)
    return dump.course(room.folder)


@pytest.fixture(scope="module")
def expected(release, tmp_path_factory):
    """Grade the same submissions without failures; return the course's files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grading.course.work", made_up.work)
        return finish(hand_in_all(Classroom(tmp_path_factory.mktemp("expected"), release)))


def same(got, expected):
    assert got.keys() == expected.keys()
    for name in expected:
        assert got[name] == expected[name], name


def refused(room):
    """Grade, expecting a refusal; return its one-line message."""
    with pytest.raises(Unable) as unable:
        finish(room)
    assert "\n" not in str(unable.value)
    return str(unable.value)


def test_the_expected_points_match_the_made_up_outcomes(expected):
    rows = [line.split(",") for line in expected["grades.csv"].decode().splitlines()]
    scores = {row[0]: float(row[2]) for row in rows if row[1] == NAME}
    assert scores == {
        student: FULL - points(NAME).get(wrong, 0) for student, wrong in STUDENTS.items()
    }


def test_a_concurrent_grading_is_refused(handed_in, expected):
    with results.lock(handed_in.folder / ".grading" / "lock"):
        said = refused(handed_in)
    assert said == f"{handed_in.folder} is being graded already; wait until that is done"
    same(finish(handed_in), expected)


@pytest.mark.parametrize(
    "graded", [pytest.param(0, marks=pytest.mark.long), 1, pytest.param(3, marks=pytest.mark.long)]
)
def test_a_locked_gradebook_is_reported_and_loses_nothing(graded, handed_in, expected, monkeypatch):
    """Another program locks the gradebook after a given number of submissions."""
    file = handed_in.folder / "gradebook.db"
    monkeypatch.setenv(DATABASE, f"sqlite:///{file}?timeout=0.1")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:

        def put(self, *entry, plain=Results.put):
            plain(self, *entry)
            if len(list(self.folder.glob("*/*.json"))) == graded:
                other.execute("BEGIN EXCLUSIVE")

        if not graded:
            other.execute("BEGIN EXCLUSIVE")
        with monkeypatch.context() as patch:
            patch.setattr(Results, "put", put)
            line = refused(handed_in)
    assert line.startswith("The gradebook could not be used: database is locked.")
    same(finish(handed_in), expected)


FULL_DISK = """
import shutil, sys
from pathlib import Path
from classroom import made_up
import grading.course
from grading.course import Course, errors_in_one_line
from grading.reports import overview
from grading.errors import Unable

grading.course.work = made_up.work
folder, out = map(Path, sys.argv[1:])

def finish():
    Course(folder).grade(made_up.InProcessBackend(), unsafe=True)
    with errors_in_one_line():
        overview.write(Course(folder))

ballast = folder / "ballast"
for left in (0, 20_000, 60_000):
    free = shutil.disk_usage(folder).free
    with ballast.open("wb") as file:
        file.write(bytes(max(0, free - left)))
    try:
        finish()
    except Unable as unable:
        print("LINE", unable)
    ballast.unlink()
finish()
shutil.copytree(folder, out)
"""


@pytest.mark.long
def test_a_full_disk_is_reported_and_loses_nothing(handed_in, expected, tmp_path):
    """Use a tmpfs with increasing amounts of free space."""
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    steps = 'mount -t tmpfs -o size=8m tmpfs "$0" && cp -r "$1" "$0/course" && shift && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", steps, disk, handed_in.folder]
    if os.geteuid():  # mount as root of a user namespace, then switch back to this user
        command.insert(1, "--map-root-user")
        command += ["unshare", "--map-user", str(os.geteuid()), "--map-group", str(os.getegid())]
    command += [sys.executable, "-c", FULL_DISK, disk / "course", out]
    paths = os.pathsep.join([str(ROOT / "tests" / "support"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("LINE")]
    assert len(lines) >= 2, done.stdout
    for line in lines:
        assert "run this again" in line, line
        assert re.search("No space left on device|database or disk is full", line), line
    assert "Traceback" not in done.stderr
    same(dump.course(out), expected)


def test_clock_changes_do_not_trigger_regrading(handed_in, expected, monkeypatch):
    chance = random.Random(20)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + chance.uniform(-1e9, 1e9))
    same(finish(handed_in), expected)
    for seconds in (-1e9, 1e9):
        for path in handed_in.folder.rglob("*"):
            os.utime(path, (now + seconds, now + seconds))
        assert todo(handed_in) == []
        same(finish(handed_in), expected)


def test_damaged_results_are_regraded(handed_in, expected):
    finish(handed_in)
    half, empty = (handed_in.folder / dump.RESULTS / one / f"{NAME}.json" for one in ("bob", "eve"))
    half.write_text(half.read_text()[: half.stat().st_size // 2])
    empty.write_text("")
    assert todo(handed_in) == ["bob", "eve"]
    same(finish(handed_in), expected)


@pytest.mark.parametrize(
    "place",
    [
        "gradebook",
        *(pytest.param(place, marks=pytest.mark.long) for place in ("notebook", "page")),
        "result",
    ],
)
def test_a_grading_killed_while_recording_continues(place, handed_in, expected, monkeypatch):
    """Kill the grading before each step in which a submission's results are written."""
    plain, seen = results.replace, []
    order = ["notebook", "page", "result"]

    def replace(file, text):
        if file.suffix in (".ipynb", ".html", ".json") and file.name != "released.json":
            seen.append(file)
            if len(seen) == 4 + order.index(place):
                raise Killed
        plain(file, text)

    with monkeypatch.context() as patch:
        if place == "gradebook":
            patch.setattr(GradebookWriter, "_write_gradebook", ends)
        else:
            patch.setattr("grading.records.gradebook_writer.replace", replace)
            patch.setattr(results, "replace", replace)
        with pytest.raises(Killed):
            finish(handed_in)
    assert todo(handed_in)
    same(finish(handed_in), expected)


# --- settings ------------------------------------------------------------------------------------


def test_postgresql_addresses_use_psycopg(tmp_path, monkeypatch):
    monkeypatch.delenv(DATABASE, raising=False)
    assert database(tmp_path) == f"sqlite:///{tmp_path}/gradebook.db"
    monkeypatch.setenv(DATABASE, "postgresql://me@host/postgresql://")
    assert database(tmp_path) == "postgresql+psycopg://me@host/postgresql://"


def test_a_course_folders_settings_override_those_of_the_repository(tmp_path):
    assert settings(tmp_path).LateSubmissionPlugin.get("penalty_method") is None
    Course(tmp_path).prepare()
    own = tmp_path / "nbgrader_config.py"
    own.write_text(own.read_text() + PENALTY)
    config = settings(tmp_path)
    assert config.LateSubmissionPlugin.penalty_method == "zero"
    assert config.CourseDirectory.course_id == "roofline"
    assert config.CourseDirectory.root == str(tmp_path)
    assert config.CourseDirectory.db_url == database(tmp_path)
    Course(tmp_path).prepare()
    assert own.read_text().endswith(PENALTY), "written over"


def test_grading_without_submissions_is_reported_in_one_line(tmp_path):
    from grading.__main__ import main

    with pytest.raises(SystemExit) as ended:
        main(["grade", str(tmp_path)])
    assert ended.value.code == f"{tmp_path / 'submitted'} is missing: no submissions to grade"


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_an_invalid_number_of_workers_is_refused(number, capsys):
    from grading.__main__ import parser

    with pytest.raises(SystemExit):
        parser().parse_args(["grade", "course", "--workers", number])
    assert number in capsys.readouterr().err
    assert parser().parse_args(["grade", "course", "--workers", "1"]).workers == 1
