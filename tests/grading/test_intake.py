"""Tests of finding, reading and repairing submissions."""

import copy
import errno
import json
import os
import tracemalloc
from pathlib import Path

import nbformat
import pytest
from classroom import cell, code
from classroom.accidents import changed, twice, without

from grading.intake import reading, safe_files
from grading.intake import submissions as intake
from grading.intake.own_code import added
from grading.intake.repair import repair
from grading.intake.submissions import Submission, digest, misplaced, submissions
from grading.release import exercises
from grading.work import read

NAME = "int8-matmul"
LOCKED = ("given", "bytes-moved", "bounds")


@pytest.fixture
def submitted(tmp_path):
    """Create submitted/ada/int8-matmul with a notebook."""
    folder = tmp_path / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_text("ada's own")
    return folder


def course(submitted):
    return submitted.parents[2]


def only(submitted):
    (found,) = submissions(course(submitted))
    return found


def test_an_ordinary_submission_has_no_remarks(submitted):
    for name in (".DS_Store", "timestamp.txt", "submission_secret.txt"):
        (submitted / name).touch()
    found = only(submitted)
    assert found.notebook == submitted / f"{NAME}.ipynb"
    assert (found.reason, found.question, found.note) == ("", "", "")
    assert (found.remarks, found.tampering) == ((), ())


def test_a_notebook_is_read_with_its_timestamp(submitted):
    (submitted / "timestamp.txt").write_text("2026-01-01")
    found = only(submitted)
    assert (found.student, found.exercise, found.folder) == ("ada", NAME, submitted)
    assert found.read() == (b"ada's own", b"2026-01-01", "")
    assert (found.remarks, found.tampering) == ((), ())


@pytest.mark.parametrize("size", [1_000, 1_001])
def test_timestamps_longer_than_1000_bytes_are_not_read(submitted, size):
    (submitted / "timestamp.txt").write_text("x" * size)
    assert len(only(submitted).read()[1]) == (size if size == 1_000 else 0)


def test_a_folder_without_a_notebook_has_a_reason(submitted):
    (submitted / f"{NAME}.ipynb").rename(submitted / "._hidden.ipynb")
    reason = "there is no notebook in the folder"
    assert only(submitted) == Submission("ada", NAME, submitted, None, reason)


@pytest.mark.parametrize(
    ("folders", "found"), [(("a", "b", "c"), True), (("a", "b", "c", "d"), False)]
)
def test_notebooks_are_found_three_folders_deep(submitted, folders, found):
    place = submitted.joinpath(*folders)
    place.mkdir(parents=True)
    (submitted / f"{NAME}.ipynb").rename(place / f"{NAME}.ipynb")
    assert (only(submitted).notebook is not None) == found


@pytest.mark.parametrize(("number", "found"), [(98, True), (99, False)])
def test_notebooks_are_found_in_the_first_hundred_folders(submitted, number, found):
    for one in range(110):
        (submitted / f"{one:03}").mkdir()
    (submitted / f"{NAME}.ipynb").rename(submitted / f"{number:03}" / f"{NAME}.ipynb")
    assert (only(submitted).notebook is not None) == found


@pytest.mark.parametrize("name", [f"{NAME}.ipynb", "timestamp.txt"])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_only_regular_files_are_read(submitted, name, kind):
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


def test_a_notebook_swapped_for_a_symlink_is_not_read(submitted):
    found = only(submitted)
    found.notebook.rename(course(submitted) / "elsewhere")
    found.notebook.symlink_to(course(submitted) / "elsewhere")
    content, _, reason = found.read()
    assert content == b""
    assert reason.startswith("the file cannot be read (")


def test_a_notebook_swapped_for_a_fifo_does_not_block(submitted):
    found = only(submitted)
    found.notebook.unlink()
    os.mkfifo(found.notebook)
    assert found.read() == (b"", b"", "it is not a file")


@pytest.mark.parametrize(
    ("size", "reason"),
    [(0, "the file is empty"), (10, ""), (11, "the file has more than 1e-05 MB")],
)
def test_oversized_notebooks_are_refused(submitted, monkeypatch, size, reason):
    monkeypatch.setattr(intake, "MAX_NOTEBOOK_BYTES", 10)
    (submitted / f"{NAME}.ipynb").write_text("x" * size)
    content, _, why = only(submitted).read()
    assert (len(content), why) == (0 if reason else size, reason)


