"""Tests of the site's looks: 404 page, glossary notes, search, code, colors."""

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from commands import serve
from fontTools.ttLib import TTFont
from native_python import serving_native
from page_reader import a_run
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect
from pybtex.database import parse_file
from repository import ROOT
from site_browser import DESK, PHONE, Traffic, axe, put_theme, put_width, ready
from site_server import Server

from rooflib import plots


@contextmanager
def served_as_readers_do(folder: Path) -> Iterator[str]:
    """Serve a folder like `make serve`; yield its address."""
    handler = partial(serve.Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


@contextmanager
def opened(browser: Browser, **settings: object) -> Iterator[tuple[BrowserContext, Page]]:
    context = browser.new_context(**{"viewport": DESK, "color_scheme": "light"} | settings)  # type: ignore[arg-type]
    yield context, context.new_page()
    context.close()


# Missing pages.


@pytest.mark.parametrize(
    ("place", "missing"),
    [
        pytest.param("", "nothing.html", marks=pytest.mark.long),
        ("/course", "chapters/deep/down/nothing"),
        pytest.param("", "chapters/deep/down/nothing", marks=pytest.mark.long),
        pytest.param("", "gone/", marks=pytest.mark.long),
        pytest.param("/course", "nothing.html", marks=pytest.mark.long),
        pytest.param("/course", "gone/", marks=pytest.mark.long),
    ],
)
def test_the_404_page_has_the_sites_style_and_links(
    browser: Browser, site: Path, below: str, tmp_path: Path, place: str, missing: str
) -> None:
    folder, place = site, below or place  # a site built for a path works only at that path
    if place:
        folder = tmp_path
        (tmp_path / place[1:]).symlink_to(site)
        # A host sends the site's 404 page for any missing address below the site's.
        shutil.copy(site / "404.html", tmp_path)
    with served_as_readers_do(folder) as origin, opened(browser) as (_, page):
        top = f"{origin}{place}/"
        answer = page.goto(f"{top}{missing}")
        assert answer is not None
        assert answer.status == 404
        assert page.locator("main h1").inner_text() == "Page not found"
        sheets = "[...document.querySelectorAll('link[rel=stylesheet]')].every((l) => l.sheet)"
        assert page.evaluate(sheets)
        assert page.locator(".bd-main").evaluate("(e) => getComputedStyle(e).display") == "flex"
        skip = page.locator("a[href$='#main-content']").first
        assert skip.evaluate("(a) => a.href") == f"{top}{missing}#main-content"
        assert page.locator("main a", has_text="title page").evaluate("(a) => a.href") == (
            f"{top}index.html"
        )
        page.locator("#find").fill("ridge point")
        page.locator("#find").press("Enter")
        page.locator("#search-results li a").first.wait_for()
        assert page.url.startswith(f"{top}search.html")


def test_a_folder_without_a_404_page_still_sends_404(browser: Browser, tmp_path: Path) -> None:
    with served_as_readers_do(tmp_path) as origin, opened(browser) as (_, page):
        answer = page.goto(f"{origin}/nothing")
        assert answer is not None
        assert answer.status == 404


# Fonts.


def test_the_font_for_formulas_has_mathematical_symbols(site: Path) -> None:
    (file,) = (site / "_static/fonts").glob("STIX*.woff")
    signs = "αωβ·×÷±≈≠≤≥≪≫∞∂∑∏√∫∈∩∀∃←→↔↦⇐⇒⇔⎛⎞⟶ℝℕ𝐴𝑧𝛼𝜔²₁"
    assert {sign for sign in signs if ord(sign) not in TTFont(file).getBestCmap()} == set()


def test_composite_glyphs_are_as_wide_as_the_part_that_sets_their_width(site: Path) -> None:
    # FreeType gives a composite glyph the width of the component that has this flag, so both widths
    # must agree: "%" used to be as narrow as its slash.
    uses_my_metrics = 0x0200
    for file in (site / "_static/fonts").glob("Source*.woff"):
        font = TTFont(file)
        for name in font.getGlyphOrder():
            for part in getattr(font["glyf"][name], "components", ()):
                if part.flags & uses_my_metrics:
                    assert font["hmtx"][part.glyphName][0] == font["hmtx"][name][0], (file, name)


# Terms.

LINK = "main a:has(> .std-term)[href$='#term-FLOP-s']"
NOTE = "#term-note"
WORDS = "FLOPs per second, a speed."


AWAY_MS = 250  # after this time, a note whose link the pointer has left is closed
# Makes `window.termsLoaded`, a promise that resolves when the script with the terms has loaded.
TERMS_LOADED = """() => { window.termsLoaded = new Promise((done) => {
  document.querySelector("head script[src$='terms.js']").addEventListener("load", done);
}); }"""


def is_at(page: Page, link: Locator) -> bool:
    """Return whether the note is right below or above the link, within the window."""
    line = link.evaluate("(e) => e.getClientRects()[0].toJSON()")
    note = page.locator(NOTE).bounding_box()
    assert note
    width, height = page.evaluate("[document.documentElement.clientWidth, innerHeight]")
    left = max(16, min(line["left"], width - note["width"] - 16))
    fits = line["bottom"] + note["height"] + 8 < height
    top = line["bottom"] + 4 if fits else line["top"] - note["height"] - 4
    return (note["x"], note["y"]) == pytest.approx((left, top), abs=1)


def test_terms_are_explained_with_mouse_and_keyboard(browser: Browser, server: Server) -> None:
    with opened(browser) as (context, page):
        traffic = Traffic().listen(context)
        page.clock.install(time=0)
        held: list[Route] = []
        page.route("**/terms.js", lambda route: held.append(route))
        ready(page, f"{server.origin}/chapters/time.html")
        link, note = page.locator(LINK).first, page.locator(NOTE)
        heading, other = (
            page.locator("main h1").first,
            page.locator(".bd-article a.headerlink").first,
        )
        assert not note.is_visible()
        # The explanation arrives after Escape was pressed, so the note stays hidden.
        link.hover()
        page.evaluate(TERMS_LOADED)
        page.keyboard.press("Escape")
        held.pop().continue_()
        page.evaluate("window.termsLoaded")
        assert not note.is_visible()
        page.mouse.move(0, 0)
        link.evaluate("(e) => e.scrollIntoView({ block: 'end' })")
        link.hover()
        note.wait_for()
        assert is_at(page, link)
        page.keyboard.press("Escape")
        page.mouse.move(0, 0)
        page.evaluate("scrollTo(0, 0)")
        link.hover()
        note.wait_for()
        assert note.inner_text() == WORDS
        assert page.get_by_role("tooltip").count() == 1
        assert link.get_attribute("aria-describedby") == "term-note"
        assert is_at(page, link)
        for theme in ("light", "dark"):
            put_theme(page, theme)
            assert axe(page, f"{LINK}, {NOTE}") == []
        page.clock.pause_at(1_000_000)
        # The note stays if the pointer soon returns to the link, or moves to the note.
        for back in (link, note):
            for place in (heading, other, back):
                place.hover()
            page.clock.run_for(AWAY_MS)
            assert note.is_visible()
        note.click()
        assert note.is_visible()
        heading.hover()
        page.clock.run_for(AWAY_MS)
        assert not note.is_visible()
        assert link.get_attribute("aria-describedby") is None
        link.hover()
        note.wait_for()
        # Move the pointer out of the text directly, not over another element.
        page.mouse.move(0, 0)
        page.clock.run_for(AWAY_MS)
        assert not note.is_visible()
        # The note of the focused link stays, wherever the pointer is.
        link.focus()
        note.wait_for()
        heading.hover()
        page.clock.run_for(AWAY_MS)
        page.mouse.move(0, 0)
        page.clock.run_for(AWAY_MS)
        assert note.is_visible()
        other.focus()
        assert not note.is_visible()
        link.focus()
        note.wait_for()
        page.keyboard.press("ArrowUp")
        assert note.is_visible()
        page.keyboard.press("Escape")
        assert not note.is_visible()
        page.keyboard.press("Enter")
        page.wait_for_url("**/glossary.html#term-FLOP-s")
        assert traffic.wrong == []


def test_terms_are_explained_on_touch_screens(browser: Browser, server: Server) -> None:
    with opened(browser, viewport=PHONE, has_touch=True) as (context, page):
        traffic = Traffic().listen(context)
        ready(page, f"{server.origin}/chapters/time.html")
        link, note = page.locator(LINK).first, page.locator(NOTE)
        link.tap()
        note.wait_for()
        assert is_at(page, link)
        box = note.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        page.locator("main h1").first.tap()
        assert not note.is_visible()
        link.tap()
        note.wait_for()
        page.keyboard.press("Escape")
        link.tap()
        note.wait_for()
        link.tap()
        page.wait_for_url("**/glossary.html#term-FLOP-s")
        assert traffic.wrong == []


@pytest.mark.long
def test_terms_are_explained_from_disk_and_stay_links_without_javascript(
    browser: Browser, site: Path
) -> None:
    address = (site / "chapters/time.html").as_uri()
    with opened(browser) as (_, page):
        ready(page, address)
        page.locator(LINK).first.hover()
        page.locator(NOTE).wait_for()
        assert page.locator(NOTE).inner_text() == WORDS
    with opened(browser, java_script_enabled=False) as (_, page):
        page.goto(address)
        assert page.locator(NOTE).count() == 0
        page.locator(LINK).first.click()
        page.wait_for_url("**/glossary.html#term-FLOP-s")


def test_explanations_of_terms_have_no_markup(site: Path) -> None:
    told = (site / "_static/terms.js").read_text(encoding="utf-8")
    linked = {
        term
        for page in site.rglob("*.html")
        for term in re.findall(r'#(term-[^"]+)"><span', page.read_text(encoding="utf-8"))
    }
    assert len(linked) > 30
    assert [term for term in linked if f'"{term}": "' not in told] == []
    assert not re.search(r"\\[a-z(]|\$|\{eval", told)


# Tests of the list of a page's sections.

# Scrolls so that the element with an id is at this share of the window's height.
PUT = """([id, share]) => {
  const { top } = document.getElementById(id).getBoundingClientRect();
  scrollBy({ top: top - share * innerHeight, behavior: "instant" });
}"""
# Returns the addresses of a section that is taller than the window, and of the next section.
LONG_SECTION = """() => {
  const links = [...document.querySelectorAll(".bd-toc-nav a")].map((link) => link.hash);
  const top = (hash) => document.getElementById(hash.slice(1)).getBoundingClientRect().top;
  const at = links.findIndex((hash, i) => i && top(links[i + 1]) - top(hash) > innerHeight);
  return [links[at], links[at + 1]];
}"""
KEEP_PLACE = "(link) => { link.dispatchEvent(new Event('focus')); return link.hash; }"


def test_contents_mark_the_section_that_is_read(browser: Browser, server: Server) -> None:
    """Check also that the link to the other language leads to the same section.

    The link names the section in the address while that is in sight, else the marked one.
    """
    with opened(browser, viewport={"width": 1280, "height": 3000}) as (context, page):
        traffic = Traffic().listen(context)
        ready(page, f"{server.origin}/chapters/time.html")
        marked = page.locator(".bd-toc-nav a[aria-current]")
        expect(marked).to_have_count(1)
        put_width(page, DESK)
        links, language = page.locator(".bd-toc-nav a"), page.locator("a.language").first
        long, after = page.evaluate(LONG_SECTION)
        color = "(link) => getComputedStyle(link).color"
        for hash, share, here, place in (
            ("", 0.3, after, after),
            ("", 0.4, long, long),
            (after, 0.3, after, after),
            (after, 0.4, long, after),
            (after, 1.2, long, long),
        ):
            page.evaluate("(hash) => { location.hash = hash; }", hash)
            page.evaluate(PUT, [after[1:], share])
            expect(marked).to_have_attribute("href", here)
            assert language.evaluate(KEEP_PLACE) == place
        assert marked.evaluate(color) != links.first.evaluate(color)
        expect(marked).to_have_class(re.compile(r"\bactive\b"))
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        expect(marked).to_have_count(0)
        page.evaluate("history.replaceState(null, '', location.pathname)")
        assert language.evaluate(KEEP_PLACE) == ""
        assert traffic.wrong == []


# Excerpts.


@pytest.mark.parametrize(
    "query",
    [
        "bandwidth",
        pytest.param("print", marks=pytest.mark.long),
        pytest.param("ridge point", marks=pytest.mark.long),
    ],
)
def test_search_excerpts_are_prose(browser: Browser, server: Server, query: str) -> None:
    with opened(browser) as (_, page):
        ready(page, f"{server.origin}/search.html?q={query}")
        page.wait_for_function("!document.querySelector('#search-results h2 span')?.textContent")
        page.locator("#search-results .search-summary", has_text="found").wait_for()
        page.wait_for_load_state("networkidle")
        excerpts = page.locator("#search-results p.context").all_inner_texts()
        assert len(excerpts) >= (5 if query != "print" else 1)
        for text in excerpts:
            assert not re.search(r"\\[a-zA-Z(]|\{|\$|print\(|rl\.\w+\(|import |  | = rl", text), (
                text
            )
            assert len(text) <= 250


# Lines of code, colors.

CLIPPED = """() => [...document.querySelectorAll("main pre")]
  .filter((pre) => pre.checkVisibility() && pre.scrollWidth > pre.clientWidth)
  .map((pre) => pre.textContent.slice(0, 80))"""


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 1920])
def test_lines_of_code_are_not_cut_off(browser: Browser, server: Server, width: int) -> None:
    with opened(browser, viewport={"width": width, "height": 900}) as (_, page):
        for name in ("chapters/hardware", "chapters/roofline", "chapters/api"):
            ready(page, f"{server.origin}/{name}.html")
            page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            assert page.locator("main pre").count() > 0
            assert page.evaluate(CLIPPED) == []


