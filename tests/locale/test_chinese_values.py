"""Values, citations and spaces in Chinese sentences, and the words of pictures."""

import re
from pathlib import Path

import pytest
from book_extension import table_widths, themed_svg
from book_extension.languages import spacing, value_words
from bs4 import Tag
from chinese_counts import COUNTS
from docutils import nodes
from docutils.utils import new_document
from page_reader import SCRIPTS
from playwright.sync_api import Browser
from site_browser import PHONE, SIDEWAYS
from site_links import parsed
from site_server import Server

HAN = "[\u4e00-\u9fff]"


@pytest.mark.parametrize(("value", "power", "shown"), COUNTS)
def test_counts_have_chinese_units(value: str, power: int, shown: str) -> None:
    assert value_words.counted(value, power) == shown


def paragraph(*parts: str | nodes.Node) -> nodes.paragraph:
    made = nodes.paragraph()
    made += [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    return made


def computed(text: str) -> nodes.inline:
    return nodes.inline(text, text, classes=["computed"])


def test_the_scale_word_after_a_number_is_merged_into_the_value() -> None:
    millions, numbers = " 百万个数", " 个数"
    for text, after, power in (("17", millions, 6), ("many", millions, 0), ("17", numbers, 0)):
        value = computed(text)
        made = paragraph("约 ", value, after)
        assert value_words.take_scale(value) == power
        assert made.astext() == (f"约 {text}个数" if power else f"约 {text}{after}")


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (["一份是 ", computed("2024 年 3 月"), " 的文件"], "一份是 2024 年 3 月的文件"),
        (["见 ", nodes.reference("", "图 2"), "。"], "见图 2。"),
        (["要 ", computed("3 ms"), " 的时间"], "要 3 ms 的时间"),
        (["运行 ", nodes.literal("", "图"), " 一次"], "运行 图 一次"),
    ],
)
def test_spaces_between_chinese_characters_are_removed(
    parts: list[str | nodes.Node], shown: str
) -> None:
    document = new_document("page")
    document += paragraph(*parts)
    spacing.close_up(document)
    assert document.astext() == shown


def test_formulas_keep_the_punctuation_beside_them_on_their_line() -> None:
    document = new_document("page")
    document += paragraph("低于（", nodes.math("", "H"), "），在这里。", nodes.math("", "S"), " 个")
    spacing.keep_punctuation(document)
    (unbroken,) = document.findall(nodes.inline)
    assert unbroken["classes"] == ["unbroken"]
    assert unbroken.astext() == "（H），"
    assert document.astext() == "低于（H），在这里。S 个"


PICTURE = """<svg xmlns="http://www.w3.org/2000/svg">
<g><text>HBM of an H100: 3.35\N{NO-BREAK SPACE}TB/s</text></g>
<g><text>4 tensor</text><text>cores</text></g>
<g><text>W<tspan>Q</tspan></text></g></svg>"""


def test_texts_of_pictures_are_messages_with_placeholders_for_numbers() -> None:
    assert themed_svg.messages(PICTURE) == ["HBM of an H100: {1}", "{1} tensor / cores"]
    chinese = {"HBM of an H100: {1}": "H100 的 HBM：{1}", "{1} tensor / cores": "{1} 个 / 核心"}
    svg = themed_svg.themed_svg(PICTURE, "label", "p", chinese.__getitem__)
    shown = re.findall(r"<text[^>]*>([^<]*)", svg)
    assert shown == ["H100 的 HBM：3.35\N{NO-BREAK SPACE}TB/s", "4 个", "核心", "W"]
    one_line = themed_svg.themed_svg(PICTURE, "label", "p", lambda _: "一行")
    assert re.findall(r"<text[^>]*>([^<]*)", one_line) == ["一行", "一行", "", "W"]


LEFT = "<text transform='translate(10 {y})' style='font-size: 10px'>{words}</text>"
MIDDLE = "<text transform='translate({x} {y})' style='font-size: 10px'>{words}</text>"


def test_centered_lines_of_a_picture_stay_centered_in_translation() -> None:
    def translated(*lines: str) -> list[str]:
        picture = f'<svg xmlns="{themed_svg.SVG}"><g>{"".join(lines)}</g></svg>'
        svg = themed_svg.themed_svg(picture, "label", "p", lambda _: "一 / 二")
        return re.findall(r"<text[^>]*>", svg)

    left = [LEFT.format(y=y, words=words) for y, words in ((5, "one line"), (20, "two"))]
    assert "middle" not in "".join(translated(*left))
    center = [
        MIDDLE.format(x=x, y=y, words=words)
        for x, y, words in ((10, 5, "one line"), (24, 20, "two"))
    ]
    both = [re.findall(r"translate\(([\d.]+)|anchor: (\w+)", text) for text in translated(*center)]
    assert both[0] == both[1] == [("33.20", ""), ("", "middle")]