def test_notebooks_may_have_20_megabytes(submitted):
    for size, reason in ((20_000_000, ""), (20_000_001, "the file has more than 20 MB")):
        os.truncate(submitted / f"{NAME}.ipynb", size)
        assert only(submitted).read()[2] == reason


def test_symlinked_folders_are_skipped_and_reported(submitted):
    elsewhere = course(submitted) / "elsewhere" / NAME
    elsewhere.mkdir(parents=True)
    (elsewhere / f"{NAME}.ipynb").write_text("somebody else's")
    (course(submitted) / "submitted" / "eve").symlink_to(elsewhere.parent)
    (submitted.parent / "int8-weights").symlink_to(elsewhere)
    assert [(found.student, found.exercise) for found in submissions(course(submitted))] == [
        ("ada", NAME)
    ]
    assert misplaced(course(submitted)) == [
        "ada/int8-weights: a link and not a folder",
        "eve: a link and not a folder",
    ]


@pytest.mark.parametrize(
    "name",
    ["a<b", 'a"b', "a\nb", "a\x1bb", "*", "a?", "[ab]", "a\\b", "a\u202eb", "a\u2028b", "a\udcff"],
)
def test_unsafe_student_names_are_skipped_and_reported(submitted, name):
    submitted.parent.rename(submitted.parent.with_name(name))
    assert submissions(course(submitted)) == []
    (line,) = misplaced(course(submitted))
    assert line.endswith(": not a name that a student can have")
    assert line.isprintable()


@pytest.mark.parametrize(
    "name",
    [
        *("O'Brien", "Núñez, José", "Anna Maria", "a.b+c@d", "-rf", "$HOME", "{student_id}", "%s"),
        *(
            "李雷",
            "علی\u200cرضا",
            "क्\u200dष",
            "Лев",
            "山田\u3000太郎",
            "Jean\u00a0Luc",
            "דנה\u200f",
            "&amp;",
        ),
    ],
)
def test_student_names_in_any_writing_system_are_accepted(submitted, name):
    submitted.parent.rename(submitted.parent.with_name(name))
    assert [one.student for one in submissions(course(submitted))] == [name]
    assert misplaced(course(submitted)) == []


def test_misplaced_files_and_folders_are_reported(submitted):
    ada, top = submitted.parent, submitted.parents[1]
    for place in (top / f"{NAME}.ipynb", ada / "mine.ipynb", top / ".DS_Store"):
        place.write_text("x")
    for folder in (top, ada):
        (folder / "notes.txt").touch()
    for place in (top / ".bob" / NAME, ada / f".{NAME}", top / "__MACOSX", ada / NAME.upper()):
        place.mkdir(parents=True)
    for place in (ada / "__MACOSX", top / ".git"):
        place.mkdir()
    (ada / "int8-weights").touch()
    for place in (top / "file", ada / "file"):
        place.symlink_to(ada / "notes.txt")
    (ada / "old").symlink_to(top)
    assert misplaced(course(submitted)) == [
        ".bob: a name that begins with a dot is hidden",
        f"ada/.{NAME}: not the name of an exercise",
        f"ada/{NAME.upper()}: the exercise has another folder",
        "ada/mine.ipynb: a notebook must lie in a folder with the name of its exercise",
        "ada/old: not the name of an exercise",
        f"{NAME}.ipynb: a notebook must lie in STUDENT/EXERCISE/",
    ]


def test_folders_that_cannot_be_listed_are_reported(submitted, monkeypatch):
    """Simulate the refusal, since root may list any folder."""
    listed = safe_files.list_folder

    def list_folder(base, parts=()):
        if tuple(parts) == ("bob",):
            raise PermissionError(errno.EACCES, "refused")
        return listed(base, parts)

    (submitted.parents[1] / "bob").mkdir()
    monkeypatch.setattr(safe_files, "list_folder", list_folder)
    assert misplaced(course(submitted)) == ["bob: the folder cannot be read (Permission denied)"]


