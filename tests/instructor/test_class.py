"""A class of honest, unlucky, unusual and hostile students, graded by one command.

The tables in `tests/tables/` say what each student hands in, and what is fair then. By default the
class has one student of each kind; the long tests grade all others as well.
"""

import contextlib
import html
import inspect
import itertools
import json
import os
import re
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import accidents
import hostile
import matplotlib
import nbformat
import pytest
import unusual
from accidents import FULL
from classroom import NAME, Classroom, cell, code, points, said, with_first
from editors import EDITORS
from hostile import answers, folders, texts
from nbformat import NotebookNode
from playwright.sync_api import Browser
from processes import nothing_left
from reports import check_page, check_report, check_tables
from submissions import submissions

from grading.release import exercises

WRONG, WRONG_POINTS = "wrong_output_not_counted", 7.0
HALF = sum(points()[part] for part in accidents.EARLY)
ALL = exercises.names()
MOST_BYTES = 2_000_000  # of a graded notebook, and of a page of feedback
SECRET = "REACHED a secret of the host"

# Students of the default class, besides the honest ones: some of each kind, the worst of its kind
# among them. All others are in the long one.
OFTEN = {
    "mistake": """
        solution-twice check-edited first-and-last-deleted check-retyped merged-cells
        metadata-stripped points-edited answer-in-the-check in-reverse-order magics
        the-stub-left-below-an-answer a-helper-further-down""",
    "costs": """
        memory-last memory-in-an-answer ends-last newer-python
        a-package-that-is-missing a-package-above-the-function""",
    "beside": "a-copy-that-is-nested-deeply untouched-copies in-a-folder in-capitals",
    "notebook": "hard-spaces",
    "first": "own-print waits-at-exit",
    "file": "utf-32 cut-off merge-conflict only-a-zip a-web-page",
    "answer": "equal_to_all changing noisy_float trap_for_pickles dying",
    "cell": "at_the_end daemon in_flight patched_kernel signals",
    "cheat": "forged_messages patched_kernel replaced_run_cell",
    "folder": """
        many_cells notebook_is_a_link_out notebook_is_a_fifo gigabyte_of_notebook nested_lists
        a_list_of_notebooks nobody_may_read_it""",
}
# Many things that keep all points, done by one student: cells of one notebook, or one folder.
CELLS_TOGETHER = {
    "looks": """
        course_walk devices hidden_tests host_writes inherited limits neighbors network proc_walk
        ptrace setuid watches""",
    "shows": """
        ansi asks_for_input fat_html leaves namesake odd_texts output_names syntax_error warns""",
}
FOLDER_TOGETHER = {
    "beside": """
        link_to_the_machine link_to_the_gradebook fifo_beside socket_beside odd_names
        gigabyte_beside modules_beside configuration_beside deep_folders""",
    "inside": "names_that_lead_out scripts_in_the_text metadata_of_ours",
}
# Cells that could steal points: they also stand before a wrong solution.
CHEATS = (*OFTEN["cheat"].split(), "forged_answers")
RUN_BY_ROOT = "nobody_may_read_it"  # root can


@dataclass
class Student:
    """What somebody hands in, and what is fair: points between `least` and `most`.

    listed: whether it can't be graded and must be listed. lost: the only parts that may lose
    points, if that is known. says: words on the page of feedback, or else in `remarks.csv`.
    """

    name: str
    hand_in: Callable[[Classroom, str], object]
    least: float
    most: float
    listed: bool = False
    lost: set[str] | None = None
    says: str = ""

    @property
    def kind(self) -> str:
        return self.name.partition("-")[0]


def student(
    name: str, edit: Callable[[NotebookNode], NotebookNode], fair: float | None, says: str = ""
) -> Student:
    """Return a student who hands in an edited right notebook."""

    def hand_in(room: Classroom, who: str) -> None:
        room.hand_in(who, NAME, edit(room.solved()))

    return Student(name, hand_in, fair or 0, fair or 0, listed=fair is None, says=says)


def written(name: str, write: Callable[[Path, str, str], object], fair: float | None) -> Student:
    """Return a student whose right notebook is written in an unusual way."""

    def hand_in(room: Classroom, who: str) -> None:
        write(room.folder_of(who), NAME, nbformat.writes(room.solved()))

    return Student(name, hand_in, fair or 0, fair or 0, listed=fair is None)


