"""Tests of a course folder with every kind of accident in submissions.

Grading finishes; right solutions keep their points; and submissions that can't be graded are listed
with the reason and have a row.
"""

import copy
import csv
import json
import shutil

import nbformat
import pytest
from classroom import Classroom, cell, code, with_first
from classroom.accidents import FULL, OLD, RIGHT, changed
from classroom.leaks import files_for_learners, hidden_texts, leaks, solution_lines
from series import in_full, in_part

from grading.__main__ import main
from grading.records.seed import course_seed
from grading.release import exercises
from grading.release.cases import hidden
from grading.reports import rows as report

NAME = "int8-matmul"


OTHER = (
    "renamed",
    "missing",
    "empty-file",
    "no-json",
    "json-but-no-notebook",
    "no-cells",
    "shadow",
)
ENCODINGS = {"bom": "utf-8-sig", "utf-16": "utf-16", "utf-16-no-mark": "utf-16-le"}
PLACES = {
    "capitals": f"{NAME.upper()}.IPYNB",
    "ending": f"{NAME}.ipynb.txt",
    "too-deep": f"{NAME}/{NAME}.ipynb",
}
UNGRADED = {
    "missing": "there is no notebook in the folder",
    "empty-file": "the file is empty",
    "no-json": "the file is not JSON",
    "json-but-no-notebook": "the file is not a notebook",
    "no-cells": "the notebook has no cells",
}


@pytest.fixture(scope="module")
def room(request, tmp_path_factory, release):
    room = Classroom(tmp_path_factory.mktemp("course"), release)
    right = room.solved(NAME)
    for student, (change, _) in list(RIGHT.items())[:: 1 if in_full(request) else 3]:
        room.hand_in(student, NAME, change(copy.deepcopy(right)))
    path = room.hand_in("renamed", NAME, right)
    path.rename(path.with_name(f"{NAME} (1).ipynb"))
    room.folder_of("missing", NAME)
    (room.folder_of("empty-file", NAME) / f"{NAME}.ipynb").write_text("")
    (room.folder_of("no-json", NAME) / f"{NAME}.ipynb").write_text("<html>login</html>")
    (room.folder_of("json-but-no-notebook", NAME) / f"{NAME}.ipynb").write_text('{"a": 1}')
    room.hand_in("no-cells", NAME, nbformat.v4.new_notebook())
    path = room.hand_in("shadow", NAME, with_first(right, "import numpy\nnumpy.float64"))
    for module in ("numpy.py", "rooflib.py"):
        (path.parent / module).write_text("raise ImportError('shadow')\n")
    for student, version in OLD.items():
        old = nbformat.convert(copy.deepcopy(right), version)
        if version == 4:
            old.nbformat_minor = 0
            for one in old.cells:
                one.pop("id", None)
        path = room.folder_of(student, NAME) / f"{NAME}.ipynb"
        path.write_text(json.dumps(old))
    whole = nbformat.writes(right)
    for student, encoding in ENCODINGS.items():
        (room.folder_of(student, NAME) / f"{NAME}.ipynb").write_bytes(whole.encode(encoding))
    for student, place in PLACES.items():
        path = room.folder_of(student, NAME) / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(whole)
        (path.parent / f"._{path.name}").write_bytes(b"\0\5\x16\7")
    leaker = "seen = []\n\n\n" + cell(right, "bytes-moved-solution").source.replace(
        "    return", "    seen.append((B, D, F))\n    print(B, D, F)\n    return"
    )
    leaker = changed(copy.deepcopy(right), "bytes-moved-solution", source=leaker)
    leaker.cells.append(code("print(seen)"))
    room.hand_in("leaker", NAME, leaker)
    room.hand_in("untouched", NAME, room.released(NAME))
    (room.folder / "submitted" / "as-it-is" / "Int8 Matmul").mkdir()
    main(["grade", str(room.folder)])
    return room


@pytest.fixture
def grades(room):
    with (room.folder / "grades.csv").open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file) if row["assignment"] == NAME}


@pytest.mark.parametrize("student", in_part(RIGHT))
def test_accidentally_changed_notebooks_get_fair_points(grades, student):
    assert float(grades[student]["score"]) == RIGHT[student][1]


@pytest.mark.parametrize("student", ["renamed", "shadow", "leaker", *OLD, *ENCODINGS, *PLACES])
def test_renamed_and_converted_notebooks_keep_their_points(grades, student):
    assert float(grades[student]["score"]) == FULL


@pytest.mark.parametrize("student", UNGRADED)
def test_ungraded_submissions_are_reported_and_have_a_row_in_the_grades(room, grades, student):
    assert (grades[student]["score"], grades[student]["note"]) == ("0", UNGRADED[student])
    assert [f"{student}/{NAME}", UNGRADED[student]] in listed(room)
    with room.course.gradebook() as gradebook:
        assert gradebook.find_submission(NAME, student).needs_manual_grade
    feedback = room.course.feedback(student, NAME).read_text()
    assert UNGRADED[student] in feedback


