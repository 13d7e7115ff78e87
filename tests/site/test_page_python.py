"""Tests of Python in the page, in a browser: cells run, and the prose follows.

Python starts once for the chapter and once for the exercise; the tests of each build on one
another. A local Python process stands in for Pyodide; the long tests use Pyodide itself.
"""

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from classroom import cell, functions
from native_python import serving_native
from page_reader import (
    EDITOR,
    SLOW,
    a_run,
    answer_here,
    answers,
    bar,
    built_with,
    change_cell,
    checked,
    downloaded,
    field,
    first_run,
    must_stay,
    press,
    put_back,
    said_elsewhere,
    section,
    told_values,
    values,
    write,
    written,
)
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect
from pyodide_server import serving_pyodide
from site_browser import (
    DESK,
    FOCUSABLE,
    PHONE,
    SETTLED,
    SIDEWAYS,
    STICKING_OUT,
    Traffic,
    axe,
    contrast,
    put_theme,
    put_width,
    ready,
    structure,
)
from site_server import Server
from submissions import hand_in, submissions

from grading.grade_notebook import grade
from grading.release import exercises

CHAPTER = "chapters/time"
EXERCISE = "int8-matmul"
AS_BUILT = "Done. All values in the text are as they were built."
OWN_CODE = ".own-cell .cell_input pre"
# Selectors: visible buttons and meters of the bar; static code that an editor should replace.
CONTROLS = ".python-panel :is(button, progress):visible"
PLAIN_CODE = ".cell:has(.code-editor) .cell_input pre:visible"
# Moves the lines of the built figures by 3 points, as if another build of Python drew them.
REDRAW = """addEventListener("DOMContentLoaded", () => {
  for (const path of document.querySelectorAll(".cell_output svg.figure path")) {
    const moved = (number) => Number(number) + 3;
    path.setAttribute("d", path.getAttribute("d").replace(/-?\\d+(\\.\\d+)?/g, moved));
  }
});"""
# Records, whenever a cell's attributes change: whether it is marked as busy, which cell ran last,
# and whether the run goes on.
WATCH = """(cell) => {
  window.busy = [];
  window.ran.length = 0;
  const stop = document.querySelector(".python-panel button");
  const watch = () =>
    busy.push([cell.matches(".running[aria-busy=true]"), ran.at(-1)?.cell ?? null, !stop.hidden]);
  new MutationObserver(watch).observe(cell, { attributes: true });
}"""
UNPRESSED = 10_000  # max compressed bytes that pages load for Python before a button is pressed


@pytest.fixture(scope="module", params=["native", pytest.param("pyodide", marks=pytest.mark.long)])
def server(site: Path, below: str, request: pytest.FixtureRequest) -> Iterator[Server]:
    served = serving_native if request.param == "native" else serving_pyodide
    with served(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport=DESK, color_scheme="light", accept_downloads=True, reduced_motion="reduce"
    )
    context.set_default_timeout(SLOW)
    yield context
    context.close()


@pytest.fixture(scope="module")
def traffic(context: BrowserContext) -> Traffic:
    return Traffic().listen(context)


# ---- a chapter


@pytest.fixture(scope="module")
def ran_chapter(context: BrowserContext, traffic: Traffic, server: Server) -> Page:
    """Open the chapter and run it; `window.ran` has the outputs of each cell."""
    page = context.new_page()
    page.add_init_script(REDRAW)
    first_run(page, f"{server.origin}/{CHAPTER}.html")
    assert bar(page) == AS_BUILT
    assert page.locator(CONTROLS).count() == 0
    assert page.locator(f".run-size, .as-printed, {PLAIN_CODE}").count() == 0
    return page


@pytest.fixture
def chapter(ran_chapter: Page) -> Iterator[Page]:
    """Yield the page of a chapter whose cells have run; undo changes afterwards."""
    yield ran_chapter
    if back(ran_chapter).is_visible():
        put_back(ran_chapter)


def back(page: Page) -> Locator:
    return page.get_by_role("button", name="Put the page back")


def drawn_anew(page: Page) -> list[str]:
    """Return the text alternatives of the figures that changed in a run."""
    figures = page.locator(".cell_output svg[aria-label^='Drawn with your changes.']").all()
    return [str(figure.get_attribute("aria-label")) for figure in figures]


