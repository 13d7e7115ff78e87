"""Blocks of prose in a page after an edit: those that follow, and those that stay as printed.

The page's steps get premises on their way to the browser, so that one page has all kinds of blocks.
Python runs once for each premise: each test puts the page back as it was built.
"""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from native_python import serving_native
from page_reader import SLOW, a_run, bar, change_cell, first_run, press, put_back, values
from playwright.sync_api import Browser, Page, Route, ViewportSize
from pyodide_server import serving_pyodide
from site_browser import (
    DESK,
    FOCUSABLE,
    PHONE,
    SETTLED,
    SIDEWAYS,
    STICKING_OUT,
    axe,
    put_theme,
    put_width,
    ready,
)
from site_server import Server

CHAPTER = "chapters/matmul"
OLD, NEW = 'rl.chip("TPU v5e")', 'rl.chip("TPU v6e")'
NOTE = "[role=note].as-printed"
# The text of a block with a value, without its note.
WORDS = """(e) => {
  const copy = e.cloneNode(true);
  copy.querySelector(".as-printed")?.remove();
  return copy.textContent;
}"""


@pytest.fixture(scope="module", params=["native", pytest.param("pyodide", marks=pytest.mark.long)])
def server(site: Path, below: str, request: pytest.FixtureRequest) -> Iterator[Server]:
    served = serving_native if request.param == "native" else serving_pyodide
    with served(site, below) as server:
        yield server


Opened = Callable[[str], Page]


@pytest.fixture(scope="module")
def opened(browser: Browser, server: Server, site: Path) -> Iterator[Opened]:
    """Open the chapter, each of its blocks with a premise or, if "", with none, and run it once."""
    pages = []

    @functools.cache
    def opened(premise: str) -> Page:
        data = json.loads((site / f"{CHAPTER}.steps.json").read_text(encoding="utf-8"))
        for block in data["blocks"]:
            block.pop("premise", None)
            if premise:
                block["premise"] = premise
        context = browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce")
        context.set_default_timeout(SLOW)
        pages.append(context.new_page())

        def answer(route: Route) -> None:
            route.fulfill(json=data)

        pages[-1].route("**/*.steps.json", answer)
        first_run(pages[-1], f"{server.origin}/{CHAPTER}.html")
        return pages[-1]

    yield opened
    for page in pages:
        page.context.close()


def heading_and_link(page: Page) -> tuple[str, str]:
    """Return the text of the heading with a value, and its entry in the page's contents."""
    heading = page.locator("h2", has=page.locator(".computed")).first
    link = page.locator(
        f".bd-toc-nav a[href='#{heading.evaluate('(e) => e.closest(`section`).id')}']"
    )
    return heading.inner_text().rstrip("#\n "), str(link.text_content()).strip()


def test_blocks_without_a_premise_stay_as_printed_and_say_so(opened: Opened) -> None:
    page = opened("")
    before, printed = values(page), heading_and_link(page)
    change_cell(page, OLD, NEW)
    said = press(page)
    assert values(page) == before
    assert heading_and_link(page) == printed
    notes = page.locator(NOTE)
    assert said == f"Done. {notes.count()} passages stay as printed and say so."
    assert all(
        text.startswith("As printed. With your changes: ") for text in notes.all_text_contents()
    )
    # The note about a heading follows it as a separate element.
    assert "1,207" not in printed[0]
    after = page.locator("h2 + p.as-printed").inner_text()
    assert after.startswith("As printed. With your changes: 240 → ")
    # Each note stands in the block of a value that it names.
    for note in notes.all()[:5]:
        old = str(note.text_content()).split(": ", 1)[1].split(" → ")[0]
        around = note.locator(
            "xpath=ancestor-or-self::*[self::p or self::tr or self::figcaption or self::summary][1]"
        )
        words = (
            page.locator("h2:has(+ .as-printed)")
            if around.get_attribute("class") == "as-printed"
            else around
        )
        assert old in words.first.evaluate(WORDS)

    put_back(page)
    assert notes.count() == 0
    assert values(page) == before


@pytest.mark.parametrize(
    ("size", "theme"),
    [(PHONE, "dark"), pytest.param(DESK, "light", marks=pytest.mark.long)],
    ids=["phone", "desk"],
)
def test_notes_are_accessible(opened: Opened, size: ViewportSize, theme: str) -> None:
    page = opened("")
    change_cell(page, OLD, NEW)
    press(page)
    put_width(page, size)
    put_theme(page, theme)
    page.wait_for_function(FOCUSABLE)
    page.evaluate(SETTLED)
    assert axe(page) == []
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []
    put_width(page, DESK)
    put_theme(page, "light")
    put_back(page)


