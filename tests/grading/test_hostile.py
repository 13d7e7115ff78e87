"""Tests of a class of students with hostile submissions, which must not affect honest ones.

The whole class is graded by one call. Each student submits one notebook of exercise 1. "cell-…": a
hostile cell before a right solution; "cheat-…": the same before a wrong one; "answer-…": strange
return values; "folder-…": strange files in the folder. "mistake-…", accidents to honest notebooks,
are graded in test_grading_course.py. KNOWN lists known attacks on graders, and which students
represent them here.

By default the class is DEFAULT; the long tests use all students. test_hostile_cells.py runs every
hostile cell, and tests what it can reach.
"""

import hashlib
import inspect
import json
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import hostile
import matplotlib
import nbformat
import pytest
from classroom import Classroom, cell, functions, points, with_first
from classroom.accidents import OLD, RIGHT
from classroom.leaks import hidden_texts, leaks, solution_lines
from classroom.processes import descendants, new_descendants, survivors
from hostile import answers, folders
from nbgrader.api import Gradebook
from series import in_full

from grading.execution.time_limits import TimeLimits
from grading.parallel import pool
from grading.records.seed import course_seed
from grading.release import exercises

NAME = "int8-matmul"
FULL = sum(points(NAME).values())
TIME_LIMITS = TimeLimits(cell=1, call=0.5, cell_wall=8, call_wall=3)
WRONG, WRONG_POINTS = "wrong_output_not_counted", 7.0
HALF = ("bytes-moved", "operations")
HONEST = {
    "right": FULL,
    "wrong": WRONG_POINTS,
    "empty": 0.0,
    "half-done": sum(points(NAME)[key] for key in HALF),
}
CHEATS = (
    "displayhook",
    "forged_answers",
    "forged_messages",
    "patched_kernel",
    "profiler",
    "replaced_run_cell",
    "syntax_tree",
)
CELLS = {f"cell-{one.name}": one for one in hostile.cells()}
ANSWERS = {
    f"answer-{name}": name
    for name, made in vars(answers).items()
    if inspect.isfunction(made) and made.__module__ == answers.__name__
}
FOLDERS = {f"folder-{name}": name for name in folders.FAIR}
MISTAKES = {f"mistake-{name}" for name in (*RIGHT, *OLD)}
NOTEBOOK_BYTES = PAGE_BYTES = 2_000_000
MAX_HASHED_BYTES = 100_000_000  # snapshots of larger files omit their content

