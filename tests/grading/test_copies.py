"""Tests of which notebook is graded if a folder holds several.

Sometimes the instructor must decide. Each table entry lists the files of one folder, with the kind
of notebook in each file.
"""

import copy
import itertools

import nbformat
import pytest
from classroom import Classroom, cell, code, functions
from classroom.accidents import FULL, stripped, without
from series import in_part

from grading.execution.time_limits import TimeLimits
from grading.intake import copies
from grading.intake.submissions import submissions
from grading.parallel import pool
from grading.reports import rows

NAME = "int8-matmul"
DRAFT = "def bounds(*all):\n    return 7"
EXACT, FIRST, SECOND = f"{NAME}.ipynb", f"{NAME} (1).ipynb", f"{NAME} (2).ipynb"
COPIES = (
    *(FIRST, SECOND, f"{NAME}-Copy1.ipynb", f"{NAME} - Kopie.ipynb", f"Copy of {NAME}.ipynb"),
    *("Untitled.ipynb", f"{NAME}.ipynb.txt", f"{NAME.upper()}.IPYNB", f"2-{EXACT}"),
    *(f"{NAME}/{EXACT}", f"hand-in/{NAME}/{EXACT}", f"solved/{FIRST}"),
)


def answered(nb, part="bounds", text="    return 1, 2"):
    """Return a copy of the notebook with another answer to this part."""
    nb = copy.deepcopy(nb)
    one = cell(nb, f"{part}-solution")
    one.source = one.source.split('"""')[0] + '"""Answer."""\n' + text
    return nb


def executed(nb):
    nb = copy.deepcopy(nb)
    for number, one in enumerate(nb.cells):
        if one.cell_type == "code":
            one.execution_count = number
            one.outputs = [nbformat.v4.new_output("stream", text="not right yet")]
            one.metadata["collapsed"] = True
    return nb


def with_cell(nb, source):
    nb = copy.deepcopy(nb)
    nb.cells.append(code(source))
    return nb


def commented(nb):
    nb = copy.deepcopy(nb)
    for one in nb.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = "# mine\n" + one.source.replace(" / ", "/")
    return nb


def with_note(nb):
    """Return a copy in which the open question is answered, which gives no points."""
    nb = copy.deepcopy(nb)
    next(one for one in nb.cells if "Write your answer" in one.source).source = "It doubles."
    return nb


def half(nb, released):
    """Return a copy in which two parts are reset to the released stubs."""
    nb = copy.deepcopy(nb)
    for part in ("times", "bounds"):
        cell(nb, f"{part}-solution").source = cell(released, f"{part}-solution").source
    return nb


def imported(nb):
    nb = copy.deepcopy(nb)
    one = cell(nb, "bounds-solution")
    one.source = f"import math\n{one.source}"
    return nb


def with_empty_text(nb):
    nb = copy.deepcopy(nb)
    nb.cells.append(nbformat.v4.new_markdown_cell(""))
    return nb


def alone(nb):
    """Return a copy without ids and check calls: only metadata tells its parts."""
    nb = copy.deepcopy(nb)
    for one in nb.cells:
        del one["id"]
        if one.source.startswith("check("):
            one.source = ""
    return nb


def unmarked(nb):
    return stripped(copy.deepcopy(nb))


