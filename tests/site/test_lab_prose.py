"""What a reader sees in JupyterLab: values and not code, before and after running, and links."""

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
from lab_browser import PANEL, lab_page, opened, prose, raw_values, run_all
from playwright.sync_api import Browser, Page
from repository import HEADER, ROOT

BOOK = book_of(ROOT)
CHAPTERS = [page for page in BOOK.places if page.startswith("chapters/")]
SHORT, LONG = "chapters/glossary", "chapters/matmul"
# A link to a place of the course, by its address; a link that nothing can follow.
LINK = re.compile(r"\]\((?![a-z]+:)([^()\s]+)\)")
ANSWER = re.compile(r"^:::\{answer\}.*?^:::$", re.MULTILINE | re.DOTALL)
HTML = re.compile(r"<a [^>]*>|\{(?!eval)[a-z:]+\}`")
# The value of a name changes on the way down, and only the last cell is in view at the end.
CHANGING = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3}
---

# Changing

```{code-cell} ipython3
n = 16384
```

The first is {eval}`n`, in words {eval}`f"{n // 1024}\\N{NO-BREAK SPACE}K"`.

```{code-cell} ipython3
n = n + 1
```

:::{admonition} The second
It is {eval}`n + 0`.
:::

+++

$$n + 1$$

The formula stands above.
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's folder: the chapters, and a small page."""
    folder = tmp_path_factory.mktemp("work")
    for page in CHAPTERS:
        copy = folder / BOOK.places[page]
        copy.parent.mkdir(exist_ok=True)
        nbformat.write(chapter_notebook(ROOT / f"{page}.md"), copy)
    (folder / "changing.md").write_text(CHANGING, encoding="utf-8")
    return folder


@pytest.fixture
def changing(page: Page, work: Path, request: pytest.FixtureRequest) -> None:
    """The small page, open, in a file of the test's own: a kernel belongs to a file."""
    copy = work / f"{request.node.name}.ipynb"
    nbformat.write(chapter_notebook(work / "changing.md"), copy)
    opened(page, copy.name)


@pytest.fixture
def unchanged(page: Page, work: Path) -> None:
    """The small page, open, for tests that change nothing in it: they may find it open already."""
    copy = work / "unchanged.ipynb"
    if not copy.exists():
        nbformat.write(chapter_notebook(work / "changing.md"), copy)
    if page.evaluate(f"{PANEL}?.context?.path") != copy.name:
        opened(page, copy.name)