def test_an_exercise_folder_that_cannot_be_listed_is_reported(submitted, monkeypatch):
    def list_folder(base, parts=()):
        if len(parts) == 2:
            raise PermissionError(errno.EACCES, "refused")
        return listed(base, parts)

    listed = safe_files.list_folder
    monkeypatch.setattr(safe_files, "list_folder", list_folder)
    reason = "the folder cannot be read (Permission denied)"
    found = only(submitted)
    assert found == Submission("ada", NAME, submitted, None, reason)
    assert (found.question, found.note) == ("", "")


def test_only_folders_with_valid_names_are_students(submitted):
    for name in ("bob", "eve*", ".git", "__MACOSX"):
        (submitted.parents[1] / name).mkdir()
    for name in ("notes.txt", "?.txt"):
        (submitted.parents[1] / name).touch()
    assert sorted(intake.handed_in(course(submitted))) == ["ada", "bob"]
    refused = [("eve*", "not a name that a student can have")]
    assert intake.refused_students(course(submitted)) == refused


@pytest.mark.parametrize("kind", ["file", "link", "nothing"])
def test_only_real_folders_are_opened(tmp_path, kind):
    place = tmp_path / "place"
    make = {"file": place.touch, "link": lambda: place.symlink_to(tmp_path)}
    make.get(kind, list)()
    with pytest.raises(OSError, match="place"), safe_files.open_folder(tmp_path, ("place",)):
        pass
    if kind != "link":
        with pytest.raises(OSError, match="place"), safe_files.open_folder(place, ()):
            pass


def descriptors():
    return {one.name for one in Path("/proc/self/fd").iterdir()}


def test_listing_and_reading_leave_no_descriptor_open(submitted):
    os.mkfifo(submitted / "fifo")
    before = descriptors()
    safe_files.list_folder(submitted.parent, (NAME,))
    for name in ("fifo", f"{NAME}.ipynb", "none"):
        safe_files.read(submitted.parent, (NAME, name), 10)
    assert descriptors() <= before


def test_a_file_that_cannot_be_read_is_reported():
    """Read /proc/self/mem: nothing is mapped at address 0, so reading fails."""
    assert safe_files.read(Path("/proc/self"), ("mem",), 10) == (
        b"",
        "the file cannot be read (Input/output error)",
    )


# Misplaced or misnamed notebooks that must still be found: case → path.
PLACES = {
    "in capitals": f"{NAME.upper()}.IPYNB",
    "with an ending of a browser": f"{NAME}.ipynb.txt",
    "with another ending": f"{NAME}.ipynb.json",
    "a folder too deep": f"{NAME}/{NAME}.ipynb",
    "two folders too deep": f"hand-in/{NAME}/{NAME}.ipynb",
    "beside what macOS hides": f"{NAME}.ipynb",
}


@pytest.mark.parametrize("where", PLACES)
def test_a_single_misplaced_notebook_is_found(submitted, where):
    place = submitted / PLACES[where]
    (submitted / f"{NAME}.ipynb").rename(submitted / "waits")
    place.parent.mkdir(parents=True, exist_ok=True)
    (submitted / "waits").rename(place)
    for hidden in (submitted / f"._{NAME}.ipynb", place.parent / f"._{place.name}"):
        hidden.write_text("what macOS keeps for itself")
    for folder in (".ipynb_checkpoints", "__MACOSX"):
        (submitted / folder).mkdir()
        (submitted / folder / f"{NAME}-checkpoint.ipynb").write_text("older")
    found = only(submitted)
    assert (found.read()[0], found.reason) == (b"ada's own", "")
    told = [] if where.startswith("beside") else [f"the notebook was named {PLACES[where]}"]
    assert [line for line in found.remarks if "named" in line] == told


def test_exercise_folders_match_case_insensitively(submitted):
    submitted.rename(submitted.with_name("Int8-Matmul"))
    found = only(submitted)
    assert (found.exercise, found.read()[0]) == (NAME, b"ada's own")
    assert found.remarks == ("the folder was named Int8-Matmul",)
    assert misplaced(course(submitted)) == []


def test_ambiguous_nested_notebooks_are_not_graded(submitted):
    (submitted / f"{NAME}.ipynb").unlink()
    for name in ("first", "second"):
        (submitted / name).mkdir()
        (submitted / name / f"{NAME}.ipynb").write_text(name)
    said = f"several notebooks, and none has the exercise's name: first/{NAME}.ipynb"
    assert only(submitted).reason == f"{said}, second/{NAME}.ipynb"


