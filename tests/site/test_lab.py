"""Copies of notebooks in my-work: their names, updates, and protection of edits."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from book_extension import contents
from commands import lab
from commands.jupyterlab import copies, folders
from commands.jupyterlab.sources import read_pieces
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from repository import HEADER, ROOT

FIRST, EXERCISE = "chapters/first", "exercises/task/task"
COPY, TASK = "chapters/1-first.ipynb", "task/task.ipynb"
TOC = """\
format: jb-book
root: index
parts:
  - caption: Before
    chapters: [{file: chapters/preface}]
  - caption: Book
    numbered: true
    chapters: [{file: chapters/first}, {file: chapters/second}]
  - caption: Tasks
    chapters: [{file: exercises/task/task}]
  - caption: After
    chapters: [{file: chapters/glossary}]
"""


class Course:
    """Small course, with a reader's folder of notebook copies.

    `lab` updates the copies as `make lab` does.
    """

    def __init__(self, folder: Path) -> None:
        self.book, self.work, self.release = folder / "book", folder / "work", folder / "release"
        (self.book / "chapters").mkdir(parents=True)
        (self.book / "_toc.yml").write_text(TOC)
        (self.book / "_config.yml").write_text("title: A course\n")
        for stem in ("preface", "first", "second", "glossary"):
            self.write(stem, f"# The {stem}")
        self.put_exercise("Task")

    def write(self, stem: str, text: str) -> None:
        cell = "```{code-cell} ipython3\n1 + 1\n```\n"
        (self.book / "chapters" / f"{stem}.md").write_text(f"{HEADER}\n{text}\n\n{cell}")

    def put_exercise(self, title: str, **facts: Any) -> None:
        check = new_code_cell("check('part', f)", metadata={"nbgrader": MARKS})
        cells = [new_markdown_cell(f"# Exercise 1: `{title}`"), new_code_cell("answer"), check]
        notebook = new_notebook(cells=cells, metadata={"exercise": facts} if facts else {})
        path = self.release / "task" / "task.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    def lab(self) -> copies.Report:
        return lab.prepare(self.book, self.work, self.release)

    def read(self, copy: str) -> nbformat.NotebookNode:
        return nbformat.read(self.work / copy, as_version=4)

    def edit(self, copy: str, source: str = "mine") -> bytes:
        """Edit a notebook's last cell, as a reader would; return the file's new content."""
        notebook = self.read(copy)
        notebook.cells[-1].source = source
        nbformat.write(notebook, self.work / copy)
        return (self.work / copy).read_bytes()

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.work).as_posix(): path.read_bytes()
            for path in self.work.rglob("*")
            if path.is_file()
        }


MARKS = {"grade": True, "grade_id": "part", "solution": False, "points": 1}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Create a course and the reader's copies of its notebooks."""
    made = Course(tmp_path)
    report = made.lab()
    assert report.made == list(contents.names(made.book / "_toc.yml").values())
    return made


def test_file_names_sort_in_chapter_order(course: Course) -> None:
    named = list(contents.names(course.book / "_toc.yml").values())
    assert named == [
        "chapters/0-preface.ipynb",
        "chapters/1-first.ipynb",
        "chapters/2-second.ipynb",
        "task/task.ipynb",
        "chapters/glossary.ipynb",
    ]
    chapters = [name for name in named if name.startswith("chapters/")]
    assert sorted(chapters) == chapters


def test_notebook_copies_are_named_by_chapter_number_or_exercise() -> None:
    named = contents.names(ROOT / "_toc.yml")
    assert named["chapters/introduction"] == "chapters/0-introduction.ipynb"
    assert named["chapters/matmul"] == "chapters/4-matmul.ipynb"
    assert all(
        named[f"exercises/{path.stem}/{path.stem}"] == f"{path.stem}/{path.name}"
        for path in (ROOT / "exercises").glob("*/*.ipynb")
    )


def test_a_second_make_lab_changes_no_files(course: Course) -> None:
    before = course.files()
    report = course.lab()
    assert course.files() == before
    assert report.line() == "5 as they were"


def test_untouched_notebook_copies_are_updated(course: Course) -> None:
    course.write("first", "# The first, better")
    report = course.lab()
    assert report.updated == [COPY]
    assert report.line() == "1 updated, 4 as they were"
    assert course.read(COPY).cells[0].source == "# The first, better"
    assert course.lab().line() == "5 as they were"