@pytest.fixture(scope="module")
def page(browser: Browser, work: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with lab_page(browser, work, tmp_path_factory.mktemp("home")) as page:
        yield page


def shown(page: Page) -> str:
    """The prose of the small page, with its spaces as they are."""
    return " ".join(cell["text"] for cell in prose(page))


def test_values_are_there_before_a_cell_is_run_and_follow_a_changed_number(
    page: Page, changing: None
) -> None:
    assert "The first is 16,384, in words 16\N{NO-BREAK SPACE}K." in shown(page)
    assert "It is 16,385." in shown(page)

    change = f"{PANEL}.content.widgets[1].model.sharedModel.setSource('n = 2048')"
    page.evaluate(f"void {change}")
    run_all(page)
    # In the order of the page: n is 2,049 when all cells have run.
    page.wait_for_function(
        f"{PANEL}.content.widgets[2].node.textContent.includes('The first is 2,048')"
    )
    text = shown(page)
    assert "in words 2\N{NO-BREAK SPACE}K." in text
    assert "It is 2,049." in text
    assert raw_values(prose(page)) == []


def test_prose_follows_a_cell_that_is_run_by_itself(page: Page, changing: None) -> None:
    page.evaluate(
        f"""() => {{
          const notebook = {PANEL}.content;
          notebook.activeCellIndex = 1;
          notebook.widgets[1].model.sharedModel.setSource("n = 3072");
          void window.jupyterapp.commands.execute("notebook:run-cell");
        }}"""
    )
    page.wait_for_function(f"{PANEL}.content.widgets[2].node.textContent.includes('3,072')")


def test_values_stay_where_the_kernel_knows_no_name(page: Page, unchanged: None) -> None:
    """A reader runs the text first: the kernel has an error for it, and the page its value."""
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


def test_formulas_have_no_numbers(page: Page, unchanged: None) -> None:
    """No text refers to them."""
    prose(page)
    formula = page.locator(".katex-display")
    assert formula.count() == 1
    around = formula.locator("xpath=ancestor::*[contains(@class, 'myst')][1]")
    assert "above" in around.inner_text()
    assert "(1)" not in around.inner_text()


def test_the_source_is_not_seen_before_a_cell_is_drawn(page: Page, changing: None) -> None:
    """The state of a cell that was never drawn is kept by taking the drawing away."""
    prose(page)
    seen = """(undrawn) => {
      const cell = window.jupyterapp.shell.currentWidget.content.widgets[2];
      cell.inputArea.showEditor();
      if (!undrawn) cell.showEditor();
      return getComputedStyle(cell.node.querySelector(".jp-InputArea-editor")).visibility;
    }"""
    assert page.evaluate(seen, True) == "hidden"
    assert page.evaluate(seen, False) == "visible"


@pytest.mark.parametrize(
    ("replaced", "clicks"), [(True, 1), pytest.param(False, 0, marks=pytest.mark.long)]
)
def test_a_link_that_is_drawn_anew_while_it_is_pressed_is_followed(
    page: Page, changing: None, replaced: bool, clicks: int
) -> None:
    """One that stays gets its click from the browser, and from nobody else."""
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


# The longest chapter has links beside roots, over which KaTeX lays empty boxes.
@pytest.mark.long
def test_nothing_lies_over_a_link(page: Page) -> None:
    opened(page, BOOK.places[LONG])
    prose(page)
    before = page.viewport_size
    for width in range(800, 1400, 40):  # so that many a link comes to stand over a root
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(COVERED) == [], width
    page.set_viewport_size(before)


# The longest chapter and the glossary are drawn whole for it.
@pytest.mark.long
def test_a_link_leads_to_its_cell_and_stays_there(page: Page) -> None:
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


@pytest.mark.parametrize(
    "chapter",
    [pytest.param(p, marks=[] if p == SHORT else pytest.mark.long) for p in CHAPTERS],
    ids=lambda p: p.split("/")[1],
)
def test_a_chapter_shows_no_raw_value_before_and_after_run_all(page: Page, chapter: str) -> None:
    opened(page, BOOK.places[chapter])
    before = prose(page)
    assert raw_values(before) == []
    run_all(page)
    after = prose(page)
    assert raw_values(after) == []
    # Nothing was changed, so every value is as the copy had it.
    assert [cell["values"] for cell in after] == [cell["values"] for cell in before]


def test_links_to_places_of_the_site_are_words(tmp_path: Path) -> None:
    text = 'A <a href="../wheels/index.html">page with\nboth</a>, ``<a href="x">code</a>``,'
    out = '<a href="https://example.org">outside</a>.'
    (tmp_path / "page.md").write_text(f"{HEADER}\n{text} {out}\n")
    source = chapter_notebook(tmp_path / "page.md").cells[0].source
    assert source == f'A page with\nboth, ``<a href="x">code</a>``, {out}'


def test_every_link_has_a_target(work: Path) -> None:
    """To a page: its copy is there. To a place in a page: a cell with this id is in the copy."""
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
    """Other work on the machine: processes that compute without an end."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.long
def test_the_chapter_with_most_values_shows_none_raw_on_a_busy_machine(page: Page) -> None:
    with busy(2):
        opened(page, BOOK.places[LONG])
        run_all(page)
        cells = prose(page)
    assert sum(len(cell["expressions"]) for cell in cells) > 50
    assert raw_values(cells) == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda p: p.split("/")[1])
def test_a_copy_has_the_values_of_the_built_page(site: Path, chapter: str) -> None:
    glued = site.parent / "jupyter_execute" / f"{chapter}.glue.json"
    found = json.loads(glued.read_text(encoding="utf-8")) if glued.exists() else {}
    # Of what only an answer to a guess says, a copy has nothing: it takes no guesses.
    page = (ROOT / f"{chapter}.md").read_text(encoding="utf-8")
    answers = "\n".join(ANSWER.findall(page))
    left_out = {e for e, _ in expressions(answers)} - {
        e for e, _ in expressions(ANSWER.sub("", page))
    }
    built = {
        name: output["data"]["text/plain"] for name, output in found.items() if name not in left_out
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
