"""A reader searches: what people type finds the page that answers it, in both languages."""

import re
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from reader import Reader
from repository import ROOT
from site_browser import Traffic, ready

SEARCHES = tomllib.loads((ROOT / "tests/tables/searches.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", SEARCHES)
def test_what_people_type_finds_its_page_among_the_first_three(
    reader: Reader, language: str
) -> None:
    found = reader.open("search", language).results([*SEARCHES[language], "xylophone"])
    assert found.pop("xylophone") == []
    said = reader.page.locator("#search-results p").first.inner_text()
    assert bool(re.search("[\u4e00-\u9fff]", said)) == (language == "zh")
    missed = {
        query: found[query][:3]
        for query, page in SEARCHES[language].items()
        if page not in found[query][:3]
    }
    assert missed == {}


@pytest.mark.parametrize(("language", "query"), [("en", "bandwidth"), ("zh", "带宽")])
def test_i_search_with_the_keyboard_and_find_the_word_on_the_page(
    reader: Reader, language: str, query: str
) -> None:
    reader.open("chapters/time", language)
    with reader.page.expect_navigation():
        reader.page.keyboard.press("Control+k")
        reader.page.keyboard.type(query)
        reader.page.keyboard.press("Enter")
    reader.page.locator("#search-results p.context").nth(4).wait_for()
    reader.page.wait_for_load_state("networkidle")
    excerpts = reader.page.locator("#search-results p.context").all_inner_texts()
    assert sum(query in text.lower() for text in excerpts) > len(excerpts) / 2
    page = reader.page.locator("#search-results li > a").first
    with reader.page.expect_navigation():
        page.click()
    marked = reader.page.locator(".bd-article .highlighted").first
    marked.wait_for()
    assert query in (marked.text_content() or "").lower()


def test_a_page_found_by_its_text_opens_at_the_section_with_the_word(reader: Reader) -> None:
    reader.open("search")
    reader.page.goto(f"{reader.page.url}?q=Krizhevsky")
    reader.page.locator("#search-results p.context").first.wait_for()
    assert "Krizhevsky" in reader.page.locator("#search-results p.context").first.inner_text()
    with reader.page.expect_navigation():
        reader.page.locator("#search-results li > a").first.click()
    section = reader.page.locator("section:target")
    assert "Krizhevsky" in section.inner_text()
    assert section.locator("h1").count() == 0


def test_search_works_on_a_site_opened_from_a_folder(browser: Browser, site: Path) -> None:
    """A browser forbids a page from a folder to fetch the excerpts: these requests alone fail."""
    context = browser.new_context()
    traffic = Traffic().listen(context)
    page = context.new_page()
    ready(page, f"{(site / 'search.html').as_uri()}?q=ridge point")
    page.locator("#search-results li a[href*='glossary.html']").first.wait_for()
    wrong = [
        line for line in traffic.wrong if not re.search(r"\.html|Failed to fetch|ERR_FAILED", line)
    ]
    assert wrong == []
    # A file of a model can't be read there, so none is asked for.
    ready(page, (site / "chapters/own-model.html").as_uri())
    assert not page.locator("details:has(input[type=file])").is_visible()
    context.close()