# Known attack on graders of notebooks → students who carry it out. The first of each row who is not
# SLOW is in the class by default, unless the name begins with "mistake-".
KNOWN = {
    "a cell duplicated by accident": ("mistake-check-twice", "mistake-solution-twice"),
    "SQL on the gradebook": ("cell-sql",),
    "numpy scalars": ("answer-numpy_scalar",),
    "a hook, a syntax tree, run_cell": tuple(
        f"{kind}-{name}"
        for kind in ("cell", "cheat")
        for name in ("displayhook", "syntax_tree", "replaced_run_cell")
    ),
    "visible answers by heart": ("by-heart",),
    "warnings": ("cell-warns", "mistake-warns"),
    "an endless loop": ("cell-plain_loop", "cell-endless_loop"),
    "os._exit": ("cell-gone", "answer-dying", "mistake-process-ended"),
    "ten million lines": ("cell-many_lines",),
    "a line of 200 MB, 24 MB of HTML": ("cell-long_line", "cell-fat_html"),
    "4 GB": ("cell-allocation", "cell-many_allocations", "cell-hidden_memory"),
    "syntax error, input, sys.exit": (
        "cell-syntax_error",
        "cell-asks_for_input",
        "cell-leaves",
        "answer-raising_exit",
    ),
    "a deleted test cell": ("mistake-check-deleted",),
    "edited tests, points, cell types": (
        "mistake-check-edited",
        "mistake-points-edited",
        "mistake-check-retyped",
        "mistake-solution-retyped",
        "folder-modules_beside",
    ),
    "not JSON, empty, renamed, missing": (
        "folder-not_text",
        "folder-a_list_of_notebooks",
        "folder-notebook_is_a_folder",
        "folder-notebook_is_empty",
        "folder-notebook_is_renamed",
        "folder-notebook_is_missing",
    ),
    "metadata stripped": (
        "mistake-metadata-stripped",
        "mistake-metadata-but-no-ids-stripped",
    ),
    "older formats": tuple(f"mistake-{name}" for name in OLD),
    "a numpy.py beside": ("folder-modules_beside", "cell-namesake"),
    "the hidden tests": ("cell-course_walk", "cell-hidden_tests"),
    "host files, sockets, daemons": ("cell-host_writes", "cell-network", "cell-daemon"),
    "bombs": ("cell-fork_bomb", "cell-thread_bomb"),
    "links, FIFOs, devices": (
        "folder-link_to_the_gradebook",
        "folder-link_to_the_machine",
        "folder-link_to_itself",
        "folder-notebook_is_a_link_out",
        "folder-notebook_is_a_fifo",
        "folder-fifo_beside",
        "folder-socket_beside",
        "folder-notebook_is_a_device",
    ),
    "names that lead out": (
        "folder-odd_names",
        "folder-names_that_lead_out",
        "cell-output_names",
    ),
    "a gigabyte": ("folder-gigabyte_of_notebook", "folder-gigabyte_beside"),
    "nested lists": (
        "folder-nested_lists",
        "folder-nested_in_metadata",
        "cell-deep_output",
        "answer-deep_container",
    ),
    "ANSI, HTML, script": ("cell-ansi", "cell-fat_html", "folder-scripts_in_the_text"),
    "the kernel's files and messages": (
        "cell-closed_files",
        "cell-protocol_files",
        "cell-forged_messages",
        "cell-flood_of_replies",
        "cell-flood_of_outputs",
        "cell-endless_message",
        "cell-patched_kernel",
    ),
    "pickles": ("cell-pickles", "answer-trap_for_pickles"),
    "/proc, signals, ptrace, setuid": (
        "cell-proc_walk",
        "cell-signals",
        "answer-killing",
        "cell-ptrace",
        "cell-setuid",
    ),
    "a full disk": ("cell-full_disk",),
    "patched clocks": ("cell-patched_clocks", "folder-time_of_no_clock"),
    "lazy, self-comparing, changing": (
        "answer-equal_to_all",
        "answer-float_on_demand",
        "answer-generator",
        "answer-changing",
    ),
    "gigantic answers": (
        "answer-gigantic_whole",
        "answer-gigantic_text",
        "answer-gigantic_list",
        "answer-endless_array",
    ),
    "nan and inf": ("answer-not_a_number", "answer-infinite", "answer-minus_infinite"),
}

# Students whose grading takes almost a second or more, mostly because every try runs into a limit.
# None of them is in DEFAULT, the students that every run grades.
SLOW = {
    "answer-gigantic_text",
    "answer-gigantic_whole",
    "answer-never_float",
    "answer-sleeping",
    *(
        f"cell-{name}"
        for name in (
            *("endless_loop", "forged_answers", "fork_bomb", "full_disk", "host_writes"),
            *("long_error", "long_line", "many_lines", "plain_loop", "stack"),
            "thousands_of_errors",
        )
    ),
}
STUDENTS = (*CELLS, *(f"cheat-{name}" for name in CHEATS), *ANSWERS, *FOLDERS, "by-heart")


def in_every_run() -> set[str]:
    """Return the students who are in the class by default.

    These are all students with a wrong solution, who could steal points; all folders whose notebook
    is not run; the first of each row of KNOWN, and every fifth of the students in no row, who is
    not SLOW; and those that tests name.
    """
    students = {student for student in STUDENTS if student.startswith("cheat-")}
    students |= {student for student, name in FOLDERS.items() if folders.FAIR[name] == "listed"}
    students |= {"by-heart", "cell-network", "cell-ptrace"}
    known = {student for row in KNOWN.values() for student in row}
    for row in KNOWN.values():
        students |= set([one for one in row if one not in SLOW][:1]) - MISTAKES
    return students | set([one for one in STUDENTS if one not in known | students | SLOW][1::5])


DEFAULT = in_every_run()


