"""Tests of the Chinese decks: complete, with the same slides and values.

Pages lead to them.
"""

from collections import Counter
from pathlib import Path

import pytest
from book_extension.languages import catalogs
from bs4 import Tag
from repository import ROOT
from site_links import parsed

DECKS = sorted(path.stem for path in (ROOT / "slides").glob("*.md"))


def slides(site: Path, deck: str) -> list[Tag]:
    found = parsed(site / f"{deck}.html").select(".slides section:has(> h1, > h2)")
    return [slide for slide in found if slide.find(["h1", "h2"], recursive=False)]


def said(slide: Tag) -> tuple[Counter[str], Counter[str], int]:
    """Return a slide's computed values, its formulas and its number of table cells."""
    values = Counter(value.get_text() for value in slide.select(".computed"))
    formulas = Counter(str(formula) for formula in slide.select("math"))
    return values, formulas, len(slide.select("td, th"))


@pytest.mark.parametrize("deck", DECKS)
def test_a_deck_has_the_same_slides_in_both_languages(site: Path, deck: str) -> None:
    english, chinese = slides(site / "slides", deck), slides(site / "zh/slides", deck)
    assert len(english) > 10
    assert [said(slide) for slide in chinese] == [said(slide) for slide in english]
    assert any(said(slide)[0] for slide in english)


@pytest.mark.parametrize("deck", DECKS)
def test_chinese_decks_have_no_english_slide_or_speaker_note(site: Path, deck: str) -> None:
    file = catalogs.folder(ROOT, "zh_CN") / "slides" / f"{deck}.po"
    state = catalogs.progress(catalogs.read(file, "zh_CN"))
    assert state.total > 50
    assert (state.missing, state.outdated) == ((), ())
    page = parsed(site / f"zh/slides/{deck}.html")
    assert page.html
    assert page.html["lang"] == "zh-CN"
    assert [part.get_text() for part in page.select("[lang=en]:not(div)")] == []
    notes = page.select("aside.notes")
    assert len(notes) == len(slides(site / "slides", deck))
    assert all("分钟" in note.get_text() for note in notes)


@pytest.mark.parametrize("folder", ["slides", "zh/slides"])
def test_the_folder_has_the_decks_and_what_they_load(site: Path, folder: str) -> None:
    names = {path.name for path in (site / folder).iterdir()}
    assert names == {"_static", *(f"{deck}.html" for deck in DECKS)}


@pytest.mark.parametrize("deck", DECKS)
def test_files_that_chinese_slides_load_exist(site: Path, deck: str) -> None:
    folder = site / "zh/slides"
    page = parsed(folder / f"{deck}.html")
    named = [str(tag[name]) for name in ("src", "href") for tag in page.select(f"head [{name}]")]
    assert len(named) > 5
    assert [path for path in named if not (folder / path.split("?")[0]).is_file()] == []


def test_chinese_pages_lead_to_chinese_slides(site: Path) -> None:
    page = site / "zh/chapters/instructors.html"
    links = [str(a["href"]) for a in parsed(page).select('a[href*="slides/"]')]
    found = {(page.parent / link).resolve() for link in links}
    assert found == {(site / f"zh/slides/{deck}.html").resolve() for deck in DECKS}