def test_running_a_notebook_copy_does_not_count_as_editing(course: Course) -> None:
    notebook = course.read(COPY)
    cell = notebook.cells[-1]
    cell.execution_count = 7
    cell.outputs = [new_output("execute_result", {"text/plain": "2"}, execution_count=7)]
    cell.metadata["collapsed"] = True
    notebook.metadata["widgets"] = {}
    nbformat.write(notebook, course.work / COPY)
    course.write("first", "# The first, better")
    assert course.lab().updated == [COPY]


@pytest.mark.parametrize("how", ["cell", "new cell", "cell gone", "picture", "order", "kind"])
def test_a_notebook_copy_counts_as_edited_after_any_kind_of_edit(course: Course, how: str) -> None:
    notebook = course.read(COPY)
    match how:
        case "cell":
            notebook.cells[-1].source += " "
        case "new cell":
            notebook.cells.append(new_markdown_cell(""))
        case "cell gone":
            del notebook.cells[-1]
        case "picture":
            notebook.cells[0].attachments = {"a.png": {"image/png": "AAAA"}}
        case "order":
            notebook.cells.reverse()
        case "kind":
            notebook.cells[-1] = new_markdown_cell(notebook.cells[-1].source)
    nbformat.write(notebook, course.work / COPY)
    mine = (course.work / COPY).read_bytes()
    course.write("first", "# The first, better")
    assert course.lab().beside == ["chapters/1-first.new.ipynb"]
    assert (course.work / COPY).read_bytes() == mine


def test_new_versions_of_edited_notebook_copies_are_saved_once_next_to_them(course: Course) -> None:
    mine = course.edit(TASK)
    course.put_exercise("Task, better")
    report = course.lab()
    assert report.line() == "4 as they were; new version beside yours: task/task.new.ipynb"
    assert "better" in course.read("task/task.new.ipynb").cells[0].source
    assert course.lab().line() == "5 as they were"

    # The next version replaces the previous one, unless that was edited, too.
    course.put_exercise("Task, better still")
    assert course.lab().beside == ["task/task.new.ipynb"]
    mine_too = course.edit("task/task.new.ipynb")
    course.put_exercise("Task, best")
    assert course.lab().beside == ["task/task.new-2.ipynb"]
    assert (course.work / TASK).read_bytes() == mine
    assert (course.work / "task/task.new.ipynb").read_bytes() == mine_too


def test_a_deleted_new_version_is_not_restored(course: Course) -> None:
    course.edit(COPY)
    course.write("first", "# The first, better")
    course.lab()
    (course.work / "chapters/1-first.new.ipynb").unlink()
    assert course.lab().line() == "5 as they were"


def test_a_new_version_moved_over_the_old_one_is_recognized(course: Course) -> None:
    course.edit(COPY)
    course.write("first", "# The first, better")
    course.lab()
    (course.work / "chapters/1-first.new.ipynb").replace(course.work / COPY)
    course.edit(COPY, "mine, in the new one")
    (course.work / copies.GIVEN).unlink()
    assert course.lab().line() == "5 as they were"
    course.write("first", "# The first, best")
    assert course.lab().beside == ["chapters/1-first.new.ipynb"]


def test_a_new_version_beside_the_old_one_is_recognized_without_a_record(course: Course) -> None:
    original = (course.work / COPY).read_bytes()
    course.edit(COPY)
    course.write("first", "# The first, better")
    course.lab()
    (course.work / COPY).write_bytes(original)
    (course.work / copies.GIVEN).unlink()
    assert course.lab().line() == "5 as they were"
    assert (course.work / COPY).read_bytes() == original


def test_a_notebooks_hashes_do_not_depend_on_the_order_of_metadata() -> None:
    facts = {name: {"image/png": name} for name in ("b.png", "a.png")}
    for of in (copies.version_of, copies.cells_of):
        hashes = set()
        for ordered in (facts, dict(reversed(facts.items()))):
            cell = new_markdown_cell("a", attachments=ordered)
            hashes.add(of(new_notebook(cells=[cell], metadata=ordered)))
        assert len(hashes) == 1


def test_a_removed_notebook_copy_is_created_again(course: Course) -> None:
    mine = course.edit(TASK)
    (course.work / TASK).rename(course.work / "task/mine.ipynb")
    assert course.lab().made == [TASK]
    assert course.read(TASK).cells[1].source == "answer"
    assert (course.work / "task/mine.ipynb").read_bytes() == mine


