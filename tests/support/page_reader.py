"""A reader's actions in a page with Python: write, run, check, download."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from commands.jupyterlab.page_copy import steps
from commands.jupyterlab.page_values import computed
from commands.jupyterlab.sources import read_pieces
from playwright.sync_api import Locator, Page
from repository import ROOT
from site_browser import ready

SLOW = 300_000  # ms; the machine may be busy with other tests
EDITOR = ".code-editor .cm-content"
# The address of the scripts that run Python in the page.
SCRIPTS = """() => new URL(
  document.querySelector("script[data-python]").dataset.python, location).href"""
RUNS = "() => Number(document.querySelector('.python-panel')?.dataset.runs ?? 0)"
HIDDEN = {"remove-cell", "remove-input"}  # tags of cells whose code pages hide
# The editor renders only visible lines; the <pre> that it replaces keeps the whole text.
WRITTEN = "(e) => e.closest('.cell_input').querySelector('pre').textContent.slice(0, -1)"


@contextmanager
def a_run(page: Page) -> Iterator[None]:
    """Wait at the end of the block for the run that the block starts."""
    before = page.evaluate(RUNS)
    yield
    # Don't poll at each frame, the default: drawing frames takes longer than most runs.
    page.wait_for_function(f"(before) => ({RUNS})() > before", arg=before, timeout=SLOW, polling=50)


def bar(page: Page) -> str:
    return page.locator(".python-words").inner_text()


def press(page: Page, key: str = "Control+Enter") -> str:
    """Run the focused editor's code, and return the status bar's final text."""
    with a_run(page):
        page.keyboard.press(key)
    return bar(page)


def written(editor: Locator) -> str:
    return str(editor.evaluate(WRITTEN))


def write(editor: Locator, text: str) -> None:
    """Focus an editor and replace all of its text."""
    editor.focus()
    editor.press("Control+a")
    editor.page.keyboard.insert_text(text)
    assert written(editor) == text


# ---- a chapter

# Collects the last decision about each block in the page's `decided`.
DECISIONS = """() => {
  window.decided = {};
  addEventListener("prose-ran", ({ detail: { blocks, states } }) => {
    blocks.forEach((number, place) => (decided[number] = states[place]));
  }, true);
}"""


def values(page: Page) -> list[str]:
    return list(page.locator(".bd-article .computed").all_text_contents())


def first_run(page: Page, address: str) -> None:
    """Open a chapter and run its first cell.

    The page's `ran` collects each cell's result.
    """
    ready(page, address)
    page.evaluate(
        "() => { window.ran = []; addEventListener('cell-ran', (e) => ran.push(e.detail), true); }"
    )
    page.evaluate(DECISIONS)
    page.evaluate(
        "() => { const all = document.querySelector('.bd-article').cloneNode(true); "
        "all.querySelector('.run-size')?.remove(); window.before = all.textContent; }"
    )
    with a_run(page):
        page.locator(".run-cell").first.click()


def change_cell(page: Page, old: str, new: str) -> None:
    """Replace `old` by `new` in the first cell that contains it."""
    editors = page.locator(EDITOR)
    codes = [written(editors.nth(i)) for i in range(editors.count())]
    place = next(i for i, code in enumerate(codes) if old in code)
    write(editors.nth(place), codes[place].replace(old, new))


def built_with(chapter: str, old: str, new: str) -> tuple[dict[str, str], str]:
    """Return a chapter's computed values and error with `old` replaced by `new`.

    The error is that of the failed cell, or "".
    """
    pieces = read_pieces(ROOT / f"{chapter}.md")
    place = next(
        number
        for number, one in enumerate(pieces)
        if one.kind == "code" and old in one.text and not HIDDEN & set(one.metadata.get("tags", ()))
    )
    asked = steps(pieces)
    asked[place][1] = asked[place][1].replace(old, new)
    found = computed(ROOT, {"page": asked})["page"]
    return found["values"], found["error"]


def put_back(page: Page) -> None:
    """Press "Put the page back", and forget the decisions about its blocks."""
    page.get_by_role("button", name="Put the page back").click()
    page.evaluate("() => { window.decided = {}; }")


def numbers_in_steps(data: dict[str, Any]) -> set[int]:
    """Return the numbers of the blocks that a run decides about."""
    return {number for step in data["steps"] for number in step.get("blocks", ())}


def told_values(page: Page, site: Path, chapter: str) -> dict[str, str]:
    """Return expression → current value; assert that a block or a note shows it.

    The right answers of guesses are left out: they are in no step, and stay as printed.
    """
    data = json.loads((site / f"{chapter}.steps.json").read_text(encoding="utf-8"))
    in_steps = numbers_in_steps(data)
    decided = {int(number): state for number, state in page.evaluate("window.decided").items()}
    shown, notes = iter(values(page)), page.locator("[role=note].as-printed").all_text_contents()
    found = {}
    for number, block in enumerate(data["blocks"]):
        state = decided.get(number, {"follows": True, "now": {}})
        for expression in filter(None, block["shown"]):
            printed = block["values"][expression]
            now = state["now"].get(expression, printed)
            assert next(shown) == (now if state["follows"] else printed)
            words = f"{printed} → {now or 'can’t be computed'}"
            assert state["follows"] or now == printed or any(words in note for note in notes)
            if number in in_steps:
                found[expression] = now
    return found


def must_stay(site: Path, chapter: str, known: dict[str, str]) -> set[int]:
    """Return the numbers of blocks whose values changed, but without a {while} role.

    They must keep their built values.
    """
    data = json.loads((site / f"{chapter}.steps.json").read_text(encoding="utf-8"))
    return {
        number
        for number in numbers_in_steps(data)
        if "premise" not in data["blocks"][number]
        and any(known[e] != text for e, text in data["blocks"][number]["values"].items())
    }


def answers(site: Path, chapter: str) -> set[str]:
    """Return the expressions in the right answers of a chapter's guesses."""
    data = json.loads((site / f"{chapter}.steps.json").read_text(encoding="utf-8"))
    in_steps = numbers_in_steps(data)
    blocks = [block for number, block in enumerate(data["blocks"]) if number not in in_steps]
    return {expression for block in blocks for expression in block["values"]}


