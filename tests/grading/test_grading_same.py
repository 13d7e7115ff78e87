"""Tests that `make grade` and plain nbgrader agree.

They give the same gradebook, notebooks and pages.
"""

import re
import shutil
import time
from dataclasses import replace

import nbformat
import pytest
from classroom import Classroom, cell, code, made_up, points, with_first
from traitlets.config import PyFileConfigLoader

from grading import sandbox
from grading.course import CONFIG, GAVE_UP, TOO_MUCH, Course
from grading.errors import Unable
from grading.parallel import pool
from grading.records.seed import course_seed
from grading.release import exercises
from grading.work import _worked, placeholder, work

NAME = "int8-weights"
LATE = b"2026-03-02 10:00:00 UTC"


def edited(notebook):
    cell(notebook, next(iter(points(NAME)))).source = "check('x', print)"
    return notebook


@pytest.fixture(scope="module")
def room(tmp_path_factory, release):
    return Classroom(tmp_path_factory.mktemp("course"), release)


@pytest.fixture(scope="module")
def rooms(tmp_path_factory, release):
    """Return two courses: one graded by `make grade`'s code, one by nbgrader."""
    folder = tmp_path_factory.mktemp("courses")
    ours = Classroom(folder / "ours", release)
    course_seed(ours.folder)
    for student, notebook in {
        "right": ours.solved(NAME),
        "wrong": ours.solved(NAME, "wrong_output_not_counted"),
        "untouched": ours.released(NAME),
        "edited": edited(ours.solved(NAME)),
        "ended": with_first(ours.solved(NAME), "import os\nos._exit(0)"),
        "printed": with_first(ours.solved(NAME), "print('x\\n' * 5000)\n1 / 0"),
    }.items():
        ours.hand_in(student, NAME, notebook)
    beside = ours.folder_of("right", NAME)
    (beside / "timestamp.txt").write_bytes(LATE)
    (beside / "page.html").write_text("<script>alert(1)</script>")
    (beside / "deeper").mkdir()
    (beside / "deeper" / "numpy.py").write_text("1")
    shutil.copytree(ours.folder, folder / "plain")
    plain = Classroom(folder / "plain")
    assert ours.course.grade() == 6
    for command in ("autograde", "generate_feedback"):
        done = plain.nbgrader(command, NAME)
        assert done.returncode == 0, done.stderr[-2000:]
    return ours, plain


def gradebook(course: Course):
    """Yield the gradebook's data about each student, as plain values."""
    with course.gradebook() as book:
        for submission in book.find_assignment(NAME).submissions:
            (notebook,) = submission.notebooks
            yield (
                submission.student.id,
                submission.score,
                submission.timestamp,
                notebook.late_submission_penalty,
                sorted(
                    (one.name, one.auto_score, one.manual_score, one.needs_manual_grade)
                    for one in notebook.grades
                ),
                sorted((one.name, one.auto_comment, one.comment) for one in notebook.comments),
            )


@pytest.mark.long
def test_make_grade_and_nbgrader_write_the_same_gradebook(rooms):
    ours, plain = (sorted(gradebook(room.course)) for room in rooms)
    assert len(ours) == 6
    assert ours == plain


def students(room):
    return sorted(path.name for path in (room.folder / "autograded").iterdir())


@pytest.mark.long
def test_make_grade_and_nbgrader_write_the_same_notebooks(rooms):
    ours, plain = rooms
    assert students(ours) == students(plain)
    for student in students(ours):
        one, other = ours.graded(student, NAME), plain.graded(student, NAME)
        for mine, theirs in zip(one.cells, other.cells, strict=True):
            assert mine.source == theirs.source
            assert mine.get("outputs") == theirs.get("outputs")
        assert one.metadata.rooflib == other.metadata.rooflib


@pytest.mark.long
def test_submitted_extra_files_are_not_copied(rooms):
    for room in rooms:
        files = (room.folder / "autograded" / "right" / NAME).rglob("*")
        assert sorted(path.name for path in files) == [f"{NAME}.ipynb", "timestamp.txt"]


@pytest.mark.long
def test_make_grade_and_nbgrader_write_the_same_feedback_pages(rooms):
    for student in students(rooms[0]):
        pages = [room.course.feedback(student, NAME).read_text() for room in rooms]
        assert pages[0] == pages[1], student


@pytest.mark.long
def test_manual_points_and_comments_survive_regrading(rooms, capsys):
    ours, _ = rooms
    first = next(iter(points(NAME)))
    with ours.course.gradebook() as book:
        book.find_grade(first, NAME, NAME, "wrong").manual_score = 1.5
        book.find_comment(f"{first}-solution", NAME, NAME, "wrong").manual_comment = "Look again."
        book.db.commit()
    notebook = nbformat.read(ours.folder_of("wrong", NAME) / f"{NAME}.ipynb", as_version=4)
    ours.hand_in("wrong", NAME, with_first(notebook, "1"))
    capsys.readouterr()
    assert ours.course.grade() == 1
    assert f"wrong {NAME}: 100%" in capsys.readouterr().err
    with ours.course.gradebook() as book:
        grade = book.find_grade(first, NAME, NAME, "wrong")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.5, True)
    page = ours.course.feedback("wrong", NAME).read_text()
    assert "Look again." in page
    again = ours.nbgrader("generate_feedback", NAME, "--force", "--student", "wrong")
    assert again.returncode == 0, again.stderr[-2000:]
    assert ours.course.feedback("wrong", NAME).read_text() == page


