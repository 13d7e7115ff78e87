"""Tests of the whole site in a browser: every page, both themes, two widths.

The widths are those of a desktop and a phone. Each page is opened once; the tests then check what
was recorded there.
"""

import functools
import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, Page
from repository import ROOT
from site_browser import (
    DESK,
    PHONE,
    SETTLED,
    SIDEWAYS,
    STICKING_OUT,
    TALL_FIGURES,
    UNFOLD,
    UNSET_MATHS,
    WIDE_MATHS,
    Traffic,
    axe,
    contrast,
    contrast_everywhere,
    put_theme,
    put_width,
    ready,
    structure,
    unnamed_pictures,
)
from site_links import broken, html_files, parsed
from site_server import Server

COLD, WARM, FRAME = 900_000, 150_000, 3_000  # bytes, compressed
GENERATED = ("404", "genindex", "search")


def listed(contents: Any) -> Iterator[str]:
    """Yield the pages of a table of contents in order."""
    if isinstance(contents, list):
        for part in contents:
            yield from listed(part)
    elif isinstance(contents, dict):
        yield from (contents[key] for key in ("root", "file") if key in contents)
        for key in ("parts", "chapters", "sections"):
            yield from listed(contents.get(key, []))


WRITTEN = tuple(listed(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
PAGES = (*WRITTEN, *GENERATED)
EXERCISE = next(name for name in PAGES if name.startswith("exercises/"))
# Exercise pages are alike: by default, visit only the first; long tests visit all.
each_page = pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.long if name.startswith("exercises/") and name != EXERCISE else (),
        )
        for name in PAGES
    ],
)
# A page of each kind: some checks run only on these by default, and on all pages in the long tests.
KINDS = ("index", "chapters/matmul", "chapters/hardware", EXERCISE, "genindex")


@dataclass
class Seen:
    """Results of visiting a page, unfolded: at a desktop's, then at a phone's width."""

    traffic: Traffic
    outside: list[str]
    # Compressed bytes: of all requested files, and of those that weren't in the browser's cache.
    asked: int
    transferred: int
    # Violations that axe finds, by width and theme.
    axe: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    sideways: dict[str, int] = field(default_factory=dict)
    sticking_out: dict[str, list[str]] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    unset_maths: list[str] = field(default_factory=list)
    wide_maths: list[str] = field(default_factory=list)
    tall_figures: list[str] = field(default_factory=list)
    maths: int = 0
    live: int = 0


FIRST = "chapters/time"  # a page whose formulas and live figure load all shared files
VIEWS = (("desk", "light"), ("desk", "dark"), ("phone", "dark"))


def views(name: str) -> tuple[tuple[str, str], ...]:
    """Return the views in which axe checks a page: KINDS in all, the others in none.

    The elements that differ on phones, the top bar and its menus, are the same on all pages.
    """
    return VIEWS if name in KINDS else ()