def everybody() -> Iterator[Student]:
    yield from honest()
    for name, (edit, fair) in accidents.RIGHT.items():
        yield student(f"mistake-{name}", edit, fair)
    for name, saved in EDITORS.items():
        yield written(f"editor-{name}", as_saved(saved), FULL)
    for name, (edit, lost, says) in accidents.COSTS.items():
        yield cost(name, edit, set(lost), says)
    for name, (files, fair, note) in accidents.BESIDE.items():
        yield beside(name, files, fair, note)
    for name, (edit, fair) in unusual.NOTEBOOKS.items():
        yield student(f"notebook-{name}", edit, fair)
    for name, (source, fair) in unusual.FIRST.items():
        yield student(f"first-{name}", lambda nb, source=source: with_first(nb, source), fair)
    for name, (write, fair) in unusual.FILES.items():
        yield written(f"file-{name}", write, fair)
    for name, made in vars(answers).items():
        if inspect.isfunction(made) and made.__module__ == answers.__name__:
            least = FULL if name in answers.FAIR else 0
            most = FULL if name in answers.EITHER else least
            edit = lambda nb, name=name: wrapped(nb, name)  # noqa: E731
            yield Student(f"answer-{name}", student("", edit, FULL).hand_in, least, most)
    for one in hostile.cells():
        least, most = {"points": (FULL, FULL), "nothing": (0, 0), "either": (0, FULL)}[one.fair]
        edit = lambda nb, one=one: with_first(nb, one.source)  # noqa: E731
        yield Student(f"cell-{one.name}", student("", edit, FULL).hand_in, least, most)
        if one.name in CHEATS:
            cheat = lambda room, who, one=one: room.hand_in(  # noqa: E731
                who, NAME, with_first(room.solved(NAME, WRONG), one.source)
            )
            yield Student(f"cheat-{one.name}", cheat, 0, WRONG_POINTS)
    by_name = {one.name: one.source for one in hostile.cells()}
    for name, cells in CELLS_TOGETHER.items():
        sources = [by_name[one] for one in cells.split()]
        yield student(f"together-{name}", lambda nb, sources=sources: with_cells(nb, sources), FULL)
    for name, makers in FOLDER_TOGETHER.items():
        yield folder(f"together-{name}", makers.split(), listed=False)
    for name, fair in folders.FAIR.items():
        by_root = name == RUN_BY_ROOT and os.geteuid() == 0
        yield folder(f"folder-{name}", [name], listed=fair == "listed" and not by_root)


def honest() -> Iterator[Student]:
    """Yield students who hand in all exercises, and those whose mistakes are known."""
    yield Student("honest-right", lambda room, who: all_of(room, who, "right"), FULL, FULL)
    yield Student("honest-wrong", lambda room, who: all_of(room, who, "wrong"), 0, FULL)
    yield Student("honest-empty", lambda room, who: room.hand_in(who, NAME, room.released()), 0, 0)
    yield Student("honest-half", lambda room, who: half_done(room, who), HALF, HALF)
    yield Student(
        "honest-copy", lambda room, who: room.hand_in(who, NAME, room.solved()), FULL, FULL
    )
    yield Student("by-heart", lambda room, who: room.hand_in(who, NAME, by_heart(room)), 0, 0)
    yield student("shows-html", shows_html, FULL)


def all_of(room: Classroom, who: str, kind: str) -> None:
    """Hand in all exercises: the reference, or for "wrong" a known mistake, if any."""
    for name in ALL:
        room.hand_in(who, name, room.solved(name, first_wrong(name) if kind == "wrong" else ""))


def first_wrong(name: str) -> str:
    """Return a mistake of which all lost parts are known; "" if nobody has written one yet."""
    return next((one.name for one in submissions(name) if one.expected and not one.open), "")


def half_done(room: Classroom, who: str) -> None:
    notebook, right = room.released(), room.solved()
    for part in accidents.EARLY:
        cell(notebook, f"{part}-solution").source = cell(right, f"{part}-solution").source
    room.hand_in(who, NAME, notebook)


