"""The site in Firefox: pages, guesses, figures and the pages' Python."""

import io
from collections.abc import Iterator

import numpy as np
import pytest
from firefox import Firefox
from matplotlib.image import imread
from site_browser import DESK, PHONE, READY, SETTLED, SIDEWAYS, STICKING_OUT
from site_server import Server

# The second browser engine: half a minute that rarely finds what the first doesn't.
pytestmark = pytest.mark.long

ENTER, RIGHT = "\ue007", "\ue014"
COVER = 'document.querySelector(".guess-covered")'


def luminance(color: tuple[int, int, int]) -> float:
    """Return the relative luminance of a color, as WCAG 2.2 defines it."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in color)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def colors_of(at: Firefox, element: str) -> set[tuple[int, int, int]]:
    """Return the colors in a picture of an element."""
    box = "(({ x, y, width, height }) => ({ x, y, width, height }))"
    shown = at.picture(at.run(f"{box}({element}.getBoundingClientRect())"))
    pixels = np.rint(255 * imread(io.BytesIO(shown))[..., :3]).astype(int)
    return {(red, green, blue) for red, green, blue in pixels.reshape(-1, 3).tolist()}


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


def test_a_guess_covers_what_follows_until_i_guess(at: Firefox, server: Server) -> None:
    at.open(f"{server.origin}/chapters/intensity.html")
    shown = f"{COVER}.querySelector('p').checkVisibility()"
    assert at.run(shown) is False
    at.run('document.querySelector("form.guess input").focus()')
    at.press(" ")
    assert at.run(shown) is False
    at.press(ENTER)
    assert at.run(shown) is True


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


def test_a_link_that_i_have_followed_can_be_read_on_a_dark_page(
    at: Firefox, server: Server
) -> None:
    """Only a picture tells: to scripts a browser names the color of a link that was not visited."""
    at.run('(localStorage.setItem("mode", "dark"), null)')
    link = "document.querySelector(\"article a[href*='step.html']\")"
    here = f"{server.origin}/chapters/introduction.html"
    at.open(here)
    at.open(at.run(f"{link}.href"))
    at.open(here)
    at.run(f"{link}.scrollIntoView({{ block: 'center' }})")
    # Firefox asks its history after it has painted: a mark beside the link tells when it knows.
    mark = '<a id=mark style="position: fixed; inset: 0 auto auto 0; z-index: 9999">\u2588</a>'
    style = "<style>#mark:visited { color: #f00 }</style>"
    at.run(f"document.body.insertAdjacentHTML('beforeend', '{style}{mark}')")
    at.run(f"(document.getElementById('mark').href = {link}.href, null)")
    asked = (colors_of(at, "document.getElementById('mark')") for _ in range(1000))
    assert any((255, 0, 0) in colors for colors in asked)
    light = [*map(luminance, colors_of(at, link))]
    assert (max(light) + 0.05) / (min(light) + 0.05) >= 4.5


def test_run_computes_the_page_again(at: Firefox, server: Server) -> None:
    at.open(f"{server.origin}/chapters/time.html")
    values = "[...document.querySelectorAll('.bd-article .computed')].map((e) => e.textContent)"
    built = at.run(values)
    at.run('document.querySelector(".run-cell").focus()')
    at.press(ENTER)
    at.wait_for("Number(document.querySelector('.python-panel')?.dataset.runs ?? 0) > 0")
    assert at.run(values) == built