@pytest.fixture(scope="module")
def made(release, tmp_path_factory):
    """Return the JSON text of each kind of notebook that the dicts below name."""
    room = Classroom(tmp_path_factory.mktemp("made"), release)
    released, right = room.released(NAME), room.solved(NAME)
    elsewhere = copy.deepcopy(released)
    elsewhere.cells.insert(
        0, code("\n\n".join(cell(right, f"{part}-solution").source for part in functions(NAME)))
    )
    notebooks = {
        "released": released,
        "executed": executed(released),
        "stripped": unmarked(released),
        "noted": with_note(released),
        "right": right,
        "commented": commented(executed(right)),
        "right, stripped": unmarked(right),
        "right, with a try": with_cell(right, "bounds(1, 2, 3, 4, 5)"),
        "right, with an import": imported(right),
        "right, with an empty text": with_empty_text(right),
        "right, without its first cell": without(copy.deepcopy(right), "opening"),
        "right, with ids alone": stripped(copy.deepcopy(right), ids=False),
        "right, with metadata alone": alone(right),
        "variable": with_cell(released, "x = 1"),
        "right, with a note": with_note(right),
        "half": half(right, released),
        "other half": answered(released, "times"),
        "wrong": answered(right),
        "worse": answered(right, text="    return 3, 4"),
        "elsewhere": elsewhere,
        "other exercise": room.solved("int8-weights"),
        "draft": nbformat.v4.new_notebook(cells=[code(DRAFT)]),
        "draft with a check": nbformat.v4.new_notebook(
            cells=[code(DRAFT), code("check('bounds', bounds)")]
        ),
    }
    texts = {name: nbformat.writes(nb) for name, nb in notebooks.items()}
    old = nbformat.writes(nbformat.convert(copy.deepcopy(right), 3), version=3)
    return texts | {"damaged": texts["right"][:3000], "empty": "", "right, format 3": old}


def folder(course, files, made, student="ada"):
    base = course / "submitted" / student / NAME
    for name, kind in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[kind], encoding="utf-8")
    return base


# --- which notebook is graded ---------------------------------------------------------------------

