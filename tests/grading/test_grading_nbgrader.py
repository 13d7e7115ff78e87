"""A class, end to end, with nbgrader's own commands and nothing else."""

import nbformat
import pytest
from classroom import Classroom, done, endtoend, points

from grading.release import exercises
from roofkit.validate import MESSAGE

NAMES = exercises.names()
RIGHT, WRONG = 3, 5  # students who hand in the first right and wrong submissions of the library


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    room = Classroom(tmp_path_factory.mktemp("course"))
    room.course.prepare()
    for name in NAMES:
        done(room.nbgrader("generate_assignment", name))
    room.expected = endtoend.hand_in_all(room, NAMES, RIGHT, WRONG)
    for name in NAMES:
        done(room.nbgrader("autograde", name))
        done(room.nbgrader("generate_feedback", name))
    done(room.nbgrader("export", "--to", "exported.csv"))
    return room


def test_every_student_gets_the_expected_points_in_every_exercise(room):
    got = endtoend.exported(room)
    assert got == room.expected
    assert len({student for student, _ in got}) == RIGHT + WRONG + 4


def test_a_graded_notebook_says_what_the_wrong_turn_was(room):
    for name in NAMES:
        for index in range(WRONG):
            endtoend.says_what_the_wrong_turn_was(room, f"wrong-{index}", name)


def test_feedback_carries_the_same_sentences(room):
    endtoend.feedback_carries_the_same_sentences(room, "wrong-0", NAMES[0])


@pytest.fixture
def learner(tmp_path):
    """A folder with nothing but what a learner gets."""
    from lab import copy_nbgrader_config

    copy_nbgrader_config(tmp_path)
    learner = Classroom(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["nbgrader_config.py"]
    return learner


def validated(room, notebook):
    """What `nbgrader validate` says to a learner about this notebook."""
    path = room.folder / "validate.ipynb"
    nbformat.write(notebook, path)
    command = room.nbgrader("validate", path.name)
    done(command)
    return command.stdout


def test_validate_says_what_is_still_to_be_written(room):
    said = validated(room, room.released(NAMES[0]))
    assert "VALIDATION FAILED ON 7 CELL(S)" in said
    assert said.count("The function is still to be written.") == 7
    assert "Traceback" not in said


def test_validate_says_which_part_of_a_half_done_notebook_is_missing(room):
    notebook, lost = endtoend.half_done(room, NAMES[0])
    said = validated(room, notebook)
    assert f"VALIDATION FAILED ON {len(lost)} CELL(S)" in said
    assert "still to be written" in said


def test_validate_says_of_a_finished_notebook_what_was_checked(room, learner):
    said = validated(learner, room.solved(NAMES[0]))
    words, *checks = said.split("\n\n")
    parts = list(points(NAMES[0]))
    assert words.split() == MESSAGE.format(checks=len(parts)).split()
    assert "Success" not in said
    assert [check.split(":")[0].strip() for check in checks] == parts
    for check in checks:
        assert "Checked here: " in check
        assert "with values that are not shown here" in " ".join(check.split())


def test_validate_names_a_wrong_turn(room):
    said = validated(room, room.solved(NAMES[0], "wrong_output_not_counted"))
    assert "The output is not counted" in said


def test_the_lab_gets_each_exercise_once(tmp_path):
    from lab import ROOT, copy_exercises

    assert copy_exercises(ROOT / "exercises", tmp_path) == sorted(NAMES)
    mine = tmp_path / NAMES[0] / f"{NAMES[0]}.ipynb"
    assert "YOUR CODE HERE" in mine.read_text(encoding="utf-8")
    assert "BEGIN SOLUTION" not in mine.read_text(encoding="utf-8")
    mine.write_text("my work")
    (tmp_path / NAMES[1] / f"{NAMES[1]}.ipynb").unlink()
    assert copy_exercises(ROOT / "exercises", tmp_path) == [NAMES[1]]
    assert mine.read_text() == "my work"
