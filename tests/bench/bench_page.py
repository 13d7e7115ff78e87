"""`make bench-page`: Python in the page, from the press of a button to what a reader sees.

Everything is on this machine, so fetching costs next to nothing: a reader's line adds the bytes
over its bandwidth. JupyterLite is no part of the lock and is not measured here.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
from pathlib import Path

from page_reader import EDITOR, KEPT, SLOW, a_run
from playwright.sync_api import Browser, BrowserContext, Page
from pyodide_server import serving_pyodide
from site_browser import DESK, MISSING, chromium, ready, started
from site_server import Server

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
TIMES = 3
COLD_PAGE, WARM_PAGE = "chapters/time", "chapters/matmul"
AIMS = {"cold": 5.0, "warm": 2.5, "cell": 0.2}
# Notes when the outputs of the page's first cell have come, and when each run has ended.
WATCH = """() => {
  window.times = { outputs: [] };
  document.addEventListener("cell-ran", ({ detail }) => {
    if (detail.cell !== null) times.outputs.push([detail.cell, performance.now()]);
  });
}"""
PRESS = "() => { times.outputs = []; times.pressed = performance.now(); }"


def watched(context: BrowserContext, server: Server, page: str) -> Page:
    made = context.new_page()
    made.set_default_timeout(SLOW)
    ready(made, f"{server.origin}/{page}.html")
    made.evaluate(WATCH)
    return made


def first_press(page: Page) -> tuple[float, float]:
    """Seconds from the press to the first output, and until the whole page was computed."""
    with a_run(page):
        page.evaluate(PRESS)
        page.locator(".run-cell").first.click()
    return taken(page)


def again(page: Page) -> tuple[float, float]:
    """Seconds from Shift+Enter in a changed cell to its output, and to the values below it."""
    editor = page.locator(EDITOR).first
    editor.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" ")
    with a_run(page):
        page.evaluate(PRESS)
        page.keyboard.press("Shift+Enter")
    return taken(page)


def taken(page: Page) -> tuple[float, float]:
    first, last = page.evaluate(
        "() => [times.outputs[0][1] - times.pressed, performance.now() - times.pressed]"
    )
    return first / 1e3, last / 1e3


def measure(browser: Browser, server: Server) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}

    def note(**seconds: float) -> None:
        for name, value in seconds.items():
            found.setdefault(name, []).append(value)

    for _ in range(TIMES):
        context = browser.new_context(viewport=DESK)
        page = watched(context, server, COLD_PAGE)
        server.sent.clear()
        output, whole = first_press(page)
        note(cold=output, cold_whole=whole, cold_bytes=server.transferred())
        output, whole = again(page)
        note(cell=output, values=whole)
        page.locator(KEPT).wait_for(state="attached")
        page.close()
        page = watched(context, server, WARM_PAGE)
        server.sent.clear()
        output, whole = first_press(page)
        note(warm=output, warm_whole=whole, warm_bytes=server.transferred())
        context.close()
    return found


def before_a_press() -> int:
    """Bytes, compressed, that a chapter loads for Python and for guesses when nobody presses."""
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
        ("on the next page, from the browser's cache", "warm", "warm_bytes"),
        ("the same to the last value of the page", "warm_whole", ""),
        ("from Shift+Enter to the output", "cell", ""),
        ("the same to the last value below", "values", ""),
    ]
    print(f"Python in the page, {os.cpu_count()} cores, loopback, median of {TIMES}")
    for words, name, size in lines:
        aim = f"  aim {AIMS[name]:.1f} s: {seconds[name] / AIMS[name]:.2f}×" if name in AIMS else ""
        kept = f"  {seconds[size] / 1e6:.1f} MB sent" if size else ""
        print(f"{words:44} {seconds[name]:6.2f} s{aim}{kept}")
    print(f"before any press: {before_a_press() / 1e3:.1f} kB, compressed (at most 25)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
