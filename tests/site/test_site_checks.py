"""Tests of the checks used on the site: they find planted faults, and no others."""

import http.client
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page
from site_browser import (
    PHONE,
    SIDEWAYS,
    STICKING_OUT,
    UNFOLD,
    UNSET_MATHS,
    Traffic,
    axe,
    contrast,
    contrast_everywhere,
    put_theme,
    ready,
    unnamed_pictures,
)
from site_links import broken
from site_server import Server, serving

# Run only with the long tests: the checks tested here seldom change.
pytestmark = pytest.mark.long

GOOD = """<!doctype html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>A page</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1 id="top">A page</h1>
<p><a href="page.html#top">Up</a>,
<a href="https://example.org/">elsewhere</a>, <code>$x$</code></p>
<figure><svg role="img" aria-label="A square" width="9" height="9"></svg>
<figcaption>A square</figcaption></figure>
<div style="overflow-x: auto" tabindex="0" role="region" aria-label="Wide">
<p style="width: 900px">A line that scrolls in a box of its own, as far as it may go.</p></div>
%s</main>
<script>
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (dark) => {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
});
</script></body></html>
"""
PALE = "<style>html[data-theme=%s] p { color: #bbb; background: #fff; }</style>"
WIDE = "<p style='white-space: nowrap'>" + "A long line. " * 20 + "</p>"
OUTSIDE = "https://example.org/picture.png"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as server:
        yield server


Plant = Callable[[str], tuple[Page, Traffic]]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """Open a phone-sized window, which the tests of this file share."""
    context = browser.new_context(viewport=PHONE)
    yield context.new_page()
    context.close()


@pytest.fixture
def planted(tab: Page, server: Server) -> Plant:
    """Return a function that opens the page with the given HTML planted in it."""
    traffic = Traffic().listen(tab.context)

    def plant(html: str) -> tuple[Page, Traffic]:
        (server.folder / "page.html").write_text(GOOD % html, encoding="utf-8")
        ready(tab, f"{server.origin}/page.html")
        tab.evaluate(UNFOLD)
        return tab, traffic

    return plant


def test_a_page_without_faults_passes(planted: Plant, server: Server) -> None:
    page, traffic = planted("")
    assert traffic.asked == [f"{server.origin}/page.html"]
    assert traffic.outside(server.origin) == []
    assert traffic.wrong == []
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(UNSET_MATHS) == []
    assert unnamed_pictures(page) == []
    assert axe(page) == []
    assert broken(server.folder) == []


def test_requests_to_other_hosts_are_found_and_blocked(planted: Plant, server: Server) -> None:
    _, traffic = planted(f"<img alt='A picture' src='{OUTSIDE}'>")
    assert traffic.outside(server.origin) == [OUTSIDE]
    assert any("ERR_NAME_NOT_RESOLVED" in line for line in traffic.wrong)


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<img alt='A picture' src='nowhere.png'>", "nowhere.png"),
        ("<script>console.error('odd')</script>", "console: odd"),
        ("<script>throw new Error('broken')</script>", "broken"),
        (
            "<script>fetch('https://example.org/data.json').catch(() => { failed = 1; });</script>",
            "data.json",
        ),
    ],
)
def test_errors_in_a_page_are_found(planted: Plant, html: str, message: str) -> None:
    page, traffic = planted(html)
    if "failed" in html:
        page.wait_for_function("window.failed")
    assert any(message in line for line in traffic.wrong)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_low_contrast_is_found_only_in_its_theme(planted: Plant, theme: str) -> None:
    page, _ = planted(PALE % theme)
    for shown in ("light", "dark", "light"):
        if shown != page.evaluate("document.documentElement.dataset.theme"):
            put_theme(page, shown)
        pale = any(line.startswith("color-contrast") for line in axe(page))
        assert pale == (shown == theme)


@pytest.mark.parametrize(
    "html",
    [
        "<p>Good.</p><p>Good <b style='color: #bbb'>bad</b>, good.</p>",
        "<p>Good.</p><p style='background: #444'>Good <i>and bad</i>.</p>",
        "<p>Good.</p><div style='opacity: 0.4'><p>Bad.</p></div>",
        "<p style='font-size: 40px; color: #888'>Large.</p><p style='color: #888'>Small.</p>",
        "<button style='color: #bbb; background: #fff'>Pale</button>",
        "<details><summary>More</summary><p style='color: #bbb'>Folded.</p></details>",
        "<p>Text with <a href='#top'>a link</a> and "
        "<a href='#top' style='text-decoration: none'>another</a>.</p>",
        "<p><a href='#top' style='text-decoration: none'>Alone</a></p>"
        "<p>In a text <a href='#top' style='text-decoration: none'>a link</a>.</p>",
    ],
)
def test_low_contrast_and_unmarked_links_are_found_among_good_elements(
    planted: Plant, html: str
) -> None:
    """Check that `contrast`, with one element per style, finds nothing that axe doesn't."""
    page, _ = planted(html)
    found = contrast(page)
    assert found
    assert set(found) <= set(contrast_everywhere(page))


def test_contrast_is_checked_once_for_each_style(
    planted: Plant,
) -> None:
    page, _ = planted("<p style='color: #bbb'>Pale</p>")
    known: set[str] = set()
    assert len(contrast(page, known)) == 1
    assert contrast(page, known) == []
    paler = "<p style='color: #ccc'>Paler</p>"
    page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", paler)
    assert len(contrast(page, known)) == 1
    assert len(contrast(page)) == 2


