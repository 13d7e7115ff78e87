"""A page with only the figure that measures the browser's roof.

The page is served as on the site.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import live_pages
from browser import figures as live_figures
from playwright.sync_api import BrowserContext, Locator, Page
from repository import ROOT
from site_browser import UNCOVER
from site_server import Server, serving

from roofkit.figures import Figure
from roofkit.figures.browser_roof_figure import browser_roof

COURSE_SCRIPT = ROOT / "site/browser/reading/course.js"  # defines `phrase`
NAME, SCRIPT = "browser-roof", "browser-roof.js"
# Settings for a measurement of less than a second that is accepted however busy the machine is:
# tests check that it computes and draws, not the speed that it finds.
SHORT = {"sample": 3, "watch": 1, "samples": 3, "roofSamples": 3, "attempts": 20, "minTicks": 2}
LENIENT = {
    "minOwnShare": 0,
    "maxSpread": 1,
    "maxDisturbed": 1,
    "maxAboveRoof": 1e9,
    "maxDrift": 1e99,
    "maxTick": 1e9,
}
MEASURED = "figure[data-measured]"


@contextmanager
def served(folder: Path, figure: Figure | None = None) -> Iterator[Server]:
    """Write the page as `index.html` into the folder, and serve it."""
    html = live_pages.html(figure or browser_roof())
    html = html.replace("<script>", f"<script data-measure='{SCRIPT}'>")
    words = f"<script>{COURSE_SCRIPT.read_text(encoding='utf-8')}</script>"
    html = html.replace("<title>", f"<meta charset='utf-8'>{words}<title>")
    (folder / "index.html").write_text(html, encoding="utf-8")
    (folder / SCRIPT).write_text(live_figures.measuring(), encoding="utf-8")
    with serving(folder) as server:
        yield server


def opened(
    context: BrowserContext, address: str, settings: Mapping[str, Any] | None = None
) -> Page:
    """Open the page, ready to measure.

    settings: override some of protocol.js.
    """
    page = context.new_page()
    if settings:
        page.add_init_script(f"window.rooflineRoofSettings = {json.dumps(settings)}")
    page.goto(address)
    page.evaluate(UNCOVER)
    live_pages.settled(page, NAME)
    return page


def measured(page: Page, seconds: float = 120) -> Locator:
    """Start the measurement, and wait until it has finished or been refused."""
    page.get_by_role("button", name="Measure this browser", exact=True).click()
    page.locator(f"{MEASURED}:not([data-measured='running'])").wait_for(timeout=1000 * seconds)
    return live_pages.settled(page, NAME)
