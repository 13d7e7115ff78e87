"""Tests of accessibility while Python runs: phone and desktop, light and dark."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_reader import (
    SLOW,
    answer_here,
    bar,
    change_cell,
    checked,
    field,
    first_run,
    press,
    write,
)
from playwright.sync_api import Browser, BrowserContext, Page
from pyodide_server import serving_pyodide
from site_browser import (
    DESK,
    PHONE,
    SETTLED,
    SIDEWAYS,
    STICKING_OUT,
    Traffic,
    axe,
    put_theme,
    put_width,
)
from site_server import Server

pytestmark = pytest.mark.long

LOOKS = [(size, theme) for size in ("desk", "phone") for theme in ("light", "dark")]
# Folder for screenshots; without it, none are saved.
PICTURES = os.environ.get("PICTURES")


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_pyodide(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def traffic(below: str) -> Traffic:
    """Record the requests and errors of all pages at one address of the site."""
    return Traffic()


@pytest.fixture(scope="module")
def context(browser: Browser, traffic: Traffic) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=DESK, color_scheme="light")
    context.set_default_timeout(SLOW)
    traffic.listen(context)
    yield context
    context.close()


def problems(page: Page, name: str) -> list[str]:
    """Return the page's accessibility and layout problems at both widths in both themes."""
    found = []
    for size, theme in LOOKS:
        put_width(page, DESK if size == "desk" else PHONE)
        put_theme(page, theme)
        page.evaluate(SETTLED)
        wrong = [*axe(page), *page.evaluate(STICKING_OUT)]
        if page.evaluate(SIDEWAYS) > 0:
            wrong.append("scrolls sideways")
        found += [f"{size}, {theme}: {one}" for one in wrong]
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/{name}-{size}-{theme}.png", full_page=False)
    return found


def test_a_chapter_is_accessible_when_run_changed_and_failed(
    context: BrowserContext, server: Server
) -> None:
    page = context.new_page()
    first_run(page, f"{server.origin}/chapters/time.html")
    assert problems(page, "ran") == []
    change_cell(page, 'rl.chip("H100 SXM")', 'rl.chip("A100 80GB SXM")')
    assert press(page).startswith("Done. ")
    page.locator(".computed.changed").first.scroll_into_view_if_needed()
    assert problems(page, "changed") == []
    change_cell(page, "lower = max(", "lower = 1 / 0 * max(")
    assert press(page).startswith("This cell ended with an error")
    page.locator(".given-error").scroll_into_view_if_needed()
    assert problems(page, "failed") == []
    change_cell(page, "lower = 1 / 0 * max(", "while True: pass\nlower = max(")
    page.keyboard.press("Control+Enter")
    page.locator(".cell.running").first.wait_for()
    assert problems(page, "running") == []
    page.get_by_role("button", name="Stop", exact=True).click()
    page.close()


def test_an_exercise_is_accessible_with_right_and_wrong_answers(
    context: BrowserContext, server: Server
) -> None:
    page = context.new_page()
    answer_here(page, f"{server.origin}/exercises/int8-matmul/int8-matmul.html")
    write(field(page, "operations"), "def operations(B, D, F):\n    return 2 * B * D * F")
    assert checked(page, "operations").startswith("operations: right for")
    write(field(page, "bytes-moved"), "def bytes_moved(B, D, F):\n    return B * D + D * F")
    assert not checked(page, "bytes-moved").startswith("bytes_moved: right for")
    assert "found something" in bar(page)
    assert problems(page, "exercise") == []
    page.close()


@pytest.mark.usefixtures("context")
def test_no_requests_to_other_hosts_and_no_errors(traffic: Traffic, server: Server) -> None:
    assert [url for url in traffic.asked if "/_static/python/" in url]
    assert traffic.outside(server.origin) == []
    assert traffic.wrong == []
