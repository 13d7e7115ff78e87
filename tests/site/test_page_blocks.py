"""Tests of a page's prose after an edit: which blocks are updated, which stay.

The tests insert {while} conditions into the page's data on its way to the browser, so that one page
has all kinds of blocks. Pages stay open for several tests: each test restores the built page.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from native_python import serving_native
from page_reader import SCRIPTS, SLOW, change_cell, first_run, press, put_back, values
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
)
from site_server import Server

CHAPTER = "chapters/matmul"
OLD, NEW = 'rl.chip("TPU v5e")', 'rl.chip("TPU v6e")'
NOTE = "[role=note].as-printed"
# Returns a block's text, without its note.
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


# Number of a block → the {while} condition of this and all following blocks, up to the next entry.
# In MIXED, changing the chip makes the condition false for all blocks from FAILS_FROM on.
NONE = {0: ""}
FAILS_FROM = 30
MIXED = {0: "True", FAILS_FROM: "v5e.name == 'TPU v5e'"}
Opened = Callable[[dict[int, str]], Page]


@pytest.fixture(scope="module")
def opened(browser: Browser, server: Server, site: Path) -> Iterator[Opened]:
    """Return a function that runs the chapter with other {while} conditions."""
    pages: dict[str, Page] = {}

    def opened(premises: dict[int, str]) -> Page:
        if (key := json.dumps(premises)) in pages:
            return pages[key]
        data = json.loads((site / f"{CHAPTER}.steps.json").read_text(encoding="utf-8"))
        for number, block in enumerate(data["blocks"]):
            block.pop("premise", None)
            if premise := premises[max(first for first in premises if first <= number)]:
                block["premise"] = premise
        context = browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce")
        context.set_default_timeout(SLOW)
        pages[key] = page = context.new_page()

        def answer(route: Route) -> None:
            route.fulfill(json=data)

        page.route("**/*.steps.json", answer)
        first_run(page, f"{server.origin}/{CHAPTER}.html")
        return page

    yield opened
    for page in pages.values():
        page.context.close()


def heading_and_link(page: Page) -> tuple[str, str]:
    """Return the texts of the first heading with a value, and of the link to it."""
    heading = page.locator("h2", has=page.locator(".computed")).first
    link = page.locator(
        f".bd-toc-nav a[href='#{heading.evaluate('(e) => e.closest(`section`).id')}']"
    )
    return heading.inner_text().rstrip("#\n "), str(link.text_content()).strip()


def assert_accessible(page: Page, size: ViewportSize, theme: str) -> None:
    put_width(page, size)
    put_theme(page, theme)
    page.wait_for_function(FOCUSABLE)
    page.evaluate(SETTLED)
    assert axe(page, ".as-printed") == []
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []


@pytest.mark.long
def test_prose_without_a_while_role_keeps_its_values_and_gets_a_note(opened: Opened) -> None:
    page = opened(NONE)
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
    # A heading keeps its built text; its note is a separate element below it.
    assert "1,207" not in printed[0]
    after = page.locator("h2 + p.as-printed").inner_text()
    assert after.startswith("As printed. With your changes: 240 → ")
    # Each note stands in the block that has the value.
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
    assert_accessible(page, PHONE, "dark")
    put_width(page, DESK)
    put_theme(page, "light")

    put_back(page)
    assert notes.count() == 0
    assert values(page) == before


@pytest.mark.long
def test_notes_are_accessible_on_a_desktop_in_the_light_theme(opened: Opened) -> None:
    page = opened(NONE)
    change_cell(page, OLD, NEW)
    press(page)
    assert_accessible(page, DESK, "light")
    put_back(page)


def test_prose_is_updated_only_if_its_while_role_holds(opened: Opened, site: Path) -> None:
    page = opened(MIXED)
    assert page.locator(NOTE).count() == 0
    before, printed = values(page), heading_and_link(page)
    outputs = page.locator(".bd-article .cell_output")
    built = outputs.all_inner_texts()
    change_cell(page, OLD, NEW)
    said = press(page)
    after, notes = values(page), page.locator(NOTE)
    moved = [text for text, old in zip(after, before, strict=True) if text != old]
    assert page.locator(".computed.changed").count() == len(moved) > 5
    heading, link = heading_and_link(page)
    assert heading != printed[0]
    assert heading.endswith(link)
    assert said == (
        f"Done. {len(moved)} values in the text changed and are marked. "
        f"{notes.count()} passages stay as printed and say so."
    )
    # Blocks whose condition is false keep their values, and have a note even if no value changed.
    blocks = json.loads((site / f"{CHAPTER}.steps.json").read_text(encoding="utf-8"))["blocks"]
    shown = sum(len([*filter(None, block["shown"])]) for block in blocks[FAILS_FROM:])
    assert after[-shown:] == before[-shown:]
    assert "As printed. It need not hold with your changes." in notes.all_text_contents()
    change_cell(page, NEW, 'rl.chip("no such chip")')
    said = press(page)
    assert said.endswith("What stands below it is as printed and marked.")
    assert values(page) == before
    assert page.locator(".computed.stale").count() > 5
    failed = page.get_by_text("Not run, since a cell above ended with an error.")
    assert failed.count() == page.locator(".cell:has(.code-editor) > p.as-printed").count() > 1
    shown = outputs.all_inner_texts()
    assert len([1 for new, old in zip(shown, built, strict=True) if new != old]) == 1
    change_cell(page, 'rl.chip("no such chip")', OLD)
    assert press(page) == "Done. All values in the text are as they were built."
    assert heading_and_link(page) == printed
    assert page.locator(".changed, .stale, .as-printed").count() == 0
    assert page.get_by_role("button", name="Put the page back").count() == 0


# Shows the notes of a made-up article after a run with changes. Returns each note with the element
# that it stands in, and the error for data that doesn't fit the article.
NOTES = """async (folder) => {
  const { blocksOf } = await import(folder + "prose_blocks.js");
  const article = document.createElement("article");
  article.innerHTML = `<section id="made-up"><h2>A <span class="computed">1</span></h2></section>
    <p>B <span class="computed">2</span></p>
    <table><tr><td><span class="computed">3</span></td><td><span class="computed">4</span></td></tr>
    </table>`;
  const data = [
    { values: { a: "1" }, shown: ["a"] },
    { values: { b: "2" }, shown: ["b"] },
    { values: { c: "3", d: "4" }, shown: ["c", "d"] },
  ];
  const blocks = blocksOf(article, data);
  const now = [{ a: "10" }, { b: "20" }, { d: "40" }];
  blocks.show([0, 1, 2], now.map((now) => ({ follows: false, now })));
  const notes = [...article.querySelectorAll("[role=note]")].map((note) => {
    const { parentElement: parent, previousElementSibling: before } = note;
    return [note.textContent, parent.tagName, before?.tagName ?? "", parent.cellIndex ?? 0];
  });
  let refused = "";
  try {
    blocksOf(article, data.slice(1));
  } catch ({ message }) {
    refused = message;
  }
  return { notes, refused };
}"""


def test_notes_about_changed_values_stand_beside_them(browser: Browser, server: Server) -> None:
    with browser.new_page() as page:
        page.goto(f"{server.origin}/{CHAPTER}.html")
        found = page.evaluate(NOTES, page.evaluate(SCRIPTS))
    assert found["notes"] == [
        ["As printed. With your changes: 1 → 10.", "SECTION", "H2", 0],
        ["As printed. With your changes: 2 → 20.", "P", "SPAN", 0],
        ["As printed. With your changes: 4 → 40.", "TD", "SPAN", 1],
    ]
    assert found["refused"] == "3 values expected on this page, 4 found"


# Compares several SVGs with the figure in the built page, which is a line with a label; returns
# "same", "close" or "other" for each.
LIKENESS = """async (folder) => {
  const { outputs } = await import(folder + "outputs.js");
  const figure = (path, label) =>
    `<svg class="figure"><path d="${path}"/><text>${label}</text></svg>`;
  const cell = document.createElement("div");
  cell.innerHTML = `<div class="cell_output"><p>${figure("M 0 0 L 100 50", "a line")}</p></div>`;
  const shown = outputs(cell);
  const likeness = (...drawing) => shown.likeness([{ kind: "svg", text: figure(...drawing) }]);
  return {
    equal: likeness("M 0 0 L 100 50", "a line"),
    near: likeness("M 0 0.2 L 100.4 49.7", "a line"),
    oneFar: likeness("M 0 0 L 100 60", "a line"),
    shorter: likeness("M 0 0 L 100", "a line"),
    named: likeness("M 0 0 L 100 50", "another line"),
  };
}"""


def test_drawings_count_as_the_same_if_all_coordinates_are_near(
    browser: Browser, server: Server
) -> None:
    with browser.new_page() as page:
        page.goto(f"{server.origin}/{CHAPTER}.html")
        found = page.evaluate(LIKENESS, page.evaluate(SCRIPTS))
    assert found == {
        "equal": "same",
        "near": "same",
        "oneFar": "close",
        "shorter": "close",
        "named": "other",
    }


# Draws both figures of a cell again; returns each frame's class, and the label of its figure.
REDRAWN = """async (folder) => {
  const { outputs } = await import(folder + "outputs.js");
  const figure = (label) => `<svg class="figure" aria-label="${label}"><path d="M 0 0"/></svg>`;
  const cell = document.createElement("div");
  const [one, two] = ["One.", "Two."].map(figure);
  cell.innerHTML = `<div class="cell_output"><p class="a">${one}</p><p class="b">${two}</p></div>`;
  const drawn = { kind: "svg", text: figure("New.") };
  outputs(cell).show([drawn, drawn]);
  const frames = [...cell.querySelectorAll(".cell_output > p")];
  return frames.map((frame) => [frame.className, frame.firstElementChild.ariaLabel]);
}"""


def test_each_new_drawing_replaces_its_figure_in_the_same_frame(
    browser: Browser, server: Server
) -> None:
    with browser.new_page() as page:
        page.goto(f"{server.origin}/{CHAPTER}.html")
        found = page.evaluate(REDRAWN, page.evaluate(SCRIPTS))
    said = "Drawn with your changes. The printed figure: {}"
    assert found == [["a", said.format("One.")], ["b", said.format("Two.")]]


@pytest.mark.long
def test_a_cells_built_output_stays_available_after_a_change(opened: Opened) -> None:
    page = opened(NONE)
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
    put_back(page)
    assert output.inner_text() == built
    assert page.locator(".as-printed").count() == 0