@pytest.mark.parametrize("what", ["student", "exercise", "notebook"])
def test_swapped_in_symlinks_are_not_followed(submitted, what):
    """Replace a folder or the notebook by a symlink after it was found."""
    found = only(submitted)
    elsewhere = course(submitted) / "elsewhere"
    path = {"student": submitted.parent, "exercise": submitted, "notebook": found.notebook}[what]
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert found.notebook.read_bytes() == b"ada's own", "so it would be read through the link"
    content, stamp, reason = found.read()
    assert (content, stamp) == (b"", b"")
    assert reason.startswith("the file cannot be read (")


def test_folders_without_an_exercise_name_are_reported(submitted):
    (submitted.parent / "Int8 Matmul").mkdir()
    (submitted.parent / ".cache").mkdir()
    assert misplaced(course(submitted)) == ["ada/Int8 Matmul: not the name of an exercise"]


def test_the_notebook_with_the_exact_name_is_preferred(submitted):
    (submitted / f"{NAME} (1).ipynb").write_text("a copy")
    (submitted / "draft.ipynb").write_text("a draft")
    (submitted / "old").mkdir()
    (submitted / "old" / "a.ipynb").write_text("another draft")
    found = only(submitted)
    assert found.read()[0] == b"ada's own"
    assert found.remarks == (f"left aside: draft.ipynb, {NAME} (1).ipynb, old/a.ipynb",)


def test_a_single_notebook_with_another_name_is_accepted(submitted):
    (submitted / f"{NAME}.ipynb").rename(submitted / "mine.ipynb")
    assert only(submitted).remarks == ("the notebook was named mine.ipynb",)
    (submitted / f"{NAME} (1).ipynb").write_text("a copy")
    assert only(submitted).notebook.name == f"{NAME} (1).ipynb"
    (submitted / f"{NAME} (2).ipynb").write_text("another copy")
    assert only(submitted).reason == (
        "several notebooks, and none has the exercise's name: "
        f"{NAME} (1).ipynb, {NAME} (2).ipynb, mine.ipynb"
    )
    (submitted / f"{NAME} (2).ipynb").write_text("a copy")
    assert only(submitted).read()[0] == b"a copy", "copies of one notebook are one"


@pytest.mark.parametrize(("count", "more"), [(10, ""), (12, " and 2 more")])
def test_at_most_ten_extra_files_are_named(submitted, count, more):
    for number in range(count):
        (submitted / f"{number:02}.txt").touch()
    names = ", ".join(f"{number:02}.txt" for number in range(10))
    assert only(submitted).remarks == (f"left aside: {names}{more}",)


def test_modules_that_shadow_the_courses_are_reported(submitted):
    for name in ("numpy.py", "notes.py", "numpy.txt"):
        (submitted / name).touch()
    (submitted / "rooflib").mkdir()
    lines = only(submitted).tampering
    assert [line.split()[0] for line in lines] == ["numpy.py", "rooflib"]
    assert only(submitted).remarks == ("left aside: notes.py, numpy.py, numpy.txt",)


def test_the_digest_covers_the_whole_submission():
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


def test_special_files_and_oversized_notebooks_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "MAX_NOTEBOOK_BYTES", 10)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "small.ipynb").write_text("x" * 10)
    (tmp_path / "large.csv").write_text("x" * 11)
    intake.refuse_special_files(tmp_path)
    (tmp_path / "large.ipynb").write_text("x" * 11)
    with pytest.raises(ValueError, match=r"large.ipynb has more than 0 MB"):
        intake.refuse_special_files(tmp_path)
    (tmp_path / "large.ipynb").unlink()
    (tmp_path / "inner" / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="link is neither a file nor a folder; take it out"):
        intake.refuse_special_files(tmp_path)


# --- parsed notebooks -----------------------------------------------------------------------------


def parsed(*cells, **content):
    return reading.notebook(json.dumps({"cells": cells} | content))


def markdown(**fields):
    return {"cell_type": "markdown", "source": "x"} | fields


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_notebooks_in_utf_8_and_utf_16_are_read(encoding):
    (only_cell,) = reading.of_bytes(json.dumps({"cells": [markdown()]}).encode(encoding)).cells
    assert only_cell.source == "x"