def some(students: Iterable[str]) -> list[Any]:
    """Return these students as parameters, as long tests if not in DEFAULT."""
    return [pytest.param(one, marks=[] if one in DEFAULT else pytest.mark.long) for one in students]


@dataclass
class Graded:
    """The graded course, with snapshots from before and after the grading."""

    room: Classroom
    count: int
    before: dict[str, object]
    after: dict[str, object]
    left: set[int]

    def __post_init__(self) -> None:
        self.state = {name: own[NAME] for name, own in self.room.course.state().items()}

    def points(self, student: str) -> float:
        return sum(part["points"] for part in self.state[student]["parts"])


def wrapped(room: Classroom, name: str) -> nbformat.NotebookNode:
    """Return a right notebook whose answers pass through this function of answers.py."""
    notebook = with_first(room.solved(NAME), inspect.getsource(answers))
    for key, function in functions(NAME).items():
        cell(notebook, f"{key}-solution").source += (
            f"\n\n\nright_{function} = {function}\n\n\n"
            f"def {function}(*a, **k):\n    return {name}(right_{function}(*a, **k))\n"
        )
    return notebook


def by_heart(room: Classroom) -> nbformat.NotebookNode:
    """Return a notebook that has memorized the published cases."""
    notebook = room.released(NAME)
    for part in exercises.load(NAME).parts:
        known = [(dict(case), exercises.expected(NAME, part, case)) for case in part.cases]
        source = f"def {part.function}(**case):\n    return dict_of({known!r})[repr(case)]\n"
        source += "\n\ndef dict_of(pairs):\n    return {repr(case): value for case, value in pairs}"
        cell(notebook, f"{part.key}-solution").source = source
    return notebook


def honest(room: Classroom) -> None:
    room.hand_in("right", NAME, room.solved(NAME))
    room.hand_in("wrong", NAME, room.solved(NAME, WRONG))
    room.hand_in("empty", NAME, room.released(NAME))
    half, right = room.released(NAME), room.solved(NAME)
    for key in HALF:
        cell(half, f"{key}-solution").source = cell(right, f"{key}-solution").source
    room.hand_in("half-done", NAME, half)


def harmful(room: Classroom, students: Collection[str]) -> None:
    right, wrong = room.solved(NAME), room.solved(NAME, WRONG)
    for student in students:
        kind, _, name = student.partition("-")
        if student in CELLS:
            room.hand_in(student, NAME, with_first(right, CELLS[student].source))
        elif kind == "cheat":
            room.hand_in(student, NAME, with_first(wrong, CELLS[f"cell-{name}"].source))
        elif student in ANSWERS:
            room.hand_in(student, NAME, wrapped(room, name))
        elif student in FOLDERS:
            notebook = room.hand_in(student, NAME, right)
            getattr(folders, name)(notebook.parent, notebook)
        else:
            room.hand_in(student, NAME, by_heart(room))


def snapshot(*places: Path) -> dict[str, object]:
    """Return the state of these files and folders, and of the environment."""
    found: dict[str, object] = {"environment": dict(os.environ), "cwd": str(Path.cwd())}
    for place in places:
        found[str(place)] = state(place)
        for parent, inner, files in os.walk(place):
            found |= {str(path): state(path) for path in (Path(parent, name) for name in inner)}
            found |= {str(path): state(path) for path in (Path(parent, name) for name in files)}
    return found


def state(path: Path) -> tuple[object, ...]:
    status, content = path.lstat(), ""
    if stat.S_ISREG(status.st_mode) and status.st_size < MAX_HASHED_BYTES:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    elif stat.S_ISLNK(status.st_mode):
        content = str(path.readlink())
    return status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, content


def classroom(release: Path, folder: Path) -> Classroom:
    room = Classroom(folder, release)
    course_seed(folder)
    honest(room)
    return room


