"""Tests of the slides: no overflow, no external requests, speaker notes."""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from site_browser import UNSET_MATHS, Traffic, contrast, structure, unnamed_pictures
from site_server import Server

SIZES = {"1920 × 1080": (1920, 1080), "1280 × 720": (1280, 720)}
# Min text sizes on a slide of height 720: of its text, and in its pictures.
TEXT, IN_PICTURES = 32, 18


@dataclass
class Deck:
    """Expected contents of a deck: titles in order, number of slides, minutes, votes."""

    parts: list[str]
    slides: range
    minutes: range
    votes: int = 2


# Folder of the decks → how the titles of their votes begin.
LANGUAGES = {"slides": "Vote", "zh/slides": "投票"}


DECKS = {
    "roofline": Deck(
        [
            "Why not ten times faster?",
            "The time to compute",
            "Arithmetic intensity",
            "The dot product, counted",
            "One picture for all of it",
            "Matrix multiplication, counted",
            "Two chips, each with half of D",
            "Three formulas",
            "At home",
            "To read, and what comes next",
        ],
        range(22, 29),
        range(60, 76),
    ),
    "attention": Deck(
        [
            "Counted",
            "Prefill: compute-bound from some length on",
            "How many sequences fit",
            "A step of a whole model",
            "Compared with measurements",
            "Three sentences",
        ],
        range(10, 15),
        range(30, 41),
    ),
}
FIGURES_LIVE = """() =>
  !Reveal.getCurrentSlide().querySelector("figure.live:not([data-state=live])")"""
# Leave out this violation: Reveal.js gives the deck the role application, inside which axe doesn't
# accept the main landmark.
MAIN_IN_REVEAL = "landmark-main-is-top-level: .slides:"
ADD = """(style) => Reveal.getCurrentSlide()
  .insertAdjacentHTML("beforeend", `<p style="${style}">x</p>`)"""
VISIBILITY = """() =>
  getComputedStyle(Reveal.getCurrentSlide().querySelector(".answer")).visibility"""
READY = """async () => {
  await new Promise((done) => Reveal.isReady() ? done() : Reveal.on("ready", done));
  await document.fonts.ready;
}"""
SHOW = """(number) => {
  const at = Reveal.getIndices(Reveal.getSlides()[number]);
  Reveal.slide(at.h, at.v, 99);
}"""
# Returns a slide's title and notes, how far its elements reach (in slide units), and the smallest
# sizes of its text and of the text in its pictures.
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide(), scale = Reveal.getScale();
  const { left, top } = document.querySelector(".reveal .slides").getBoundingClientRect();
  let right = 0, bottom = 0;
  const sizes = { text: [], pictures: [] };
  for (const element of slide.querySelectorAll("*")) {
    if (element.closest("aside")) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    right = Math.max(right, (box.right - left) / scale);
    bottom = Math.max(bottom, (box.bottom - top) / scale);
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || element.closest("math, option")) continue;
    if (element.closest("svg, figure.live")) {
      if (element.tagName === "text") sizes.pictures.push(box.height / scale);
    } else sizes.text.push(parseFloat(getComputedStyle(element).fontSize));
  }
  return {
    title: slide.querySelector("h1, h2").innerText.trim(),
    notes: slide.querySelector("aside.notes")?.textContent ?? "",
    right, bottom,
    text: Math.min(...sizes.text),
    pictures: Math.min(...sizes.pictures, 999),
  };
}"""


@dataclass
class Seen:
    """Measurements of a deck's slides at one window size."""

    deck: Deck
    slides: list[dict[str, Any]] = field(default_factory=list)
    traffic: Traffic = field(default_factory=Traffic)
    unset: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    axe: list[str] = field(default_factory=list)


def too_large(slide: dict[str, Any]) -> bool:
    return bool(slide["right"] > 1280.5 or slide["bottom"] > 720.5)


def opened(page: Page, address: str) -> int:
    """Open a deck, wait until it is ready, and return the number of slides."""
    page.goto(address)
    page.evaluate(READY)
    return int(page.evaluate("Reveal.getTotalSlides()"))


