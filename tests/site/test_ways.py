"""Tests of stated reading times, and of reading routes, which "next" links follow."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from book_extension import minutes
from browser import ways
from bs4 import BeautifulSoup, SoupStrainer
from docutils import nodes
from docutils.utils import new_document
from playwright.sync_api import Browser, BrowserContext, Page
from repository import ROOT
from series import series
from site_browser import DESK, PHONE, SIDEWAYS, UNCOVER, axe, put_theme, put_width, ready
from site_server import Server

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
WAY = CONFIG["ways"]["inference"]["pages"]
SKIPPED = CONFIG["ways"]["inference"]["skips"]
WHOLE = [chapter["file"] for part in CONTENTS["parts"][:2] for chapter in part["chapters"]]

LONGEST = 45  # minutes; split a longer chapter in two


# ---- reading times


def test_reading_time_counts_prose_formulas_and_figures() -> None:
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.Text("four words of prose"), nodes.math("", "x + y"))
    document += nodes.literal_block("", "code is not prose")
    document += nodes.table("", nodes.entry("", nodes.paragraph("", "nor are tables")))
    document += nodes.raw("", "<svg></svg>", format="html")
    document += nodes.raw("", "<table></table>", format="html")
    document += nodes.math_block("", "z")
    answer = nodes.Element("", nodes.inline("", "the answer"))
    answer.tagname = "answer"
    document += answer
    document += nodes.container("", nb_element="cell_code_source")
    document += nodes.container("", nb_element="cell_code_output")
    assert minutes.counted(document) == {
        "words": 4,
        "formulas": 2,
        "figures": 1,
    }


@pytest.mark.parametrize(
    "counts",
    [
        (0, 0, 0),
        (2291, 4, 5),
        (3656, 26, 9),
        (600, 0, 0),
        (0, 27, 0),
        (0, 0, 9),
    ],
)
def test_reading_time_is_the_nearest_positive_multiple_of_five_minutes(
    counts: tuple[int, ...],
) -> None:
    weights = (Fraction(1, 80), Fraction(1, 3), Fraction(3, 2))
    exact = sum(weight * count for weight, count in zip(weights, counts, strict=True))
    names = ("words", "formulas", "figures")
    said = minutes.minutes(dict(zip(names, counts, strict=True)))
    assert said % 5 == 0
    assert said == 5 if exact < 5 else abs(said - exact) <= Fraction(5, 2)


@pytest.mark.parametrize(
    ("total", "words"),
    [
        (5, "half an hour"),
        (40, "half an hour"),
        (45, "an hour"),
        (75, "1½ hours"),
        (120, "2 hours"),
        (140, "2½ hours"),
        (300, "5 hours"),
    ],
)
def test_hours_are_rounded_to_half_an_hour(total: int, words: str) -> None:
    assert minutes.hours(total) == words


def head(site: Path, page: str) -> int:
    """Return the reading time in minutes that a page states at its head."""
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(text, "html.parser", parse_only=SoupStrainer("p", class_="place"))
    found = re.search(r"about (\d+) minutes", soup.get_text())
    assert found, page
    return int(found[1])


def test_chapters_and_reading_routes_state_their_reading_time(site: Path) -> None:
    times = {page: head(site, page) for page in WHOLE}
    assert max(times.values()) <= LONGEST, times
    home = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    named = [way.get_text() for way in home.select(".ways .way")]
    # The reading time of the inference route excludes the sections that it skips.
    assert named == [
        f"The whole course, about {minutes.hours(sum(times.values()))}",
        "Inference, about 2 hours",
    ]
    exercise = (site / "exercises/attention/attention.html").read_text(encoding="utf-8")
    assert not BeautifulSoup(exercise, "html.parser").select(".place .minutes")


def test_reading_time_is_counted_for_each_section() -> None:
    document = new_document("page")
    for count in (80, 160):
        text = nodes.paragraph("", "", nodes.Text("word " * count))
        document += nodes.section("", text, nodes.math_block("", "x"))
    first, second = document.findall(nodes.section)
    assert minutes.of_section(first) == pytest.approx(4 / 3)
    assert minutes.of_section(second) == pytest.approx(7 / 3)


# ---- reading routes, "ways" in the code


def test_a_reading_route_follows_the_order_of_the_course() -> None:
    assert [page for page in WHOLE if page in WAY] == WAY


def test_only_pages_that_reading_routes_change_load_their_script(site: Path) -> None:
    def scripts(page: str) -> int:
        return (site / f"{page}.html").read_text(encoding="utf-8").count("ways.js")

    assert scripts("index") == scripts(WAY[0]) == 1
    assert scripts("chapters/references") == 0


PAGES = {"a/one": "One", "a/two": "Two", "a/three": "Three", "b/four": "Four"}
TEXT = "word " * 80  # a minute


def course(**given: dict[str, Any]) -> Any:
    """Return a course with these reading routes; a/two has four one-minute sections."""
    labels, doctrees = {}, {}
    for name in PAGES:
        doctrees[name] = new_document(name)
        doctrees[name] += nodes.paragraph("", "", nodes.Text(TEXT * 10))
    for name in ("first", "second", "third", "fourth"):
        title = nodes.title("", name.title())
        doctrees["a/two"] += nodes.section("", title, nodes.Text(TEXT), ids=[name, f"id-{name}"])
        labels[f"label-{name}"] = ("a/two", f"id-{name}", name.title())
    parts = [
        SimpleNamespace(numbered=numbered, items=[p for p in PAGES if p[0] == folder])
        for folder, numbered in (("a", True), ("b", False))
    ]
    return Mock(
        config=SimpleNamespace(
            ways=given, external_site_map=SimpleNamespace(root=SimpleNamespace(subtrees=parts))
        ),
        env=SimpleNamespace(
            found_docs=set(PAGES),
            titles={name: nodes.title("", title) for name, title in PAGES.items()},
            domaindata={"std": {"labels": labels}},
            get_doctree=doctrees.__getitem__,
        ),
        builder=SimpleNamespace(get_relative_uri=lambda here, page: f"{here}->{page}"),
    )


WAYS = {
    "short": {
        "title": "Short, {hours}",
        "pages": ["a/one", "a/two", "b/four", "gone"],
        "skips": ["label-second", "label-third", "no-such-label"],
    },
    "whole": {"title": "All", "pages": ["a/one", "a/two"]},
    "none": {"title": "Nothing", "pages": ["gone"]},
}


def test_the_choice_lists_each_reading_route_with_its_time_and_pages() -> None:
    whole, *lines = ways.choice(course(**WAYS), "index").children
    assert [whole.astext(), *(line.astext() for line in lines)] == [
        # 10 + 15 + 10 minutes, each page rounded to a multiple of five.
        "The whole course, about half an hour",
        # 10 + 15 + 10 minutes, less two for the sections that the route leaves out.
        "Short, half an hour: One · Two · Four. It leaves out 2 sections: a line below their "
        "headings says so.",
        "All: One · Two",
    ]
    assert [line[0]["classes"] for line in lines] == [["way", "way-short"], ["way", "way-whole"]]
    assert [link["refuri"] for link in lines[1].findall(nodes.reference)] == [
        "index->a/one",
        "index->a/two",
    ]


def test_skipped_sections_shorten_the_stated_duration() -> None:
    long = WAYS["short"] | {"skips": [f"label-{name}" for name in ("first", "second", "third")]}
    app = course(short=long)
    app.env.get_doctree("a/two")[1] += nodes.paragraph("", "", nodes.Text(TEXT * 30))
    assert "Short, half an hour: " in ways.choice(app, "index").astext()
    del app.config.ways["short"]["skips"]
    assert "Short, an hour: " in ways.choice(app, "index").astext()


def test_a_page_has_neighbors_on_each_reading_route_that_includes_it() -> None:
    app = course(**WAYS)
    first, second = ["a/two->a/one", "One"], ["a/two->b/four", "Four"]
    assert ways.neighbors(app, "a/two") == {
        "short": {"prev": first, "next": second},
        "whole": {"prev": first},
    }
    assert ways.neighbors(app, "a/one")["short"] == {"next": ["a/one->a/two", "Two"]}
    assert ways.neighbors(app, "a/three") == {}


def test_a_section_left_out_of_a_route_links_to_the_next_one_that_is_kept() -> None:
    app = course(**WAYS)
    assert ways.detours(app, "a/two") == {
        "short": [["second", "fourth", "Fourth"], ["third", "fourth", "Fourth"]]
    }
    assert ways.detours(app, "a/one") == {}
    # A page that isn't on a route gets no links past the sections that the route leaves out.
    assert ways.detours(course(short=WAYS["short"] | {"pages": ["a/one"]}), "a/two") == {}


@pytest.mark.parametrize(
    ("page", "has_minutes", "data"),
    [
        ("a/two", True, [{"short", "whole"}, {"short"}]),
        ("a/one", True, [{"short", "whole"}, set()]),
        ("a/three", True, None),
        ("b/four", False, [{"short"}, set()]),
        ("index", False, [set(), set()]),
        (None, False, None),
    ],
)
def test_pages_get_the_data_of_the_reading_routes_that_change_them(
    page: str | None, has_minutes: bool, data: list[set[str]] | None
) -> None:
    app = course(**WAYS)
    document = new_document("index") if page else None
    if page == "index":
        document += ways.choice(app, page)
    context: dict[str, Any] = {}
    ways.add_script(app, page or "search", "page.html", context, document)
    assert ("minutes" in context) == has_minutes
    assert app.add_css_file.called == app.add_js_file.called == (data is not None)
    if data is not None:
        given = app.add_js_file.call_args.kwargs
        assert [set(json.loads(given[f"data-{name}"])) for name in ("ways", "detours")] == data
        assert given["loading_method"] == "defer"


def test_chapters_are_the_pages_up_to_the_last_numbered_part() -> None:
    def chapters(*numbered: bool) -> list[str]:
        app = course()
        app.config.external_site_map.root.subtrees = [
            SimpleNamespace(numbered=one, items=[str(place)]) for place, one in enumerate(numbered)
        ]
        return minutes.chapters(app)

    assert chapters(False, True, False, True, False) == ["0", "1", "2", "3"]
    assert chapters(True, False) == ["0"]
    assert chapters(False, False) == []


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=DESK, color_scheme="light")
    yield context
    context.close()


def follow(page: Page, server: Server, side: str) -> str:
    """Follow the link to the previous or next page; return the page it leads to."""
    title = page.locator(f"a.{side} .prev-next-title").text_content()
    with page.expect_navigation():
        page.locator(f"a.{side}").click()
    assert page.title().split(" — ")[0].split(". ")[-1] == (title or "").split(". ")[-1]
    return page.url.removeprefix(f"{server.origin}/").removesuffix(".html")


def walk(page: Page, server: Server, side: str, start: str, steps: int = 1) -> list[str]:
    ready(page, f"{server.origin}/{start}.html")
    return [follow(page, server, side) for _ in range(steps)]


@series(3, len(WAY))
def test_next_follows_the_contents_unless_another_route_is_chosen(
    reader: BrowserContext, server: Server, count: int
) -> None:
    page = reader.new_page()
    assert walk(page, server, "right-next", "index", 2) == WHOLE[:2]
    ready(page, f"{server.origin}/{WAY[-1]}.html")
    assert page.locator(".off-way").count() == 0
    ready(page, f"{server.origin}/index.html")
    assert page.get_by_label("The whole course").is_checked()
    page.get_by_label("Inference").check()
    assert page.get_by_role("radiogroup", name="Your way through the course").count() == 1
    assert axe(page, ".ways") == []
    put_width(page, PHONE)
    put_theme(page, "dark")
    assert axe(page, ".ways") == []
    assert page.evaluate(SIDEWAYS) <= 0
    put_width(page, DESK)
    put_theme(page, "light")
    assert f"leaves out {len(SKIPPED)} sections" in page.locator(".ways").inner_text()
    seen, back, left_out = [], [], []
    for _ in range(count):
        seen.append(follow(page, server, "right-next"))
        back.append(page.locator("a.left-prev").evaluate("(a) => a.href"))
        left_out += names_of_sections_left_out(page)
    assert seen == WAY[:count]
    assert back[1:] == [f"{server.origin}/{name}.html" for name in WAY[: count - 1]]
    seen_pages = tuple(Path(name).name for name in seen)
    assert left_out == [label for label in SKIPPED if label.startswith(seen_pages)] != []
    # Pages outside the route keep their neighbors; the route's last page keeps its next link.
    assert walk(page, server, "left-prev", WAY[-1]) == WAY[-2:-1]
    assert walk(page, server, "right-next", WHOLE[2]) == WHOLE[3:4]
    assert walk(page, server, "right-next", WAY[-1]) == [WHOLE[WHOLE.index(WAY[-1]) + 1]]
    ready(page, f"{server.origin}/index.html")
    assert page.get_by_label("Inference").is_checked()
    page.get_by_label("The whole course").check()
    assert walk(page, server, "right-next", WHOLE[1]) == WHOLE[2:3]
    # A stored route that the course no longer has counts as the whole course.
    page.evaluate("localStorage.setItem('roofline-way', 'former')")
    ready(page, f"{server.origin}/index.html")
    assert page.get_by_label("The whole course").is_checked()
    assert follow(page, server, "right-next") == WHOLE[0]


def names_of_sections_left_out(page: Page) -> list[str]:
    """Return the labels of the sections that the page marks as not on the route."""
    page.evaluate(UNCOVER)
    assert page.evaluate(SIDEWAYS) <= 0
    here = page.locator("section:has(> .off-way)")
    ids = here.evaluate_all(
        "all => all.flatMap(e => [e.id, ...[...e.querySelectorAll("
        "':scope > span[id]')].map(span => span.id)])"
    )
    for link in page.locator(".off-way a").all():
        target = (link.get_attribute("href") or "").removeprefix("#")
        assert target not in ids
        after = f"e => e.compareDocumentPosition(document.getElementById({target!r}))"
        assert link.evaluate(after) & 4  # the target comes after the link
    return [label for label in SKIPPED if label in ids]


def test_without_javascript_the_reading_routes_are_links(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.origin}/index.html")
    assert page.locator(".ways input").count() == 0
    links = page.locator(".ways a").evaluate_all("(all) => all.map((e) => e.getAttribute('href'))")
    assert links == [f"{name}.html" for name in WAY]
    page.goto(f"{server.origin}/{WAY[1]}.html")
    page.locator("a.right-next").click()
    assert page.url.endswith(f"/{WHOLE[2]}.html")
    context.close()
