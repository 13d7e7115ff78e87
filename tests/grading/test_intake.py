"""What was handed in: links and files that are none, repaired cells, and what tells them apart."""

import copy
import os

import nbformat
import pytest
from classroom import cell, code
from classroom.accidents import changed, twice, without

from grading.intake import submissions as intake
from grading.intake.repair import repair
from grading.intake.submissions import Submission, digest, strangers, submissions
from grading.release import exercises

NAME = "int8-matmul"
LOCKED = ("given", "bytes-moved", "bounds")


@pytest.fixture
def submitted(tmp_path):
    """submitted/ada/int8-matmul with a notebook in it."""
    folder = tmp_path / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_text("ada's own")
    return folder


def course(submitted):
    return submitted.parents[2]


def only(submitted):
    (found,) = submissions(course(submitted))
    return found


def test_a_notebook_is_read_with_its_timestamp(submitted):
    (submitted / "timestamp.txt").write_text("2026-01-01")
    found = only(submitted)
    assert (found.student, found.exercise, found.folder) == ("ada", NAME, submitted)
    assert found.read() == (b"ada's own", b"2026-01-01", "")
    assert (found.remarks, found.tampering) == ((), ())


@pytest.mark.parametrize("name", [f"{NAME}.ipynb", "timestamp.txt"])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_nothing_but_a_file_is_read(submitted, name, kind):
    secret = course(submitted) / "secret"
    secret.write_text("SECRET")
    path = submitted / name
    path.unlink(missing_ok=True)
    make = {"link": lambda: path.symlink_to(secret), "fifo": lambda: os.mkfifo(path)}
    make.get(kind, path.mkdir)()
    content, stamp, reason = only(submitted).read()
    if name == "timestamp.txt":
        assert (content, stamp, reason) == (b"ada's own", b"", "")
    else:
        assert (content, stamp, reason) == (b"", b"", "there is no notebook in the folder")


def test_a_notebook_that_becomes_a_link_after_it_was_found_is_not_followed(submitted):
    found = only(submitted)
    found.notebook.rename(course(submitted) / "elsewhere")
    found.notebook.symlink_to(course(submitted) / "elsewhere")
    content, _, reason = found.read()
    assert content == b""
    assert reason.startswith("the file cannot be read (")


def test_a_notebook_that_becomes_a_fifo_after_it_was_found_is_not_waited_for(submitted):
    found = only(submitted)
    found.notebook.unlink()
    os.mkfifo(found.notebook)
    assert found.read() == (b"", b"", "it is not a file")


@pytest.mark.parametrize(("size", "reason"), [(10, ""), (11, "the file has more than 1e-05 MB")])
def test_a_notebook_may_have_so_many_bytes_and_no_more(submitted, monkeypatch, size, reason):
    monkeypatch.setattr(intake, "NOTEBOOK_BYTES", 10)
    (submitted / f"{NAME}.ipynb").write_text("x" * size)
    content, _, why = only(submitted).read()
    assert (len(content), why) == (0 if reason else size, reason)


def test_a_linked_student_or_exercise_is_left_out_and_named(submitted):
    elsewhere = course(submitted) / "elsewhere" / NAME
    elsewhere.mkdir(parents=True)
    (elsewhere / f"{NAME}.ipynb").write_text("somebody else's")
    (course(submitted) / "submitted" / "eve").symlink_to(elsewhere.parent)
    (submitted.parent / "int8-weights").symlink_to(elsewhere)
    assert [(found.student, found.exercise) for found in submissions(course(submitted))] == [
        ("ada", NAME)
    ]
    assert strangers(course(submitted)) == [
        "ada/int8-weights: a link and not a folder",
        "eve: a link and not a folder",
    ]


@pytest.mark.parametrize("name", ["a<b", 'a"b', "a\nb", "a\x1bb"])
def test_a_name_that_a_page_could_take_for_html_is_left_out_and_named(submitted, name):
    submitted.parent.rename(submitted.parent.with_name(name))
    assert submissions(course(submitted)) == []
    (line,) = strangers(course(submitted))
    assert line.endswith(": not a name that a student can have")
    assert line.isprintable()


