"""Tests of the prose in JupyterLab: values before and after running, links.

What each run tests in a browser is in tests/kit/test_validate_button.py, so that JupyterLab starts
once.
"""

import json
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from book_extension.prose import expressions, without_code
from commands.jupyterlab.page_copy import book_of, chapter_notebook
from lab_browser import (
    PANEL,
    lab_page,
    opened,
    prose,
    raw_values,
    run_all,
    shown,
    small_page,
    wait_for_text,
)
from nbformat import NotebookNode
from playwright.sync_api import Browser, Page
from repository import HEADER, ROOT

BOOK = book_of(ROOT)
CHAPTERS = [page for page in BOOK.places if page.startswith("chapters/")]
# The longest chapter.
LONG = "chapters/matmul"
# Patterns of links into the course, of answers to guesses, and of HTML links and roles, which
# JupyterLab can't follow or render.
LINK = re.compile(r"\]\((?![a-z]+:)([^()\s]+)\)")
ANSWER = re.compile(r"^:::\{answer\}.*?^:::$", re.MULTILINE | re.DOTALL)
HTML = re.compile(r"<a [^>]*>|\{(?!eval)[a-z:]+\}`")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the reader's folder with a copy of each chapter."""
    folder = tmp_path_factory.mktemp("work")
    for page in CHAPTERS:
        copy = folder / BOOK.places[page]
        copy.parent.mkdir(exist_ok=True)
        nbformat.write(chapter_notebook(ROOT / f"{page}.md"), copy)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    return small_page(tmp_path_factory.mktemp("small"))


@pytest.fixture
def changing(page: Page, work: Path, small: NotebookNode, request: pytest.FixtureRequest) -> None:
    """Open the small page in a new file, and so with a new kernel."""
    copy = work / f"{request.node.name}.ipynb"
    nbformat.write(small, copy)
    opened(page, copy.name)


@pytest.fixture
def unchanged(page: Page, work: Path, small: NotebookNode) -> None:
    """Show the small page to tests that don't change it; open it only once."""
    copy = work / "unchanged.ipynb"
    if not copy.exists():
        nbformat.write(small, copy)
    if page.evaluate(f"{PANEL}?.context?.path") != copy.name:
        opened(page, copy.name)


@pytest.fixture(scope="module")
def page(browser: Browser, work: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with lab_page(browser, work, tmp_path_factory.mktemp("home")) as page:
        yield page


@pytest.mark.long
def test_running_a_single_cell_updates_the_prose(page: Page, changing: None) -> None:
    page.evaluate(
        f"""() => {{
          const notebook = {PANEL}.content;
          notebook.activeCellIndex = 1;
          notebook.widgets[1].model.sharedModel.setSource("n = 3072");
          void window.jupyterapp.commands.execute("notebook:run-cell");
        }}"""
    )
    wait_for_text(page, 2, "3,072")


@pytest.mark.long
def test_values_stay_if_a_name_is_undefined_in_the_kernel(page: Page, unchanged: None) -> None:
    """Run the text before the code: the kernel returns an error, and the value stays."""
    page.evaluate(
        f"""async () => {{
          const panel = {PANEL};
          const kernel = panel.sessionContext.session.kernel;
          panel.content.activeCellIndex = 4;
          await window.jupyterapp.commands.execute("notebook:run-cell");
          await kernel.requestExecute({{ code: "" }}).done;
        }}"""
    )
    assert "It is 16,385." in shown(page)


@pytest.mark.long
def test_formulas_are_not_numbered_in_jupyterlab(page: Page, unchanged: None) -> None:
    """Equations aren't numbered in JupyterLab, since no text refers to the numbers."""
    prose(page)
    formula = page.locator(".katex-display")
    assert formula.count() == 1
    around = formula.locator("xpath=ancestor::*[contains(@class, 'myst')][1]")
    assert "above" in around.inner_text()
    assert "(1)" not in around.inner_text()


@pytest.mark.long
def test_the_source_of_an_unrendered_cell_is_hidden_until_it_is_edited(
    page: Page, changing: None
) -> None:
    """The test recreates the state of a cell that was never rendered."""
    prose(page)
    seen = """(unrendered) => {
      const cell = window.jupyterapp.shell.currentWidget.content.widgets[2];
      cell.inputArea.showEditor();
      if (!unrendered) cell.showEditor();
      return getComputedStyle(cell.node.querySelector(".jp-InputArea-editor")).visibility;
    }"""
    assert page.evaluate(seen, True) == "hidden"
    assert page.evaluate(seen, False) == "visible"


@pytest.mark.long
@pytest.mark.parametrize(("replaced", "clicks"), [(True, 1), (False, 0)])
def test_links_rendered_again_during_a_click_are_followed(
    page: Page, changing: None, replaced: bool, clicks: int
) -> None:
    """If the link isn't replaced during the click, only the browser follows it."""
    prose(page)
    counted = page.evaluate(
        """(replaced) => {
          const send = (link, kind) =>
            link.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0 }));
          const link = Object.assign(document.createElement("a"), { href: "#", textContent: "go" });
          document.querySelector(".myst").append(link);
          send(link, "pointerdown");
          const now = replaced ? link.cloneNode(true) : link;
          if (replaced) link.replaceWith(now);
          let clicks = 0;
          now.addEventListener("click", (event) => {
            event.preventDefault();
            clicks += 1;
          });
          send(now, "pointerup");
          return clicks;
        }""",
        replaced,
    )
    assert counted == clicks


COVERED = f"""() => [...{PANEL}.node.querySelectorAll(".myst a[href]")].filter((link) => {{
  if (!link.checkVisibility({{ visibilityProperty: true }})) return false;
  link.scrollIntoView({{ block: "center" }});
  const at = link.getClientRects()[0];
  const hit = at && document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2);
  return hit && !link.contains(hit);
}}).map((link) => link.textContent)"""


# The longest chapter has links near roots, over which KaTeX lays empty boxes.
@pytest.mark.long
def test_links_are_not_covered_by_formulas(page: Page) -> None:
    opened(page, BOOK.places[LONG])
    prose(page)
    before = page.viewport_size
    for width in range(800, 1400, 40):  # different widths put different links above a root
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(COVERED) == [], width
    page.set_viewport_size(before)


# This is slow: the longest chapter and the glossary are rendered completely.
@pytest.mark.long
def test_a_link_scrolls_to_its_cell_and_stays_there(page: Page) -> None:
    opened(page, BOOK.places[LONG])
    page.get_by_role("link", name="arithmetic intensity", exact=True).first.click()
    page.wait_for_function(
        f"""() => {{
          const panel = {PANEL};
          if (!panel.context?.path.endsWith("glossary.ipynb")) return false;
          const target = panel.content.widgets.find(
            (cell) => cell.model.id === "term-arithmetic-intensity",
          );
          const late = panel.content.widgets.some(
            (cell) => cell.model.type === "markdown" && !cell.node.querySelector(".myst"),
          );
          const at = target?.node.getBoundingClientRect();
          return !late && at?.height > 0 && at.top >= 0 && at.bottom <= window.innerHeight;
        }}"""
    )


@pytest.mark.long
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.split("/")[1])
def test_chapters_show_no_raw_expressions_before_and_after_run_all(
    page: Page, chapter: str
) -> None:
    opened(page, BOOK.places[chapter])
    before = prose(page)
    assert raw_values(before) == []
    run_all(page)
    after = prose(page)
    assert raw_values(after) == []
    # Nothing was edited, so every value is the same as before the run.
    assert [cell["values"] for cell in after] == [cell["values"] for cell in before]