@pytest.fixture(
    scope="module",
    params=[
        # Test the large window only in long runs: slides scale, so results hardly differ.
        pytest.param((name, size), marks=[pytest.mark.long] if size == "1920 × 1080" else [])
        for name in DECKS
        for size in SIZES
    ],
    ids=lambda param: ", ".join(param),
)
def seen(request: pytest.FixtureRequest, server: Server, browser: Browser) -> Seen:
    name, size = request.param
    return looked_at(browser, server.origin, f"slides/{name}", size)


@pytest.fixture(
    scope="module",
    params=["attention", pytest.param("roofline", marks=pytest.mark.long)],
)
def chinese(request: pytest.FixtureRequest, server: Server, browser: Browser) -> Seen:
    return looked_at(
        browser, server.origin, f"zh/slides/{request.param}", "1280 × 720", with_axe=True
    )


def looked_at(
    browser: Browser, origin: str, deck: str, size: str, *, with_axe: bool = False
) -> Seen:
    """Show all slides of a deck in a window of this size, and measure them."""
    width, height = SIZES[size]
    found = Seen(DECKS[Path(deck).name])
    context = browser.new_context(viewport={"width": width, "height": height})
    found.traffic.listen(context)
    page = context.new_page()
    count = opened(page, f"{origin}/{deck}.html")
    styles: set[str] = set()
    for number in range(count):
        page.evaluate(SHOW, number)
        page.wait_for_function(FIGURES_LIVE)
        found.slides.append(page.evaluate(MEASURE))
        found.unnamed += unnamed_pictures(page)
        if with_axe:
            found.axe += contrast(page, styles)
    if with_axe:
        found.axe += [line for line in structure(page) if not line.startswith(MAIN_IN_REVEAL)]
    found.unset = page.evaluate(UNSET_MATHS)
    found.traffic.asked = found.traffic.outside(origin)
    context.close()
    return found


def test_no_slide_overflows(seen: Seen) -> None:
    assert [slide["title"] for slide in seen.slides if too_large(slide)] == []


def test_text_is_large_enough_for_the_last_row(seen: Seen) -> None:
    assert [s["title"] for s in seen.slides if s["text"] < TEXT] == []
    assert [s["title"] for s in seen.slides if s["pictures"] < IN_PICTURES] == []


def test_no_outside_requests_errors_raw_formulas_or_unnamed_pictures(seen: Seen) -> None:
    assert seen.traffic.asked == []
    assert seen.traffic.wrong == []
    assert seen.unset == []
    assert seen.unnamed == []


def test_chinese_slides_pass_the_checks_of_english_ones_and_axe(chinese: Seen) -> None:
    test_no_slide_overflows(chinese)
    test_text_is_large_enough_for_the_last_row(chinese)
    test_no_outside_requests_errors_raw_formulas_or_unnamed_pictures(chinese)
    assert len(chinese.slides) in chinese.deck.slides
    assert chinese.axe == []


def test_minutes_in_speaker_notes_add_up_to_the_length_of_a_lecture(seen: Seen) -> None:
    spent = 0
    for slide in seen.slides:
        clock = re.match(r"(\d+) min, until (\d):(\d\d)\.\s+\S", slide["notes"])
        assert clock, slide["title"]
        spent += int(clock[1])
        assert spent == 60 * int(clock[2]) + int(clock[3]), slide["title"]
    assert spent in seen.deck.minutes


def test_decks_have_the_expected_titles_in_order_and_number_of_slides(seen: Seen) -> None:
    titles = [slide["title"] for slide in seen.slides]
    assert [title for title in titles if title in seen.deck.parts] == seen.deck.parts
    assert len(titles) in seen.deck.slides
    assert titles[-1] == seen.deck.parts[-1]