def test_axe_checks_only_the_given_part_of_a_page(planted: Plant) -> None:
    bad = "<button></button><p style='color: #bbb'>Pale</p>"
    page, _ = planted(f"<div class='one'>{bad}</div><div class='other'>{bad}</div>")
    for part in ("one", "other"):
        rules = sorted(line.split(":")[0] for line in axe(page, f".{part}"))
        assert rules == ["button-name", "color-contrast"]
    page.locator(".one").evaluate("(part) => { part.textContent = 'Good.'; }")
    assert axe(page, ".one") == []


def test_violations_in_folded_panels_are_found(planted: Plant) -> None:
    page, _ = planted("<details><summary>More</summary><button></button></details>")
    assert any(line.startswith("button-name") for line in axe(page))


def test_a_page_that_scrolls_sideways_is_found(planted: Plant) -> None:
    page, _ = planted(WIDE)
    assert page.evaluate(SIDEWAYS) > 0
    assert [line.split(":")[0] for line in page.evaluate(STICKING_OUT)] == ["beyond the window"]


@pytest.mark.parametrize(
    ("html", "how"),
    [
        (f"<div style='overflow: hidden; width: 200px'>{WIDE}</div>", "cut off"),
        (
            f"<div style='position: fixed; left: 350px; width: 99px; overflow: auto'>{WIDE}</div>",
            "in a box beyond the window",
        ),
        (
            "<svg role='img' aria-label='A' width='50'><text y='20'>A long label</text></svg>",
            "cut off",
        ),
    ],
)
def test_overflowing_text_is_found_without_a_scroll_bar(
    planted: Plant, html: str, how: str
) -> None:
    page, _ = planted(html)
    assert [line.split(":")[0] for line in page.evaluate(STICKING_OUT)] == [how]


@pytest.mark.parametrize(
    ("html", "what"),
    [
        ("<p>It is $x$.</p>", "source"),
        (r"<p>It is \(x\).</p>", "source"),
        ("<p class='math'>x</p>", "not set"),
        ("<p class='math'><math></math></p>", "not set"),
        ("<p><math><merror><mtext>x</mtext></merror></math></p>", "error"),
    ],
)
def test_unrendered_formulas_are_found(planted: Plant, html: str, what: str) -> None:
    page, _ = planted(html)
    assert [line.split(":")[0] for line in page.evaluate(UNSET_MATHS)] == [what]


@pytest.mark.parametrize(
    "html",
    [
        "<svg role='img' width='9' height='9'></svg>",
        "<figure><svg role='img' aria-label='A' width='9' height='9'></svg></figure>",
        "<canvas role='img'></canvas>",
    ],
)
def test_a_picture_without_a_text_alternative_is_found(planted: Plant, html: str) -> None:
    page, _ = planted(html)
    assert len(unnamed_pictures(page)) == 1


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ("<a href='nowhere.html'>A</a>", "no such file"),
        ("<a href='#nowhere'>A</a>", "no such anchor"),
        ("<a href='page.html#nowhere'>A</a>", "no such anchor"),
        ("<a href='/page.html'>A</a>", "works at the root of a server alone"),
        ("<a href='../page.html'>A</a>", "outside of the site"),
        ("<a href='.'>A</a>", "no such file"),
        ("<a href='http://example.org/'>A</a>", "not https"),
        ("<a href='javascript:go()'>A</a>", "not https"),
        ("<script src='https://example.org/a.js'></script>", "loaded from elsewhere"),
        ("<script src='//example.org/a.js'></script>", "loaded from elsewhere"),
        ("<link rel='preconnect' href='https://example.org'>", "loaded from elsewhere"),
        ("<img srcset='https://example.org/a.png 2x'>", "loaded from elsewhere"),
        ("<img src='nowhere.png'>", "no such file"),
    ],
)
def test_broken_links_are_found(tmp_path: Path, html: str, problem: str) -> None:
    (tmp_path / "page.html").write_text(GOOD % html, encoding="utf-8")
    (line,) = broken(tmp_path)
    assert line.startswith("page.html: <")
    assert line.endswith(problem)


@pytest.mark.parametrize(
    ("css", "problem"),
    [
        ("@import 'nowhere.css';", "no such file"),
        ("a { background: url(https://example.org/a.png) }", "loaded from elsewhere"),
        ('@font-face { src: url("a.woff2") }', "no such file"),
    ],
)
def test_broken_addresses_in_style_sheets_are_found(tmp_path: Path, css: str, problem: str) -> None:
    (tmp_path / "style.css").write_text(css)
    (line,) = broken(tmp_path)
    assert line.endswith(problem)


def test_the_server_counts_what_it_sends(browser: Browser, server: Server) -> None:
    (server.folder / "style.css").write_text("p { color: #111; }\n" * 1000)
    link = "<link rel='stylesheet' href='style.css'>"
    (server.folder / "page.html").write_text(GOOD % link, encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.origin}/page.html")
    # The page gets the complete style sheet, which was sent compressed.
    assert page.evaluate("document.styleSheets[0].cssRules.length") == 1000
    first = {answer.path: answer for answer in server.sent}
    assert set(first) == {"/page.html", "/style.css"}
    assert first["/style.css"].raw == (server.folder / "style.css").stat().st_size
    assert 0 < first["/style.css"].packed < first["/style.css"].raw / 10
    assert server.transferred() == sum(answer.packed for answer in first.values())

    # Files in the browser's cache are not counted.
    server.sent.clear()
    page.goto(f"{server.origin}/page.html")
    assert server.transferred() == 0
    context.close()

    with_length = http.client.HTTPConnection(urlsplit(server.origin).netloc)
    with_length.request("GET", "/style.css")
    answer = with_length.getresponse()
    assert int(answer.headers["Content-Length"]) == len(answer.read())
    with_length.close()