def test_a_chinese_character_is_as_wide_as_two_letters() -> None:
    assert table_widths.length("H100：瓶颈") == 4 + 2 * 3
    half, full = "x" * 14, "字" * 14
    assert table_widths.column_class(["heading", half]) == "figure-cell"
    assert table_widths.column_class(["heading", full]) == "words-cell"


def test_sentences_in_a_first_column_have_room_on_a_phone(browser: Browser, server: Server) -> None:
    with browser.new_page(viewport=PHONE) as page:
        page.goto(f"{server.origin}/zh/chapters/privacy.html")
        cells = page.locator("table").first.locator("td:first-child")
        assert cells.first.evaluate("(cell) => cell.clientWidth") > 80
        assert page.evaluate(SIDEWAYS) <= 0


def shown(article: Tag, place: str) -> list[str]:
    return [part.get_text() for part in article.select(place)]


def test_pictures_and_citations_of_a_chapter_are_chinese(site: Path) -> None:
    article = parsed(site / "zh/chapters/attention.html").select_one("article")
    assert article
    labels = shown(article, "svg.figure text")
    assert "查询" in labels
    assert "0.56 ms，矩阵乘法" in labels
    pictures = [str(svg["aria-label"]) for svg in article.select("svg.figure")]
    assert pictures
    assert [label for label in pictures if not re.search(HAN, label)] == []
    citations = [c for c in shown(article, ".reference.internal") if re.search(r"\d{4}[a-z]?$", c)]
    assert "Austin 等，2025a" in citations
    assert [citation for citation in citations if ", " in citation] == []


def test_the_chinese_book_marks_bibliography_entries_as_english(site: Path) -> None:
    def languages(page: str) -> set[str | None]:
        return {work.get("lang") for work in parsed(site / page).select("div.citation")}

    assert languages("zh/chapters/references.html") == {"en"}
    assert languages("chapters/references.html") == {None}


# Shows a paragraph with a count in millions, as if a run in the page had changed the count to each
# of `texts`. Returns pairs: the paragraph's text if it follows the change, and its note if not.
SHOW = """async ([folder, texts]) => {
  const { blocksOf } = await import(folder + "prose_blocks.js");
  const article = document.createElement("article");
  article.innerHTML = '<p><span class="computed">2</span> 份，约 ' +
    '<span class="computed scale-6">1700 万</span>个数</p>';
  const blocks = blocksOf(article, [{ values: { m: "2", n: "17" }, shown: ["m", "n"] }]);
  return texts.map((text) => {
    blocks.show([0], [{ follows: true, now: { n: text } }]);
    const followed = article.textContent;
    blocks.show([0], [{ follows: false, now: { n: text } }]);
    return [followed, article.querySelector("[role=note]").textContent];
  });
}"""


# Shows a value in words as if after two runs in the page: the first leaves it unchanged, the second
# changes it to a list. Returns for each run the text and the number of changed values.
ANSWER = """async (folder) => {
  const { blocksOf } = await import(folder + "prose_blocks.js");
  const article = document.createElement("article");
  article.innerHTML = '<section id="few"><h2><span class="computed">很少</span></h2></section>';
  const blocks = blocksOf(article, [{ values: { n: "few" }, shown: ["n"] }]);
  return [{}, { n: "1 s, 2 s and 3 s" }].map((now) => {
    blocks.show([0], [{ follows: true, now }]);
    return [article.textContent, blocks.changed];
  });
}"""


def test_words_of_values_stay_chinese_after_a_run(browser: Browser, server: Server) -> None:
    with browser.new_page() as page:
        page.goto(f"{server.origin}/zh/chapters/intensity.html")
        shown = page.evaluate(ANSWER, page.evaluate(SCRIPTS))
        assert shown == [["很少", 0], ["1 s、2 s 和 3 s", 1]]


def test_a_count_keeps_its_chinese_unit_after_a_run(browser: Browser, server: Server) -> None:
    with browser.new_page() as page:
        page.goto(f"{server.origin}/zh/chapters/intensity.html")
        assert "约有 1700 万个数" in str(page.text_content("article"))
        folder = page.evaluate(SCRIPTS)
        counts = [(value, shown) for value, power, shown in COUNTS if power == 6]
        counts.append(("很多", "很多"))
        told = page.evaluate(SHOW, [folder, [value for value, _ in counts]])
        assert [text for text, _ in told] == [f"2 份，约 {shown}个数" for _, shown in counts]
        for (_, shown), (_, note) in zip(counts, told, strict=True):
            assert shown == "1700 万" or f"1700 万 → {shown}" in note