def test_folders_that_are_no_exercises_are_named(submitted):
    (submitted.parent / "Int8 Matmul").mkdir()
    (submitted.parent / ".cache").mkdir()
    assert strangers(course(submitted)) == ["ada/Int8 Matmul: not the name of an exercise"]


def test_the_notebook_with_the_right_name_is_taken_before_others(submitted):
    (submitted / f"{NAME} (1).ipynb").write_text("a copy")
    (submitted / "draft.ipynb").write_text("a draft")
    found = only(submitted)
    assert found.read()[0] == b"ada's own"
    assert found.remarks == (f"left aside: draft.ipynb, {NAME} (1).ipynb",)


def test_a_notebook_with_another_name_is_taken_if_it_is_the_only_one(submitted):
    (submitted / f"{NAME}.ipynb").rename(submitted / "mine.ipynb")
    assert only(submitted).remarks == ("the notebook was named mine.ipynb",)
    (submitted / f"{NAME} (1).ipynb").write_text("a copy")
    assert only(submitted).notebook.name == f"{NAME} (1).ipynb"
    (submitted / f"{NAME} (2).ipynb").write_text("another copy")
    assert only(submitted).reason == "several notebooks, and none has the exercise's name"


def test_of_many_files_beside_the_notebook_ten_are_named(submitted):
    for number in range(12):
        (submitted / f"{number:02}.txt").touch()
    names = ", ".join(f"{number:02}.txt" for number in range(10))
    assert only(submitted).remarks == (f"left aside: {names} and 2 more",)


def test_modules_beside_the_notebook_are_told(submitted):
    for name in ("numpy.py", "notes.py", "numpy.txt"):
        (submitted / name).touch()
    (submitted / "rooflib").mkdir()
    lines = only(submitted).tampering
    assert [line.split()[0] for line in lines] == ["numpy.py", "rooflib"]


def test_what_decides_about_a_submission_is_in_its_digest():
    digests = {
        digest(b"content", b"stamp", "reason"),
        digest(b"other", b"stamp", "reason"),
        digest(b"content", b"other", "reason"),
        digest(b"content", b"stamp", "other"),
        digest(b"", b"stampcontent", "reason"),
        digest(b"content", b"", "reasonstamp"),
    }
    assert len(digests) == 6
    assert digest(b"content", b"stamp", "reason") in digests


def test_a_folder_that_nbgrader_would_trip_over_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "NOTEBOOK_BYTES", 10)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "small.ipynb").write_text("x" * 10)
    intake.refuse_odd_files(tmp_path)
    (tmp_path / "large.ipynb").write_text("x" * 11)
    with pytest.raises(ValueError, match=r"large.ipynb has more than 0 MB"):
        intake.refuse_odd_files(tmp_path)
    (tmp_path / "large.ipynb").unlink()
    (tmp_path / "inner" / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="link is neither a file nor a folder; take it out"):
        intake.refuse_odd_files(tmp_path)


# --- repaired cells -------------------------------------------------------------------------------


def source():
    return copy.deepcopy(exercises.source(NAME))


def grade_ids(notebook):
    return [one.metadata.get("nbgrader", {}).get("grade_id") for one in notebook.cells]


def test_nothing_is_said_about_a_notebook_as_it_was_released():
    notebook = source()
    assert repair(notebook, NAME) == ([], [])
    assert notebook == source()


def test_changed_points_of_a_check_are_tampering_and_put_right():
    notebook = source()
    cell(notebook, "bytes-moved").metadata.nbgrader.points = 1000
    assert repair(notebook, NAME) == ([], ["the points of the cell bytes-moved were changed"])
    assert cell(notebook, "bytes-moved").metadata.nbgrader.points == 3


@pytest.mark.parametrize("grade_id", LOCKED)
def test_a_changed_text_of_a_locked_cell_is_tampering_and_put_right(grade_id):
    notebook = changed(source(), grade_id, source="print(1)")
    told = [f"the text of the locked cell {grade_id} was changed"]
    assert repair(notebook, NAME) == ([], told)
    assert notebook == source()