def listed(room):
    with (room.folder / "not-graded.csv").open(newline="") as file:
        return list(csv.reader(file))


def test_incomplete_runs_are_listed_as_not_graded(room):
    ended = "A cell ended the whole Python process; the cells after it were not run"
    assert [f"process-ended/{NAME}", ended] in listed(room)


def test_folders_without_an_exercise_name_are_listed(room):
    assert ["as-it-is/Int8 Matmul", "not the name of an exercise"] in listed(room)


def test_each_kind_of_accident_has_a_student(room, grades):
    handed_in = {path.name for path in (room.folder / "submitted").iterdir()}
    assert set(grades) == handed_in
    right = handed_in & set(RIGHT)
    assert len(right) >= len(RIGHT) / 3
    assert len(handed_in) == sum(map(len, (right, OTHER, OLD, ENCODINGS, PLACES))) + 2


def test_exercises_without_submission_are_listed_as_not_handed_in(room):
    rows = report.grades(room.course, room.course.state())
    assert {row[4] for row in rows if row[1] != NAME} == {"not handed in"}


def test_renamed_notebooks_and_ignored_modules_are_recorded_as_remarks(room):
    state = room.course.state()
    assert state["renamed"][NAME]["remarks"] == [f"the notebook was named {NAME} (1).ipynb"]
    assert state["shadow"][NAME]["remarks"] == ["left aside: numpy.py, rooflib.py"]


def snapshot(room):
    files = [path for path in room.folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


REWRITTEN = {
    "grades.csv",
    "parts.csv",
    "misconceptions.csv",
    "misconceptions.svg",
    "not-graded.csv",
    "times.csv",
    "tampering.csv",
    "alike.csv",
    "report.html",
}


def test_grading_again_changes_nothing(room, capsys):
    before = snapshot(room)
    main(["grade", str(room.folder)])
    after = snapshot(room)
    said = capsys.readouterr()
    assert said.err == "", "there is no progress to show"
    assert said.out.startswith("0 graded")
    for name in ("report.html", "grades.csv"):
        assert str(room.folder / name) in said.out
    assert after.keys() == before.keys()
    for path in before:
        if path.name in REWRITTEN:
            assert after[path][1] == before[path][1], path
        else:
            assert after[path] == before[path], path


def test_only_changed_submissions_are_graded_again(room, capsys):
    others = {
        path: content
        for path, content in snapshot(room).items()
        if "autograded" in path.parts and "untouched" not in path.parts
    }
    room.hand_in("untouched", NAME, room.solved(NAME))
    main(["grade", str(room.folder)])
    said = capsys.readouterr()
    assert "1 graded" in said.out
    assert "1/1" in said.err
    now = snapshot(room)
    assert {path: now[path] for path in others} == others
    rows = {
        row[0]: row[2] for row in report.grades(room.course, room.course.state()) if row[1] == NAME
    }
    assert rows["untouched"] == "20"


# --- leaks to learners ----------------------------------------------------------------------------


def test_a_release_holds_only_one_notebook_per_exercise(room):
    release = room.folder / "release"
    files = {str(path.relative_to(release)) for path in release.rglob("*") if not path.is_dir()}
    assert files == {f"{name}/{name}.ipynb" for name in exercises.names()}
    assert len(files) == 9


def test_learners_get_no_solutions(room):
    files = list(files_for_learners(room, *UNGRADED))
    assert len(files) == len(exercises.names()) + 2 * len(UNGRADED)
    assert leaks(files, solution_lines()) == []


def test_learners_get_no_hidden_cases(room):
    files = list(
        files_for_learners(room, *(path.name for path in (room.folder / "autograded").iterdir()))
    )
    assert len(files) > 40
    assert leaks(files, hidden_texts(room)) == []


def test_the_leak_check_finds_solution_code_and_hidden_cases(room, tmp_path):
    released = tmp_path / "leak.ipynb"
    shutil.copy(room.folder / "release" / NAME / f"{NAME}.ipynb", released)
    nb = nbformat.read(released, as_version=4)
    nb.cells.append(code(cell(exercises.source(NAME), "times-solution").source))
    nbformat.write(nb, released)
    assert leaks([released], solution_lines())
    case = hidden(NAME, exercises.load(NAME).parts[0], course_seed(room.folder)).inputs[0]
    for text in (repr([tuple(case.values())]), str(dict(case)), " ".join(map(str, case.values()))):
        nb = nbformat.v4.new_notebook(cells=[code("seen")])
        nb.cells[0].outputs = [nbformat.v4.new_output("stream", text=text)]
        nbformat.write(nb, released)
        assert leaks([released], hidden_texts(room)), text


def test_the_seed_of_a_course_is_private_and_never_leaked(room):
    file = room.folder / ".grading" / "seed"
    assert file.stat().st_mode & 0o077 == 0
    assert len(course_seed(room.folder)) == 32
    assert leaks(files_for_learners(room, "leaker"), [course_seed(room.folder)]) == []
