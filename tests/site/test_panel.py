"""The bar of the page's Python: what it says while Python is fetched."""

from collections.abc import Iterator

import pytest
from page_reader import SLOW, answer_here, bar
from playwright.sync_api import Browser, Page
from site_browser import DESK, ready
from site_server import Server

# Adds `window.fetched`, with which a test reports download progress in place of the page's worker,
# whose script is empty.
KEEP_WORKER = """
window.Worker = class extends Worker {
  terminate() {
    super.terminate();
    window.fetched = null;
  }
  constructor(...all) {
    super(...all);
    window.fetched = (received, total) =>
      this.dispatchEvent(new MessageEvent("message", { data: { received, total } }));
  }
};"""
# Returns the bar's text after each hundredth of the bytes.
HEARD = """(total) => Array.from({ length: 100 }, (_, i) => {
  fetched((total * (i + 1)) / 100, total);
  return document.querySelector(".python-words").textContent;
})"""
MB = 1_000_000


def run(page: Page) -> None:
    """Click a cell's Run, and wait until Python is being fetched."""
    page.locator(".run-cell").first.click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.wait_for_function("Boolean(window.fetched)")


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """Open a chapter in which Run was clicked, and no file of Python has arrived yet."""
    with browser.new_context(viewport=DESK) as context:
        context.set_default_timeout(SLOW)
        context.add_init_script(KEEP_WORKER)
        context.route("**/worker.js", lambda route: route.fulfill(content_type="text/javascript"))
        page = context.new_page()
        ready(page, f"{server.origin}/chapters/time.html")
        run(page)
        yield page


def fetched(page: Page, received: float, total: float = 40) -> float:
    """Tell the page how many MB have arrived; return the share on its meter."""
    page.evaluate("(sizes) => fetched(...sizes)", [received * MB, total * MB])
    meter = page.get_by_role("progressbar", name="Python fetched")
    return float(meter.evaluate("(e) => e.value / e.max"))


def test_the_bar_shows_how_much_of_python_has_arrived(page: Page) -> None:
    page.get_by_role("region", name="Python in this page").get_by_role("status").wait_for()
    assert bar(page) == "Fetching Python …"
    assert fetched(page, 5) == pytest.approx(5 / 40)
    assert bar(page) == "Fetching Python: 5 of 40 MB"
    fetched(page, 38)
    assert fetched(page, 40) == 1
    assert bar(page) == "Fetching Python: 40 of 40 MB"
    assert fetched(page, 41) == 1  # more bytes than expected


def test_the_text_of_the_fetched_size_changes_at_most_eight_times(page: Page) -> None:
    heard = set(page.evaluate(HEARD, 40 * MB))
    assert 4 <= len({words for words in heard if "of 40 MB" in words}) <= 8


def test_after_a_cancel_the_next_run_fetches_and_shows_progress_again(page: Page) -> None:
    fetched(page, 40)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_function("window.fetched === null")
    stopped(page)
    run(page)
    assert fetched(page, 6) == pytest.approx(6 / 40)
    assert bar(page) == "Fetching Python: 6 of 40 MB"


def stopped(page: Page) -> None:
    """Wait until the bar says that Python was stopped; check that it has no controls."""
    said = "Stopped. The next run starts Python anew, with your code."
    page.get_by_text(said, exact=True).wait_for()
    assert page.locator(".python-panel :is(button, progress):visible").count() == 0


def test_progress_of_an_exercises_warm_start_is_shown_once_a_check_waits(
    page: Page, server: Server
) -> None:
    page.evaluate("sessionStorage.setItem('roofline-ran-python', '1')")
    answer_here(page, f"{server.origin}/exercises/int8-matmul/int8-matmul.html")
    page.wait_for_function("Boolean(window.fetched)")
    page.evaluate("() => fetched(1e6, 40e6)")
    assert bar(page) == ""
    assert page.locator(".python-panel :is(button, progress):visible").count() == 0
    page.get_by_role("button", name="Check Part 1").click()
    page.get_by_role("button", name="Cancel").wait_for()
    assert fetched(page, 6) == pytest.approx(6 / 40)
    page.get_by_role("button", name="Cancel").click()
    stopped(page)