def by_heart(room: Classroom) -> NotebookNode:
    """Return a notebook that knows the published cases, and tells about all others that it sees.

    Of these, every second part raises an error, and the others return a wrong number.
    """
    notebook = room.released()
    ends = itertools.cycle(("raise LookupError(f'ASKED {case}')", "return [*known.values()][0]"))
    for part, end in zip(exercises.load(NAME).parts, ends, strict=False):
        known = {repr(dict(case)): exercises.expected(NAME, part, case) for case in part.cases}
        cell(notebook, f"{part.key}-solution").source = "\n".join(
            [
                f"def {part.function}(**case):",
                f"    known = {known!r}",
                "    if repr(case) in known:",
                "        return known[repr(case)]",
                "    print('ASKED', case)",
                "    open('asked.txt', 'a').write(f'ASKED {case}')",
                f"    {end}",
            ]
        )
    notebook.cells.append(code("import pathlib\nprint(*pathlib.Path().glob('asked*'))"))
    return notebook


def shows_html(nb: NotebookNode) -> NotebookNode:
    """Print, show, raise and write down each piece of HTML that could act in a browser."""
    shown = "from IPython.display import HTML, Markdown, display\n"
    for name, text in texts.ATTACKS.items():
        shown += f"print({text!r})\ndisplay(HTML({text!r}), Markdown({text!r}))\n"
        nb.cells.append(nbformat.v4.new_markdown_cell(f"## {name}\n\n{text}"))
        nb.cells.append(code(f"raise type('X', (Exception,), {{}})({text!r})"))
        cell(nb, "bounds-solution").source += f"\n# {text}"
    nb.cells.append(code(shown))
    nb.cells.append(code("import matplotlib.pyplot as plt\nplt.plot([1, 2]);"))
    return nb


def as_saved(saved: Callable[[NotebookNode], str]) -> Callable[[Path, str, str], object]:
    def write(place: Path, name: str, text: str) -> None:
        notebook = nbformat.reads(text, as_version=4)
        (place / f"{name}.ipynb").write_text(saved(notebook), encoding="utf-8")

    return write


def cost(
    name: str, edit: Callable[[NotebookNode], NotebookNode], lost: set[str], says: str
) -> Student:
    if name == "newer-python" and sys.version_info >= (3, 12):  # not newer than this one
        lost, says = set(), ""
    least = FULL - sum(points()[part] for part in lost)
    made = student(f"costs-{name}", edit, FULL).hand_in
    return Student(f"costs-{name}", made, least, FULL, lost=lost, says=says)


def beside(
    name: str, files: dict[str, Callable[[NotebookNode], NotebookNode]], fair: float, note: str
) -> Student:
    def hand_in(room: Classroom, who: str) -> None:
        for file, edit in files.items():
            place = room.folder_of(who) / file
            place.parent.mkdir(exist_ok=True)
            place.write_text(nbformat.writes(edit(room.solved())), encoding="utf-8")

    return Student(f"beside-{name}", hand_in, fair, fair, listed=bool(note), says=note)


def wrapped(nb: NotebookNode, name: str) -> NotebookNode:
    """Return a notebook whose right answers pass through this function of answers.py."""
    notebook = with_first(nb, inspect.getsource(answers))
    for part in exercises.load(NAME).parts:
        function = part.function
        cell(notebook, f"{part.key}-solution").source += (
            f"\n\n\nright_{function} = {function}\n\n\n"
            f"def {function}(*a, **k):\n    return {name}(right_{function}(*a, **k))\n"
        )
    return notebook


def with_cells(nb: NotebookNode, sources: list[str]) -> NotebookNode:
    nb.cells[:0] = map(code, sources)
    return nb


def folder(name: str, makers: list[str], listed: bool) -> Student:
    def hand_in(room: Classroom, who: str) -> None:
        notebook = room.hand_in(who, NAME, room.solved())
        for one in makers:
            getattr(folders, one)(notebook.parent, notebook)

    fair = 0.0 if listed else FULL
    return Student(name, hand_in, fair, fair, listed=listed)


STUDENTS = {one.name: one for one in everybody()}
DEFAULT = {
    name
    for name, one in STUDENTS.items()
    if one.kind not in OFTEN or name.removeprefix(f"{one.kind}-") in OFTEN[one.kind].split()
}


