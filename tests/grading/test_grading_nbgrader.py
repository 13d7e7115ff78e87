"""End-to-end test of nbgrader's own commands for a class of students.

`nbgrader validate` is tested too. Grading this class is a long test. By default, only
test_hostile.py runs `nbgrader autograde`; long tests of test_grading_same.py and
test_grading_postgres.py run it on other classes.
"""

import nbformat
import pytest
from classroom import Classroom, done, endtoend, points

from grading.release import exercises

NAMES = exercises.names()
STUDENTS = {"right": 3, "wrong": 5, "others": tuple(endtoend.OTHERS)}


@pytest.fixture(scope="module")
def room(release, tmp_path_factory):
    room = Classroom(tmp_path_factory.mktemp("course"), release)
    room.wrong = [f"wrong-{index}" for index in range(STUDENTS["wrong"])]
    room.expected = endtoend.hand_in_all(room, NAMES, **STUDENTS)
    for name in NAMES:
        done(room.nbgrader("autograde", name))
    for name in NAMES:
        done(room.nbgrader("generate_feedback", name))
    done(room.nbgrader("export", "--to", "exported.csv"))
    return room


@pytest.mark.long
def test_generate_assignment_and_make_release_agree(release, tmp_path):
    room = Classroom(tmp_path)
    room.course.prepare()
    done(room.nbgrader("generate_assignment", NAMES[1]))
    files = sorted(path.relative_to(tmp_path) for path in (tmp_path / "release").rglob("*.*"))
    assert [str(path) for path in files] == [f"release/{NAMES[1]}/{NAMES[1]}.ipynb"]
    assert (tmp_path / files[0]).read_bytes() == (release / files[0]).read_bytes()


@pytest.mark.long
def test_every_student_gets_the_expected_points_in_every_exercise(room):
    assert endtoend.exported(room) == room.expected
    assert len(set(room.expected.values())) > 2, "a class that shows nothing"


@pytest.mark.long
def test_graded_notebooks_explain_mistakes(room):
    for name in NAMES:
        for student in room.wrong:
            endtoend.assert_notebook_explains_points(room, student, name)


@pytest.mark.long
def test_feedback_pages_say_why_points_were_lost(room):
    endtoend.assert_feedback_explains_lost_points(room, "wrong-0", NAMES[0])


@pytest.fixture(scope="module")
def released(release, tmp_path_factory):
    return Classroom(tmp_path_factory.mktemp("released"), release)


@pytest.fixture
def learner(tmp_path):
    """Set up a folder with only the files that a learner has."""
    from commands.lab import copy_nbgrader_config

    copy_nbgrader_config(tmp_path)
    learner = Classroom(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["nbgrader_config.py"]
    return learner


def validated(room, notebook):
    """Return the output of `nbgrader validate` for this notebook."""
    path = room.folder / "validate.ipynb"
    nbformat.write(notebook, path)
    command = room.nbgrader("validate", path.name)
    done(command)
    return command.stdout


def test_validate_reports_each_part_once_and_what_was_checked(released, learner):
    parts = list(points(NAMES[0]))
    notebook, lost = endtoend.half_done(released, NAMES[0])
    said = validated(learner, notebook)
    first, *reports = said.split("\n\n")
    assert first.strip() == f"{len(parts) - len(lost)} of {len(parts)} parts right."
    unwritten, *checked = reports
    assert unwritten.strip() == f"Still to be written: {', '.join(lost)}."
    assert [report.split(":")[0].strip() for report in checked] == [
        part for part in parts if part not in lost
    ]
    for report in checked:
        assert "Checked here: " in report
        assert "with these values and with others, not shown here" in " ".join(report.split())
    assert "Traceback" not in said
    assert "FAILED" not in said


@pytest.mark.long
def test_validate_names_a_misconception(released, learner):
    said = validated(learner, released.solved(NAMES[0], "wrong_output_not_counted"))
    assert "The output is not counted" in said
