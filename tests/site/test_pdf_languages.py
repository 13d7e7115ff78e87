"""Tests of the printed book in Chinese: same pages and links, no stray English."""

import re
from pathlib import Path

import pytest
from book_extension.languages import chosen
from bs4 import BeautifulSoup
from commands.printing import one_document
from repository import ROOT

# Run only in long runs: composing the English and the Chinese book takes long.
pytestmark = pytest.mark.long

CHINESE = chosen("zh_CN")
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def books(site: Path) -> tuple[one_document.Book, one_document.Book]:
    book = site.parents[1]
    return one_document.compose(book), one_document.compose(book, CHINESE)


@pytest.fixture(scope="module")
def document(books: tuple[one_document.Book, one_document.Book]) -> BeautifulSoup:
    target = books[1].folder / "_build" / "print" / "roofline.zh-CN.html"
    return BeautifulSoup(books[1].document(target), "html.parser")


def test_both_books_have_the_same_pages_and_web_links(
    books: tuple[one_document.Book, one_document.Book],
) -> None:
    english, chinese = books
    assert [page.name for page in chinese.pages] == [page.name for page in english.pages]
    for one, other in zip(english.pages, chinese.pages, strict=True):
        both = [page.article.select('a[href^="http"]') for page in (one, other)]
        outer = [{str(a["href"]) for a in links} for links in both]
        assert outer[0] == outer[1], one.name


def test_imprint_and_contents_are_chinese(
    books: tuple[one_document.Book, one_document.Book], document: BeautifulSoup
) -> None:
    assert document.html
    assert document.html["lang"] == "zh-CN"
    captions = document.select("#contents p.part")
    around = [*document.select(".imprint p"), *document.select("#contents h1"), *captions]
    english = [tag.get_text() for tag in around if not HAN.search(tag.get_text())]
    assert len(captions) == len(books[0].contents())
    assert english == ["Roofline"]  # the title of a part of the book


def test_inner_links_have_targets_and_styles_exist(document: BeautifulSoup) -> None:
    known = {str(tag["id"]) for tag in document.find_all(id=True)}
    inner = [str(a["href"])[1:] for a in document.select("a[href]") if a["href"][:1] == "#"]
    assert len(inner) > 400
    assert set(inner) - known == set()
    folder = ROOT / "_build" / "print"
    styles = [str(link["href"]) for link in document.select('link[rel="stylesheet"]')]
    assert [path for path in styles if not (folder / path).resolve().is_file()] == []
