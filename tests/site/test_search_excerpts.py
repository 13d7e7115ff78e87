"""Excerpts of search results: prose around the words, cut between words."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from repository import ROOT

SCRIPT = ROOT / "site/browser/search/search-excerpts.js"
SUMMARY = """([body, words, anchor]) => Search.makeSearchSummary(
  `<header>menu</header><main role="main"><nav>menu</nav><article>${body}</article></main>`,
  new Set(words), anchor).textContent"""


@pytest.fixture(scope="module", params=["en", "zh-CN"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Return a page in this language with our script, but without Sphinx's search code."""
    page = browser.new_page()
    page.set_content(f"<html lang='{request.param}'></html>")
    page.add_script_tag(content="window.Search = {};")
    page.add_script_tag(path=SCRIPT)
    yield page
    page.close()


english = pytest.mark.parametrize("page", ["en"], indirect=True)
chinese = pytest.mark.parametrize("page", ["zh-CN"], indirect=True)


def excerpt(page: Page, body: str, word: str = "", anchor: str = "") -> str:
    return str(page.evaluate(SUMMARY, [body, [word] if word else [], anchor]))


@english
@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<h1>Title</h1><h2>Part<a class='headerlink'>#</a></h2><p>One.</p><p>Two.</p>",
         "Part. One. Two."),
        ("<p>at <span class='math'>\\(\\frac{a_i}{b} \\le 3\\,\\text{bytes}\\)</span>.</p>",
         "at a i / b ≤ 3 bytes."),
        ("<p>Before</p><pre>code</pre><table><td>1</td></table><p>after</p>", "Before after"),
        ("<dl><dt>time</dt><dd>how long</dd></dl>", "time: how long"),
    ],
)  # fmt: skip
def test_a_search_excerpt_contains_only_prose(page: Page, body: str, shown: str) -> None:
    assert excerpt(page, body) == shown


@chinese
def test_chinese_punctuation_separates_the_blocks_of_an_excerpt(page: Page) -> None:
    body = "<h2>时间</h2><p>上界。</p><dl><dt>批</dt><dd>几个</dd></dl>"
    assert excerpt(page, body) == "时间。 上界。 批\N{FULLWIDTH COLON} 几个"


@english
def test_an_excerpt_is_from_the_section_or_term_that_was_found(page: Page) -> None:
    body = "<p>First.</p><section id='a.b'><p>Here.</p></section>"
    assert excerpt(page, body, anchor="#a.b") == "Here."
    assert excerpt(page, body, anchor="#gone") == excerpt(page, body) == "First. Here."
    # For a term in a list, the excerpt is its description, which several terms may share.
    body = "<dl><dt id='one'>one</dt><dt>two</dt><dd>both</dd><dt id='last'>last</dt></dl>"
    assert excerpt(page, body, anchor="#one") == "both"
    assert excerpt(page, body, anchor="#last") == "last"


WORDS = " ".join(f"word{number:03}" for number in range(200))


@english
def test_an_excerpt_is_cut_between_words(page: Page) -> None:
    start = excerpt(page, f"<p>{WORDS}</p>")
    assert WORDS.startswith(start.removesuffix(" …"))
    assert start.endswith("word029 …")
    assert len(start) <= 242
    around = excerpt(page, f"<p>{WORDS}</p>", "WORD100")
    assert around.startswith("… word086 ")
    assert around.endswith(" word115 …")
    assert excerpt(page, f"<p>{WORDS}</p>", " WORD101").startswith("… word086 ")
    for near in ("elsewhere", "word000", "word002"):
        assert excerpt(page, f"<p>{WORDS}</p>", near) == start
    assert excerpt(page, f"<p>{WORDS}</p>", "word199").endswith(" word199")
    # The excerpt is around the first word of the query that occurs in the text.
    for first, expected in {"word100": around, "word000": start}.items():
        words = ["nowhere", "word150", first]
        assert page.evaluate(SUMMARY, [f"<p>{WORDS}</p>", words, ""]) == expected
    assert excerpt(page, "<p>short</p>", "short") == "short"


@english
def test_words_of_thirty_or_more_characters_are_cut_in_an_excerpt(page: Page) -> None:
    text = f"{'a' * 210} {'b' * 30} {'c' * 300}"
    assert excerpt(page, f"<p>{text}</p>") == f"{text[:240]} …"
    assert excerpt(page, f"<p>{text[1:]}</p>") == f"{text[1:241]} …"
    assert excerpt(page, f"<p>{text[:209]} {text}</p>") == f"{text[:209]} {text[:30]} …"
    # The excerpt starts about 120 characters before the word that was found.
    for length, start in ((29, "dd"), (30, "bb")):
        text = f"{'b' * 100}{'b' * length} {'d' * (119 - length)}WORD"
        assert excerpt(page, f"<p>{text}</p>", "word").startswith(f"… {start}")
    whole = f"{'a' * 229} {'b' * 10}"
    assert excerpt(page, f"<p>{whole}</p>") == whole


@chinese
def test_an_excerpt_without_spaces_is_cut_anywhere(page: Page) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(400))
    assert excerpt(page, f"<p>{text}</p>") == f"{text[:120]} …"
    assert excerpt(page, f"<p>{text}</p>", text[200]) == f"… {text[140:260]} …"
    assert excerpt(page, f"<p>{text[:120]}</p>") == text[:120]
