"""JupyterLab on a folder, as a browser sees it: its server, its notebooks, and what they show."""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import server_process
from commands import lab
from playwright.sync_api import Browser, Page
from site_browser import DESK

SECONDS = 120
# What `make lab` has in its settings.
QUIET = "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"
PANEL = "window.jupyterapp?.shell.currentWidget"
# Each Markdown cell: its id, the expressions in its roles, its text as drawn, the code in that.
PROSE = f"""() => {PANEL}.content.widgets
  .filter((cell) => cell.model.type === "markdown")
  .map((cell) => {{
    const drawn = cell.node.querySelector(".myst");
    const source = cell.model.sharedModel.getSource();
    return {{
      id: cell.model.id,
      expressions: [...source.matchAll(/{{eval}}`([^`]+)`/g)].map((role) => role[1]),
      text: drawn?.textContent ?? null,
      code: [...(drawn?.querySelectorAll("code") ?? [])].map((code) => code.textContent),
      values: cell.model.getMetadata("user_expressions") ?? [],
    }};
  }})"""
# Every cell has been in view and is drawn.
DRAWN = f"""() => {{
  const cells = {PANEL}.content.widgets.filter((cell) => cell.model.type === "markdown");
  const late = cells.find((cell) => !cell.node.querySelector(".myst")?.textContent);
  late?.node.isConnected ? late.node.scrollIntoView() : late && {PANEL}.content.scrollToCell(late);
  return !late;
}}"""
# What was open goes without a question about what was not saved.
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


@contextmanager
def jupyterlab(folder: Path, given: Mapping[str, str], *options: str) -> Iterator[tuple[str, str]]:
    """JupyterLab as `make lab` starts it, with these variables of its own: address and token."""
    token = secrets.token_hex()
    # So that a test can ask what JupyterLab itself knows of a notebook.
    asked = (*server_process.OPTIONS, "--LabApp.expose_app_in_browser=True", *options)
    command = lab.command(folder, *asked)
    with server_process.serving(command, {**given, "JUPYTER_TOKEN": token}) as address:
        yield address, token


@contextmanager
def lab_page(browser: Browser, folder: Path, home: Path) -> Iterator[Page]:
    """A page that is logged in to a JupyterLab on a folder, with no settings of the user's."""
    rooms = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    given = os.environ | {name: str(home / name) for name in rooms}
    with jupyterlab(folder, given, QUIET) as (address, token):
        context = browser.new_context(viewport=DESK, base_url=address)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.goto(f"/lab?token={token}")
        yield page
        context.close()


def opened(page: Page, notebook: str) -> None:
    """Open a notebook by itself, without what was open before, with its kernel ready.

    Not by its address: JupyterLab takes three or four seconds of computing to start in a browser.
    """
    page.wait_for_function("() => !!window.jupyterapp")
    page.evaluate(OPEN, notebook)
    page.wait_for_function(IDLE)


def run_all(page: Page) -> None:
    """Run All Cells, and wait for the last of them."""
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(RUN)
    page.wait_for_function(IDLE)


def prose(page: Page) -> list[dict[str, Any]]:
    """What the open notebook's Markdown cells show, each of them drawn."""
    page.wait_for_function(DRAWN)
    found: list[dict[str, Any]] = page.evaluate(PROSE)
    return found


def raw_values(cells: list[dict[str, Any]]) -> list[str]:
    """The expressions that a reader sees as code, and escapes and errors that stand in the text."""
    code = [e for cell in cells for e in cell["expressions"] if e in cell["code"]]
    return code + [
        cell["text"] for cell in cells if re.search(r"\\x|\\u|Error:|\{eval\}", cell["text"])
    ]