def test_pages_fetch_little_before_a_button_is_pressed(site: Path) -> None:
    static = site / "_static"
    names = ("run-buttons.js", "answer-button.js", "parts-done.js", "page-python.css")
    small = [static / name for name in names]
    assert sum(len(gzip.compress(path.read_bytes())) for path in small) < UNPRESSED


@pytest.mark.parametrize("page", [CHAPTER, "chapters/matmul", "index"])
def test_only_the_first_cell_with_code_is_marked_to_have_room_for_a_note(
    site: Path, page: str
) -> None:
    html = BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    inputs = html.select(".bd-article div.cell_input")
    marked = html.select(".first-input")
    assert marked == inputs[:1]
    assert (site / f"{page}.steps.json").exists() == bool(inputs)


def test_outputs_in_the_page_match_the_build(chapter: Page, site: Path) -> None:
    html = (site / f"{CHAPTER}.html").read_text(encoding="utf-8")
    cells = BeautifulSoup(html, "html.parser").select(".bd-article div.cell")
    ran = [one for one in chapter.evaluate("window.ran") if one["cell"] is not None]
    assert len(ran) > 10
    kinds = set()
    for one in ran:
        built = cells[one["cell"]].select(".cell_output :is(pre, table, svg.figure)")
        kinds |= {out["kind"] for out in one["outputs"]}
        for element, out in zip(built, one["outputs"], strict=True):
            if element.name == "svg":
                shown = BeautifulSoup(out["text"], "html.parser")
                # The figure shows the same texts as the one in the built page.
                texts = sorted(text.get_text() for text in shown.select("text"))
                assert texts == sorted(text.get_text() for text in element.select("text"))
            else:
                text = out["text"]
                if out["kind"] == "html":
                    text = BeautifulSoup(text, "html.parser").get_text(" ")
                assert text.split() == element.get_text(" ").split()
    assert {"stdout", "html", "svg"} <= kinds


