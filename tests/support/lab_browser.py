"""JupyterLab in a browser: start it, open and run notebooks, read them."""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import server_process
from commands import lab
from commands.jupyterlab.page_copy import chapter_notebook
from nbformat import NotebookNode
from playwright.sync_api import Browser, Page
from site_browser import DESK

SECONDS = 120
POLL_MS = 100  # by default Playwright polls once per frame
# Turn off JupyterLab's check for updates, as the settings of `make lab` do.
QUIET = "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"
PANEL = "window.jupyterapp?.shell.currentWidget"
# For each Markdown cell: id, the expressions in its roles, rendered text, and code in that text.
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
# Scroll to cells that aren't rendered yet; true once all are.
DRAWN = f"""() => {{
  const cells = {PANEL}.content.widgets.filter((cell) => cell.model.type === "markdown");
  const late = cells.find((cell) => !cell.node.querySelector(".myst")?.textContent);
  late?.node.isConnected ? late.node.scrollIntoView() : late && {PANEL}.content.scrollToCell(late);
  return !late;
}}"""
# Close all open documents without asking to save, then open this one.
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

# A page on which `n` changes between the cells; at the end only the last cell is in view.
CHANGING = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3}
---

# Changing

```{code-cell} ipython3
n = 16384
```

{while}`n < 4096 or n > 8192`
The first is {eval}`n`, in words {eval}`f"{n // 1024}\\N{NO-BREAK SPACE}K"`.

{while}`n > 2000`
It does not fit.

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


@contextmanager
def jupyterlab(folder: Path, given: Mapping[str, str], *options: str) -> Iterator[tuple[str, str]]:
    """Start JupyterLab as `make lab` does; yield its address and token.

    given: its environment variables.
    """
    token = secrets.token_hex()
    # Expose `window.jupyterapp`, through which tests query notebooks.
    asked = (*server_process.OPTIONS, "--LabApp.expose_app_in_browser=True", *options)
    command = lab.command(folder, *asked)
    with server_process.serving(command, {**given, "JUPYTER_TOKEN": token}) as address:
        yield address, token


@contextmanager
def lab_page(browser: Browser, folder: Path, home: Path) -> Iterator[Page]:
    """Yield a page logged in to JupyterLab on a folder, without the user's settings."""
    variables = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    given = os.environ | {name: str(home / name) for name in variables}
    with jupyterlab(folder, given, QUIET) as (address, token):
        context = browser.new_context(viewport=DESK, base_url=address)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.goto(f"/lab?token={token}")
        yield page
        context.close()


def opened(page: Page, notebook: str) -> None:
    """Close all open documents, open this notebook, and wait for its kernel.

    Going to its address instead would restart JupyterLab, which takes three or four seconds of CPU.
    """
    page.wait_for_function("() => !!window.jupyterapp", polling=POLL_MS)
    page.evaluate(OPEN, notebook)
    page.wait_for_function(IDLE, polling=POLL_MS)


def run_all(page: Page) -> None:
    """Choose Run All Cells, and wait for the last cell to finish."""
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(RUN, polling=POLL_MS)
    page.wait_for_function(IDLE, polling=POLL_MS)


def prose(page: Page) -> list[dict[str, Any]]:
    """Return what each Markdown cell of the open notebook shows.

    The function waits until all are rendered.
    """
    page.wait_for_function(DRAWN, polling=POLL_MS)
    found: list[dict[str, Any]] = page.evaluate(PROSE)
    return found


def raw_values(cells: list[dict[str, Any]]) -> list[str]:
    """Return expressions shown as code, and texts with escapes or errors.

    The expressions should be shown as values.
    """
    code = [e for cell in cells for e in cell["expressions"] if e in cell["code"]]
    return code + [
        cell["text"] for cell in cells if re.search(r"\\x|\\u|Error:|\{eval\}", cell["text"])
    ]


def small_page(folder: Path) -> NotebookNode:
    """Return the notebook of CHANGING, with its values."""
    path = folder / "changing.md"
    path.write_text(CHANGING, encoding="utf-8")
    return chapter_notebook(path)


def shown(page: Page) -> str:
    """Return the prose of the open notebook as one text, with unchanged spaces."""
    return " ".join(cell["text"] for cell in prose(page))


def wait_for_text(page: Page, cell: int, text: str) -> None:
    """Wait until a cell of the open notebook shows a text."""
    shows = f"(text) => {PANEL}.content.widgets[{cell}].node.textContent.includes(text)"
    page.wait_for_function(shows, arg=text, polling=POLL_MS)