def test_blocks_with_a_premise_that_holds_follow(opened: Opened) -> None:
    page = opened("True")
    before, printed = values(page), heading_and_link(page)
    change_cell(page, OLD, NEW)
    said = press(page)
    moved = [text for text, old in zip(values(page), before, strict=True) if text != old]
    assert page.locator(".computed.changed").count() == len(moved) > 5
    assert page.locator(NOTE).count() == 0
    assert said == f"Done. {len(moved)} values in the text changed and are marked."
    heading, link = heading_and_link(page)
    assert heading != printed[0]
    assert heading.endswith(link)
    put_back(page)
    assert heading_and_link(page) == printed
    assert page.locator(".changed, .as-printed").count() == 0


def test_a_failed_premise_is_noted_without_new_values(opened: Opened) -> None:
    page = opened("v5e.name == 'TPU v5e'")
    assert page.locator(NOTE).count() == 0
    before = values(page)
    change_cell(page, OLD, NEW)
    press(page)
    assert values(page) == before
    assert page.get_by_text("As printed. It need not hold with your changes.").count() > 0
    assert page.locator(".computed.changed").count() == 0


def test_the_printed_output_stays_available_after_a_change(opened: Opened) -> None:
    page = opened("")
    cell = page.locator(".bd-article div.cell").filter(has_text="tiny = rl.matmul")
    output = cell.locator(".cell_output")
    built = output.inner_text()
    change_cell(page, "tiny = rl.matmul(B=2", "tiny = rl.matmul(B=20")
    press(page)
    assert output.inner_text() != built
    printed = cell.locator("details.as-printed")
    printed.locator("summary").click()
    assert printed.locator("pre").inner_text().strip() == built.strip()
    assert page.locator("details.as-printed").count() == 1
    change_cell(page, "tiny = rl.matmul(B=20", "tiny = rl.matmul(B=2")
    press(page)
    assert output.inner_text() == built
    assert page.locator(".as-printed").count() == 0


def test_blocks_below_a_failing_cell_stay_as_printed(opened: Opened) -> None:
    page = opened("True")
    before = values(page)
    change_cell(page, OLD, NEW)
    press(page)
    assert values(page) != before
    change_cell(page, NEW, 'rl.chip("no such chip")')
    said = press(page)
    assert said.endswith("What stands below it is as printed and marked.")
    assert values(page) == before
    assert page.locator(".computed.stale").count() > 5
    assert page.get_by_text("Not run, since a cell above ended with an error.").count() > 1
    change_cell(page, 'rl.chip("no such chip")', OLD)
    assert press(page) == "Done. All values in the text are as they were built."
    assert page.locator(".stale, .as-printed").count() == 0


def test_a_saved_change_can_be_undone_before_running(opened: Opened) -> None:
    page = opened("")
    change_cell(page, "tiny = rl.matmul(B=2", "tiny = rl.matmul(B=20")
    ready(page, page.url)
    cell = page.locator(".bd-article div.cell").filter(has=page.locator(".run-kept"))
    cell.get_by_role("button", name="Put it back").click()
    cell = page.locator(".bd-article div.cell").filter(has_text="tiny = rl.matmul")
    assert "B=2," in cell.locator("pre").first.inner_text()
    assert not any("cells" in key for key in page.evaluate("Object.keys(localStorage)"))


# The last test of this page, since it loads it again.
def test_edited_cells_survive_a_reload(opened: Opened) -> None:
    page = opened("")
    first_run(page, page.url)
    change_cell(page, "tiny = rl.matmul(B=2", "tiny = rl.matmul(B=20")
    press(page)
    ready(page, page.url)
    kept = page.locator(".run-kept")
    assert kept.all_inner_texts() == ["Your change, not run yet"]
    cell = page.locator(".bd-article div.cell").filter(has_text="tiny = rl.matmul")
    assert "tiny = rl.matmul(B=20" in cell.locator("pre").first.inner_text()
    built = cell.locator(".cell_output").inner_text()
    with a_run(page):
        cell.get_by_role("button", name="Run the cell").click()
    assert kept.count() == 0
    assert cell.locator(".cell_output").inner_text() != built
    # Only this output is marked, although the page was never run without the change. Figures may
    # be marked as well: Pyodide measures labels differently, which moves lines up to five points.
    assert page.locator("details.as-printed:not(:has(svg.figure))").count() == 1
    page.get_by_role("button", name="Put the page back").click()
    assert bar(page) == "The page is as it was built."
    ready(page, page.url)
    assert kept.count() == 0