# ---- an exercise


def answer_here(page: Page, address: str) -> None:
    ready(page, address)
    page.get_by_role("button", name="Answer here").click()
    page.locator(".answers h3").first.wait_for()


def section(page: Page, part: str) -> Locator:
    return page.locator(f"section:has(> #answer-{part})")


def field(page: Page, part: str) -> Locator:
    return section(page, part).locator(EDITOR)


def checked(page: Page, part: str) -> str:
    """Check a part, and return what the check and the answer print, without warnings."""
    field(page, part).focus()
    press(page)
    shown = section(page, part).locator(".cell_output > :not(.given-stderr) pre")
    return "\n".join(shown.all_text_contents())


def downloaded(page: Page, folder: Path) -> Path:
    with page.expect_download() as found:
        page.get_by_role("button", name="Download").click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


# Script that runs a notebook's code cells in order, as a kernel does, and reports their prints.
SAID = """
import contextlib, io, json, sys
names, said = {}, {}
for key, source in json.load(sys.stdin):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            # Named as in a kernel, so that a check reports the line of an error in its cell.
            exec(compile(source, f"<ipython-input-{len(said)}-0>", "exec"), names)
    except Exception as error:
        print("\\n".join(error._render_traceback_()), file=out)
    said[key] = out.getvalue()
sys.stdout.write(json.dumps(said))
"""


def said_elsewhere(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Run a notebook from top to bottom, and return grade id → what the cell prints."""
    return said(
        (one.metadata.get("nbgrader", {}).get("grade_id", ""), one.source)
        for one in notebook.cells
        if one.cell_type == "code"
    )


def said(cells: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Run (name, source) cells in one process; return name → printed text.

    The cells run in order.
    """
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'kit'}"}
    done = subprocess.run(
        [sys.executable, "-c", SAID],
        input=json.dumps(list(cells)),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return dict(json.loads(done.stdout))
