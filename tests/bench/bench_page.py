"""`make bench-page`: times of Python in the page, from click on Run to output.

The server is on this machine, so fetching takes almost no time; for a real reader, add the bytes
divided by the network's bandwidth.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
from pathlib import Path

from page_reader import EDITOR, SLOW, a_run
from playwright.sync_api import Browser, BrowserContext, Page
from pyodide_server import serving_pyodide
from site_browser import DESK, MISSING, chromium, ready, started
from site_server import Server

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
ROUNDS = 3
COLD_PAGE, WARM_PAGE = "chapters/time", "chapters/matmul"
READING_MS = 3_000  # time that a reader spends on a page before clicking Run
GOALS = {"cold": 5.0, "reading": 0.5, "cell": 0.2}
# Records when each shown cell has its outputs.
RECORD = """() => {
  window.times = { outputs: [] };
  document.addEventListener("cell-ran", ({ detail }) => {
    if (detail.cell !== null) times.outputs.push([detail.cell, performance.now()]);
  });
}"""
PRESS = "() => { times.outputs = []; times.pressed = performance.now(); }"


def opened(context: BrowserContext, server: Server, page: str) -> Page:
    made = context.new_page()
    made.set_default_timeout(SLOW)
    go_to(made, server, page)
    return made


def go_to(tab: Page, server: Server, page: str) -> None:
    """Open a page of the site in a tab."""
    ready(tab, f"{server.origin}/{page}.html")
    tab.evaluate(RECORD)


def first_press(page: Page) -> tuple[float, float]:
    """Return seconds from clicking Run to the first output and to the complete page."""
    with a_run(page):
        page.evaluate(PRESS)
        page.locator(".run-cell").first.click()
    return seconds_of(page)


def again(page: Page) -> tuple[float, float]:
    """Return seconds from Shift+Enter to the cell's output and the values below.

    The cell has been changed.
    """
    editor = page.locator(EDITOR).first
    editor.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" ")
    with a_run(page):
        page.evaluate(PRESS)
        page.keyboard.press("Shift+Enter")
    return seconds_of(page)


def seconds_of(page: Page) -> tuple[float, float]:
    """Return seconds from the last click or key to its first output, and until now."""
    first, last = page.evaluate(
        "() => [times.outputs[0][1] - times.pressed, performance.now() - times.pressed]"
    )
    return first / 1e3, last / 1e3


def measure(browser: Browser, server: Server) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}

    def note(**seconds: float) -> None:
        for name, value in seconds.items():
            found.setdefault(name, []).append(value)

    for _ in range(ROUNDS):
        context = browser.new_context(viewport=DESK)
        page = opened(context, server, COLD_PAGE)
        server.sent.clear()
        output, whole = first_press(page)
        note(cold=output, cold_whole=whole, cold_bytes=server.transferred())
        output, whole = again(page)
        note(cell=output, values=whole)
        # In the same tab, open another page, and click Run at once or after reading for a while.
        for name, wait in {"warm": 0, "reading": READING_MS}.items():
            go_to(page, server, WARM_PAGE)
            server.sent.clear()
            page.wait_for_timeout(wait)
            output, whole = first_press(page)
            sent = server.transferred()
            note(**{name: output, f"{name}_whole": whole, f"{name}_bytes": sent})
        context.close()
    return found


def before_a_press() -> int:
    """Return the compressed size of what a chapter loads for Python and guesses."""
    names = ("run-buttons.js", "page-python.css", "guesses.js", "guesses.css")
    return sum(len(gzip.compress((SITE / "_static" / name).read_bytes())) for name in names)


def main() -> int:
    found = chromium()
    if found is None:
        print(MISSING, file=sys.stderr)
        return 1
    with serving_pyodide(SITE) as server, started(found) as browser:
        seconds = {name: statistics.median(all_) for name, all_ in measure(browser, server).items()}
    lines = [
        ("from the first press to its output, cold", "cold", "cold_bytes"),
        ("the same to the last value of the page", "cold_whole", ""),
        ("on the next page, pressed as it opens", "warm", "warm_bytes"),
        ("the same to the last value of the page", "warm_whole", ""),
        ("on the next page, pressed after 3 s", "reading", "reading_bytes"),
        ("the same to the last value of the page", "reading_whole", ""),
        ("from Shift+Enter to the output", "cell", ""),
        ("the same to the last value below", "values", ""),
    ]
    print(f"Python in the page, {os.cpu_count()} cores, loopback, median of {ROUNDS}")
    for words, name, size in lines:
        goal = (
            f"  goal {GOALS[name]:.1f} s: {seconds[name] / GOALS[name]:.2f}×"
            if name in GOALS
            else ""
        )
        sent = f"  {seconds[size] / 1e6:.1f} MB sent" if size else ""
        print(f"{words:44} {seconds[name]:6.2f} s{goal}{sent}")
    print(f"before any press: {before_a_press() / 1e3:.1f} kB, compressed (at most 25)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