# case → (file → kind of notebook, the file that is graded)
GRADED = {
    **{f"worked copy {name}": ({EXACT: "released", name: "right"}, name) for name in COPIES},
    "worked first": ({EXACT: "right", FIRST: "released"}, EXACT),
    "worked below": ({EXACT: "right", "old/x.ipynb": "released"}, EXACT),
    "released but executed": ({EXACT: "executed", FIRST: "right"}, FIRST),
    "released without metadata": ({EXACT: "stripped", FIRST: "right"}, FIRST),
    "worked without metadata": ({EXACT: "released", FIRST: "right, stripped"}, FIRST),
    "worked in an older format": ({EXACT: "released", FIRST: "right, format 3"}, FIRST),
    "answers in a cell of one's own": ({EXACT: "released", FIRST: "elsewhere"}, FIRST),
    "equal": ({EXACT: "right", FIRST: "right"}, EXACT),
    "equal without the exact name": ({FIRST: "right", SECOND: "right"}, FIRST),
    "equal but for comments": ({EXACT: "right", FIRST: "commented"}, EXACT),
    "equal but for metadata": ({EXACT: "right", FIRST: "right, stripped"}, EXACT),
    "equal but for a try": ({EXACT: "right", FIRST: "right, with a try"}, EXACT),
    "equal but for the open question": ({EXACT: "right", FIRST: "right, with a note"}, FIRST),
    "equal but for an import": ({EXACT: "right", FIRST: "right, with an import"}, EXACT),
    "equal but for an empty text": ({EXACT: "right", FIRST: "right, with an empty text"}, EXACT),
    "half, then all but the first cell": (
        {EXACT: "half", FIRST: "right, without its first cell"},
        FIRST,
    ),
    "recognized by its ids": ({EXACT: "draft", FIRST: "right, with ids alone"}, FIRST),
    "recognized by its metadata": ({EXACT: "draft", FIRST: "right, with metadata alone"}, FIRST),
    "recognized by its checks": ({EXACT: "draft", FIRST: "right, stripped"}, FIRST),
    "a variable of one's own": ({EXACT: "variable", FIRST: "right"}, FIRST),
    "half, then all": ({EXACT: "half", FIRST: "right"}, FIRST),
    "all, then half": ({EXACT: "right", FIRST: "half"}, EXACT),
    "three of growing work": ({EXACT: "released", FIRST: "half", SECOND: "right"}, SECOND),
    "one of many": ({EXACT: "released", **{f"{n}.ipynb": "released" for n in range(9)}}, EXACT),
    "damaged with the exact name": ({EXACT: "damaged", FIRST: "right"}, FIRST),
    "empty with the exact name": ({EXACT: "empty", FIRST: "right"}, FIRST),
    "damaged copy": ({EXACT: "right", FIRST: "damaged"}, EXACT),
    "other exercise": ({EXACT: "right", "int8-weights.ipynb": "other exercise"}, EXACT),
    "other exercise beside a copy": ({FIRST: "right", "a.ipynb": "other exercise"}, FIRST),
    "other exercise beside no work": ({EXACT: "released", "a.ipynb": "other exercise"}, EXACT),
    "draft": ({EXACT: "right", "draft.ipynb": "draft"}, EXACT),
    "draft with the exact name": ({EXACT: "draft", FIRST: "right"}, FIRST),
    "all in the draft": ({EXACT: "released", "draft.ipynb": "draft"}, "draft.ipynb"),
    "nothing but the open question": ({EXACT: "released", FIRST: "noted"}, FIRST),
    "nothing at all": ({EXACT: "released", FIRST: "executed", SECOND: "released"}, EXACT),
}
# case → (file → kind of notebook, the file that is graded until the instructor decides)
ASKED = {
    "two answers": ({EXACT: "wrong", FIRST: "right"}, EXACT),
    "three answers": ({EXACT: "wrong", FIRST: "right", SECOND: "worse"}, EXACT),
    "an answer below": ({EXACT: "wrong", f"new/{EXACT}": "right"}, EXACT),
    "two answers without metadata": ({EXACT: "wrong", FIRST: "right, stripped"}, EXACT),
    "two halves": ({EXACT: "half", FIRST: "other half"}, EXACT),
    "other names": ({FIRST: "wrong", "mine.ipynb": "right"}, FIRST),
    "capitals": ({f"{NAME.upper()}.IPYNB": "wrong", FIRST: "right"}, f"{NAME.upper()}.IPYNB"),
    "exact below": ({f"new/{EXACT}": "wrong", f"{EXACT}.txt": "right"}, f"new/{EXACT}"),
    "nearly exact below": ({f"new/{EXACT}.txt": "wrong", FIRST: "right"}, f"new/{EXACT}.txt"),
    "a draft with a check": ({EXACT: "right", FIRST: "draft with a check"}, EXACT),
}
# case → (file → kind of notebook, the files named in the reason why none is graded)
REFUSED = {
    "two copies": ({FIRST: "wrong", SECOND: "right"}, {FIRST, SECOND}),
    "two copies with other names": (
        {"a.ipynb": "wrong", "b.ipynb": "right"},
        {"a.ipynb", "b.ipynb"},
    ),
    "no answer, and one that is damaged": ({EXACT: "released", FIRST: "damaged"}, {FIRST, EXACT}),
    "damaged, and no answer": ({EXACT: "damaged", FIRST: "executed"}, {FIRST, EXACT}),
    "empty, and no answer": ({EXACT: "empty", FIRST: "released"}, {FIRST, EXACT}),
}


def only(course):
    (found,) = submissions(course)
    return found


NO_ANSWERS = {"released", "executed", "stripped", "noted"}
BROKEN = {"damaged", "empty"}


@pytest.mark.parametrize("case", in_part(GRADED))
def test_the_notebook_with_answers_is_graded(tmp_path, made, case):
    files, counts = GRADED[case]
    base = folder(tmp_path, files, made)
    found = only(tmp_path)
    assert (found.notebook, found.reason, found.question) == (base / counts, "", "")
    assert found.read()[0].decode() == made[files[counts]]
    remarks = "\n".join(found.remarks)
    assert all(name in remarks for name in files if name not in (EXACT, counts)), "left aside"
    assert counts == EXACT or f"the notebook was named {counts}" in found.remarks
    # The note names exactly once each copy that has fewer answers or is broken.
    less = NO_ANSWERS | BROKEN | {"half", "variable"}
    if files[counts] == "right, with a note":
        less.add("right")
    named = [name for name, kind in files.items() if name != counts and kind in less]
    if NO_ANSWERS.issuperset(files.values()):
        named = []
    assert found.note.startswith(counts) if named else found.note == ""
    after = found.note.removeprefix(counts)
    assert [name for name in files for _ in range(after.count(name))] == named