def test_html_links_within_the_site_become_plain_text_in_notebooks(tmp_path: Path) -> None:
    text = 'A <a href="../wheels/index.html">page with\nboth</a>, ``<a href="x">code</a>``,'
    out = '<a href="https://example.org">outside</a>.'
    (tmp_path / "page.md").write_text(f"{HEADER}\n{text} {out}\n")
    source = chapter_notebook(tmp_path / "page.md").cells[0].source
    assert source == f'A page with\nboth, ``<a href="x">code</a>``, {out}'


def test_every_link_in_jupyterlab_copies_has_a_target(work: Path) -> None:
    """Find the copy of each linked page, and the cell with each linked id."""
    copies = {
        path: nbformat.read(work / path, as_version=4) for path in map(BOOK.places.get, CHAPTERS)
    }
    cells = {path: {cell.id for cell in copy.cells} for path, copy in copies.items()}
    exercises = {place for page, place in BOOK.places.items() if page not in CHAPTERS}
    found, lost = 0, []
    for path, copy in copies.items():
        texts = [c.source for c in copy.cells if c.cell_type == "markdown"]
        for link in (link for text in texts for link in LINK.finditer(without_code(text))):
            place, _, fragment = link[1].partition("#cell-id=")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
            found += 1
            there = place in exercises if not fragment else fragment in cells.get(place, ())
            if not there and (fragment or place not in cells):
                lost.append(f"{path}: {link[0]}")
        lost += [
            f"{path}: {found[0]}" for text in texts for found in HTML.finditer(without_code(text))
        ]
    assert lost == []
    assert found > 200


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the machine busy with processes that compute forever."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.long
def test_the_longest_chapter_shows_no_raw_expressions_on_a_busy_machine(page: Page) -> None:
    with busy(2):
        opened(page, BOOK.places[LONG])
        run_all(page)
        cells = prose(page)
    assert sum(len(cell["expressions"]) for cell in cells) > 50
    assert raw_values(cells) == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.split("/")[1])
def test_a_chapters_jupyterlab_copy_has_the_values_of_the_built_page(
    site: Path, chapter: str
) -> None:
    glued = site.parent / "jupyter_execute" / f"{chapter}.glue.json"
    found = json.loads(glued.read_text(encoding="utf-8")) if glued.exists() else {}
    # JupyterLab copies have no guesses: leave out values that occur only in answers to guesses.
    page = (ROOT / f"{chapter}.md").read_text(encoding="utf-8")
    answers = "\n".join(ANSWER.findall(page))
    left_out = {e for e, _ in expressions(answers)} - {
        e for e, _ in expressions(ANSWER.sub("", page))
    }
    built = {
        name: output["data"]["text/plain"]
        for name, output in found.items()
        if name not in left_out and not name.startswith("while ")
    }
    copy = chapter_notebook(ROOT / f"{chapter}.md")
    stored = {
        entry["expression"]: entry["result"]["data"]["text/plain"]
        for cell in copy.cells
        for entry in cell.metadata.get("user_expressions", [])
    }
    assert stored == built
    wanted = {
        e
        for cell in copy.cells
        if cell.cell_type == "markdown"
        for e, _ in expressions(cell.source)
    }
    assert wanted == set(built)