@pytest.mark.parametrize("odd", [{}, {"nbformat": 4}, {"nbformat_minor": 7}, {"metadata": [1]}])
@pytest.mark.parametrize("sheets", [None, 7, [7], [{"cells": 7}]])
def test_missing_or_invalid_notebook_fields_are_corrected(odd, sheets):
    code_cell = {"cell_type": "code", "metadata": 7, "outputs": 7, "execution_count": "x"}
    notebook = parsed(code_cell, markdown(metadata=[]), worksheets=sheets, **odd)
    assert (notebook.nbformat, notebook.nbformat_minor, notebook.metadata) == (4, 5, {})
    nbformat.validate(notebook)
    assert [one.source for one in notebook.cells] == ["", "x"]


@pytest.mark.parametrize(
    ("source", "text"), [("a\n", "a\n"), (["a\n", "b"], "a\nb"), (None, ""), ([], "")]
)
def test_a_cells_source_may_be_a_list_of_lines_or_null(source, text):
    assert parsed(markdown(source=source)).cells[0].source == text


@pytest.mark.parametrize(
    "odd",
    [
        *("x", {"source": "x"}, {"cell_type": "heading", "source": "x"}),
        *(markdown(source=source) for source in (7, {"a": 1}, [7], ["a", 7])),
    ],
    ids=str,
)
def test_notebooks_with_an_invalid_cell_are_refused(odd):
    assert read(json.dumps({"cells": [odd]}).encode()) == (None, "the file is not a notebook")


@pytest.mark.parametrize(
    "text",
    [
        "7",
        "[]",
        '{"nbformat": 5, "cells": [{"cell_type": "code"}]}',
        '{"cells": 7}',
        '{"nbformat": 4}',
        "null",
    ],
)
def test_json_that_is_no_notebook_is_refused(text):
    assert read(text.encode()) == (None, "the file is not a notebook")


def test_each_cell_gets_a_unique_valid_id():
    ids = ["cell-0", "a", "a", None, 7, "", "a b", "é", "b" * 64, "b" * 65]
    found = [one.id for one in parsed(*(markdown(id=name) for name in ids), markdown()).cells]
    assert len(set(found)) == len(ids) + 1
    assert [name for name in found if name in ids] == ["cell-0", "a", "b" * 64]
    assert (found[1], found[8]) == ("a", "b" * 64)


def test_attachments_are_kept_in_markdown_cells_only():
    picture = {"a.png": {"image/png": "eA=="}}
    cells = parsed(markdown(attachments=picture), markdown(attachments=7), markdown()).cells
    assert [one.get("attachments") for one in cells] == [picture, None, None]
    assert "attachments" not in parsed({"cell_type": "code", "attachments": picture}).cells[0]


def of_version_3(count):
    cells = [nbformat.v3.new_text_cell("markdown", source="x")] * count
    return nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet(cells=cells)])


@pytest.mark.parametrize("old", [False, True])
def test_notebooks_may_have_a_thousand_cells(old):
    def read_with(count):
        notebook = of_version_3(count) if old else {"cells": [markdown()] * count}
        return read(json.dumps(notebook).encode())

    notebook, problem = read_with(1_000)
    assert (len(notebook.cells), problem) == (1_000, "")
    assert notebook.cells[-1].source == "x"
    assert read_with(1_001) == (None, "the notebook has more than 1000 cells")


# --- repaired cells -------------------------------------------------------------------------------


def source():
    return copy.deepcopy(exercises.source(NAME))


def grade_ids(notebook):
    return [one.metadata.get("nbgrader", {}).get("grade_id") for one in notebook.cells]


def test_an_unchanged_notebook_has_no_remarks():
    notebook = source()
    assert repair(notebook, NAME) == ([], [])
    assert notebook == source()


@pytest.mark.parametrize(
    "odd",
    [{}, {"language_info": {}}, {"language_info": 7}, {"kernelspec": None}, {"title": [1]}],
    ids=str,
)
def test_any_editor_metadata_is_accepted(odd):
    text = json.dumps(json.loads(nbformat.writes(source())) | {"metadata": odd})
    notebook, _ = read(text.encode())
    assert repair(notebook, NAME) == ([], [])
    nbformat.validate(notebook)
    assert notebook.metadata == source().metadata


def test_changed_points_are_reported_and_restored():
    notebook = source()
    cell(notebook, "bytes-moved").metadata.nbgrader.points = 1000
    assert repair(notebook, NAME) == ([], ["the points of the cell bytes-moved were changed"])
    assert cell(notebook, "bytes-moved").metadata.nbgrader.points == 3