@pytest.mark.parametrize("kind", ["variable", "noted"])
def test_the_note_mentions_other_work_in_copies_without_answers(tmp_path, made, kind):
    folder(tmp_path, {EXACT: "right", FIRST: "half", SECOND: kind}, made)
    note = f"{EXACT} counts, holds all the work in {FIRST}, {SECOND} has other work but no answers"
    assert only(tmp_path).note == note


@pytest.mark.parametrize("case", ASKED)
def test_conflicting_answers_are_reported_to_the_instructor(tmp_path, made, case):
    files, counts = ASKED[case]
    base = folder(tmp_path, files, made)
    found = only(tmp_path)
    assert (found.notebook, found.reason) == (base / counts, "")
    assert all(name in found.question for name in files)
    assert found.question.endswith(f"{counts} counts until you remove it")
    assert found.note == ""


@pytest.mark.parametrize("case", REFUSED)
def test_folders_without_a_clear_choice_are_not_graded(tmp_path, made, case):
    files, named = REFUSED[case]
    folder(tmp_path, files, made)
    found = only(tmp_path)
    assert (found.notebook, found.question) == (None, "")
    assert all(name in found.reason for name in named)


@pytest.mark.parametrize("all_pairs", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_notebook_without_answers_is_never_preferred_to_one_with_answers(
    tmp_path, made, all_pairs
):
    """Pair a notebook with answers and one without, in both orders of their names.

    all_pairs: every pair; otherwise, every notebook in one or two pairs.
    """
    kinds = [kind for kind in made if kind != "other exercise" and "draft" not in kind]
    answers = {"commented", "elsewhere", "other half", "half", "wrong", "worse"}
    answers |= {kind for kind in kinds if kind.startswith("right")}
    some = [kind for kind in kinds if kind in answers]
    none = [kind for kind in kinds if kind not in answers]
    pairs = list(itertools.product(some, none))
    if not all_pairs:
        count = max(len(some), len(none))
        pairs = [(some[i % len(some)], none[i % len(none)]) for i in range(count)]
    assert {kind for pair in pairs for kind in pair} == set(kinds)
    for number, pair in enumerate(pairs):
        for one, other in (pair, pair[::-1]):
            course = tmp_path / f"{number}-{one}"
            base = folder(course, {EXACT: one, FIRST: other}, made)
            found = only(course)
            assert found.question or files_of(found, base, one, other) in answers, (one, other)


def files_of(found, base, one, other):
    return {base / EXACT: one, base / FIRST: other}[found.notebook]


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("step", "error"),
    [("run_limited", copies.Overrun), ("reading.of_bytes", MemoryError)],
)
def test_notebooks_too_large_to_compare_are_reported(tmp_path, made, monkeypatch, step, error):
    folder(tmp_path, {EXACT: "released", FIRST: "right"}, made)
    monkeypatch.setattr(f"grading.intake.copies.{step}", raising(error))
    found = only(tmp_path)
    assert "too large to compare" in found.reason
    assert found.notebook is None
    assert FIRST in found.reason
    assert EXACT in found.reason


def test_a_single_notebook_is_not_compared(tmp_path, made, monkeypatch):
    base = folder(tmp_path, {FIRST: "right"}, made)
    monkeypatch.setattr(copies, "run_limited", raising(copies.Overrun))
    assert only(tmp_path).notebook == base / FIRST


