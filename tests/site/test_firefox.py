"""The pages in Firefox: errors, guesses, hidden text, figures, Run.

Firefox starts once for all these tests.
"""

from collections.abc import Iterator
from pathlib import Path

import firefox
import pytest
from firefox import Firefox
from native_python import serving_native
from site_browser import DESK, PHONE, READY, SETTLED, SIDEWAYS, STICKING_OUT
from site_server import Server

# All tests of this second browser engine are long tests.
pytestmark = pytest.mark.long

ENTER, RIGHT = "\ue007", "\ue014"
# Returns the CSS content before and after the title of each guess box.
MARKS = """[...document.querySelectorAll(".admonition.tip > .admonition-title")].map(
  (e) => ["::before", "::after"].map((part) => getComputedStyle(e, part).content))"""
COVER = 'document.querySelector(".guess-covered")'


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_native(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Start Firefox; fail the tests if none is installed."""
    found = firefox.firefox()
    if found is None:
        pytest.fail(firefox.MISSING, pytrace=False)
    with firefox.started(found, tmp_path_factory.mktemp("firefox") / "profile") as browser:
        browser.size(**DESK)
        yield browser


def test_pages_load_without_errors_and_fit(browser: Firefox, server: Server) -> None:
    for page in ("index", "chapters/attention"):
        browser.open(f"{server.origin}/{page}.html")
        browser.run(f"({READY})()")
        for size in (PHONE, DESK):
            browser.size(**size)
            browser.wait_for(f"innerWidth === {size['width']}")
            browser.run(f"({SETTLED})()")
            assert browser.errors == [], page
            assert browser.run(f"({SIDEWAYS})()") <= 0, page
            assert browser.run(f"({STICKING_OUT})()") == [], page


def test_errors_in_firefox_are_recorded(browser: Firefox, server: Server) -> None:
    browser.open(f"{server.origin}/index.html")
    browser.run("(setTimeout(() => { throw new Error('a test error'); }), null)")
    browser.run("new Promise((done) => setTimeout(done))")
    browser.run("1")
    assert any("a test error" in error for error in browser.errors)


def test_guesses_are_marked_and_hide_the_text_below(browser: Firefox, server: Server) -> None:
    browser.open(f"{server.origin}/chapters/intensity.html")
    marks = browser.run(MARKS)
    assert len(marks) > 2
    assert all(mark == ['"? "', "none"] for mark in marks)
    covered = f"{COVER}.getAttribute('hidden')"
    assert browser.run(covered) == "until-found"
    assert browser.run(f"{COVER}.getBoundingClientRect().height") == 0
    assert browser.run(f"{COVER}.querySelector('p').checkVisibility()") is False
    browser.run('document.querySelector("form.guess input").focus()')
    browser.press(" ")
    assert browser.run(covered) == "until-found"
    browser.press(ENTER)
    assert browser.run(covered) is None
    assert browser.run(f"{COVER}.querySelector('p').checkVisibility()") is True
    browser.run("localStorage.clear()")


def test_a_link_into_text_hidden_by_a_guess_shows_the_text(
    browser: Firefox, server: Server
) -> None:
    browser.open(f"{server.origin}/chapters/time.html")
    shown = 'document.getElementById("fig-time-factor").checkVisibility()'
    assert browser.run(shown) is False
    browser.run("(location.hash = '#fig-time-factor', null)")
    browser.wait_for(shown)


def test_a_live_figure_responds_to_arrow_keys(browser: Firefox, server: Server) -> None:
    browser.open(f"{server.origin}/chapters/time.html")
    figure = 'document.querySelector("figure[data-figure=time]")'
    browser.wait_for(f"{figure}.dataset.state === 'live'")
    said = f"{figure}.querySelector('.live-says').textContent"
    before = browser.run(said)
    browser.run(f"{figure}.querySelector('input[name=flops]').focus()")
    browser.press(*[RIGHT] * 6)
    assert browser.run(f"{figure}.querySelector('input[name=flops]').value") == "27"
    browser.wait_for(f"{said} !== {before!r}")


def test_the_run_button_computes_the_page_again(browser: Firefox, server: Server) -> None:
    browser.open(f"{server.origin}/chapters/time.html")
    browser.run('document.querySelector(".run-cell").focus()')
    browser.press(ENTER)
    browser.wait_for("Number(document.querySelector('.python-panel')?.dataset.runs ?? 0) > 0")
    said = browser.run("document.querySelector('.python-words').textContent")
    assert said == "Done. All values in the text are as they were built."
    assert browser.errors == []