def test_values_match_a_page_built_with_the_change(
    chapter: Page, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Skip the authors' assertions, which hold for their own chip.
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    old, new = 'rl.chip("H100 SXM")', 'rl.chip("A100 80GB SXM")'
    built = values(chapter)
    captions = chapter.locator(".cell_output figcaption").count()
    change_cell(chapter, old, new)
    # Running a cell also runs cells above it, but only from the first changed cell on.
    below = chapter.locator(EDITOR).nth(3)
    below.locator("xpath=ancestor::*[contains(@class, 'cell ')][1]").evaluate(WATCH)
    below.focus()
    said = press(chapter)
    assert chapter.evaluate("ran[0].cell") == 1
    assert chapter.evaluate("busy") == [[True, None, True], [False, 3, True]]
    assert "count = 7e9" in written(chapter.locator(f"{EDITOR}:focus"))
    known, error = built_with(CHAPTER, old, new)
    assert error == ""
    assert said.startswith("Done. ")
    told = told_values(chapter, site, CHAPTER)
    # Right answers to guesses keep their built values, so they aren't compared.
    compared = {name: text for name, text in known.items() if name in told}
    assert known.keys() - compared.keys() <= answers(site, CHAPTER)
    assert compared.items() <= told.items()
    assert chapter.locator(".cell_output .given-html table").count() > 0
    moved = [text for text, before in zip(values(chapter), built, strict=True) if text != before]
    marked = chapter.locator(".computed.changed")
    assert marked.count() == len(moved) == chapter.locator(".computed[title]").count()
    assert chapter.locator(".cell_output figcaption").count() == captions
    decided = chapter.evaluate("window.decided").items()
    stay = {int(number) for number, state in decided if not state["follows"]}
    expected = must_stay(site, CHAPTER, known)
    assert expected
    assert expected <= stay
    assert chapter.locator("[role=note].as-printed").count() == len(stay)
    assert said.endswith(f" {len(stay)} passages stay as printed and say so.")


def test_one_click_restores_the_page(chapter: Page) -> None:
    change_cell(chapter, 'rl.chip("H100 SXM")', 'rl.chip("A100 80GB SXM")')
    press(chapter)
    assert chapter.locator(".computed.changed").count() > 0
    put_back(chapter)
    assert bar(chapter) == "The page is as it was built."
    assert back(chapter).is_hidden()
    assert drawn_anew(chapter) == []
    marks = ".computed:is(.changed, .stale, [title]), .as-printed"
    assert chapter.locator(marks).count() == 0
    text = "() => { const all = document.querySelector('.bd-article').cloneNode(true); "
    text += "for (const e of all.querySelectorAll('.python-panel, .code-editor')) e.remove(); "
    text += "return all.textContent; }"
    assert chapter.evaluate(text) == chapter.evaluate("window.before")
    assert chapter.locator(".cell_output .given-html").count() == 0


def test_errors_are_announced_and_replace_the_output(chapter: Page) -> None:
    change_cell(chapter, "square = rl.matmul", "print('so far')\nsquare = 1 / 0 * rl.matmul")
    before = values(chapter)
    said = "This cell ended with an error (ZeroDivisionError: division by zero). "
    assert press(chapter).startswith(said)
    shown = chapter.locator(".given-error").inner_text()
    assert shown.splitlines()[0] == "Line 2 of this cell:"
    assert shown.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "so far" in chapter.locator(".given-stdout").inner_text()
    assert values(chapter) == before
    chapter.locator(EDITOR).nth(1).focus()
    said = (
        "The cell “square = rl.matmul(8192, 8192, 8192)” ended with an error (ZeroDivisionError: "
    )
    assert press(chapter).startswith(said)


def test_input_raises_an_error_and_values_below_are_marked_as_stale(chapter: Page) -> None:
    change_cell(chapter, "square = rl", "name = input('Who?')\nsquare = rl")
    said = "This cell ended with an error (RuntimeError: a page cannot ask: write the answer into"
    assert press(chapter).startswith(said)
    assert chapter.locator(".computed.stale").count() > 3


def test_an_endless_cell_can_be_stopped_and_python_restarts(chapter: Page) -> None:
    change_cell(chapter, "square = rl", "while True: pass\nsquare = rl")
    # The second run replaces the first.
    chapter.keyboard.press("Control+Enter")
    chapter.keyboard.press("Control+Enter")
    with a_run(chapter):
        expect(chapter.locator(".python-words")).to_have_text("Running …")
        expect(chapter.locator(".running[aria-busy=true]")).to_have_count(1)
        chapter.get_by_role("button", name="Stop", exact=True).click()
    assert bar(chapter).startswith("Stopped. The next run starts Python anew")
    assert chapter.locator(".running, [aria-busy]").count() == 0
    assert chapter.get_by_role("button", name="Stop").count() == 0
    change_cell(chapter, "while True: pass\n", "")
    assert press(chapter, "Shift+Enter").startswith("Done.")
    assert chapter.locator(".computed.stale").count() == 0
    # Shift+Enter also moves to the next cell.
    assert "h100 = rl.chip" in written(chapter.locator(f"{EDITOR}:focus"))
    # A cell that the page doesn't show uses v6e, so it fails.
    change_cell(chapter, "nvlink = h100", "v6e = None\nnvlink = h100")
    said = "A cell that the page does not show ended with an error (AttributeError: "
    assert press(chapter).startswith(said)


def test_a_newer_run_replaces_an_older_one(chapter: Page) -> None:
    runs = "document.querySelector('.python-panel').dataset.runs"
    before = int(chapter.evaluate(runs))
    clicks = """() => {
      const buttons = [...document.querySelectorAll(".run-cell")];
      for (const place of [-5, -2]) buttons.at(place).click();
    }"""
    with a_run(chapter):
        chapter.evaluate(clicks)
    assert bar(chapter) == AS_BUILT
    assert chapter.locator(".running, [aria-busy]").count() == 0
    assert int(chapter.evaluate(runs)) == before + 1


@pytest.mark.long
def test_python_starts_without_storage_quota(browser: Browser, server: Server) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    full = {"origin": server.origin, "quotaSize": 1}
    context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", full)
    # Open a chapter with few cells to run.
    first_run(page, f"{server.origin}/chapters/introduction.html")
    assert bar(page) == AS_BUILT
    context.close()


@pytest.mark.long
def test_a_gigabyte_is_allocated_or_a_memory_error_shown(chapter: Page) -> None:
    change_cell(chapter, "square = rl.matmul", "room = bytearray(10**9)\nsquare = rl.matmul")
    said = press(chapter)
    assert said.startswith(("Done.", "This cell ended with an error (MemoryError"))
    change_cell(chapter, "room = bytearray(10**9)\n", "")
    assert press(chapter).startswith("Done.")


def test_enter_indents_and_tab_leaves_the_editor(chapter: Page) -> None:
    editor = chapter.locator(EDITOR).nth(2)
    was = written(editor)
    editor.focus()
    chapter.keyboard.press("Control+End")
    chapter.keyboard.type("\nif True:\nx = 1")
    assert written(editor).endswith("\nif True:\n    x = 1")
    chapter.keyboard.press("Tab")
    assert not chapter.evaluate("() => Boolean(document.activeElement.closest('.code-editor'))")
    assert back(chapter).is_visible()
    write(editor, was)
    assert back(chapter).is_hidden()


def test_edited_cells_survive_a_reload(chapter: Page) -> None:
    """Check also that only figures that the edits change are marked.

    Other figures may differ slightly from the built ones, too.
    """
    between = chapter.locator(".bd-article div.cell", has_text='print("between", rl.text(lower')
    printed = between.locator(".cell_output").inner_text()
    captions = chapter.locator(".cell_output figcaption").count()
    change_cell(chapter, "square = rl.matmul(8192", "square = rl.matmul(4096")
    change_cell(chapter, 'print("between", rl.text(lower', 'print("from", rl.text(lower')
    change_cell(
        chapter, "apart = (1 + ratio)", "mine = 0.97\nprint(mine)\napart = mine * (1 + ratio)"
    )
    ready(chapter, chapter.url)
    kept = chapter.locator(".run-kept")
    assert kept.all_inner_texts() == ["Your change, not run yet"] * 3
    square = chapter.locator(".bd-article div.cell", has=chapter.locator(".run-kept")).first
    assert "square = rl.matmul(4096" in square.locator("pre").first.inner_text()
    square.get_by_role("button", name="Put it back").click()
    square = chapter.locator(".bd-article div.cell").first
    assert "square = rl.matmul(8192" in square.locator("pre").first.inner_text()
    assert kept.count() == 2
    with a_run(chapter):
        chapter.locator(".run-cell").first.click()
    assert chapter.locator(".run-kept, .run-bar :text('Put it back')").count() == 0
    (curve,) = drawn_anew(chapter)
    assert "The printed figure: A curve with one sharp peak" in curve
    assert chapter.locator(".cell_output figcaption").count() == captions > 0
    outputs = chapter.locator("details.as-printed")
    assert outputs.count() == 2
    outputs.first.locator("summary").click()
    assert outputs.first.locator("pre").inner_text().strip() == printed.strip()
    # To compare figures, the page also ran the built code. Names from edited cells still exist.
    change_cell(chapter, "flops, size, chip = 1e12", "print(mine)\nflops, size, chip = 1e12")
    assert press(chapter).startswith("Done.")
    assert "0.97" in chapter.locator(".given-stdout").last.inner_text()
    put_back(chapter)
    assert [key for key in chapter.evaluate("Object.keys(localStorage)") if "cells" in key] == []


@pytest.mark.parametrize(
    ("width", "theme"),
    [pytest.param("desk", "light", marks=pytest.mark.long), ("phone", "dark")],
)
def test_cells_and_python_panel_of_a_chapter_are_accessible(
    chapter: Page, width: str, theme: str
) -> None:
    put_width(chapter, DESK if width == "desk" else PHONE)
    put_theme(chapter, theme)
    chapter.wait_for_function(FOCUSABLE)
    chapter.evaluate(SETTLED)
    assert axe(chapter, ".bd-article .cell, .python-panel") == []
    assert chapter.evaluate(SIDEWAYS) <= 0
    assert chapter.evaluate(STICKING_OUT) == []


def test_no_requests_to_other_hosts_and_no_errors(
    chapter: Page, traffic: Traffic, server: Server
) -> None:
    assert [url for url in traffic.asked if "/_static/python/" in url]
    assert traffic.outside(server.origin) == []
    # Ignore the request that was pending when the native Python process was stopped.
    assert [wrong for wrong in traffic.wrong if "/native/ask/" not in wrong] == []


def test_a_page_from_disk_says_why_it_cannot_run_code(browser: Browser, site: Path) -> None:
    context = browser.new_context(reduced_motion="reduce")
    traffic = Traffic().listen(context)
    page = context.new_page()
    ready(page, (site / f"{CHAPTER}.html").as_uri())
    served = (site / "_static/python").glob("pyodide-*/*")
    fetched = sum(path.stat().st_size for path in served if path.suffix != ".json") / 1e6
    assert page.locator(".run-size").all_inner_texts() == [f"Fetches Python once, {fetched:.0f} MB"]
    page.locator(".run-cell").first.click()
    assert "make serve" in page.locator(".run-note").inner_text()
    ready(page, (site / "exercises" / EXERCISE / f"{EXERCISE}.html").as_uri())
    page.get_by_role("button", name="Answer here").click()
    assert "make serve" in page.locator(".run-note").inner_text()
    assert traffic.wrong == []
    context.close()


@pytest.mark.long
def test_a_page_of_an_older_build_asks_to_reload(browser: Browser, server: Server) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.route("**/_static/python/**", lambda route: route.fulfill(status=404, body="gone"))
    ready(page, f"{server.origin}/{CHAPTER}.html")
    page.locator(".run-cell").first.click()
    expect(page.locator(".run-note")).to_contain_text("Reload the page, and try again.")
    ready(page, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    page.get_by_role("button", name="Answer here").click()
    expect(page.locator(".run-note")).to_contain_text("Reload the page, and try again.")
    context.close()


def gone(route: Route) -> None:
    route.fulfill(status=404, body="gone")


def test_failed_fetches_are_reported_and_tried_again(
    browser: Browser, server: Server, site: Path
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    run, note = page.locator(".run-cell").first, page.locator(".run-note")
    page.route("**/*.steps.json", gone)
    ready(page, f"{server.origin}/chapters/introduction.html")
    for _ in range(2):
        run.click()
        expect(note).to_contain_text("steps.json: 404). Reload the page, and try again.")
        note.evaluate("(note) => { note.textContent = ''; }")
    page.unroute("**/*.steps.json")
    for file, reason in [
        ("worker.js", "its script could not be loaded"),
        ("course.zip", "/course.zip gave 404"),
    ]:
        page.route(f"**/{file}", gone)
        with a_run(page):
            run.click()
        assert bar(page).endswith(f"{reason}). The next run starts it anew, with your code.")
        assert "Error" not in bar(page)
        assert page.locator(CONTROLS).count() == 0
        page.unroute(f"**/{file}")
    page.route("**/*.ipynb", gone)
    ready(page, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    page.get_by_role("button", name="Answer here").click()
    expect(note).to_contain_text("ipynb: 404). Reload the page, and try again.")
    page.unroute("**/*.ipynb")
    page.get_by_role("button", name="Answer here").click()
    page.locator(".answers h3").first.wait_for()
    # Opening a notebook without answers stores no answers, so the page shows the button next time.
    release = site.parent / "course" / "release" / EXERCISE / f"{EXERCISE}.ipynb"
    page.locator(".answers input[type=file]").set_input_files(release)
    expect(page.locator(".python-words")).to_contain_text("7 of 7 parts.")
    page.reload()
    expect(page.get_by_role("button", name="Answer here")).to_be_visible()
    assert page.locator(".answers").count() == 0
    context.close()


# ---- an exercise


@pytest.fixture(scope="module")
def exercise(context: BrowserContext, server: Server) -> Page:
    page = context.new_page()
    answer_here(page, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    return page


@pytest.fixture(scope="module")
def by_hand(site: Path) -> nbformat.NotebookNode:
    """Return the released notebook, filled in with the wrong submission's answers."""
    path = site.parent / "course" / "release" / EXERCISE / f"{EXERCISE}.ipynb"
    released = nbformat.read(path, as_version=4)
    return hand_in(WRONG, released, exercises.source(EXERCISE), functions(EXERCISE))


(WRONG,) = (one for one in submissions(EXERCISE) if one.name == "wrong_two_bytes")
PARTS = list(functions(EXERCISE))


# Returns whether the page can be closed without a warning about unsaved answers.
MAY_LEAVE = "dispatchEvent(new Event('beforeunload', { cancelable: true }))"


def answer(notebook: nbformat.NotebookNode, part: str) -> str:
    return str(cell(notebook, f"{part}-solution").source)


def test_checks_on_the_page_give_the_same_messages_as_in_a_notebook(
    exercise: Page, by_hand: nbformat.NotebookNode
) -> None:
    assert exercise.locator(".answers h3").count() == len(PARTS)
    for part in PARTS:
        write(field(exercise, part), answer(by_hand, part))
    expected = said_elsewhere(by_hand)
    said = {part: checked(exercise, part) for part in PARTS}
    assert {part: said[part].strip() for part in PARTS} == {
        part: expected[part].strip() for part in PARTS
    }
    right = len(PARTS) - len(WRONG.expected)
    words = exercise.locator(".answers-done").inner_text()
    assert words.startswith(f"{right} of {len(PARTS)} parts done.")
    assert "– done" not in exercise.locator("#answer-bytes-moved").inner_text()
    assert "– done" in exercise.locator("#answer-operations").inner_text()


def test_the_download_equals_a_notebook_filled_in_by_hand(
    exercise: Page, by_hand: nbformat.NotebookNode, tmp_path: Path
) -> None:
    path = downloaded(exercise, tmp_path)
    assert path.name == f"{EXERCISE}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook == by_hand


@pytest.mark.long
def test_grading_finds_exactly_the_wrong_parts_of_the_filled_in_notebook(
    by_hand: nbformat.NotebookNode,
) -> None:
    graded = {
        part["key"]: part for part in grade(by_hand, EXERCISE, "a seed").metadata.rooflib.parts
    }
    assert {key for key, part in graded.items() if not part["points"]} == set(WRONG.expected)


def test_answers_persist_after_a_reload(exercise: Page, by_hand: nbformat.NotebookNode) -> None:
    assert exercise.evaluate(MAY_LEAVE)
    exercise.reload()
    exercise.locator(".answers h3").first.wait_for()
    for part in PARTS:
        assert written(field(exercise, part)) == answer(by_hand, part)
    assert exercise.locator(".answers-done").inner_text().startswith(f"{len(PARTS) - 4} of")
    # If the answer changes after its check has passed, the part is no longer done.
    write(field(exercise, "operations"), "def operations(B, D, F): ...")
    assert exercise.locator(".answers-done").inner_text().startswith(f"{len(PARTS) - 5} of")


def test_answers_are_synchronized_between_windows(
    exercise: Page, by_hand: nbformat.NotebookNode, tmp_path: Path
) -> None:
    mine = exercise.locator(f".answers-end {EDITOR}")
    write(mine.first, "a = 1")
    other = exercise.context.new_page()
    ready(other, exercise.url)
    other.locator(".answers h3").first.wait_for()
    write(field(other, "intensity"), "def intensity(B, D, F): ...")
    pre = section(exercise, "intensity").locator(".cell_input pre")
    expect(pre).to_have_text("def intensity(B, D, F): ...")
    # The other parts keep their answers in both windows.
    write(field(exercise, "intensity"), answer(by_hand, "intensity"))
    expect(section(other, "intensity").locator(".cell_input pre")).to_have_text(
        answer(by_hand, "intensity")
    )
    assert written(field(other, "bytes-moved")) == answer(by_hand, "bytes-moved")
    # A check that passes in one window marks the part in the other, without moving the caret there.
    field(exercise, "intensity").focus()
    exercise.keyboard.press("Control+Home")
    exercise.keyboard.press("ArrowRight")
    key = f"roofline-answer:{EXERCISE}:intensity"
    passed = {"source": answer(by_hand, "intensity"), "passed": answer(by_hand, "intensity")}
    other.evaluate("(item) => localStorage.setItem(...item)", [key, json.dumps(passed)])
    expect(exercise.locator("#answer-intensity")).to_contain_text("– done")
    exercise.keyboard.type("x")
    assert written(field(exercise, "intensity")).startswith("dxef")
    exercise.keyboard.press("Backspace")

    def shown(page: Page) -> Locator:
        return page.locator(f".answers-end {OWN_CODE}")

    theirs = other.locator(f".answers-end {EDITOR}")
    # An empty cell added by the reader stays when another window saves, and can be filled later.
    other.get_by_role("button", name="Add a cell of your own below all parts").click()
    write(mine.first, "a = 2")
    expect(shown(other)).to_have_text(["a = 2", ""])
    write(theirs.last, "b = 1")
    expect(shown(exercise)).to_have_text(["a = 2", "b = 1"])
    # Opening a file that changes one reader-added cell and adds another updates both windows.
    file = nbformat.read(downloaded(other, tmp_path), as_version=4)
    (place,) = (i for i, one in enumerate(file.cells) if one.source == "a = 2")
    file.cells[place].source = "a = 3"
    file.cells.insert(place + 1, nbformat.v4.new_code_cell("c = 1"))
    nbformat.write(file, tmp_path / "more.ipynb")
    other.locator(".answers input[type=file]").set_input_files(tmp_path / "more.ipynb")
    for page in (other, exercise):
        expect(shown(page)).to_have_text(["a = 3", "b = 1", "c = 1"])
    for place in (2, 1):
        write(theirs.nth(place), "")
        expect(mine).to_have_count(place)
    other.close()


def test_the_overview_shows_finished_parts(exercise: Page, server: Server) -> None:
    page = exercise.context.new_page()
    ready(page, f"{server.origin}/chapters/learners.html")
    listed = page.locator(".bd-article li", has_text="Exercise 1")
    assert listed.first.inner_text() == f"Exercise 1: int8 matmul: {len(PARTS) - 4} of 7 parts done"
    link = page.locator(".bd-sidebar-primary a", has_text="Exercise 1")
    assert "parts done" in link.locator(".parts-done").inner_text()
    page.close()


def test_opening_a_notebook_restores_answers_own_cells_and_texts(
    exercise: Page, by_hand: nbformat.NotebookNode, tmp_path: Path
) -> None:
    """An answer is recognized even if an editor has dropped its metadata and id."""
    mine = copy.deepcopy(by_hand)
    for one in mine.cells:
        if one.metadata.get("nbgrader", {}).get("grade_id") == "intensity-solution":
            one.metadata, one.id = {}, "another"
        if one.source == "*Write your answer here.*":
            one.source = "Half of it."
    place = next(i for i, one in enumerate(mine.cells) if "def operations" in one.source)
    mine.cells.insert(place, nbformat.v4.new_code_cell("def twice(x):\n    return 2 * x"))
    # Some editors give a copied cell the id of the original.
    mine.cells.insert(place, nbformat.v4.new_code_cell("pair = 2", id=mine.cells[place].id))
    start = mine.cells.index(cell(mine, "given")) + 1
    mine.cells.insert(start, nbformat.v4.new_code_cell("above = peak"))
    del mine.cells[start]["id"]  # as in older notebooks
    uses = cell(mine, "operations-solution")
    uses.source = "def operations(B, D, F):\n    return twice(B * D * F)"
    said, picker = exercise.locator(".python-words"), exercise.locator(".answers input[type=file]")
    expect(picker).to_be_hidden()

    def opened(*, parts: int, own: int) -> None:
        (tmp_path / "mine.ipynb").write_text(json.dumps(mine))
        picker.set_input_files(tmp_path / "mine.ipynb")
        more = f" Its {own} cells of your own run with the others and go into the download."
        if own < 2:
            more = own * " Its 1 cell of your own runs with the others and goes into the download."
        expect(said).to_have_text(f"mine.ipynb was opened: {parts} of 7 parts.{more}")
        # The same file can be opened again.
        assert picker.input_value() == ""

    opened(parts=7, own=3)
    exercise.get_by_role("textbox", name="Your own cell below what is given").wait_for()
    assert checked(exercise, "operations").startswith("operations: right for")
    operations = exercise.locator("#answer-operations")
    assert "– done" in operations.inner_text()
    exercise.reload()
    exercise.locator(".answers h3").first.wait_for()
    found = nbformat.read(downloaded(exercise, tmp_path), as_version=4)
    assert [one.source for one in found.cells] == [one.source for one in mine.cells]
    assert len({one.id for one in found.cells}) == len(found.cells)
    # Parts missing in the file keep their answers; reader-added cells are replaced by the file's.
    mine.cells = [one for one in mine.cells if one.source not in ("pair = 2", "above = peak")]
    mine.cells.remove(cell(mine, "times-solution"))
    cells = [one for one in mine.cells if one.source.startswith("def twice")]
    cells[0].source = "def twice(x):\n    return x + x"
    opened(parts=6, own=1)
    assert written(field(exercise, "times")) == answer(by_hand, "times")
    assert "– check again" in operations.inner_text()
    for name, text, why in [
        ("bad", "{", "can’t be read as a notebook"),
        ("other", nbformat.writes(nbformat.v4.new_notebook()), "contains no part of this exercise"),
    ]:
        (tmp_path / f"{name}.ipynb").write_text(text)
        picker.set_input_files(tmp_path / f"{name}.ipynb")
        expect(said).to_contain_text(f"{name}.ipynb {why}")
    assert "twice(B * D * F)" in written(field(exercise, "operations"))
    assert exercise.locator(OWN_CODE, has_text="x + x").count() == 1
    mine.cells = [one for one in mine.cells if one not in cells]
    opened(parts=6, own=0)


def test_the_exercise_is_accessible(exercise: Page) -> None:
    parts = ".answers, .answers-end"
    assert [*structure(exercise), *contrast(exercise, within=parts)] == []
    put_width(exercise, PHONE)
    put_theme(exercise, "dark")
    assert contrast(exercise, within=parts) == []
    assert exercise.evaluate(SIDEWAYS) <= 0
    assert exercise.evaluate(STICKING_OUT) == []


def test_the_page_says_if_answers_cannot_be_saved(browser: Browser, server: Server) -> None:
    context = browser.new_context(reduced_motion="reduce")
    context.add_init_script(
        "window.setItem = Storage.prototype.setItem;"
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
    )
    page = context.new_page()
    answer_here(page, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    write(field(page, "operations"), "def operations(B, D, F): return 1")
    words = page.locator(".answers-done")
    assert "keeps nothing" in words.inner_text()
    assert not page.evaluate(MAY_LEAVE)
    page.evaluate("() => { Storage.prototype.setItem = setItem; }")
    write(field(page, "operations"), "def operations(B, D, F): return 2")
    assert "Your answers stay in this browser" in words.inner_text()
    assert page.evaluate(MAY_LEAVE)
    context.close()


def test_answers_are_kept_in_memory_if_storage_is_forbidden(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    page = context.new_page()
    page.add_init_script(
        """for (const name of ["getItem", "setItem", "removeItem"]) {
          const given = Storage.prototype[name];
          Storage.prototype[name] = function (key, ...rest) {
            if (key.startsWith("roofline-")) throw new DOMException("", "SecurityError");
            return given.call(this, key, ...rest);
          };
        }"""
    )
    answer_here(page, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    mine = "def operations(B, D, F):\n    return 2 * B * D * F"
    write(field(page, "operations"), mine)
    assert "keeps nothing" in page.locator(".answers-done").inner_text()
    assert checked(page, "operations").startswith("operations: right for")
    assert page.locator(".answers-done").inner_text().startswith("1 of 7 parts done.")
    notebook = nbformat.read(downloaded(page, tmp_path), as_version=4)
    assert answer(notebook, "operations") == mine
    page.close()


def test_answers_saved_by_an_older_build_are_kept(browser: Browser, server: Server) -> None:
    """The answer to a part that no longer exists is not shown, but kept."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    address = f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html"
    ready(page, address)
    keep = """(entries) => { for (const [part, source] of entries) localStorage.setItem(
      `roofline-answer:int8-matmul:${part}`, JSON.stringify({ source, passed: source })); }"""
    page.evaluate(keep, [["operations", "def operations(B, D, F): ..."], ["gone", "x = 1"]])
    page.reload()
    page.locator(".answers h3").first.wait_for()
    assert written(field(page, "operations")) == "def operations(B, D, F): ..."
    assert page.locator(".answers-done").inner_text().startswith("1 of 7 parts done.")
    gone = page.evaluate("() => localStorage.getItem('roofline-answer:int8-matmul:gone')")
    assert "x = 1" in gone
    context.close()