@pytest.fixture(scope="module")
def alone(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Grade the honest students without the hostile ones."""
    room = classroom(release, tmp_path_factory.mktemp("alone") / "course")
    assert room.course.grade(pool.Local(), limits=TIME_LIMITS) == len(HONEST)
    return room


@pytest.fixture(scope="module")
def graded(
    request: pytest.FixtureRequest,
    release: Path,
    alone: Classroom,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Graded]:
    """Grade the class, with a temporary home and /tmp, and secret files nearby."""
    top = tmp_path_factory.mktemp("host")
    room = classroom(release, top / "course")
    harmful(room, STUDENTS if in_full(request) else DEFAULT)
    home, scratch = top / "home", top / "tmp"
    for name in ("secrets/key", "home/.ssh/id", "home/.ipython/profile_default/startup/0.py"):
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("SECRET = 'REACHED a secret of the host'\n")
    scratch.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # Keep matplotlib's font cache: rebuilding it is slow.
        patch.setenv("MPLCONFIGDIR", matplotlib.get_cachedir())
        patch.setenv("HOME", str(home))
        patch.setenv("TMPDIR", str(scratch))
        patch.setattr(tempfile, "tempdir", None)
        patch.setenv("SECRET_OF_THE_GRADER", "SECRET")
        watched = [top / "secrets", home, room.folder / "submitted", room.folder / "release"]
        watched += [room.folder / ".grading" / "seed", room.folder / "nbgrader_config.py"]
        before, running = snapshot(*watched), descendants(os.getpid())
        count = room.course.grade(pool.Local(), limits=TIME_LIMITS)
        yield Graded(room, count, before, snapshot(*watched), survivors(new_descendants(running)))


def test_one_call_grades_all_students(graded: Graded) -> None:
    handed_in = {path.name for path in (graded.room.folder / "submitted").iterdir()}
    assert graded.count == len(handed_in)
    assert set(graded.state) == handed_in
    for name in handed_in:
        assert graded.room.course.graded(name, NAME).exists()
        assert graded.room.course.feedback(name, NAME).exists()


@pytest.mark.parametrize("student", HONEST)
def test_honest_students_get_their_points(graded: Graded, student: str) -> None:
    assert (graded.points(student), graded.state[student]["reason"]) == (HONEST[student], "")
    assert graded.state[student]["tampering"] == []


@pytest.mark.parametrize("student", some(CELLS))
def test_hostile_cells_get_fair_points_and_reach_nothing(graded: Graded, student: str) -> None:
    one, entry = CELLS[student], graded.state[student]
    if one.fair == "points":
        assert (graded.points(student), entry["reason"]) == (FULL, ""), one.does
    if one.fair == "nothing":
        assert graded.points(student) == 0, one.does
    lost = [part for part in entry["parts"] if part["points"] < part["of"]]
    assert all(part["sentences"] for part in lost), "lost points without an explanation"
    assert reached(graded, student) == [], one.does


def reached(graded: Graded, student: str) -> list[str]:
    """Return the output lines with which a hostile cell reports success."""
    texts = [
        output.get("text", "") + output.get("data", {}).get("text/plain", "")
        for one in graded.room.graded(student, NAME).cells
        for output in one.get("outputs", [])
    ]
    return [line for text in texts for line in text.split("\n") if line.startswith("REACHED")]


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_earns_no_more_than_its_wrong_solution(graded: Graded, name: str) -> None:
    assert graded.points(f"cheat-{name}") <= WRONG_POINTS


def test_memorized_published_answers_earn_nothing(graded: Graded) -> None:
    assert graded.points("by-heart") == 0


@pytest.mark.parametrize("student", some(ANSWERS))
def test_hostile_answers_get_fair_points(graded: Graded, student: str) -> None:
    fair = FULL if ANSWERS[student] in answers.FAIR else 0
    assert (graded.points(student), graded.state[student]["reason"]) == (fair, "")
    assert reached(graded, student) == []


@pytest.mark.parametrize("student", some(FOLDERS))
def test_hostile_folders_get_fair_points_or_a_reason(graded: Graded, student: str) -> None:
    name = FOLDERS[student]
    readable = name == "nobody_may_read_it" and os.geteuid() == 0
    with graded.room.course.gradebook() as gradebook:
        submission = gradebook.find_submission(NAME, student)
        row = (submission.score, submission.needs_manual_grade)
    if folders.FAIR[name] == "points" or readable:
        assert (row, graded.state[student]["reason"]) == ((FULL, False), "")
    else:
        assert row == (0, True)
        assert graded.state[student]["reason"], "nobody is told why"
        assert graded.state[student]["reason"] in page(graded, student).read_text()
    assert reached(graded, student) == []


def test_shadowing_modules_and_refused_attempts_are_listed_as_tampering(graded: Graded) -> None:
    told = graded.state["folder-modules_beside"]["tampering"]
    assert {"json.py", "numpy.py", "rooflib.py"} <= {line.split()[0] for line in told}
    for student in ("cell-network", "cell-ptrace"):
        assert graded.state[student]["tampering"], "refused attempts are not listed"


def test_files_outside_the_sandbox_are_unchanged(graded: Graded) -> None:
    assert graded.after == graded.before


def test_no_processes_or_files_are_left_behind(graded: Graded) -> None:
    assert graded.left == set()
    left = {path.name for path in Path(os.environ["TMPDIR"]).iterdir()}
    assert {name for name in left if not name.startswith(("grading-sockets-", "pymp-"))} == set()


def rows(gradebook: Gradebook) -> list[object]:
    """Return the gradebook's data about the course and its honest students."""
    found: list[object] = []
    for assignment in gradebook.assignments:
        found.append((assignment.name, assignment.duedate, assignment.max_score))
        for notebook in assignment.notebooks:
            for one in (*notebook.grade_cells, *notebook.solution_cells):
                found.append((notebook.name, one.name, getattr(one, "max_score", 0)))
            for one in notebook.source_cells:
                found.append((one.name, one.source, one.checksum, one.locked))
    for student in HONEST:
        found.append((student, gradebook.find_student(student).score))
        submission = gradebook.find_submission(NAME, student)
        found.append((submission.timestamp, submission.score, submission.needs_manual_grade))
        for notebook in submission.notebooks:
            for one in notebook.grades:
                found.append((one.name, one.auto_score, one.manual_score, one.extra_credit))
            for one in notebook.comments:
                found.append((one.name, one.auto_comment, one.manual_comment))
    return sorted(found, key=repr)


def test_hostile_students_do_not_affect_the_rest_of_the_gradebook(
    graded: Graded, alone: Classroom
) -> None:
    with graded.room.course.gradebook() as ours, alone.course.gradebook() as theirs:
        assert rows(ours) == rows(theirs)
        assert {one.id for one in ours.students} == set(graded.state)


def page(graded: Graded, student: str) -> Path:
    return Path(graded.room.course.feedback(student, NAME))


class Acting(HTMLParser):
    """Parser that collects a page's active content and external references."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "base", "form"):
            self.found.append(tag)
        for name, value in attributes:
            text = re.sub(r"[\s\x00]", "", value or "").lower()
            fetches = name in ("src", "srcset", "data", "poster", "background") or tag == "link"
            outside = not text.startswith(("#", "data:image/png;", "data:image/jpeg;"))
            if name.startswith("on") or text.startswith(("javascript:", "vbscript:")):
                self.found.append((tag, name, text[:80]))
            if fetches and name != "rel" and text and outside:
                self.found.append((tag, name, text[:80]))
            if name == "style" and "url(" in text:
                self.found.append((tag, name, text[:80]))


def test_feedback_pages_have_no_active_content(graded: Graded) -> None:
    acting = {}
    for student in graded.state:
        parser = Acting()
        parser.feed(page(graded, student).read_text(encoding="utf-8"))
        if parser.found:
            acting[student] = parser.found[:3]
    assert acting == {}


def test_graded_notebooks_and_pages_are_small(graded: Graded) -> None:
    sizes = {
        (student, path.suffix): path.stat().st_size
        for student in graded.state
        for path in (graded.room.course.graded(student, NAME), page(graded, student))
    }
    most = {".ipynb": NOTEBOOK_BYTES, ".html": PAGE_BYTES}
    assert {place: size for place, size in sizes.items() if size > most[place[1]]} == {}


def test_hidden_cases_and_solutions_do_not_leak(graded: Graded) -> None:
    course = graded.room.course
    files = [course.graded(student, NAME) for student in graded.state]
    files += [page(graded, student) for student in graded.state]
    files += (graded.room.folder / "release").rglob("*.ipynb")
    assert leaks(files, hidden_texts(graded.room)) == []
    ungraded = [name for name, fair in folders.FAIR.items() if fair == "listed"]
    ungraded.remove("nobody_may_read_it")
    files = [course.graded(f"folder-{name}", NAME) for name in ungraded]
    files += [course.feedback(f"folder-{name}", NAME) for name in ungraded]
    assert leaks(files, solution_lines()) == []


@pytest.mark.parametrize("known", KNOWN)
def test_each_known_attack_is_carried_out_by_a_student(graded: Graded, known: str) -> None:
    students = set(KNOWN[known])
    assert students <= {*STUDENTS, *MISTAKES}
    assert students & {*graded.state, *MISTAKES} or students <= SLOW & CELLS.keys()


def test_some_hostile_students_try_attacks_beyond_the_known_ones(graded: Graded) -> None:
    known = {student for students in KNOWN.values() for student in students}
    assert len({*CELLS, *ANSWERS, *FOLDERS} - known) > 20
    assert len(DEFAULT - known) > 15


def test_the_default_students_cover_each_fair_outcome() -> None:
    fair = {one.fair for student, one in CELLS.items() if student in DEFAULT}
    assert fair == {one.fair for one in CELLS.values()}
    fair_answers = {name in answers.FAIR for one, name in ANSWERS.items() if one in DEFAULT}
    assert fair_answers == {True, False}
    fair_folders = {folders.FAIR[name] for one, name in FOLDERS.items() if one in DEFAULT}
    assert fair_folders == set(folders.FAIR.values())


# --- nbgrader's own command ----------------------------------------------------------------------

WORST_CELLS = ("course_walk", "network", "gone", "sql")
WORST_FOLDERS = (
    "notebook_is_a_fifo",
    "fifo_beside",
    "link_to_the_gradebook",
    "link_to_the_machine",
    "gigabyte_of_notebook",
    "nested_lists",
)


@pytest.fixture(scope="module")
def by_nbgrader(
    release: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Classroom, str, set[int]]:
    """Grade the most hostile submissions with `nbgrader autograde`.

    Returns (room, log, processes left).
    """
    room = classroom(release, tmp_path_factory.mktemp("plain") / "course")
    right = room.solved(NAME)
    for name in WORST_CELLS:
        room.hand_in(f"cell-{name}", NAME, with_first(right, CELLS[f"cell-{name}"].source))
    for name in WORST_FOLDERS:
        notebook = room.hand_in(f"folder-{name}", NAME, right)
        getattr(folders, name)(notebook.parent, notebook)
    before, running = snapshot(room.folder / "release"), descendants(os.getpid())
    done = room.nbgrader("autograde", NAME, "--Values.cell_seconds=3", "--Values.call_seconds=1")
    assert snapshot(room.folder / "release") == before
    return room, done.stderr, survivors(new_descendants(running))


def score(room: Classroom, student: str) -> float:
    with room.course.gradebook() as gradebook:
        return float(gradebook.find_submission(NAME, student).score)


def test_plain_nbgrader_grades_honest_students_beside_hostile_ones(
    by_nbgrader: tuple[Classroom, str, set[int]],
) -> None:
    room, said, left = by_nbgrader
    assert {student: score(room, student) for student in HONEST} == HONEST, said[-2000:]
    assert left == set()


@pytest.mark.parametrize("name", ["course_walk", "network", "sql"])
def test_plain_nbgrader_uses_the_sandbox(
    by_nbgrader: tuple[Classroom, str, set[int]], name: str
) -> None:
    room, _, _ = by_nbgrader
    assert score(room, f"cell-{name}") == FULL
    outputs = json.dumps(room.graded(f"cell-{name}", NAME).cells[0].outputs)
    assert "REACHED" not in outputs


@pytest.mark.parametrize("name", WORST_FOLDERS)
def test_plain_nbgrader_skips_and_reports_malicious_folders(
    by_nbgrader: tuple[Classroom, str, set[int]], name: str
) -> None:
    room, said, _ = by_nbgrader
    assert f"folder-{name}" in said
    assert not room.course.graded(f"folder-{name}", NAME).exists()
    with room.course.gradebook() as gradebook:
        given = {one.student.id: one.score for one in gradebook.assignment_submissions(NAME)}
    assert given.get(f"folder-{name}", 0) == 0