# ---- the class


@dataclass
class Graded:
    """The graded class, and what was beside it before and after."""

    room: Classroom
    students: list[Student]
    printed: str
    before: dict[str, object]
    after: dict[str, object]
    scratch: list[str]
    first: dict[str, bytes] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Student]:
        return [one for one in self.students if one.kind in kinds]


@pytest.fixture(scope="module", params=["some", pytest.param("all others", marks=pytest.mark.long)])
def graded(
    request: pytest.FixtureRequest, release: Path, tmp_path_factory: pytest.TempPathFactory
) -> Graded:
    """Grade the class on a machine with secrets; its home and its /tmp are folders of the test."""
    top = tmp_path_factory.mktemp("host")
    room = Classroom(top / "course", release)
    some = request.param == "some"
    names = [name for name in STUDENTS if (name in DEFAULT) == some or name.startswith("honest")]
    students = [STUDENTS[name] for name in names]
    for one in students:
        one.hand_in(room, one.name)
    for name in ("secrets/key", "home/.ssh/id", "home/.ipython/profile_default/startup/0.py"):
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"SECRET = {SECRET!r}\n")
    (top / "tmp").mkdir()
    environment = {
        "HOME": str(top / "home"),
        "TMPDIR": str(top / "tmp"),
        "SECRET_OF_THE_GRADER": "SECRET",
        "MPLCONFIGDIR": matplotlib.get_cachedir(),  # rebuilding the fonts' cache is slow
    }
    watched = [top / "secrets", top / "home", room.folder / "submitted", room.folder / "release"]
    with socket.socket() as service, nothing_left(), pytest.MonkeyPatch.context() as patch:
        with contextlib.suppress(OSError):  # otherwise something else listens there
            service.bind(("127.0.0.1", 8888))
            service.listen()
        for name, value in environment.items():
            patch.setenv(name, value)
        before = snapshot(*watched)
        printed = said(room.run("grade"))
        after = snapshot(*watched)
    scratch = sorted(path.name for path in (top / "tmp").iterdir())
    return Graded(room, students, printed, before, after, scratch, room.files())


def snapshot(*places: Path) -> dict[str, object]:
    """Return mode, owner, size, time and target of everything in these folders."""
    found: dict[str, object] = {}
    for place in places:
        for path in (place, *place.rglob("*")):
            status = path.lstat()
            target = str(path.readlink()) if stat.S_ISLNK(status.st_mode) else ""
            about = (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, target)
            found[os.fsencode(path).decode(errors="replace")] = about
    return found


def test_one_command_grades_everybody_once(graded: Graded) -> None:
    handed_in = {one.name for one in graded.students}
    count = len(handed_in) + 2 * (len(ALL) - 1)  # two students hand in all exercises
    assert graded.printed.startswith(f"{count} graded")
    assert graded.room.scores().keys() == handed_in
    rows = graded.room.table("grades.csv")
    assert len(rows) == len(handed_in) * len(ALL)
    assert {row["max_score"] for row in rows if row["assignment"] == NAME} == {f"{FULL}"}
    missing = {row["note"] for row in rows if row["student"] == "honest-copy"} - {""}
    assert missing == {"not handed in"}


def test_right_solutions_of_all_exercises_get_all_points(graded: Graded) -> None:
    rows = [row for row in graded.room.table("grades.csv") if row["student"] == "honest-right"]
    assert [row for row in rows if row["score"] != row["max_score"]] == []
    assert sorted(row["assignment"] for row in rows) == sorted(ALL)


def test_known_mistakes_in_all_exercises_cost_their_parts_and_are_named(graded: Graded) -> None:
    counted = {
        (row["assignment"], row["part"], row["cause"])
        for row in graded.room.table("misconceptions.csv")
        if int(row["students"])
    }
    for name in filter(first_wrong, ALL):
        known = next(one for one in submissions(name) if one.name == first_wrong(name))
        causes = graded.room.causes(name)["honest-wrong"]
        assert causes.keys() == known.expected.keys(), name
        for part, cause in known.expected.items():
            assert causes[part] == (cause or "other"), (name, part)
            assert (name, part, cause or "other") in counted


