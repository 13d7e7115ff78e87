"""The course on paper and on the wall: the printed book, a printed page, the lectures' slides."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from reader import Reader
from repository import ROOT
from site_browser import COLORS, UNNAMED, UNSET_MATHS, Traffic, axe, put_theme
from site_links import parsed
from site_sweep import FOLDERS, PAGES, WRITTEN

HAN = re.compile("[\u4e00-\u9fff]")
CODES = {"en": "en", "zh": "zh_CN"}


def printed(site: Path, command: str, language: str) -> list[Path]:
    """Print what `make pdf` or `make slides` prints; return the paths that it names."""
    book = str(site.parents[1])
    words = [sys.executable, str(ROOT / "site"), command, book, "--language", CODES[language]]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [Path(line) for line in run.stdout.splitlines()]


# ---- the printed book


@pytest.fixture(scope="module", params=[pytest.param(one, marks=pytest.mark.long) for one in PAGES])
def book(request: pytest.FixtureRequest, site: Path) -> tuple[PdfReader, str]:
    (path,) = printed(site, "pdf", request.param)
    return PdfReader(path), request.param


def latin(text: str) -> str:
    """Return the Latin part of a text, without spaces: a machine may lack a font for Chinese."""
    return re.sub(r"[^\x21-\x7e]", "", text)


def test_the_book_has_all_pages_with_bookmarks_that_lead_there(
    book: tuple[PdfReader, str], site: Path
) -> None:
    pdf, language = book
    marks = [mark for mark in pdf.outline if not isinstance(mark, list)]
    titles = [
        parsed(site / f"{FOLDERS[language]}{name}.html").select_one("article h1").get_text()
        for name in WRITTEN
    ]
    # After the first come the book's contents, which the site has not.
    assert [mark.title for mark in (marks[0], *marks[2:])] == [t.removesuffix("#") for t in titles]
    assert pdf.root_object["/Lang"] == {"en": "en", "zh": "zh-CN"}[language]
    for mark in marks[2:]:
        title = latin(mark.title.split(". ")[-1])
        sheet = pdf.pages[pdf.get_destination_page_number(mark)]
        assert title in latin(sheet.extract_text())


def test_every_link_of_the_book_leads_into_it_or_to_the_web(book: tuple[PdfReader, str]) -> None:
    pdf, _ = book
    notes = [note.get_object() for sheet in pdf.pages for note in sheet.get("/Annots", [])]
    inner = [str(note["/Dest"]) for note in notes if "/Dest" in note]
    outer = [str(note["/A"]["/URI"]) for note in notes if "/Dest" not in note]
    assert len(inner) > 400
    assert [name for name in inner if name not in pdf.named_destinations] == []
    # PAGE--PLACE: most lead to a place in a page, not to its top.
    assert sum("--" in name for name in inner) > len(inner) / 2
    assert outer
    assert [address for address in outer if not address.startswith("https://")] == []


def test_the_book_has_numbered_pages_its_answers_and_no_source_of_formulas(
    book: tuple[PdfReader, str], site: Path
) -> None:
    pdf, language = book
    assert len(pdf.pages) > 80
    texts = [sheet.extract_text() for sheet in pdf.pages]
    # A number may be extracted first, with the title at the foot right after it.
    for number, text in enumerate(texts[1:], 2):
        assert text.startswith(str(number)) or str(number) in text.split()
    whole = latin("".join(texts))
    assert r"\frac" not in whole
    assert r"\[" not in whole
    # Folded answers are on paper, too.
    folded = 0
    for name in WRITTEN:
        page = parsed(site / f"{FOLDERS[language]}{name}.html")
        for answer in page.select("article details .sd-summary-content p > .computed"):
            folded += 1
            assert latin(answer.get_text()) in whole, (name, answer)
    assert folded > 20
    assert pdf.metadata.title


def test_a_missing_font_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fonts = tmp_path / "fc-list"
    fonts.write_text("#!/bin/sh\n")  # on a system without any
    fonts.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command = [sys.executable, str(ROOT / "site"), "pdf", str(tmp_path), "--language", "zh_CN"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert re.search(r"sudo apt install fonts-\S+$", run.stderr, re.MULTILINE)
    assert "Traceback" not in run.stderr


def test_a_page_prints_without_what_needs_a_screen(reader: Reader) -> None:
    reader.open("chapters/time", covered=True)
    put_theme(reader.page, "dark")
    folds = "[...document.querySelectorAll('details:not(.above-input)')].map(({ open }) => open)"
    reader.page.locator("details:visible > summary").first.click()
    folded = reader.page.evaluate(folds)
    assert {*folded} == {True, False}
    reader.page.emulate_media(media="print")
    reader.page.evaluate("() => { dispatchEvent(new Event('beforeprint')); }")
    assert reader.page.locator("details:not([open]):not(.above-input)").count() == 0
    gone = "button, .bd-links, .guess-skip, .bd-sidebar-secondary"
    assert reader.page.locator(f":is({gone}):visible").count() == 0
    assert reader.page.locator("figure.live svg:visible").count()
    assert all(reader.shown_after(guess) for guess in reader.guesses(folded=False))
    paper = "['backgroundColor', 'color'].map((one) => getComputedStyle(document.body)[one])"
    printed = reader.page.evaluate(paper)
    reader.page.evaluate("() => { dispatchEvent(new Event('afterprint')); }")
    reader.page.emulate_media(media="screen")
    assert reader.page.evaluate(paper) != printed
    put_theme(reader.page, "light")
    assert reader.page.evaluate(paper) == printed
    assert reader.page.evaluate(folds) == folded


def test_an_address_on_the_web_stands_behind_its_link_on_paper(reader: Reader) -> None:
    reader.open("chapters/privacy")
    reader.page.emulate_media(media="print")
    links = reader.page.locator("article a[href^='https:']:visible")
    behind = (
        "(all) => all.map((a) => [a.getAttribute('href'), getComputedStyle(a, '::after').content])"
    )
    found = links.evaluate_all(behind)
    assert found
    assert [href for href, content in found if href not in content] == []


# ---- the slides

DECKS = sorted(path.stem for path in (ROOT / "slides").glob("*.md"))
SIZE = {"width": 1280, "height": 720}
# Reveal.js gives the deck the role application, inside which axe accepts no main landmark.
MAIN_IN_REVEAL = "landmark-main-is-top-level: .slides:"
OPENED = """async () => {
  await document.fonts.ready;
  return Reveal.getTotalSlides();
}"""
SHOW = """([number, fragment]) => {
  const at = Reveal.getIndices(Reveal.getSlides()[number]);
  Reveal.slide(at.h, at.v, fragment);
}"""
LIVE = """() =>
  !Reveal.getCurrentSlide().querySelector("figure.live:not([data-state=live])")"""
# A slide's title and notes, and how far its elements reach, in the slide's units.
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide(), scale = Reveal.getScale();
  const { left, top } = document.querySelector(".reveal .slides").getBoundingClientRect();
  let right = 0, bottom = 0;
  for (const element of slide.querySelectorAll("*")) {
    if (element.closest("aside")) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    right = Math.max(right, (box.right - left) / scale);
    bottom = Math.max(bottom, (box.bottom - top) / scale);
  }
  return {
    title: slide.querySelector("h1, h2").innerText.trim(),
    notes: slide.querySelector("aside.notes")?.textContent ?? "",
    answers: slide.querySelectorAll(".answer").length,
    right, bottom,
    values: [...slide.querySelectorAll(".computed")].map((e) => e.textContent).sort(),
    formulas: slide.querySelectorAll("math").length,
  };
}"""


