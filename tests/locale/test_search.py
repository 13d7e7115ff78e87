"""Search in Chinese: the index and the browser's queries split texts alike."""

import random
import re

import pytest
from book_extension.languages.search import ChineseSearch
from playwright.sync_api import Browser, Page

TEXT = (
    "一块芯片（H100）做矩阵乘法时，瓶颈是HBM：批大小太小。"
    "Roofline 图的脊点在 295 FLOP/byte，token少时访存受限。"
)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Page:
    page = browser.new_page()
    page.add_script_tag(content=ChineseSearch.js_splitter_code)
    return page


def test_the_index_has_characters_and_bigrams() -> None:
    assert ChineseSearch({}).split("脊点在 H100") == ["脊", "点", "在", "脊点", "点在", "H100"]


def test_a_query_is_split_into_bigrams_and_other_words(page: Page) -> None:
    split = {
        "批": ["批"],
        "脊点": ["脊点"],
        "矩阵乘法": ["矩阵", "阵乘", "乘法"],
        "batch大小": ["batch", "大小"],
        "H100 的 HBM": ["H100", "的", "HBM"],
        "，。？": [],
        "all_reduce 通信": ["all_reduce", "通信"],
    }
    assert {query: page.evaluate("(query) => splitQuery(query)", query) for query in split} == split


def test_each_substring_of_a_text_is_found(page: Page) -> None:
    index = set(ChineseSearch({}).split(TEXT))
    draw = random.Random(3)
    for _ in range(200):
        start = draw.randrange(len(TEXT))
        query = TEXT[start : start + draw.randint(1, 8)]
        # Drop partial Latin words at both ends: Sphinx itself searches for parts of words.
        query = re.sub(r"^[A-Za-z0-9_]+|[A-Za-z0-9_]+$", "", query)
        assert set(page.evaluate("(query) => splitQuery(query)", query)) <= index, query
