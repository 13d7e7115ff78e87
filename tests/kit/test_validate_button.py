"""Tests of JupyterLab as learners see it: start page, Run All, Validate, prose."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import lab_browser
import nbformat
import pytest
from book_extension.contents import names
from classroom import Classroom, cell, code, points
from commands import lab
from commands.jupyterlab import folders
from lab_browser import (
    OPEN,
    PANEL,
    POLL_MS,
    jupyterlab,
    prose,
    raw_values,
    run_all,
    shown,
    wait_for_text,
)
from nbformat import NotebookNode
from playwright.sync_api import Browser, Locator, Page
from repository import ROOT
from site_browser import DESK

from grading.release import exercises, translation
from roofkit.check import headline
from roofkit.check.compare import Verdict
from roofkit.validate import MESSAGES, messages, summary

FIRST = "int8-matmul"
NAME = "int8-weights"  # the smallest exercise; second in the course
SECONDS = 60
RIGHT = Verdict(3, 3)
CELLS = """(path) => {
  const widgets = [...jupyterapp.shell.widgets("main")];
  const { cells } = widgets.find((one) => one.context?.path === path).content.model.toJSON();
  return cells.map((cell) => ({
    graded: cell.metadata.nbgrader?.grade ? cell.metadata.nbgrader.grade_id : "",
    said: (cell.outputs ?? []).map((one) => [one.text, one.evalue].flat().join("")).join(""),
  }));
}"""
PASSED = "({ said }) => said.includes(': right for')"
IDLE = """(path) => {
  const widgets = [...jupyterapp.shell.widgets("main")];
  const { context } = widgets.find((one) => one.context?.path === path);
  return context.sessionContext.session?.kernel?.status === "idle";
}"""
# Returns true if the start page is visible; otherwise presses its button.
PRESS_UNTIL_VISIBLE = """() => {
  if (document.querySelector(".roofkit-start h1")?.checkVisibility()) return true;
  document.querySelector("#roofkit-start-button button").click();
  return false;
}"""
# Returns whether JupyterLab's saved workspace lists the notebook as open.
SAVED = """async (workspace) => {
  const answer = await fetch(`/lab/api/workspaces/${workspace}`);
  return JSON.stringify(await answer.json()).includes("notebook:chapters/1-time.ipynb");
}"""
# Returns whether the active cell begins at the top of the visible part of its notebook.
AT_THE_TOP = """() => {
  const cell = document.querySelector(".jp-Notebook .jp-Cell.jp-mod-active");
  const visible = cell.closest(".jp-WindowedPanel-outer").getBoundingClientRect();
  return Math.abs(cell.getBoundingClientRect().top - visible.top) < 20;
}"""
# The chapter to read first is one that JupyterLab renders quickly.
FACTS = {"minutes": 35, "difficulty": "medium", "read_first": "homework"}


def make_lab_environment(folder: Path, home: Path) -> dict[str, str]:
    """Return the environment variables that `make lab` sets, with HOME in `home`."""
    given = {name: value for name, value in os.environ.items() if name not in folders.VARIABLES}
    own = folder / ".jupyter"
    folders.set_defaults(own / "config")
    return given | folders.variables(own, given, home) | {"HOME": str(home)}


@pytest.fixture(scope="module")
def room(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Return a course with all exercises released, one of them with FACTS as metadata."""
    room = Classroom(tmp_path_factory.mktemp("course"), release)
    notebook = room.released(NAME)
    notebook.metadata["exercise"] = FACTS
    nbformat.write(notebook, room.folder / "release" / NAME / f"{NAME}.ipynb")
    return room


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def work(room: Classroom, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as `make lab` makes it, plus notebooks in several states."""
    work = tmp_path_factory.mktemp("work")
    lab.prepare(ROOT, work, room.folder / "release")
    half = room.released(NAME)
    first = next(iter(points(NAME)))
    cell(half, f"{first}-solution").source = cell(room.solved(NAME), f"{first}-solution").source
    foreign = nbformat.v4.new_notebook(cells=[code("assert True")])
    foreign.metadata.kernelspec = half.metadata.kernelspec
    foreign.cells[0].metadata.nbgrader = dict(cell(half, first).metadata.nbgrader)
    del foreign.cells[0].metadata.nbgrader["checksum"]
    # A Chinese notebook with one part done.
    chinese = translation.translated(room.released(NAME), NAME, "zh_CN")
    cell(chinese, f"{first}-solution").source = cell(half, f"{first}-solution").source
    broken = room.released(NAME)
    stub = cell(broken, f"{first}-solution")
    stub.source = stub.source.replace("raise NotImplementedError", "return 2 *")
    for name, notebook in {
        "finished": room.solved(NAME),
        "chinese": chinese,
        "untouched": room.released(NAME),
        "half-done": half,
        "foreign": foreign,
        "broken": broken,
    }.items():
        nbformat.write(notebook, work / f"{name}.ipynb")
    return work


@pytest.fixture(scope="module")
def page(work: Path, home: Path, browser: Browser) -> Iterator[Page]:
    """Return JupyterLab, opened on the folder `work` in a browser."""
    with jupyterlab(work, make_lab_environment(work, home)) as (address, token):
        context = browser.new_context(viewport=DESK, base_url=address)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.goto(f"/lab?token={token}")
        page.locator(".roofkit-start h1").wait_for()
        yield page
        context.close()


def start_page(page: Page) -> Locator:
    """Press JupyterLab's "Start page" button; return the element of the start page."""
    page.keyboard.press("Escape")  # closes a dialog that another test left
    page.get_by_role("button", name="Start page").click()
    return page.locator(".roofkit-sheet")


def close_dialog(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator(".jp-Dialog").wait_for(state="detached")


def opened(page: Page, path: str) -> None:
    """Open only this notebook, without restarting JupyterLab.

    A restart takes seconds of CPU.
    """
    close_dialog(page)
    page.evaluate(OPEN, path)
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()


@pytest.fixture(scope="module")
def first_sheet(page: Page) -> Locator:
    """Return the start page that JupyterLab shows when it is first opened."""
    sheet = page.locator(".roofkit-sheet")
    sheet.locator("h1").wait_for()
    return sheet


def card(sheet: Locator, name: str) -> Locator:
    """Return the entry of an exercise on the start page."""
    return sheet.locator(".exercise").filter(has=sheet.page.locator(f"a[href$='{name}.ipynb']"))


def title(page: str) -> str:
    """Return the title of a page, such as `chapters/time`."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^# (.*)", text, re.MULTILINE)[0].replace("`", "")


def put_outputs(work: Path, name: str) -> None:
    """Store outputs in an exercise's notebook that say all of its parts are right."""
    path = work / name / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for part in points(name):
        said = nbformat.v4.new_output("stream", text=f"{headline(part, RIGHT)}\nChecked here: B\n")
        cell(notebook, part).outputs = [said]
    nbformat.write(notebook, path)


def test_the_start_page_lists_the_chapters_in_order(first_sheet: Locator) -> None:
    named = [name for name in names(ROOT / "_toc.yml") if not name.startswith("exercises")]
    assert first_sheet.locator(".page > a").all_inner_texts() == [title(name) for name in named]
    numbers = first_sheet.locator(".page .number").all_inner_texts()
    assert numbers == ["", "1", "2", "3", "4", "5", *"6789", *[""] * (len(named) - 10)]
    assert first_sheet.locator(":is(ul, ol):not(:has(li))").count() == 0


@pytest.mark.parametrize("width", [DESK["width"], 390])
def test_the_start_page_lists_the_exercises_in_course_order(
    page: Page, first_sheet: Locator, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": DESK["height"]})
    heading = page.get_by_role("heading", name="Exercises")
    section = first_sheet.locator("section").filter(has=heading)
    titles = [text.splitlines()[0] for text in section.locator(".exercise").all_inner_texts()]
    ours = [name for name in names(ROOT / "_toc.yml") if name.startswith("exercises")]
    assert [title.partition(":")[0] for title in titles] == [
        f"Exercise {number}" for number in range(1, len(ours) + 1)
    ]
    # All exercises are listed in reading order: row by row, from left to right.
    assert first_sheet.locator(".exercise").count() == len(titles)
    boxes = [card.bounding_box() for card in first_sheet.locator(".exercise").all()]
    places = [(round(box["y"]), round(box["x"])) for box in boxes if box]
    assert places == sorted(places)
    page.set_viewport_size(DESK)


def test_exercises_show_their_effort_and_the_chapter_to_read_first(
    page: Page, first_sheet: Locator
) -> None:
    exercise, chapter = card(first_sheet, NAME), title("chapters/homework")
    assert "35 minutes, medium" in exercise.inner_text()
    assert "Read first: " in exercise.inner_text()
    exercise.get_by_role("link", name=chapter).click()
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    active.get_by_role("heading", name=chapter).wait_for()


def test_the_start_page_shows_progress_and_links_to_the_next_part(page: Page, work: Path) -> None:
    put_outputs(work, FIRST)
    sheet = start_page(page)
    right, parts = len(points(FIRST)), sum(len(points(name)) for name in exercises.names())
    summary = sheet.locator(".summary")
    summary.get_by_text(f"{right} of {parts} parts done").wait_for()
    assert "; next: exercise 2, part 1" in summary.inner_text()
    assert f"{right} of {right} parts done" in card(sheet, FIRST).inner_text()
    summary.get_by_role("link").click()
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    active.get_by_role("heading", name="Part 1").wait_for()
    page.wait_for_function(AT_THE_TOP)
    assert page.evaluate("jupyterapp.shell.currentWidget.context.path") == f"{NAME}/{NAME}.ipynb"


@pytest.mark.long
def test_reloading_the_page_keeps_the_open_notebook(page: Page) -> None:
    other = page.context.new_page()
    other.goto("/lab/workspaces/again/tree/chapters/1-time.ipynb")
    other.locator(".jp-Notebook .jp-Cell").first.wait_for()
    other.wait_for_function(SAVED, arg="again", polling=200)
    other.reload()
    other.locator(".lm-TabBar-tab", has_text="Start page").wait_for()
    other.locator(".jp-Notebook .jp-Cell").first.wait_for()
    assert not other.locator(".roofkit-start").is_visible()
    # JupyterLab may bring the notebook to the front again, so press until the start page stays.
    other.wait_for_function(PRESS_UNTIL_VISIBLE, polling=500)
    other.close()


@pytest.fixture(scope="module")
def ran(page: Page, work: Path, room: Classroom) -> Page:
    """Return the page of an exercise with its last part written and run, unsaved."""
    path = work / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    last = f"{list(points(NAME))[-1]}-solution"
    cell(notebook, last).source = cell(room.solved(NAME), last).source
    nbformat.write(notebook, path)
    notebook_path = f"{NAME}/{NAME}.ipynb"
    opened(page, notebook_path)
    page.wait_for_function(IDLE, arg=notebook_path, polling=POLL_MS)
    page.get_by_text("Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    # Read the notebook's model: JupyterLab removes cells outside the viewport from the page.
    passed = f"(path) => ({CELLS})(path).some({PASSED})"
    page.wait_for_function(passed, arg=notebook_path, polling=POLL_MS)
    return page


def test_run_all_continues_past_unwritten_parts(ran: Page) -> None:
    checks = [one for one in ran.evaluate(CELLS, f"{NAME}/{NAME}.ipynb") if one["graded"]]
    assert [one["graded"] for one in checks] == list(points(NAME))
    assert [one["said"].split(":")[0] for one in checks] == list(points(NAME))
    rights = [": right for" in one["said"] for one in checks]
    assert rights == [*[False] * (len(checks) - 1), True]


def test_progress_counts_unsaved_results(ran: Page, work: Path) -> None:
    assert "right for" not in (work / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    ran.get_by_role("button", name="Start page").click()
    sheet = ran.locator(".roofkit-sheet")
    of = len(points(NAME))
    card(sheet, NAME).get_by_text(f"1 of {of} parts done").wait_for()


def test_no_files_are_written_to_the_home_folder(ran: Page, home: Path, work: Path) -> None:
    assert [path.name for path in home.rglob("*")] == []
    assert (work / ".jupyter" / "ipython" / "profile_default").is_dir()


def test_learners_see_validate_but_no_instructor_tools(ran: Page) -> None:
    ran.locator(".lm-TabBar-tab", has_text=f"{NAME}.ipynb").click()
    ran.get_by_role("button", name="Validate").wait_for()
    tabs = ran.locator(".lm-TabBar-tab").evaluate_all(
        "tabs => tabs.map((t) => t.title || t.innerText)"
    )
    assert "Property Inspector" in tabs
    assert "Create Assignment" not in " ".join(tabs)
    assert ran.locator(".lm-MenuBar-item", has_text="Nbgrader").count() == 0
    assert ran.get_by_text("Jupyter news").count() == 0


@pytest.mark.long
def test_after_an_update_the_start_page_names_the_new_version(
    ran: Page, work: Path, room: Classroom
) -> None:
    better = room.released(NAME)
    better.cells[1].source += "\n\nA better hint."
    nbformat.write(better, room.folder / "release" / NAME / f"{NAME}.ipynb")
    assert lab.prepare(ROOT, work, room.folder / "release").beside == [f"{NAME}/{NAME}.new.ipynb"]
    sheet = start_page(ran)
    changed = "The course or its language has changed since you began"
    card(sheet, NAME).get_by_text(changed).wait_for()
    assert sheet.get_by_role("link", name=f"{NAME}.new.ipynb").count() == 1
    assert sheet.locator(".news").count() == 1


def validated(page: Page, name: str) -> str:
    """Open a notebook, press Validate, and read the dialog."""
    opened(page, f"{name}.ipynb")
    page.get_by_role("button", name="Validate").click()
    message = page.locator("#validation-message")
    message.wait_for()
    return message.inner_text()


@pytest.mark.long
def test_the_dialog_lists_all_parts_of_a_finished_notebook_as_right(page: Page) -> None:
    said = validated(page, "finished")
    parts = list(points(NAME))
    first, *lines = filter(None, said.splitlines())
    assert first == summary(len(parts), len(parts))
    assert lines == [MESSAGES["right"].format(part=part) for part in parts]


# Only in long tests: a Chinese notebook with one part done is validated in every run, below.
@pytest.mark.long
@pytest.mark.parametrize(("name", "done"), [("untouched", 0), ("half-done", 1)])
def test_an_unfinished_notebook_gets_the_messages_of_its_checks(
    page: Page, name: str, done: int
) -> None:
    said = validated(page, name)
    parts = list(points(NAME))
    first, second, *lines = filter(None, said.splitlines())
    assert first == f"{done} of {len(parts)} parts right."
    assert second == MESSAGES["unwritten"].format(parts=", ".join(parts[done:]))
    assert lines == [MESSAGES["right"].format(part=part) for part in parts[:done]]
    assert_dialog_is_small(page)


def assert_dialog_is_small(page: Page) -> None:
    dialog = page.locator(".jp-Dialog-content").bounding_box()
    assert dialog is not None
    assert dialog["height"] < DESK["height"] / 2


def test_a_chinese_notebook_gets_chinese_messages(page: Page) -> None:
    validated(page, "chinese")
    parts, known = list(points(NAME)), messages("zh_CN")
    page.get_by_text(known["unwritten"].format(parts=", ".join(parts[1:]))).wait_for()
    said = page.locator("#validation-message").inner_text().splitlines()
    assert [line for line in said if line] == [
        known["some"].format(parts=len(parts), right=1),
        known["unwritten"].format(parts=", ".join(parts[1:])),
        known["right"].format(part=parts[0]),
    ]
    assert_dialog_is_small(page)


@pytest.mark.long
def test_the_dialog_shows_syntax_errors(page: Page) -> None:
    said = validated(page, "broken")
    first = next(iter(points(NAME)))
    assert MESSAGES["stopped"].format(part=first) in " ".join(said.split())
    assert "return 2 *" in said
    assert "SyntaxError: invalid syntax" in said
    assert "NameError" not in said


@pytest.mark.long
def test_notebooks_of_other_courses_keep_the_messages_of_nbgrader(page: Page) -> None:
    assert validated(page, "foreign") == "Success! Your notebook passes all the tests."


# ---- the prose of chapters; more in tests/site/test_lab_prose.py


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    return lab_browser.small_page(tmp_path_factory.mktemp("small"))


@pytest.fixture
def changing(page: Page, work: Path, small: NotebookNode, request: pytest.FixtureRequest) -> None:
    """Open the small page in a new file, and so with a new kernel."""
    copy = work / f"{request.node.name}.ipynb"
    nbformat.write(small, copy)
    close_dialog(page)
    lab_browser.opened(page, copy.name)


def test_values_in_prose_are_shown_before_running_and_updated_after_an_edit(
    page: Page, changing: None
) -> None:
    assert "The first is 16,384, in words 16\N{NO-BREAK SPACE}K." in shown(page)
    assert "It is 16,385." in shown(page)

    change = f"{PANEL}.content.widgets[1].model.sharedModel.setSource('n = 2048')"
    page.evaluate(f"void {change}")
    run_all(page)
    # Prose shows the value that n has after the cells above it; a later cell sets n to 2,049.
    wait_for_text(page, 2, "The first is 2,048")
    text = shown(page)
    assert "in words 2\N{NO-BREAK SPACE}K." in text
    # Prose without a {while} role keeps its original value, with the new value beside it.
    wait_for_text(page, 4, "It is 16,385 (as printed; now 2,049).")
    assert raw_values(prose(page)) == []
    assert page.locator(".course-note").count() == 0


def test_prose_whose_while_role_fails_keeps_its_original_text(page: Page, changing: None) -> None:
    page.evaluate(f"void {PANEL}.content.widgets[1].model.sharedModel.setSource('n = 6144')")
    run_all(page)
    wait_for_text(page, 2, "The first is 16,384 (as printed; now 6,144), in words 16")
    assert page.locator(".course-note").count() == 0
    # If prose without values no longer holds, a note below the cell quotes it.
    page.evaluate(f"void {PANEL}.content.widgets[1].model.sharedModel.setSource('n = 16')")
    run_all(page)
    note = page.locator(".course-note")
    note.wait_for()
    assert "“It does not fit.”" in note.inner_text()
    page.evaluate(f"void {PANEL}.content.widgets[1].model.sharedModel.setSource('n = 16384')")
    run_all(page)
    note.wait_for(state="detached")
    assert "The first is 16,384, in words" in shown(page)