# For each box with a tab stop, returns whether it can scroll.
STOPS = """() => [...document.querySelectorAll(
  ".pst-scrollable-table-container, div.math, .cell_output, .cell_output .text_html"
)].filter((e) => e.tabIndex === 0).map((e) => e.scrollWidth > e.clientWidth)"""


def test_boxes_have_a_tab_stop_only_while_their_content_overflows(
    browser: Browser, server: Server
) -> None:
    with browser.new_context(viewport=PHONE) as context:
        page = context.new_page()
        ready(page, f"{server.origin}/chapters/machine.html")
        assert page.evaluate(STOPS)
        page.set_viewport_size(DESK)
        page.wait_for_function(f"({STOPS})().every(Boolean)")


@pytest.mark.long
def test_the_hardware_chapter_is_short_on_a_phone_and_keeps_its_first_column(
    browser: Browser, server: Server
) -> None:
    with opened(browser, viewport={"width": 390, "height": 844}) as (_, page):
        ready(page, f"{server.origin}/chapters/hardware.html")
        assert page.evaluate("document.documentElement.scrollHeight") < 28_000
        table = page.locator("table.long:has(td.sentence-cell)").last
        cell = table.locator("tbody td").first
        before = cell.bounding_box()
        scroll = "(t) => { t.parentElement.scrollLeft = 200; return t.parentElement.scrollLeft; }"
        assert table.evaluate(scroll) > 100
        assert cell.bounding_box() == before