def test_everybody_gets_the_points_of_the_tables(graded: Graded) -> None:
    scores = graded.room.scores()
    unfair = {
        one.name: (scores[one.name], one.least, one.most)
        for one in graded.students
        if not one.least <= scores[one.name] <= one.most and one.name != "honest-wrong"
    }
    assert unfair == {}


def test_what_cannot_be_graded_is_listed_with_a_reason_and_nothing_else_is(graded: Graded) -> None:
    listed = graded.room.not_graded()
    expected = {
        f"{one.name}/{NAME}"
        for one in graded.students
        if one.listed or one.name.startswith("costs-ends")
    }
    # What ends its process or takes too long is listed, too, whether or not it has points.
    own = {f"{one.name}/{NAME}" for one in graded.of("cell", "cheat", "costs", "answer", "first")}
    assert expected <= listed.keys() <= expected | own
    for place in expected:
        student = place.partition("/")[0]
        assert len(listed[place]) > 10, place
        assert STUDENTS[student].says in listed[place]
        if graded.room.scores()[student] == 0:
            assert listed[place] in unescaped(graded.room.page(student)), place
    with graded.room.gradebook() as book:
        flagged = {
            one.student.id
            for one in book.find_assignment(NAME).submissions
            if one.needs_manual_grade
        }
    assert {one.name for one in graded.of("file", "folder") if one.listed} <= flagged
    assert not flagged & {"honest-right", "honest-copy", "honest-empty"}