@pytest.mark.parametrize("grade_id", LOCKED)
def test_changed_locked_cells_are_reported_and_restored(grade_id):
    notebook = changed(source(), grade_id, source="print(1)")
    told = [f"the text of the locked cell {grade_id} was changed"]
    assert repair(notebook, NAME) == ([], told)
    assert notebook == source()


def above_and_below(grade_id, more, below=True):
    """Return (notebook with code added to this locked cell, the cell's own text)."""
    notebook = source()
    one = cell(notebook, grade_id)
    own = one.source
    one.source = f"{own}\n{more}" if below else f"{more}\n{own}"
    return notebook, own


@pytest.mark.parametrize("below", [True, False])
@pytest.mark.parametrize(
    "more",
    [
        *("import math", "from fractions import Fraction as F", "TERA = 1e12", "K: float = 1024"),
        *("def tera(x):\n    return x / 1e12", "%matplotlib inline\nimport math", "print('mine')"),
        *("@staticmethod\ndef f():\n    pass", "a = 1; b = 2", "class Chip:\n    peak = 1"),
    ],
)
@pytest.mark.parametrize("grade_id", ["given", "times"])
def test_code_added_to_a_locked_cell_is_moved_to_its_own_cell(grade_id, more, below):
    notebook, own = above_and_below(grade_id, more, below)
    told = [f"what was added to the locked cell {grade_id} was kept"]
    assert repair(notebook, NAME) == (told, [])
    at = grade_ids(notebook).index(grade_id)
    mine = notebook.cells[at - 1 if grade_id == "times" else at + 1]
    assert mine.id == f"added-to-{grade_id}", "ids must not differ between two gradings"
    assert notebook.cells[at].source == own
    assert mine.source == more.removeprefix("%matplotlib inline\n")
    notebook.cells.remove(mine)
    assert notebook == source()


@pytest.mark.parametrize(
    "more", ["peak = 1.0", "import math as peak", "def bandwidth():\n    pass", "peak, x = 1, 2"]
)
def test_code_added_to_a_locked_cell_cannot_rebind_its_names(more):
    notebook, _ = above_and_below("given", more)
    told, tampering = repair(notebook, NAME)
    assert (told, tampering) == ([], ["the text of the locked cell given was changed"])
    assert notebook == source()


def test_an_answer_that_replaced_a_check_is_kept():
    notebook = changed(source(), "times", source="def times(B):\n    return 1\nprint(times(1))")
    told, tampering = repair(notebook, NAME)
    assert told == ["what was added to the locked cell times was kept"]
    assert tampering == ["the text of the locked cell times was changed"]
    mine = notebook.cells[grade_ids(notebook).index("times") - 1]
    assert mine.source == "def times(B):\n    return 1"


STUB = "def times(B, D, F, peak, bandwidth):\n    # YOUR CODE HERE\n    raise NotImplementedError"


def answered_elsewhere(place):
    """Return (a notebook with the part "times" answered in an extra cell, that cell)."""
    notebook = source()
    solution = cell(notebook, "times-solution")
    mine = code(solution.source)
    solution.source = STUB
    at = grade_ids(notebook).index("times")
    notebook.cells.insert(
        {"below": at + 1, "far below": len(notebook.cells), "above": 3}[place], mine
    )
    return notebook, mine


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("below", "below its check"),
        ("far below", "below its check"),
        ("above", "above its question"),
    ],
)
def test_misplaced_answers_are_moved_before_their_check(place, where):
    notebook, mine = answered_elsewhere(place)
    needed = ["times, which bounds needs, stood below its check"] * (place == "far below")
    assert repair(notebook, NAME) == ([f"times was written {where}", *needed], [])
    ids = grade_ids(notebook)
    at = next(index for index, one in enumerate(notebook.cells) if one is mine)
    assert ids.index("times-solution") < at < ids.index("times")
    assert sorted(filter(None, ids)) == sorted(filter(None, grade_ids(source())))