@pytest.mark.long
def test_nbgrader_stops_if_the_course_settings_fail_to_load(tmp_path):
    room = Classroom(tmp_path)
    room.course.prepare()
    room.hand_in("ada", NAME, nbformat.v4.new_notebook(cells=[code("1")]))
    own = room.folder / "nbgrader_config.py"
    other = tmp_path / "settings.py"
    own.write_text(own.read_text().replace(str(CONFIG), str(other)))
    done = room.nbgrader("autograde", NAME)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith(f"{other} is missing")
    assert not (room.folder / "autograded").exists()
    other.write_text("import nowhere")
    with pytest.raises(SystemExit, match=f"{other} cannot be used: No module named 'nowhere'"):
        PyFileConfigLoader(own.name, str(tmp_path)).load_config()


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        ("what nobody thought of", "KeyError: 'what nobody thought of'"),
        ("what nobody thought of" + 200 * ".", f"KeyError: 'what nobody thought of{167 * '.'}"),
    ],
)
def test_an_error_in_the_grader_is_reported_and_retried(room, monkeypatch, said, listed):
    notebook = room.released(NAME)
    released = nbformat.writes(notebook)
    job = made_up.job(NAME, released.encode(), released)

    def failing(*_, **__):
        raise KeyError(said)

    monkeypatch.setattr("grading.work.grade", failing)
    outcome = work(job)
    assert outcome.again
    assert outcome.reason == f"the grading itself failed ({listed})"
    assert {part["cause"] for part in outcome.parts} == {"not-graded"}
    assert "what nobody thought of" in outcome.feedback


def test_points_by_hand_count_even_if_the_rest_was_not_graded(room):
    released = nbformat.writes(room.released(NAME))
    first, second, *others = points(NAME)
    by_hand = {first: (1.5, 0), second: (None, 2), others[0]: (3, 1)}
    job = replace(made_up.job(NAME, b"any", released), manual=by_hand)
    scores = re.findall(r"\(Score: ([\d.]+) /", work(job).feedback)
    assert list(map(float, scores)) == [7.5, 1.5, 2, 4, 0]


def test_a_refused_sandbox_is_retried_once_before_grading_stops(room, monkeypatch):
    notebook = room.released(NAME)
    released = nbformat.writes(notebook)
    job = made_up.job(NAME, released.encode(), released)
    tries = []

    def refused(*given, **_):
        tries.append(given)
        raise sandbox.Refused("no room for a sandbox")

    monkeypatch.setattr("grading.work.grade", refused)
    with pytest.raises(Unable, match=r"^no room for a sandbox$"):
        work(job)
    assert tries == [tries[0]] * 2
    # `late_again` is off: the grader itself reruns timed-out notebooks, one at a time.
    assert tries[0][1:] == (NAME, job.seed, job.limits, False, False, None)


@pytest.mark.parametrize(("why", "reason"), [(None, GAVE_UP), (pool.TOO_MUCH, TOO_MUCH)])
def test_given_up_jobs_are_graded_again_unless_reading_exceeds_a_limit(room, tmp_path, why, reason):
    released = nbformat.writes(room.released(NAME))
    job = made_up.job(NAME, b"any", released)
    outcome = Course(tmp_path)._given_up(job, why)
    assert outcome.again == (reason == GAVE_UP)
    assert outcome.reason == reason
    assert {part["points"] for part in outcome.parts} == {0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": "another"}, f"another version of the exercise {NAME}"),
        ({"modules": "/not/here"}, "does not find the modules that the course allows: /not/here"),
    ],
)
def test_a_worker_with_another_version_or_missing_modules_stops_grading(room, change, said):
    job = made_up.job(NAME, b"any", nbformat.writes(room.released(NAME)))
    with pytest.raises(Unable, match=said):
        work(replace(job, **change))


def test_a_worker_uses_the_modules_that_the_course_allows(room, tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr("grading.work.modules.use", used.append)
    job = made_up.job(NAME, b"any", nbformat.writes(room.released(NAME)))
    work(replace(job, modules=str(tmp_path)))
    assert used == [str(tmp_path)]


def test_an_ungraded_notebook_begins_with_the_reason(room):
    released = room.released(NAME)
    made = placeholder(nbformat.writes(released), NAME, "the file is empty")
    first, *others = made.cells
    assert (first.cell_type, first.id) == ("markdown", "not-graded")
    assert "the file is empty" in first.source
    assert [one.id for one in others] == [one.id for one in released.cells]
    checks = [one for one in others if exercises.is_check(one)]
    assert [one.metadata.nbgrader.grade_id for one in checks if one.outputs] == list(points(NAME))
    assert not any(one.outputs for one in others if one.cell_type == "code" and one not in checks)
    about = made.metadata.rooflib
    assert {part["key"]: (part["points"], part["of"]) for part in about["parts"]} == {
        key: (0, worth) for key, worth in points(NAME).items()
    }
    assert about | {"parts": []} == {
        **{"trouble": "", "parts": [], "refused": []},
        **{"late": False, "told": False},
    }


def test_the_seconds_of_an_outcome_count_from_the_start_time_passed_in(room):
    job = made_up.job(NAME, b"any", nbformat.writes(room.released(NAME)))
    assert _worked(job, time.monotonic() + 1e6).seconds < 0


def test_a_notebook_that_exhausts_memory_is_reported_and_not_retried(room, monkeypatch):
    def takes_all(*_):
        raise MemoryError

    released = nbformat.writes(room.released(NAME))
    job = made_up.job(NAME, released.encode(), released)
    for step in ("grading.intake.reading.notebook", "grading.work.repair"):
        with monkeypatch.context() as patch:
            patch.setattr(step, takes_all)
            outcome = work(job)
        assert outcome.reason == "reading it takes more memory than there is for one"
        assert not outcome.again
        assert {part["points"] for part in outcome.parts} == {0}
