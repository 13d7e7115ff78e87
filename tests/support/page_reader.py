"""What a reader does in a page with Python: writes, runs, checks, downloads."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from commands.jupyterlab.page_copy import steps
from commands.jupyterlab.page_values import computed
from commands.jupyterlab.sources import read_pieces
from playwright.sync_api import Locator, Page
from repository import ROOT
from site_browser import ready

SLOW = 300_000  # ms: the machine may be busy with other tests
EDITOR = ".code-editor .cm-content"
RUNS = "() => Number(document.querySelector('.python-panel')?.dataset.runs ?? 0)"
HIDDEN = {"remove-cell", "remove-input"}  # cells whose code a page does not show
# An editor draws the lines that are seen; the <pre> in whose place it is keeps all of them.
WRITTEN = "(e) => e.closest('.cell_input').querySelector('pre').textContent.slice(0, -1)"


@contextmanager
def a_run(page: Page) -> Iterator[None]:
    """What is done in here begins a run: wait until it has ended."""
    before = page.evaluate(RUNS)
    yield
    page.wait_for_function(f"(before) => ({RUNS})() > before", arg=before, timeout=SLOW)


def bar(page: Page) -> str:
    return page.locator(".python-words").inner_text()


def press(page: Page, key: str = "Control+Enter") -> str:
    """Run what is in the editor that has the focus; what the bar says in the end."""
    with a_run(page):
        page.keyboard.press(key)
    return bar(page)


def written(editor: Locator) -> str:
    return str(editor.evaluate(WRITTEN))


def write(editor: Locator, text: str) -> None:
    """Put this text in the place of all that is in an editor, which then has the focus."""
    editor.focus()
    editor.press("Control+a")
    editor.page.keyboard.insert_text(text)
    assert written(editor) == text


# ---- a chapter


def values(page: Page) -> list[str]:
    return list(page.locator(".bd-article .computed").all_text_contents())


def first_run(page: Page, address: str) -> None:
    """Go to a chapter and run its first cell; `ran` holds what each cell gave."""
    ready(page, address)
    page.evaluate(
        "() => { window.ran = []; addEventListener('cell-ran', (e) => ran.push(e.detail), true); }"
    )
    page.evaluate("() => { window.before = document.querySelector('.bd-article').textContent; }")
    with a_run(page):
        page.locator(".run-cell").first.click()


def change_cell(page: Page, old: str, new: str) -> None:
    """Write `new` for `old` in the first cell that has it."""
    editors = page.locator(EDITOR)
    codes = [written(editors.nth(i)) for i in range(editors.count())]
    place = next(i for i, code in enumerate(codes) if old in code)
    write(editors.nth(place), codes[place].replace(old, new))


def built_with(chapter: str, old: str, new: str) -> tuple[dict[str, str], str]:
    """The values of the same page built with that change, and the error if a cell has failed."""
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


def shown_values(page: Page, site: Path, chapter: str) -> dict[str, str]:
    """What the page of a built site shows for each expression."""
    data = json.loads((site / f"{chapter}.steps.json").read_text(encoding="utf-8"))
    names = [data["expressions"][number] for number in data["spans"]]
    return dict(zip(names, values(page), strict=True))


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
    """What the check of a part says, and what the answer itself prints; no warnings."""
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


# A notebook's code from the top, as a kernel runs it: what each check says.
SAID = """
import contextlib, io, json, sys
names, said = {}, {}
for key, source in json.load(sys.stdin):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            # As a kernel names it: a check says in which line of a cell an error was.
            exec(compile(source, f"<ipython-input-{len(said)}-0>", "exec"), names)
    except Exception as error:
        print("\\n".join(error._render_traceback_()), file=out)
    said[key] = out.getvalue()
sys.stdout.write(json.dumps(said))
"""


def said_elsewhere(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """What each cell of a notebook says, by its grade id, run from top to bottom."""
    return said(
        (one.metadata.get("nbgrader", {}).get("grade_id", ""), one.source)
        for one in notebook.cells
        if one.cell_type == "code"
    )


def said(cells: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What each of these cells says, by its name, run in one kernel in this order."""
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