@pytest.fixture(scope="module")
def decks(site: Path, browser: Browser) -> dict[str, Page]:
    """Open the decks from disk, as in a copied folder of the site."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    pages = {f"{folder}/{name}": context.new_page() for folder in LANGUAGES for name in DECKS}
    for name, page in pages.items():
        opened(page, (site / f"{name}.html").as_uri())
    yield pages
    context.close()


@pytest.fixture
def deck(decks: dict[str, Page]) -> Page:
    return decks["slides/roofline"]


def test_overflowing_slides_are_detected(deck: Page) -> None:
    deck.evaluate(SHOW, 3)
    assert not too_large(deck.evaluate(MEASURE))
    deck.evaluate(ADD, "height: 700px")
    assert too_large(deck.evaluate(MEASURE))
    deck.evaluate("Reveal.getCurrentSlide().lastElementChild.remove()")
    deck.evaluate(ADD, "width: 1300px")
    assert too_large(deck.evaluate(MEASURE))


def test_the_address_has_the_slides_number_and_titles_are_at_equal_height(deck: Page) -> None:
    heights = set()
    for number in (2, 3, 5):
        deck.evaluate(SHOW, number)
        height = "Reveal.getCurrentSlide().querySelector('h2').getBoundingClientRect().top"
        heights.add(round(deck.evaluate(height)))
    assert len(heights) == 1
    # Reveal.js changes the address at most once a second.
    deck.wait_for_function("location.hash.startsWith(`#/${Reveal.getIndices().h}`)")


@pytest.mark.parametrize("folder", LANGUAGES)
@pytest.mark.parametrize("name", DECKS)
def test_vote_answers_are_hidden_until_the_next_key(
    decks: dict[str, Page], name: str, folder: str
) -> None:
    deck = decks[f"{folder}/{name}"]
    votes = deck.evaluate(
        """(vote) => Reveal.getSlides()
          .map((slide, at) => [slide.querySelector("h2")?.innerText, at])
          .filter(([title]) => title?.startsWith(vote))""",
        LANGUAGES[folder],
    )
    assert len(votes) == DECKS[name].votes
    for _, number in votes:
        deck.evaluate(SHOW.replace("at.v, 99", "at.v, -1"), number)
        answer = deck.locator("section.present .answer")
        assert answer.count() == 1
        assert deck.evaluate(VISIBILITY) == "hidden"
        deck.keyboard.press("ArrowRight")
        assert "visible" in str(answer.get_attribute("class"))


def test_figures_are_live_without_a_server(deck: Page) -> None:
    number = deck.evaluate(
        "Reveal.getSlides().findIndex((s) => s.querySelector('[data-figure=roofline]'))"
    )
    deck.evaluate(SHOW, number)
    figure = deck.locator("section.present figure.live[data-state=live]")
    before = figure.locator("data[data-name=reached]").text_content()
    figure.locator("input[name=intensity]").fill("30")
    deck.wait_for_function(
        "(was) => document.querySelector('[data-figure=roofline] data').textContent !== was",
        arg=before,
    )


@pytest.mark.long
def test_the_handouts_have_a_page_of_notes_after_each_slide(
    decks: dict[str, Page], site: Path
) -> None:
    # Run the command of `make slides`; a second browser needs a separate process.
    command = [sys.executable, str(site.parents[1] / "site"), "slides"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    handouts = {name: site.parent / f"{name}-slides.pdf" for name in DECKS}
    assert sorted(printed.splitlines()) == sorted(map(str, handouts.values()))
    for name, handout in handouts.items():
        titles = decks[f"slides/{name}"].evaluate(
            "Reveal.getSlides().map((s) => s.querySelector('h1, h2').innerText.trim())"
        )
        pages = [page.extract_text() for page in PdfReader(handout).pages]
        assert len(pages) == 2 * len(titles)
        for title, slide, notes in zip(titles, pages[::2], pages[1::2], strict=True):
            assert plain(slide).startswith(plain(title))
            assert re.match(r"\d+ min, until \d:\d\d\.", notes)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("ﬁ", "fi").replace("ﬀ", "ff"))


def test_the_page_for_instructors_links_to_the_slides(site: Path) -> None:
    page = (site / "chapters" / "instructors.html").read_text(encoding="utf-8")
    for name in DECKS:
        assert f'href="../slides/{name}.html"' in page
        assert (site / "slides" / f"{name}.html").exists()