class Deck:
    """A deck of slides in a window, with what each slide measures."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        page.goto(address)
        self.slides: list[dict[str, Any]] = []
        self.pale: list[str] = []
        page.wait_for_function("() => window.Reveal?.isReady()")
        for number in range(page.evaluate(OPENED)):
            self.show(number)
            self.slides.append(page.evaluate(MEASURE))
            if "/zh/" not in address:  # translations have the same colors
                self.pale += axe(page, only=COLORS)

    def show(self, number: int, fragment: int = 99) -> None:
        """Show a slide: whole, or with fragment -1 as it looks when one comes to it."""
        self.page.evaluate(SHOW, [number, fragment])
        self.page.wait_for_function(LIVE)


@pytest.fixture(scope="module")
def decks(browser: Browser, site: Path) -> Iterator[dict[str, Deck]]:
    """Open all decks of both languages from the folder, as a lecturer without network does."""
    context = browser.new_context(viewport=SIZE, offline=True)  # type: ignore[arg-type]
    traffic = Traffic().listen(context)
    found = {
        f"{folder}slides/{name}": Deck(
            context.new_page(), (site / f"{folder}slides/{name}.html").as_uri()
        )
        for folder in FOLDERS.values()
        for name in DECKS
    }
    yield found
    context.close()
    assert traffic.outside("file://") == []
    assert traffic.wrong == []


def test_slides_fit_and_can_be_read(decks: dict[str, Deck]) -> None:
    for name, deck in decks.items():
        wrong = [
            (name, slide["title"])
            for slide in deck.slides
            if slide["right"] > SIZE["width"] + 0.5 or slide["bottom"] > SIZE["height"] + 0.5
        ]
        assert wrong == []
        assert deck.page.evaluate(UNNAMED) == [], name
        assert deck.pale == [], name
        assert deck.page.evaluate(UNSET_MATHS) == [], name
    for name in DECKS:
        found = axe(decks[f"slides/{name}"].page)
        assert [line for line in found if not line.startswith(MAIN_IN_REVEAL)] == [], name


def test_each_slide_has_notes_whose_minutes_add_up_to_a_lecture(decks: dict[str, Deck]) -> None:
    for name, deck in decks.items():
        spent = 0
        for slide in deck.slides:
            clock = re.match(r"\s*(\d+)\D+(\d):(\d\d)\W+\w", slide["notes"])
            assert clock, (name, slide["title"])
            spent += int(clock[1])
            assert spent == 60 * int(clock[2]) + int(clock[3]), (name, slide["title"])
        assert 30 <= spent <= 90, name


def test_a_deck_is_the_same_in_both_languages(decks: dict[str, Deck]) -> None:
    for name in DECKS:
        english, chinese = decks[f"slides/{name}"], decks[f"zh/slides/{name}"]
        for what in ("values", "formulas", "answers"):
            assert [slide[what] for slide in chinese.slides] == [
                slide[what] for slide in english.slides
            ], (name, what)
        assert any(slide["values"] for slide in english.slides)
        assert chinese.page.locator("html").get_attribute("lang") == "zh-CN"
        # A translation follows: what is new may be in English, but no more than a little.
        titles = [slide["title"] for slide in chinese.slides]
        assert sum(bool(HAN.search(title)) for title in titles) > len(titles) / 2


def test_buttons_and_the_list_of_keys_of_a_chinese_deck_are_in_chinese(
    decks: dict[str, Deck],
) -> None:
    for name in DECKS:
        page = decks[f"zh/slides/{name}"].page
        page.keyboard.press("Shift+Slash")
        said = page.locator(".r-overlay-help-content :is(.title, th, td:last-child)")
        said.last.wait_for()
        named = page.locator(".controls button")
        words = [
            *said.all_inner_texts(),
            *named.evaluate_all("(all) => all.map((e) => e.ariaLabel)"),
        ]
        page.keyboard.press("Escape")
        assert len(words) > 10
        assert [one for one in words if re.search("[A-Za-z]{2}", one)] == []


def test_the_answer_of_a_vote_waits_for_a_key(decks: dict[str, Deck]) -> None:
    answer = "getComputedStyle(Reveal.getCurrentSlide().querySelector('.answer')).visibility"
    for deck in decks.values():
        votes = [number for number, slide in enumerate(deck.slides) if slide["answers"]]
        assert votes
        for number in votes:
            deck.show(number, -1)
            deck.page.wait_for_function(f"{answer} === 'hidden'")
            deck.page.keyboard.press("ArrowRight")
            deck.page.wait_for_function(f"{answer} === 'visible'")


def test_figures_on_slides_follow_their_controls(decks: dict[str, Deck]) -> None:
    deck = next(d for d in decks.values() if d.page.locator("figure.live input").count())
    number = "Reveal.getSlides().findIndex((s) => s.querySelector('figure.live input'))"
    deck.show(deck.page.evaluate(number))
    figure = deck.page.locator("section.present figure.live[data-state=live]").first
    before = figure.inner_text()
    figure.locator("input[type=range]").first.press("ArrowRight")
    assert figure.inner_text() != before


def test_the_page_for_instructors_leads_to_the_slides_of_its_language(site: Path) -> None:
    for language in PAGES:
        page = site / f"{FOLDERS[language]}chapters/instructors.html"
        links = [str(a["href"]) for a in parsed(page).select("a[href*='slides/']")]
        found = {(page.parent / link).resolve() for link in links}
        folder = (site / FOLDERS[language] / "slides").resolve()
        assert found == {folder / f"{deck}.html" for deck in DECKS}


def test_the_handout_has_a_page_of_notes_after_each_slide(
    site: Path, decks: dict[str, Deck]
) -> None:
    handouts = printed(site, "slides", "en")
    assert len(handouts) == len(DECKS)
    assert not {*handouts} & {*printed(site, "slides", "zh")}
    for path in handouts:
        deck = decks[f"slides/{path.stem.removesuffix('-slides')}"]
        pages = [latin(page.extract_text()) for page in PdfReader(path).pages]
        assert len(pages) == 2 * len(deck.slides)
        for slide, shown, notes in zip(deck.slides, pages[::2], pages[1::2], strict=True):
            # A ligature may be extracted as one character, or not at all.
            title = latin(slide["title"])[:20]
            assert shown.startswith((title[:5], title.replace("fi", "")[:5]))
            assert re.match(r"\d+min", notes)
