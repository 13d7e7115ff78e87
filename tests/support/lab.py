"""A learner's JupyterLab, as `make lab` opens it in a copy of the course."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from repository import ROOT
from server_process import ADDRESS, JUPYTER, serving, wait_for
from site_browser import DESK

SECONDS = 180
SECONDS_TO_START = 900  # makes the notebooks first, on a busy machine
POLL_MS = 100  # polling at each frame, the default, draws frames
# JupyterLab exposes its own programming interface, through which notebooks are read and run.
OPTIONS = " ".join((*JUPYTER, "--LabApp.expose_app_in_browser=True"))
COMMANDS = "window.jupyterapp.commands"
PANEL = "window.jupyterapp.shell.currentWidget"
OPEN = """async (path) => {
  const app = window.jupyterapp;
  await app.restored;
  [...app.shell.widgets("main")].forEach((widget) => widget.dispose());
  const panel = await app.commands.execute("docmanager:open", {path});
  app.shell.activateById(panel.id);
}"""
IDLE = f"""() => {{
  const kernel = {PANEL}?.sessionContext?.session?.kernel;
  return kernel?.status === "idle" && {PANEL}.context.isReady;
}}"""
RUN = f"""() => {{
  const cells = {PANEL}.content.widgets.filter((cell) => cell.model.type === "code");
  return cells.every((cell) => cell.model.executionState === "idle" && cell.model.executionCount);
}}"""
TRUSTED = f"""() => {PANEL}.content.widgets.every(
  ({{ model }}) => model.type !== "code" || model.trusted)"""
CELLS = f"() => {PANEL}.content.model.toJSON().cells"
WRITE = f"""([number, source]) =>
  {PANEL}.content.widgets[number].model.sharedModel.setSource(source)"""
# What each Markdown cell shows, once all are drawn at the same moment: cells out of sight are drawn
# when they are scrolled to, and drawn anew when the text changes.
PROSE = f"""() => {{
  const cells = {PANEL}.content.widgets.filter((cell) => cell.model.type === "markdown");
  const shown = cells.map((cell) => cell.node.querySelector(".jp-MarkdownOutput")?.textContent);
  const late = cells.find((cell, number) => !shown[number]);
  late?.node.isConnected ? late.node.scrollIntoView() : late && {PANEL}.content.scrollToCell(late);
  return cells.length && !late && shown;
}}"""


def fresh_course(folder: Path) -> Path:
    """Copy the course as a clone has it, with what is installed, released and run here."""
    leave = shutil.ignore_patterns(
        *(".git", ".venv", "_build", "my-work", "tests", "__pycache__", "*.egg-info", ".*_cache")
    )
    shutil.copytree(ROOT, folder, ignore=leave)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    for name in ("course", ".jupyter_cache"):
        if (made := ROOT / "_build" / name).is_dir():
            shutil.copytree(made, folder / "_build" / name)
    return folder


class Lab:
    """A page of JupyterLab in a browser.

    told: what `make lab` printed.
    """

    def __init__(self, page: Page, told: str) -> None:
        self.page, self.told = page, told

    def open(self, path: str) -> None:
        """Close all documents, open a notebook, and wait for its kernel."""
        self.page.wait_for_function("() => !!window.jupyterapp", polling=POLL_MS)
        self.page.evaluate(OPEN, path)
        self.idle()

    def idle(self) -> None:
        self.page.wait_for_function(IDLE, polling=POLL_MS)

    def cells(self) -> list[dict[str, Any]]:
        """Return the cells of the open notebook, as its file will have them."""
        found: list[dict[str, Any]] = self.page.evaluate(CELLS)
        return found

    def write(self, grade_id: str, source: str) -> None:
        """Replace the code of an answer's cell."""
        ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in self.cells()]
        self.page.evaluate(WRITE, [ids.index(grade_id), source])

    def write_into(self, old: str, new: str) -> None:
        """Replace text in the first cell that contains it."""
        for number, cell in enumerate(self.cells()):
            if old in "".join(cell["source"]):
                source = "".join(cell["source"]).replace(old, new)
                self.page.evaluate(WRITE, [number, source])
                return
        raise LookupError(f"no cell contains {old!r}")

    def run_all(self) -> None:
        # Cells that ran when the notebook was built count as run, too.
        self.page.evaluate(f"{COMMANDS}.execute('notebook:clear-all-cell-outputs')")
        self.page.evaluate(f"void {COMMANDS}.execute('notebook:run-all-cells')")
        self.page.wait_for_function(RUN, polling=POLL_MS)
        self.idle()

    def save(self) -> None:
        self.page.evaluate(f"{COMMANDS}.execute('docmanager:save')")

    def prose(self) -> list[str]:
        """Return what each Markdown cell shows."""
        shown = self.page.wait_for_function(PROSE, polling=POLL_MS)
        found: list[str] = shown.json_value()
        return found

    def validate(self) -> str:
        """Press Validate; return what the dialog says, and close it."""
        self.page.get_by_role("button", name=re.compile("^(Validate|验证)")).click()
        message = self.page.locator("#validation-message")
        message.wait_for()
        said = message.inner_text()
        self.page.keyboard.press("Escape")
        self.page.locator(".jp-Dialog").wait_for(state="detached")
        return said

    def trusts(self) -> bool:
        """Return whether JupyterLab shows pictures and tables of cells before they are run."""
        return bool(self.page.evaluate(TRUSTED))

    def outputs(self) -> list[dict[str, Any]]:
        return [output for cell in self.cells() for output in cell.get("outputs", ())]


def text_of(output: dict[str, Any]) -> str:
    """Return the text of an output: printed, shown, or of an error."""
    if output["output_type"] == "stream":
        return "".join(output["text"])
    if output["output_type"] == "error":
        return str(output["evalue"])
    shown = output["data"].get("text/html") or output["data"].get("text/plain", "")
    return "".join(shown)


def own(home: Path) -> dict[str, str]:
    """Return the environment of a learner with this home folder."""
    given = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    return given | {"HOME": str(home), "LANG": "C.UTF-8"}


@contextmanager
def make_lab(course: Path, browser: Browser, home: Path, *words: str) -> Iterator[Lab]:
    """Run `make lab` in a copy of the course; yield its page in a browser.

    words: further words of the command. home: the learner's home folder.
    """
    given = own(home) | {"JUPYTER_TOKEN": secrets.token_hex()}
    command = ["make", "lab", *words, f"LAB_ARGS={OPTIONS}"]
    with serving(command, ADDRESS, given, course, SECONDS_TO_START) as (address, lines):
        wait_for(address)
        context = browser.new_context(viewport=DESK, base_url=address)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.goto(f"/?token={given['JUPYTER_TOKEN']}")
        page.locator(".jp-Notebook h1:visible").first.wait_for()  # others are in other tabs
        yield Lab(page, "".join(lines))
        context.close()