def unescaped(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_an_accident_costs_only_itself_and_the_page_says_what_happened(graded: Graded) -> None:
    causes, wrong = graded.room.causes(), {}
    for one in graded.of("costs"):
        assert one.lost is not None
        text = unescaped(graded.room.page(one.name))
        lost = causes[one.name].keys() - one.lost
        if lost or one.says.lower() not in text.lower():
            wrong[one.name] = (lost, one.says)
    assert wrong == {}
    missing = [lost["bounds"] for name, lost in causes.items() if "-a-package-" in name]
    assert {*missing} <= {"not installed: a_package_that_nobody_has"}


def test_lost_points_are_explained_on_the_page_in_words(graded: Graded) -> None:
    silent, titles = [], {part.key: part.title for part in exercises.load(NAME).parts}
    for name, lost in graded.room.causes().items():
        text = unescaped(graded.room.page(name))
        for part, cause in lost.items():
            found = re.search(rf"\b{titles[part]}: ([\d.]+) of [\d.]+ points\. ?(.{{20,}})", text)
            if cause == "" or not found:
                silent.append((name, part, cause))
    assert silent == []


def test_hostile_code_reaches_nothing(graded: Graded) -> None:
    reached = {}
    for one in graded.students:
        outputs = [
            str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
            for cell in graded.room.graded(one.name).cells
            for output in cell.get("outputs", [])
        ]
        lines = [
            line
            for text in outputs
            for line in text.split("\n")
            if line.startswith("REACHED") or SECRET in line
        ]
        if lines:
            reached[one.name] = lines[:3]
    assert reached == {}


def test_nothing_outside_the_results_changes(graded: Graded) -> None:
    assert graded.after == graded.before
    assert [name for name in graded.scratch if "REACHED" in name or "fill" in name] == []


def test_hidden_inputs_do_not_reach_what_learners_get(graded: Graded) -> None:
    """The student by-heart tells about each input that the released notebook does not show."""
    seed = (graded.room.folder / ".grading" / "seed").read_text().strip()
    if "by-heart" in {one.name for one in graded.students}:
        assert "ASKED {'" not in json.dumps(graded.room.graded("by-heart"))
        page = graded.room.page("by-heart")
        assert "ASKED {'" not in unescaped(page)
        # Nor does it reach them what was wrong with the answers to these.
        said = re.findall(r'<pre class="wrong">.*?points\.(.*?)</pre>', page, re.DOTALL)
        assert (len(said), len(set(said))) == (len(points()), 1)
    for one in graded.students:
        assert seed not in graded.room.page(one.name) + json.dumps(graded.room.graded(one.name))


def test_solutions_do_not_reach_those_who_wrote_none(graded: Graded) -> None:
    lines = set(solution_lines())
    assert len(lines) > 5
    unreadable = [one.name for one in graded.of("file", "folder") if one.listed and not one.most]
    for name in ("honest-empty", *unreadable):
        shown = nbformat.writes(graded.room.graded(name)) + unescaped(graded.room.page(name))
        assert [line for line in lines if line in shown.replace('\\"', '"')] == [], name


def solution_lines() -> list[str]:
    """Return the lines of the solution that are long enough to be nobody else's."""
    found = []
    for one in exercises.source(NAME).cells:
        inside = re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", one.source, re.DOTALL)
        for line in "".join(inside).splitlines():
            if len(line.strip()) > 12 and ("=" in line or "return" in line):
                found.append(line.strip())
    return found


def test_changed_locked_cells_and_files_named_like_modules_are_stated(graded: Graded) -> None:
    told: dict[str, str] = {}
    for row in graded.room.remarks("changed"):
        told[row["student"]] = told.get(row["student"], "") + row["remark"] + "\n"
    assert not told.keys() & {one.name for one in graded.of("honest", "notebook", "editor")}
    expected = {
        "mistake-check-edited": "times",
        "mistake-solution-twice": "intensity-solution",
        "mistake-first-and-last-deleted": "given",
        "together-beside": "left aside",
    }
    for name, words in expected.items():
        if name in {one.name for one in graded.students}:
            assert words in told[name]
    for name in told.keys() & {"together-beside", "folder-many_files"}:
        folder = graded.room.folder / "submitted" / name / NAME
        files = {one.name for one in folder.iterdir() if one.is_symlink() or not one.is_dir()}
        files -= {f"{NAME}.ipynb", "timestamp.txt"}
        ((names, more),) = re.findall("left aside: (.*?)(?: and (.*) more)?$", told[name], re.M)
        assert len(names.split(", ")) + int(more or 0) == len(files), name


def test_graded_notebooks_and_pages_stay_small(graded: Graded) -> None:
    files = [*graded.room.folder.glob("feedback/*/*/*.html")]
    files += graded.room.folder.glob("autograded/*/*/*.ipynb")
    assert len(files) >= 2 * len(graded.students)
    assert [str(path) for path in files if path.stat().st_size > MOST_BYTES] == []


def test_a_browser_runs_nothing_of_a_submission(graded: Graded, browser: Browser) -> None:
    """Open the pages whose notebooks try to act, one of which plots, and the report."""
    folder = graded.room.folder
    pages, pictures = [folder / "report.html"], []
    pages += [
        folder / "feedback" / one.name / NAME / f"{NAME}.html"
        for one in graded.of("shows", "together", "cheat", "folder", "file")
    ]
    context = browser.new_context()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    for path in pages:
        page = context.new_page()
        page.goto(path.as_uri(), wait_until="load")
        assert page.evaluate("document.documentElement.dataset.ran") is None, path
        assert page.evaluate(texts.INJECTED) == [], path
        assert page.title() != "REACHED"
        pictures += page.evaluate("[...document.images].map((image) => image.naturalWidth)")
    context.close()
    assert all(pictures)
    assert pictures or not graded.of("shows")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_tables_report_and_pages_say_the_same(graded: Graded) -> None:
    check_tables(graded.room)
    check_report(graded.room)
    for one in graded.of("honest"):
        check_page(graded.room, one.name, NAME)
    for path in graded.room.folder.glob("feedback/honest-*/*/*.html"):
        assert "&amp;#" not in path.read_text(encoding="utf-8"), "a sign is escaped twice"


def test_a_second_run_grades_nothing_and_changes_no_file(graded: Graded) -> None:
    book = rows(graded.room)
    times = {
        path: path.stat().st_mtime_ns for path in graded.room.folder.glob("feedback/*/*/*.html")
    }
    assert graded.room.grade().startswith("0 graded")
    assert graded.room.files() == graded.first
    assert rows(graded.room) == book
    assert {path: path.stat().st_mtime_ns for path in times} == times


def rows(room: Classroom) -> list[str]:
    with contextlib.closing(sqlite3.connect(room.folder / "gradebook.db")) as book:
        return sorted(book.iterdump())