@pytest.mark.parametrize("text", ["mine", "{}", "[]", '{"cells": 1, "nbformat": 4}', "\xff"])
def test_invalid_notebooks_are_not_overwritten(course: Course, text: str) -> None:
    (course.work / COPY).write_bytes(text.encode("latin-1"))
    course.write("first", "# The first, better")
    assert course.lab().beside == ["chapters/1-first.new.ipynb"]
    assert (course.work / COPY).read_bytes() == text.encode("latin-1")


def test_notebook_copies_without_course_metadata_count_as_edited(course: Course) -> None:
    notebook = course.read(COPY)
    del notebook.metadata[copies.MARK]
    nbformat.write(notebook, course.work / COPY)
    before = (course.work / COPY).read_bytes()
    course.write("first", "# The first, better")
    assert course.lab().beside == ["chapters/1-first.new.ipynb"]
    assert (course.work / COPY).read_bytes() == before


def test_a_copy_of_another_page_is_not_overwritten(course: Course) -> None:
    mine = (course.work / "chapters/2-second.ipynb").read_bytes()
    (course.work / COPY).write_bytes(mine)
    course.write("first", "# The first, better")
    assert course.lab().beside == ["chapters/1-first.new.ipynb"]
    assert (course.work / COPY).read_bytes() == mine


@pytest.mark.parametrize("text", ["", "[1]", "no JSON"])
def test_a_damaged_version_record_loses_no_work(course: Course, text: str) -> None:
    mine = course.edit(COPY)
    (course.work / copies.GIVEN).write_text(text)
    assert course.lab().line() == "5 as they were"
    assert (course.work / COPY).read_bytes() == mine


def test_changed_metadata_updates_only_untouched_notebook_copies(course: Course) -> None:
    course.put_exercise("Task", minutes=20)
    assert course.lab().updated == [TASK]
    assert course.read(TASK).metadata.exercise.minutes == 20
    course.edit(TASK)
    course.put_exercise("Task", minutes=30)
    assert course.lab().line() == "5 as they were"


def test_renumbered_chapters_rename_untouched_notebook_copies(course: Course) -> None:
    mine = course.edit("chapters/2-second.ipynb")
    toc = TOC.replace("[{file: chapters/first}", "[{file: chapters/zeroth}, {file: chapters/first}")
    (course.book / "_toc.yml").write_text(toc)
    course.write("zeroth", "# The zeroth")
    report = course.lab()
    assert (report.made, report.updated) == (
        ["chapters/1-zeroth.ipynb"],
        ["chapters/2-first.ipynb"],
    )
    assert report.beside == ["chapters/3-second.ipynb"]
    assert not (course.work / COPY).exists()
    assert (course.work / "chapters/2-second.ipynb").read_bytes() == mine


