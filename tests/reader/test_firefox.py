"""The site in Firefox: pages, guesses, figures and the pages' Python."""

from collections.abc import Iterator

import pytest
from firefox import Firefox
from site_browser import DESK, PHONE, READY, SETTLED, SIDEWAYS, STICKING_OUT
from site_server import Server

# The second browser engine: half a minute that rarely finds what the first doesn't.
pytestmark = pytest.mark.long

ENTER, RIGHT = "\ue007", "\ue014"
COVER = 'document.querySelector(".guess-covered")'


@pytest.fixture
def at(firefox: Firefox, server: Server) -> Iterator[Firefox]:
    """Return Firefox without anything kept; at the end, no page may have reported an error."""
    firefox.open(f"{server.origin}/404.html")
    firefox.run("localStorage.clear()")
    firefox.size(**DESK)
    yield firefox
    assert firefox.errors == []


@pytest.mark.parametrize("page", ["index", "chapters/attention", "zh/chapters/matmul"])
def test_pages_load_and_fit(at: Firefox, server: Server, page: str) -> None:
    at.open(f"{server.origin}/{page}.html")
    at.run(f"({READY})()")
    for size in (PHONE, DESK):
        at.size(**size)
        at.wait_for(f"innerWidth === {size['width']}")
        at.run(f"({SETTLED})()")
        assert at.run(f"({SIDEWAYS})()") <= 0
        assert at.run(f"({STICKING_OUT})()") == []


def test_a_link_into_what_is_covered_opens_it(at: Firefox, server: Server) -> None:
    at.open(f"{server.origin}/chapters/chips.html")
    target = "document.querySelector('.guess-covered [id]')"
    shown = "document.getElementById(window.target).checkVisibility()"
    at.run(f"(window.target = {target}.id, null)")
    assert at.run(shown) is False
    at.run("(location.hash = `#${window.target}`, null)")
    at.wait_for(shown)


def test_a_figure_answers_the_arrow_keys(at: Firefox, server: Server) -> None:
    at.open(f"{server.origin}/index.html")
    figure = 'document.querySelector("figure.live")'
    at.wait_for(f"{figure}.dataset.state === 'live'")
    said = f"{figure}.textContent"
    before = at.run(said)
    at.run(f"{figure}.querySelector('input[type=range]').focus()")
    at.press(RIGHT)
    at.wait_for(f"{said} !== {before!r}")


def test_run_computes_the_page_again(at: Firefox, server: Server) -> None:
    at.open(f"{server.origin}/chapters/time.html")
    values = "[...document.querySelectorAll('.bd-article .computed')].map((e) => e.textContent)"
    built = at.run(values)
    at.run('document.querySelector(".run-cell").focus()')
    at.press(ENTER)
    at.wait_for("Number(document.querySelector('.python-panel')?.dataset.runs ?? 0) > 0")
    assert at.run(values) == built
