"""End-to-end test of a class graded with nbgrader's own commands."""

import nbformat
import pytest
from classroom import Classroom, done, endtoend, points

from grading.release import exercises
from roofkit.validate import summary

NAMES = exercises.names()
# The exercise that asks for numbers and a figure. The first two go through the same command in
# test_grading_postgres.py and test_grading_same.py; what the others and other submissions come to
# is tested without nbgrader's commands: test_grading_values.py.
FEW = {"right": 0, "wrong": 1, "others": ("anna", "half")}
ONE = ("roofline-plot",)
MANY = {"right": 3, "wrong": 5, "others": tuple(endtoend.OTHERS)}


@pytest.fixture(scope="module", params=["few", pytest.param("many", marks=pytest.mark.long)])
def room(request, release, tmp_path_factory):
    students, names = {"few": (FEW, ONE), "many": (MANY, NAMES)}[request.param]
    room = Classroom(tmp_path_factory.mktemp("course"), release)
    room.names = names
    room.wrong = [f"wrong-{index}" for index in range(students["wrong"])]
    room.expected = endtoend.hand_in_all(room, names, **students)
    for name in names:
        done(room.nbgrader("autograde", name))
    for name in names:
        done(room.nbgrader("generate_feedback", name))
    done(room.nbgrader("export", "--to", "exported.csv"))
    return room


def test_generate_assignment_and_make_release_agree(release, tmp_path):
    room = Classroom(tmp_path)
    room.course.prepare()
    done(room.nbgrader("generate_assignment", NAMES[1]))
    files = sorted(path.relative_to(tmp_path) for path in (tmp_path / "release").rglob("*.*"))
    assert [str(path) for path in files] == [f"release/{NAMES[1]}/{NAMES[1]}.ipynb"]
    assert (tmp_path / files[0]).read_bytes() == (release / files[0]).read_bytes()


def test_every_student_gets_the_expected_points_in_every_exercise(room):
    got = endtoend.exported(room)
    # Missing submissions have a row, too.
    others = {place: 0 for place in got if place[1] not in room.names}
    assert got == room.expected | others
    assert len(set(room.expected.values())) > 2, "a class that shows nothing"


def test_graded_notebooks_explain_mistakes(room):
    for name in room.names:
        for student in room.wrong:
            endtoend.assert_notebook_explains_points(room, student, name)


def test_feedback_pages_hold_the_sentences_of_graded_notebooks(room):
    endtoend.assert_feedback_explains_lost_points(room, "wrong-0", room.names[0])


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


def test_validate_reports_each_part_once(released, learner):
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
    assert "Traceback" not in said
    assert "FAILED" not in said


def test_validate_reports_what_was_checked(released, learner):
    said = validated(learner, released.solved(NAMES[0]))
    words, *checks = said.split("\n\n")
    parts = list(points(NAMES[0]))
    assert words.split() == summary(len(parts), len(parts)).split()
    assert "Success" not in said
    assert [check.split(":")[0].strip() for check in checks] == parts
    for check in checks:
        assert "Checked here: " in check
        assert "with these values and with others, not shown here" in " ".join(check.split())


@pytest.mark.long
def test_validate_names_a_misconception(released, learner):
    said = validated(learner, released.solved(NAMES[0], "wrong_output_not_counted"))
    assert "The output is not counted" in said