def test_only_misplaced_cells_are_moved_back():
    notebook = source()
    at = grade_ids(notebook).index("times")
    notebook.cells.insert(1, notebook.cells.pop(at))
    assert repair(notebook, NAME) == (["times was written below its check"], [])
    assert notebook == source()
    notebook.cells.append(code("times = times(1, 2, 3, 4, 5)\ndef times_in_ms():\n    return 1"))
    before = copy.deepcopy(notebook)
    assert repair(notebook, NAME) == ([], [])
    assert notebook == before, "a function is asked as it was at its check"


def test_merged_cells_are_recognized():
    notebook = source()
    merged = cell(notebook, "times-solution")
    merged.source += "\n\n" + cell(notebook, "times").source
    notebook.cells.remove(cell(notebook, "times"))
    assert repair(notebook, NAME) == (["the cell times was missing"], [])
    assert grade_ids(notebook) == grade_ids(source())
    notebook = source()
    merged = cell(notebook, "times")
    merged.source = cell(notebook, "times-solution").source + "\n\n" + merged.source
    notebook.cells.remove(cell(notebook, "times-solution"))
    told, tampering = repair(notebook, NAME)
    assert (len(told), tampering) == (2, [])
    ids = grade_ids(notebook)
    assert ids.index("times-solution") < ids.index(None, ids.index("times-solution"))
    assert notebook.cells[ids.index("times") - 1].source.startswith("def times(")


@pytest.mark.parametrize("text", ["def f(:", "x = (", "\0", "(" * 50_000, "x\n" * 100_000])
def test_unparsable_code_added_to_a_locked_cell_is_dropped(text):
    notebook, _ = above_and_below("given", text)
    told, tampering = repair(notebook, NAME)
    assert (told, tampering) == ([], ["the text of the locked cell given was changed"])
    assert notebook == source()


@pytest.mark.parametrize("text", ["{}\n\n", "{}\n# mine", "  {}"])
def test_changed_whitespace_and_comments_in_locked_cells_are_not_tampering(text):
    notebook = source()
    one = cell(notebook, "times")
    one.source = text.format(one.source)
    assert repair(notebook, NAME) == ([], [])
    assert notebook == source()


def test_solution_cells_are_left_alone():
    notebook = changed(source(), "times-solution", source="# mine")
    assert repair(notebook, NAME) == ([], [])
    assert cell(notebook, "times-solution").source == "# mine"


def test_the_last_of_two_duplicate_cells_is_the_one_to_grade():
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
    assert len(notebook.cells) == len(source().cells) + 1


def test_a_copy_of_a_locked_cell_at_the_top_counts_as_a_duplicate():
    notebook = source()
    notebook.cells.insert(0, copy.deepcopy(cell(notebook, "given")))
    assert repair(notebook, NAME) == (["the cell given was there more than once"], [])
    assert "nbgrader" not in notebook.cells[0].metadata


def test_a_deleted_cell_of_constants_is_restored_at_the_top():
    notebook = without(source(), "given")
    assert repair(notebook, NAME) == (["the cell given was missing"], [])
    assert grade_ids(notebook)[0] == "given"


def test_a_deleted_check_is_not_restored_below_markdown_with_code():
    notebook = without(source(), "times")
    notebook.cells.append(nbformat.v4.new_markdown_cell("```\ndef times(B):\n    ...\n```"))
    assert repair(notebook, NAME) == (["the cell times was missing"], [])
    assert grade_ids(notebook)[:-1] == grade_ids(source())


def test_a_deleted_check_is_restored_after_its_function():
    notebook = without(source(), "bytes-moved")
    notebook.cells.append(code("def bytes_moved(B, D, F):\n    return 1, 2\n"))
    assert repair(notebook, NAME) == (["the cell bytes-moved was missing"], [])
    assert grade_ids(notebook)[-2:] == [None, "bytes-moved"]
    assert notebook.cells[-1].source == cell(source(), "bytes-moved").source


def test_a_deleted_solution_cell_is_restored_empty():
    notebook = without(source(), "bounds-solution")
    assert repair(notebook, NAME) == (["the cell bounds-solution was missing"], [])
    assert list(filter(None, grade_ids(notebook))) == list(filter(None, grade_ids(source())))
    assert cell(notebook, "bounds-solution").source == ""


@pytest.mark.parametrize("ids", [True, False])
def test_cells_without_metadata_are_recognized(ids):
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