Visits = Callable[[str], Seen]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Open a window, in which pages are visited one after another."""
    # Reduce motion, since a page's animations take longer than the checks.
    context = browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def visit(page: Page, server: Server) -> Visits:
    traffic = Traffic().listen(page.context)
    styles: set[str] = set()

    def seen_at(name: str) -> Seen:
        page.goto("about:blank")  # so that the previous page isn't laid out again
        page.emulate_media(color_scheme="light")
        put_width(page, DESK)
        traffic.clear()
        server.sent.clear()
        ready(page, f"{server.origin}/{name}.html")
        seen = Seen(
            traffic.copy(),
            traffic.outside(server.origin),
            sum(server.size(url) for url in set(traffic.asked)),
            server.transferred(),
        )
        page.evaluate(UNFOLD)
        page.evaluate(SETTLED)
        seen.unset_maths = page.evaluate(UNSET_MATHS)
        seen.maths = page.locator("math").count()
        seen.live = page.locator("figure.live").count()
        for width, theme in VIEWS:
            by_axe = (width, theme) in views(name)
            if (width, theme) == ("desk", "dark") and not by_axe:
                continue
            put_width(page, DESK if width == "desk" else PHONE)
            if by_axe:
                put_theme(page, theme)
                # All pages use one palette, so check contrast on few pages; a long test checks all.
                seen.axe[width, theme] = contrast(page, styles) if name in KINDS else []
            if width not in seen.sideways:
                if by_axe:
                    seen.axe[width, theme] += structure(page)
                seen.sideways[width] = page.evaluate(SIDEWAYS)
                seen.sticking_out[width] = page.evaluate(STICKING_OUT)
        # From here on, the window has the width of a phone.
        seen.wide_maths = page.evaluate(WIDE_MATHS)
        seen.tall_figures = page.evaluate(TALL_FIGURES, PHONE["height"])
        # Do this last: from now on, the browser keeps its accessibility tree up to date.
        seen.unnamed = unnamed_pictures(page)
        seen.traffic = traffic.copy()
        seen.outside = traffic.outside(server.origin)
        return seen

    # With an empty cache, every requested file is sent.
    ready(page, f"{server.origin}/{FIRST}.html")
    assert server.transferred() == sum(server.size(url) for url in set(traffic.asked))
    return functools.cache(seen_at)


def test_every_page_of_the_site_is_tested(site: Path) -> None:
    built = {p.relative_to(site).with_suffix("").as_posix() for p in html_files(site)}
    # The index page for pip isn't part of the book.
    assert built - {"wheels/index"} == set(PAGES)


def test_all_links_resolve_and_external_links_use_https(site: Path) -> None:
    assert broken(site) == []


@each_page
def test_no_requests_to_other_hosts_and_no_errors(visit: Visits, name: str) -> None:
    seen = visit(name)
    assert len(seen.traffic.asked) > 1
    assert seen.outside == []
    assert seen.traffic.wrong == []


@pytest.mark.parametrize(
    ("name", "width", "theme"), [(name, *view) for name in PAGES for view in views(name)]
)
def test_axe_finds_no_violation(visit: Visits, name: str, width: str, theme: str) -> None:
    violations = visit(name).axe[width, theme]
    assert not violations, "\n".join(violations)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PAGES if name not in KINDS])
def test_axe_finds_no_violation_on_other_pages(page: Page, server: Server, name: str) -> None:
    put_width(page, DESK)
    page.emulate_media(color_scheme="light")
    ready(page, f"{server.origin}/{name}.html")
    page.evaluate(UNFOLD)
    page.evaluate(SETTLED)
    assert axe(page) == []


@each_page
@pytest.mark.parametrize("width", ["desk", "phone"])
def test_no_horizontal_scrolling_and_no_overflowing_text(
    visit: Visits, name: str, width: str
) -> None:
    seen = visit(name)
    assert seen.sideways[width] <= 0
    assert seen.sticking_out[width] == []


@each_page
def test_formulas_are_rendered(visit: Visits, site: Path, name: str) -> None:
    seen = visit(name)
    assert seen.unset_maths == []
    written = parsed(site / f"{name}.html").select(".math")
    assert seen.maths >= len(written)


@each_page
def test_formulas_fit_on_a_phone(visit: Visits, name: str) -> None:
    assert visit(name).wide_maths == []


@each_page
def test_controls_and_numbers_of_a_figure_fit_on_one_phone_screen(visit: Visits, name: str) -> None:
    assert visit(name).tall_figures == []


@each_page
def test_every_picture_has_a_text_alternative(visit: Visits, name: str) -> None:
    assert visit(name).unnamed == []


@each_page
def test_pages_are_within_their_byte_budget(visit: Visits, name: str) -> None:
    """COLD limits all files of a page, WARM those not in the cache after another page."""
    seen = visit(name)
    assert 0 < seen.asked <= COLD, f"{seen.asked:,} bytes"
    assert seen.transferred <= WARM, f"{seen.transferred:,} bytes"


def test_the_markup_around_an_article_is_within_its_byte_budget(site: Path) -> None:
    """FRAME limits what each page sends besides its article and its lists of links."""
    frames = {
        page: re.sub(r"<(article|nav)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.S)
        for page in html_files(site)
    }
    sizes = {name: len(gzip.compress(frame.encode(), 9)) for name, frame in frames.items()}
    assert {name: size for name, size in sizes.items() if size > FRAME} == {}


def test_chapters_have_formulas_and_live_figures(visit: Visits) -> None:
    """Without any, the tests of formulas and figures above would check nothing."""
    chapters = [visit(name) for name in WRITTEN if name.startswith("chapters/")]
    assert any(seen.maths and seen.live for seen in chapters)


@pytest.mark.long
@each_page
@pytest.mark.parametrize(("width", "theme"), VIEWS)
def test_pages_pass_in_a_fresh_context_at_each_width_and_theme(
    browser: Browser, server: Server, name: str, width: str, theme: str
) -> None:
    """Repeat the checks above without state from another page, width or theme."""
    phone = width == "phone"
    context = browser.new_context(
        viewport=PHONE if phone else DESK, has_touch=phone, is_mobile=phone, color_scheme=theme
    )
    traffic = Traffic().listen(context)
    page = context.new_page()
    server.sent.clear()
    ready(page, f"{server.origin}/{name}.html")
    assert 0 < server.transferred() <= COLD
    page.evaluate(UNFOLD)
    page.evaluate(SETTLED)
    assert [*structure(page), *contrast_everywhere(page)] == []
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(UNSET_MATHS) == []
    assert unnamed_pictures(page) == []
    assert traffic.wrong == []
    assert traffic.outside(server.origin) == []
    context.close()


# Tests of search, the theme switch, and pages opened from disk.


def results_of(page: Page, query: str) -> list[str]:
    """Search with the keyboard shortcut; return the links of the results."""
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    return [str(link.get_attribute("href")) for link in page.locator("#search-results li a").all()]


# Calls Sphinx's search directly, without loading a page for each query.
FIND = """(terms) => terms.filter((term) => {
  const found = Search._performSearch(...Search._parseQuery(term));
  return !found.some(([page]) => page === "chapters/glossary");
})"""


def test_search_finds_the_terms_of_the_glossary(
    browser: Browser, server: Server, site: Path
) -> None:
    terms = [
        re.sub(r"[\s#¶]+$", "", dt.get_text(" ", strip=True))
        for dt in parsed(site / "chapters/glossary.html").select("dl.glossary dt")
    ]
    assert len(terms) > 30
    context = browser.new_context(viewport=DESK)
    traffic = Traffic().listen(context)
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/time.html")
    assert any("glossary.html" in link for link in results_of(page, "ridge point"))
    assert page.evaluate(FIND, terms) == []
    assert page.evaluate(FIND, ["xylophone"]) == ["xylophone"]
    assert traffic.wrong == []
    assert traffic.outside(server.origin) == []
    context.close()


THEME = "document.documentElement.dataset.theme"
AT_SWITCH = "document.activeElement.matches('.theme-switch-button')"


def test_the_theme_can_be_switched_by_keyboard_and_persists(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport=DESK, color_scheme="light")
    traffic = Traffic().listen(context)
    page = context.new_page()
    # Choose a page with few links to tab through, since each press of Tab draws the page again.
    ready(page, f"{server.origin}/chapters/references.html")
    assert page.evaluate(THEME) == "light"
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate(AT_SWITCH):
            break
    assert page.evaluate(AT_SWITCH), "no Tab leads to the switch"
    # The switch cycles through: system setting, light, dark.
    for _ in range(3):
        if page.evaluate(THEME) == "dark":
            break
        page.keyboard.press("Enter")
    assert page.evaluate(THEME) == "dark"
    ready(page, f"{server.origin}/index.html")
    assert page.evaluate(THEME) == "dark"
    assert traffic.wrong == []
    context.close()


# Style sheets, pictures and fonts that failed to load.
NOT_THERE = """() => [
  ...[...document.querySelectorAll("link[rel=stylesheet]")].filter((l) => !l.sheet),
  ...[...document.images].filter((i) => i.complete && !i.naturalWidth),
].map((e) => e.outerHTML).concat(
  [...document.fonts].filter((f) => f.status === "error").map((f) => f.family))"""


# By default, open only one page from disk: it is in a subfolder, with formulas and figures. Another
# test checks the links of all pages.
FROM_DISK = [
    name if name == KINDS[1] else pytest.param(name, marks=pytest.mark.long) for name in PAGES
]


@pytest.mark.parametrize("name", FROM_DISK)
def test_pages_work_from_disk(browser: Browser, site: Path, below: str, name: str) -> None:
    if below and name == "404":
        # A host sends the 404 page for any missing address, so its links start at the host's root
        # and don't work from disk.
        assert [one["href"] for one in parsed(site / "404.html").select("base")] == [f"{below}/"]
        return
    context = browser.new_context(viewport=DESK)
    traffic = Traffic().listen(context)
    page = context.new_page()
    path = site / f"{name}.html"
    ready(page, path.as_uri())
    assert traffic.wrong == []
    assert traffic.outside("file://") == []
    assert page.evaluate(NOT_THERE) == []
    assert page.evaluate(UNSET_MATHS) == []
    # The theme's layout is applied, and most of the displayed words stand in the HTML file.
    assert page.locator(".bd-main").evaluate("(e) => getComputedStyle(e).display") == "flex"
    main = parsed(path).select_one("main")
    assert main is not None
    written = set(main.get_text(" ").split())
    shown = set(page.locator("main").inner_text().split())
    assert len(shown & written) > len(shown) / 2
    title = main.select_one("h1")
    assert title is not None
    assert title.get_text().rstrip("#¶") in page.locator("main h1").first.inner_text()
    context.close()


def test_search_from_disk_works_without_excerpts(browser: Browser, site: Path) -> None:
    """Search from disk, where a browser forbids fetching excerpts.

    Sphinx fetches a result's page for an excerpt. The results are shown anyway; only these failed
    requests may be reported.
    """
    context = browser.new_context(viewport=DESK)
    traffic = Traffic().listen(context)
    page = context.new_page()
    ready(page, (site / "chapters/time.html").as_uri())
    assert any("glossary.html" in link for link in results_of(page, "ridge point"))
    unexpected = [
        line for line in traffic.wrong if not re.search(r"\.html|Failed to fetch|ERR_FAILED", line)
    ]
    assert unexpected == []
    context.close()