def test_comparing_notebooks_is_limited_in_cpu_and_wall_time(tmp_path, made, monkeypatch):
    seen = []
    monkeypatch.setattr(copies, "run_limited", lambda step, **limits: seen.append(limits) or step())
    folder(tmp_path, {EXACT: "released", FIRST: "right"}, made)
    assert only(tmp_path).notebook.name == FIRST
    assert seen == [{"cpu": copies.CPU_SECONDS, "wall": copies.WALL_SECONDS}]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (EXACT, f"{NAME.upper()}.ipynb"),
        (f"{NAME}.ipynb.txt", FIRST),
        (FIRST, "a.ipynb"),
        (FIRST, f"a {FIRST}"),
        (EXACT, f"a/{EXACT}"),
    ],
)
def test_notebooks_named_most_like_the_release_are_compared_first(
    tmp_path, made, monkeypatch, better, worse
):
    monkeypatch.setattr(copies, "MAX_COMPARED", 1)
    folder(tmp_path, {better: "right", worse: "released"}, made)
    assert only(tmp_path).notebook.match(better)


def test_at_most_20_notebooks_are_compared(tmp_path, made):
    folder(tmp_path, {f"{number}.ipynb": "draft" for number in range(20)}, made)
    assert only(tmp_path).reason == ""
    folder(tmp_path, {f"{number}.ipynb": "empty" for number in range(21)}, made)
    assert only(tmp_path).reason == "more than 20 notebooks, and no answers in the first"


def test_notebooks_beyond_the_limit_are_not_compared_or_graded(tmp_path, made, monkeypatch):
    monkeypatch.setattr(copies, "MAX_COMPARED", 2)
    files = {EXACT: "released", FIRST: "released", "z.ipynb": "right"}
    folder(tmp_path, files, made)
    assert only(tmp_path).notebook is None
    folder(tmp_path, {FIRST: "right"}, made)
    assert only(tmp_path).notebook.name == FIRST


@pytest.mark.parametrize("text", ["[" * 100_000, '{"cells": [' + '{"a":' * 5_000, "\0" * 10_000])
def test_a_hostile_copy_does_not_prevent_choosing_the_right_notebook(tmp_path, made, text):
    base = folder(tmp_path, {EXACT: "right"}, made)
    (base / FIRST).write_text(text)
    assert only(tmp_path).notebook == base / EXACT


# --- in a class of students -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def room(release, made, tmp_path_factory):
    room = Classroom(tmp_path_factory.mktemp("copies"), release)
    cases = {
        "worked": {EXACT: "released", FIRST: "right"},
        "asked": {EXACT: "wrong", FIRST: "right"},
        "refused": {FIRST: "wrong", SECOND: "right"},
        "below": {EXACT: "executed", f"new/{EXACT}": "right"},
    }
    for student, files in cases.items():
        folder(room.folder, files, made, student)
    grade(room)
    return room


def grade(room):
    return room.course.grade(pool.Local(2), limits=TimeLimits(notebook=300))


def note(room, student):
    state = room.course.state()
    return dict(rows.ungraded(room.course, state)).get(f"{student}/{NAME}")


def points(room, student):
    return sum(part["points"] for part in room.course.state()[student][NAME]["parts"])


@pytest.mark.long
@pytest.mark.parametrize("student", ["worked", "below"])
def test_a_copy_with_answers_gets_full_points(room, student):
    assert (points(room, student), note(room, student)) == (FULL, None)


@pytest.mark.long
def test_ambiguous_copies_are_reported_until_resolved(room):
    assert points(room, "asked") == FULL - 3
    assert FIRST in note(room, "asked")
    assert (points(room, "refused"), SECOND in note(room, "refused")) == (0, True)
    base = room.folder / "submitted"
    (base / "asked" / NAME / EXACT).unlink()
    (base / "refused" / NAME / FIRST).unlink()
    assert grade(room) == 2
    assert (points(room, "asked"), note(room, "asked")) == (FULL, None)
    assert (points(room, "refused"), note(room, "refused")) == (FULL, None)
    assert grade(room) == 0
