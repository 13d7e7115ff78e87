"""Tests of the Chinese edition in a browser: a page of each kind, search, Python."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from native_python import serving_native
from page_reader import a_run, bar, change_cell, first_run, press
from playwright.sync_api import Browser, Page
from site_browser import (
    DESK,
    PHONE,
    SETTLED,
    SIDEWAYS,
    STICKING_OUT,
    UNFOLD,
    Traffic,
    axe,
    put_theme,
    put_width,
    ready,
    unnamed_pictures,
)
from site_links import parsed
from site_server import Server

SMALL_PHONE = {"width": 320, "height": 640}
CHAPTER = "zh/chapters/time"
EXERCISE = "zh/exercises/int8-matmul/int8-matmul"
KINDS = ("zh/index", CHAPTER, EXERCISE, "zh/chapters/glossary", "zh/search")
# Queries that occur on at least three pages → a page that each must find.
QUERIES = {
    "时间": "time",
    "带宽": "time",
    "容量": "introduction",
    "下界": "time",
    "上界": "time",
    "重叠": "time",
    "计算受限": "time",
    "通信受限": "introduction",
    "访存受限": "time",
    "网络受限": "time",
    "空闲比例": "time",
    "强扩展": "introduction",
    "权重": "time",
    "批": "introduction",
    "核": "time",
    "芯片内部": "time",
    "共享内存": "time",
    "寄存器": "time",
    "脉动阵列": "introduction",
    "矩阵乘法": "introduction",
    "规格表": "time",
    "黑魔法": "introduction",
    "发动机": "introduction",
    "货仓": "introduction",
    "专家并行": "introduction",
    "七十亿个权重": "time",
    "token 权重": "time",
    "H100 峰值": "time",
    "HBM 带宽": "time",
    "谁在等谁": "time",
}


CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_native(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK, color_scheme="light")
    yield context.new_page()
    context.close()


# Adds a button to the header: a stand-in for the menu that only published pages have.
ONE_MORE_BUTTON = """() => {
  const button = document.querySelector(".article-header-buttons > button");
  button.after(button.cloneNode(true));
}"""


@pytest.mark.parametrize("name", KINDS)
def test_pages_are_accessible_and_fit(page: Page, server: Server, name: str) -> None:
    traffic = Traffic().listen(page.context)
    put_width(page, DESK)
    ready(page, f"{server.origin}/{name}.html")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.evaluate(UNFOLD)
    page.evaluate(SETTLED)
    assert axe(page) == []
    put_width(page, PHONE)
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []
    assert unnamed_pictures(page) == []
    page.evaluate(ONE_MORE_BUTTON)
    for viewport in (PHONE, SMALL_PHONE):
        put_width(page, viewport)
        assert page.evaluate(SIDEWAYS) <= 0
    assert traffic.wrong == []
    assert traffic.outside(server.origin) == []


def test_all_queries_find_their_page(page: Page, server: Server) -> None:
    page.goto(f"{server.origin}/zh/search.html?q=批")
    page.locator("#search-results li a").first.wait_for()
    found = page.evaluate(
        "(all) => all.map((q) => Search._performSearch(...Search._parseQuery(q)).map((r) => r[0]))",
        list(QUERIES),
    )
    missing = {
        query: pages
        for query, pages in zip(QUERIES, found, strict=True)
        if f"chapters/{QUERIES[query]}" not in pages
    }
    assert missing == {}


def test_the_404_page_has_a_home_link_and_a_search_in_chinese(page: Page, server: Server) -> None:
    page.goto(f"{server.origin}/404.html")
    chinese = page.locator("main section:lang(zh)")
    assert chinese.locator("h2").inner_text() == "找不到页面"
    home = chinese.get_by_role("link", name="回到首页")
    assert home.evaluate("(link) => link.href") == f"{server.origin}/zh/index.html"
    chinese.get_by_role("searchbox", name="搜索课程").fill("带宽")
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    assert page.url.startswith(f"{server.origin}/zh/search.html")


def test_excerpts_show_the_words_that_were_searched(page: Page, server: Server) -> None:
    page.goto(f"{server.origin}/zh/search.html?q=脉动阵列")
    excerpt = page.locator("#search-results p.context", has_text="脉动阵列").first
    excerpt.wait_for()
    assert 40 < len(excerpt.inner_text()) < 150


def test_pages_state_the_same_reading_time_in_both_languages(site: Path) -> None:
    for name in ("chapters/time", "chapters/introduction"):
        told = [
            parsed(site / f"{folder}{name}.html").select_one(".minutes") for folder in ("", "zh/")
        ]
        numbers = [re.findall(r"\d+", one.get_text()) for one in told if one]
        assert len(numbers) == 2
        assert numbers[0] == numbers[1]


def test_python_in_the_page_speaks_chinese(page: Page, server: Server) -> None:
    put_width(page, DESK)
    first_run(page, f"{server.origin}/{CHAPTER}.html")
    assert bar(page) == "完成。文中的数值都没有变。"
    change_cell(page, "count = 7e9", "count = 8e9")
    assert re.match(r"完成。文中有 \d+ 个数值改变，已标出。", press(page))
    notes = page.locator(".as-printed").all_inner_texts()
    assert notes
    assert [note for note in notes if not CHINESE.search(note)] == []


def test_an_exercise_on_its_page_speaks_chinese(page: Page, server: Server) -> None:
    put_width(page, DESK)
    ready(page, f"{server.origin}/{EXERCISE}.html")
    page.get_by_role("button", name="在这里回答").click()
    part = page.locator(".answers section").first
    part.get_by_role("button", name="检查").wait_for()
    assert page.locator(".answers-done").inner_text().startswith("7 个小题已完成 0 个。")
    buttons = page.locator(".answers button, .answers-end button").all_inner_texts()
    assert [text for text in buttons if text and not CHINESE.search(text)] == []
    named = page.locator(":is(.answers, .answers-end) [aria-label]")
    labels = named.evaluate_all("(all) => all.map((e) => e.getAttribute('aria-label'))")
    assert [label for label in labels if not CHINESE.search(label)] == []
    with a_run(page):
        part.get_by_role("button", name="检查").click()
    assert bar(page) == "检查发现了问题，见答案下方。"
    assert axe(page, ".answers, .answers-end") == []


def test_a_chapter_can_be_navigated_by_keyboard(page: Page, server: Server) -> None:
    put_width(page, DESK)
    ready(page, f"{server.origin}/{CHAPTER}.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "跳到正文"
    page.keyboard.press("Enter")
    page.wait_for_url("**#main-content")
    page.locator("details > summary").first.press("Enter")
    assert page.locator("details[open]").count() >= 1
    page.locator("a.language").press("Enter")
    page.wait_for_url(re.compile("/chapters/time.html(?!.*zh)"))
    assert "/zh/" not in page.url


def test_a_printed_chapter_is_unfolded_and_fits_the_paper(page: Page, server: Server) -> None:
    put_width(page, DESK)
    ready(page, f"{server.origin}/{CHAPTER}.html")
    put_theme(page, "dark")
    theme, folded = "document.documentElement.dataset.theme", page.locator("details:not([open])")
    before = folded.count()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".bd-article details:not([open]):not(.above-input)").count() == 0
    assert page.evaluate(theme) == "light"
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert not page.locator(".run-cell").first.is_visible()
    page.set_viewport_size({"width": 700, "height": 1000})  # an A4 page with margins
    assert page.evaluate(SIDEWAYS) <= 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.count() == before
    assert page.evaluate(theme) == "dark"
    page.emulate_media(media="screen")
    put_theme(page, "light")


def test_translated_values_count_as_unchanged_after_a_run(page: Page, server: Server) -> None:
    put_width(page, DESK)
    first_run(page, f"{server.origin}/zh/chapters/hardware.html")
    assert "约 40 分钟，中等" in page.locator(".bd-article .computed").all_inner_texts()
    assert bar(page) == "完成。文中的数值都没有变。"


def test_the_table_of_contents_has_a_chinese_title_for_the_english_api_page(site: Path) -> None:
    page = BeautifulSoup((site / "zh/index.html").read_text(encoding="utf-8"), "html.parser")
    (link,) = page.select("nav.bd-links a[href='chapters/api.html']")
    assert re.search("[\u4e00-\u9fff]", link.get_text())


def test_the_archive_of_a_chinese_page_has_chinese_notebooks(site: Path) -> None:
    languages = []
    for page in (site / "chapters/learners.html", site / "zh/chapters/learners.html"):
        text = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        (link,) = text.select("a[href$='exercises.zip']")
        with zipfile.ZipFile(page.parent / str(link["href"])) as archive:
            found = json.loads(archive.read("exercises/int8-matmul/int8-matmul.ipynb"))
        languages.append(found["metadata"]["exercise"].get("language"))
    assert languages == [None, "zh_CN"]