def test_a_failed_write_keeps_the_old_files_and_can_be_repeated(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = course.files()
    course.write("first", "# The first, better")

    def full_disk(_: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(copies.os, "fsync", full_disk)
        with pytest.raises(OSError, match="no space"):
            course.lab()
    after = course.files()
    assert {name: after[name] for name in before} == before
    assert course.lab().updated == [COPY]
    assert not [name for name in course.files() if "unfinished" in name]


def test_the_start_page_lists_pages_and_exercises(course: Course) -> None:
    course.put_exercise("Task", minutes=40, difficulty="hard", read_first="second")
    course.lab()
    content = json.loads((course.work / "course.json").read_text(encoding="utf-8"))
    assert content["title"] == "A course"
    assert [
        (part["caption"], [(page["number"], page["title"]) for page in part["pages"]])
        for part in content["parts"]
    ] == [
        ("Before", [("", "The preface")]),
        ("Book", [("1", "The first"), ("2", "The second")]),
        ("Tasks", []),
        ("After", [("", "The glossary")]),
    ]
    assert content["exercises"] == [
        {
            "path": TASK,
            "caption": "Tasks",
            "title": "Exercise 1: Task",
            "minutes": 40,
            "difficulty": "hard",
            "first": {"path": "chapters/2-second.ipynb", "title": "The second"},
            "parts": ["part"],
        }
    ]


def test_exercises_are_listed_in_course_order(course: Course) -> None:
    """The order ignores which chapter each exercise says to read first."""
    for name, chapter in (("a-later", "first"), ("task", "glossary"), ("b-last", "preface")):
        course.put_exercise(name, read_first=chapter)
        if name != "task":
            path = course.release / name / f"{name}.ipynb"
            path.parent.mkdir()
            (course.release / "task" / "task.ipynb").rename(path)
    course.put_exercise("task", read_first="glossary")
    later = "{file: exercises/task/task}, {file: exercises/a-later/a-later}"
    toc = TOC.replace("{file: exercises/task/task}", f"{later}, {{file: exercises/b-last/b-last}}")
    (course.book / "_toc.yml").write_text(toc)
    course.lab()
    listed = json.loads((course.work / "course.json").read_text(encoding="utf-8"))["exercises"]
    assert [(one["caption"], one["path"]) for one in listed] == [
        ("Tasks", f"{name}/{name}.ipynb") for name in ("task", "a-later", "b-last")
    ]
    assert [one["first"]["title"] for one in listed] == [
        "The glossary",
        "The first",
        "The preface",
    ]


def test_exercises_without_metadata_or_release_are_tolerated(course: Course) -> None:
    content = json.loads((course.work / "course.json").read_text(encoding="utf-8"))
    one = content["exercises"][0]
    assert (one["minutes"], one["difficulty"]) == ("", "")
    assert one["first"] is None
    course.put_exercise("Task", read_first="no such chapter")
    course.lab()
    (course.release / "task" / "task.ipynb").unlink()
    course.lab()
    content = json.loads((course.work / "course.json").read_text(encoding="utf-8"))
    assert content["exercises"] == []
    assert (course.work / TASK).exists()


def test_each_exercise_folder_configures_validate(course: Course) -> None:
    for folder in (course.work, course.work / "task"):
        assert "validate.install()" in (folder / "nbgrader_config.py").read_text(encoding="utf-8")


def test_a_learners_own_nbgrader_config_is_kept(course: Course) -> None:
    mine = course.work / "task" / "nbgrader_config.py"
    mine.write_text("mine")
    course.lab()
    assert mine.read_text() == "mine"


def test_all_jupyter_folders_are_in_the_readers_folder(tmp_path: Path) -> None:
    found = folders.variables(tmp_path / "rooms", {}, tmp_path / "home")
    assert set(found) == set(folders.VARIABLES)
    assert all(Path(place).parent == tmp_path / "rooms" for place in found.values())
    assert len(set(found.values())) == len(found)


def test_existing_jupyterlab_settings_are_used(tmp_path: Path) -> None:
    settings = tmp_path / "home" / ".jupyter" / "lab" / "user-settings"
    settings.mkdir(parents=True)
    found = folders.variables(tmp_path / "rooms", {}, tmp_path / "home")
    assert found["JUPYTERLAB_SETTINGS_DIR"] == str(settings)
    assert found["JUPYTERLAB_WORKSPACES_DIR"] == str(tmp_path / "rooms" / "workspaces")


def test_folders_set_in_the_environment_are_kept(tmp_path: Path) -> None:
    given = {"IPYTHONDIR": "/elsewhere", "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    (tmp_path / "config" / "lab" / "user-settings").mkdir(parents=True)
    found = folders.variables(tmp_path / "rooms", given, tmp_path / "home")
    assert found["IPYTHONDIR"] == "/elsewhere"
    assert found["JUPYTER_CONFIG_DIR"] == str(tmp_path / "config")
    assert found["JUPYTERLAB_SETTINGS_DIR"] == str(tmp_path / "config" / "lab" / "user-settings")


def test_each_exercise_is_copied_without_its_solution(release: Path, tmp_path: Path) -> None:
    lab.prepare(ROOT, tmp_path, release / "release")
    names = [path.stem for path in (ROOT / "exercises").glob("*/*.ipynb")]
    assert len(names) == 9
    for name in names:
        text = (tmp_path / name / f"{name}.ipynb").read_text(encoding="utf-8")
        assert "YOUR CODE HERE" in text
        assert "BEGIN SOLUTION" not in text
    content = json.loads((tmp_path / "course.json").read_text(encoding="utf-8"))
    assert [one["title"][:11] for one in content["exercises"]] == [
        f"Exercise {number}:" for number in range(1, 10)
    ]
    assert all(page["title"] for part in content["parts"] for page in part["pages"])


# --- folders that can't be written ---------------------------------------------------------------


@pytest.fixture
def started(course: Course, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Set up `make lab` for the small course.

    The command is recorded instead of starting JupyterLab.
    """
    config = course.book / lab.NBGRADER
    config.parent.mkdir(parents=True)
    config.touch()
    commands: list[list[str]] = []
    monkeypatch.setattr(lab, "ROOT", course.book)
    monkeypatch.setattr(lab, "WORK", course.work)
    monkeypatch.setattr(lab.handouts, "released", lambda _: course.release)

    def replaced(program: str, words: list[str]) -> None:
        assert program == words[0] == sys.executable
        # Don't flush here: the real execv discards buffered output.
        commands.append(words)

    monkeypatch.setattr(lab.os, "execv", replaced)
    monkeypatch.setattr(lab.os, "environ", dict(os.environ))
    return commands


def test_make_lab_starts_jupyterlab_on_the_copies(
    course: Course, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    lab.main([])
    assert f"--ServerApp.root_dir={course.work}" in started[0]
    assert capsys.readouterr().out.startswith("my-work: 5 as they were")


def test_output_is_flushed_before_jupyterlab_replaces_the_process(
    course: Course, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(printed)):
        lab.main(["--port=1"])
        assert b"Nothing of yours is overwritten." in printed.getvalue()
        sys.stdout.detach()  # type: ignore[attr-defined]
    assert started[0][-1] == "--port=1"


def test_control_c_at_the_language_question_ends_make_lab(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lab.first_start, "language_of", interrupted)
    with pytest.raises(SystemExit) as stopped:
        lab.main([])
    assert stopped.value.code == 128 + signal.SIGINT
    assert started == []


def test_a_write_error_without_a_path_names_the_readers_folder(tmp_path: Path) -> None:
    line = lab.cannot_write(OSError("odd"), tmp_path)
    assert line.startswith(f"{tmp_path} can't be written: odd. ")


@pytest.mark.parametrize(
    "number",
    [
        errno.EROFS,
        *(
            pytest.param(number, marks=pytest.mark.long)
            for number in (errno.EACCES, errno.EPERM, errno.ENOSPC)
        ),
    ],
)
@pytest.mark.parametrize("place", [".jupyter", "chapters", "task", "course.json", copies.GIVEN])
def test_write_errors_are_reported_in_one_line(
    course: Course,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    place: str,
) -> None:
    real = Path.open

    def refused(self: Path, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if "w" in mode and self.is_relative_to(course.work) and place in str(self):
            raise OSError(number, os.strerror(number), str(self))
        return real(self, mode, *rest, **named)

    course.write("first", "# The first, better")
    course.put_exercise("Task, better")
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(SystemExit) as stopped:
        lab.main([])
    said = str(stopped.value.code)
    assert started == []
    assert "\n" not in said
    assert os.strerror(number) in said
    assert str(course.work) in said


def test_a_file_in_place_of_the_readers_folder_is_reported(
    course: Course, started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(lab, "WORK", tmp_path / "file")
    with pytest.raises(SystemExit, match="can't be written"):
        lab.main([])


def test_write_errors_outside_the_readers_folder_name_the_path_that_failed(
    course: Course, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device", "/elsewhere/_build")

    monkeypatch.setattr(lab.handouts, "released", full)
    with pytest.raises(SystemExit) as stopped:
        lab.main([])
    assert str(stopped.value.code).startswith("/elsewhere/_build can't be written")


def test_a_read_only_mount_is_reported_in_one_line(tmp_path: Path) -> None:
    """The mount is real, so that it is read-only for root, too."""
    work = tmp_path / "my-work"
    work.mkdir()
    script = "import pathlib; from commands import lab; "
    script += f"lab.WORK = pathlib.Path({str(work)!r}); lab.main([])"
    mounts = ("--dev-bind", "/", "/", "--ro-bind", str(work), str(work))
    done = subprocess.run(
        ["bwrap", *mounts, sys.executable, "-c", script],
        cwd=ROOT / "site",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{work} can't be written: Read-only file system")


@pytest.mark.parametrize("name", ["", "fig-one"])
def test_a_caption_is_labeled_if_its_figure_has_a_name(tmp_path: Path, name: str) -> None:
    named = f"    name: {name}\n" if name else ""
    mystnb = f"mystnb:\n  figure:\n    caption: A picture.\n{named}"
    page = tmp_path / "page.md"
    page.write_text(f"{HEADER}# Page\n\n```{{code-cell}}\n---\n{mystnb}---\n1\n```\n")
    captions = [piece for piece in read_pieces(page) if piece.kind == "caption"]
    assert [(piece.text, piece.label) for piece in captions] == [("A picture.", name)]