def test_other_white_space_in_a_locked_cell_is_no_tampering():
    notebook = source()
    cell(notebook, "times").source += "\n\n"
    assert repair(notebook, NAME) == ([], [])
    assert notebook == source()


def test_what_stands_in_a_solution_cell_is_the_learners():
    notebook = changed(source(), "times-solution", source="# mine")
    assert repair(notebook, NAME) == ([], [])
    assert cell(notebook, "times-solution").source == "# mine"


def test_of_two_cells_of_one_mark_the_last_counts_and_a_second_check_is_removed():
    notebook = twice(source(), "times-solution")
    first = grade_ids(notebook).index("times-solution")
    notebook.cells[first].source = "# the first"
    remarks, tampering = repair(twice(notebook, "times"), NAME)
    assert sorted(remarks) == [
        "the cell times was there more than once",
        "the cell times-solution was there more than once",
    ]
    assert tampering == []
    assert list(filter(None, grade_ids(notebook))) == list(filter(None, grade_ids(source())))
    assert "nbgrader" not in notebook.cells[first].metadata
    assert notebook.cells[first].source == "# the first"


def test_a_deleted_check_is_put_back_behind_its_function_wherever_that_is():
    notebook = without(source(), "bytes-moved")
    notebook.cells.append(code("def bytes_moved(B, D, F):\n    return 1, 2\n"))
    assert repair(notebook, NAME) == (["the cell bytes-moved was missing"], [])
    assert grade_ids(notebook)[-2:] == [None, "bytes-moved"]


def test_a_deleted_solution_is_put_back_empty_at_its_place():
    notebook = without(source(), "bounds-solution")
    assert repair(notebook, NAME) == (["the cell bounds-solution was missing"], [])
    assert list(filter(None, grade_ids(notebook))) == list(filter(None, grade_ids(source())))
    assert cell(notebook, "bounds-solution").source == ""


@pytest.mark.parametrize("ids", [True, False])
def test_cells_without_metadata_are_recognised(ids):
    notebook = source()
    for one in notebook.cells:
        one.metadata = nbformat.NotebookNode()
        if not ids:
            one.pop("id")
    notebook.metadata.kernelspec = {"name": "no"}
    remarks, tampering = repair(notebook, NAME)
    assert "the cell bytes-moved-solution had lost its metadata" in remarks
    assert "the cell bounds had lost its metadata" in remarks
    assert tampering == []
    for key in ("bytes-moved", "bytes-moved-solution", "bounds"):
        assert cell(notebook, key).metadata.nbgrader == cell(source(), key).metadata.nbgrader
        assert cell(notebook, key).source == cell(source(), key).source
    assert notebook.metadata.kernelspec.name == "python3"


def test_a_cell_that_does_not_parse_is_recognised_by_its_function():
    notebook = source()
    lost = cell(notebook, "times-solution")
    lost.metadata = nbformat.NotebookNode()
    lost.pop("id")
    lost.source = "def times(B, D, F, peak, bandwidth)\n    return 1, 2"
    assert repair(notebook, NAME)[0] == ["the cell times-solution had lost its metadata"]


def test_somebody_elses_marks_are_removed():
    notebook = source()
    notebook.cells.append(code("1"))
    notebook.cells[-1].metadata["nbgrader"] = {"grade_id": "mine", "grade": True, "points": 99}
    assert repair(notebook, NAME) == ([], [])
    assert "nbgrader" not in notebook.cells[-1].metadata


def test_a_retyped_cell_gets_its_type_back():
    notebook = source()
    one = cell(notebook, "times")
    one.cell_type = "markdown"
    del one["outputs"], one["execution_count"]
    one["attachments"] = {}
    assert repair(notebook, NAME) == (["the cell times had become a markdown cell"], [])
    assert notebook == source()


def test_a_submission_names_the_reason_that_is_known_already(tmp_path):
    assert Submission("ada", NAME, tmp_path, None, "why").read() == (b"", b"", "why")