# For each visible cell: whether code is under its Run button, and the height that the button adds.
UNDER_RUN = """() => [...document.querySelectorAll(".run-cell")]
  .filter((button) => button.checkVisibility()).map((button) => {
    const input = button.closest(".cell_input");
    const code = input.querySelector(".cm-content, pre:not([hidden])");
    const box = button.getBoundingClientRect();
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const lines = [];
    while (walker.nextNode()) {
      range.selectNodeContents(walker.currentNode);
      lines.push(...range.getClientRects());
    }
    const hit = lines.some((line) => line.left < box.right && line.right > box.left
      && line.top < box.bottom - 4 && line.bottom > box.top + 4);
    const isNoted = Boolean(input.querySelector(".run-size"));
    const more = isNoted ? 0 : input.offsetHeight - code.closest("pre, .code-editor").offsetHeight;
    return { text: code.textContent.slice(0, 40), hit, more };
  })"""


@pytest.mark.long
def test_the_run_button_takes_no_line_and_covers_no_code(
    browser: Browser, site: Path, below: str
) -> None:
    with serving_native(site, below) as server, opened(browser) as (_, page):
        ready(page, f"{server.origin}/chapters/time.html")
        for size in (DESK, PHONE):
            put_width(page, size)
            cells = page.evaluate(UNDER_RUN)
            assert len(cells) > 10
            assert [cell for cell in cells if cell["hit"] or cell["more"] > 1] == []
            code = "(all) => all.map((e) => e.scrollWidth <= e.clientWidth)"
            assert all(page.locator(".cell_input pre:visible").evaluate_all(code))
        # Once a cell has run, editors replace the static code.
        with a_run(page):
            page.locator(".run-cell").first.click()
        for size in (PHONE, DESK):
            put_width(page, size)
            edited = page.evaluate(UNDER_RUN)
            assert len(edited) == len(cells)
            assert [cell for cell in edited if cell["hit"] or cell["more"] > 1] == []


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_bars_and_hatches_have_contrast_in_both_themes() -> None:
    css = (ROOT / "site/book_extension/static/course.css").read_text(encoding="utf-8")
    dark = {f"#{a}": b for a, b in re.findall(r"--c-(\w{6}): (#\w{6});", css)}
    for line, tint in zip(plots.SERIES, plots.TINTS, strict=True):
        for one, other in ((line, tint), (dark[line], dark[tint])):
            low, high = sorted((luminance(one), luminance(other)))
            assert (high + 0.05) / (low + 0.05) >= 3, (one, other)


# Works.


def test_no_two_works_have_the_same_authors_and_year() -> None:
    cited = []
    for entry in parse_file(str(ROOT / "references.bib"), bib_format="bibtex").entries.values():
        people = [" ".join(p.last_names) for p in entry.persons["author"]]
        names = f"{people[0]} et al." if len(people) > 2 else " and ".join(people)
        cited.append((names, entry.fields.get("year", "n.d.")))
    assert [work for work in cited if cited.count(work) > 1] == []