def test_an_unparsable_cell_is_recognized_by_its_function():
    notebook = source()
    lost = cell(notebook, "times-solution")
    lost.metadata = nbformat.NotebookNode()
    lost.pop("id")
    lost.source = "def times(B, D, F, peak, bandwidth)\n    return 1, 2"
    assert repair(notebook, NAME)[0] == ["the cell times-solution had lost its metadata"]


def test_huge_sources_are_not_parsed():
    """A syntax tree takes hundreds of times as much memory as the source."""
    notebook = source()
    lost = cell(notebook, "times-solution")
    lost.metadata = nbformat.NotebookNode()
    lost.pop("id")
    lost.source = "def times(B, D, F, peak, bandwidth):\n    return 1, 2\n" + "x = 1, 2\n" * 60_000
    tracemalloc.start()
    try:
        assert repair(notebook, NAME)[0] == ["the cell times-solution had lost its metadata"]
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("odd", [7, [1], {}, {"grade_id": ["times"]}, {"grade_id": None}], ids=str)
@pytest.mark.parametrize("parse", [reading.notebook, lambda text: nbformat.reads(text, 4)])
def test_malformed_nbgrader_metadata_counts_as_lost(odd, parse):
    notebook = source()
    cell(notebook, "times").metadata["nbgrader"] = odd
    notebook = parse(nbformat.v4.nbjson.writes(notebook))
    assert repair(notebook, NAME) == (["the cell times had lost its metadata"], [])
    assert notebook == source()


def test_of_two_cells_without_metadata_the_first_is_recognized():
    notebook = twice(source(), "times-solution")
    first, second = [one for one in notebook.cells if one.source.startswith("def times(")]
    first.metadata, second.metadata = nbformat.NotebookNode(), nbformat.NotebookNode()
    assert repair(notebook, NAME) == (["the cell times-solution had lost its metadata"], [])
    assert cell(notebook, "times-solution") is first


def test_a_learners_own_check_is_left_alone():
    notebook = source()
    notebook.cells.append(code("check('mine', print)"))
    before = copy.deepcopy(notebook)
    assert repair(notebook, NAME) == ([], [])
    assert notebook == before


def test_a_cell_with_metadata_is_not_taken_for_another():
    notebook = without(source(), "bounds-solution")
    mine = cell(notebook, "times-solution")
    mine.pop("id")
    mine.source = "def bounds():\n    return 1, 2"
    assert repair(notebook, NAME) == (["the cell bounds-solution was missing"], [])
    assert cell(notebook, "times-solution") is mine


def test_no_ids_are_added_to_cells_of_older_formats():
    notebook, _ = above_and_below("given", "x = 1")
    notebook.nbformat_minor = 4
    for one in notebook.cells:
        del one["id"]
    repair(notebook, NAME)
    assert not any("id" in one for one in notebook.cells)


def test_unknown_nbgrader_metadata_is_removed():
    notebook = source()
    notebook.cells.append(code("1"))
    notebook.cells[-1].metadata["nbgrader"] = {"grade_id": "mine", "grade": True, "points": 99}
    assert repair(notebook, NAME) == ([], [])
    assert "nbgrader" not in notebook.cells[-1].metadata


def test_changed_cell_types_are_restored():
    notebook = source()
    one = cell(notebook, "times")
    one.cell_type = "markdown"
    del one["outputs"], one["execution_count"]
    one["attachments"] = {}
    assert repair(notebook, NAME) == (["the cell times had become a markdown cell"], [])
    assert notebook == source()
    nbformat.validate(notebook)


def test_reading_a_refused_submission_returns_its_reason(tmp_path):
    assert Submission("ada", NAME, tmp_path, None, "why").read() == (b"", b"", "why")


@pytest.mark.parametrize("odd", [{"a": 1}, "7", [2], -1.5])
def test_invalid_outputs_are_dropped(odd):
    """Older formats are converted by nbformat, not by our lenient parser."""
    nb = nbformat.reads(nbformat.writes(exercises.source(NAME)), as_version=4)
    (first, *_) = [cell for cell in nb.cells if cell.cell_type == "code"]
    first["execution_count"], first["outputs"] = odd, [odd]
    repair(nb, NAME)
    nbformat.validate(nb)


def test_deeply_nested_added_code_is_found():
    deep = "x = " + "-" * 2_000 + "1"
    assert added(f"import math\n{deep}", "import math") == (deep, True)
