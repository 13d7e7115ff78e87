"""Tests of a small book in Chinese: what is translated, marked and shared."""

import gettext
import io
import json
import re
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from book_extension import published
from book_extension.languages import value_words
from bs4 import BeautifulSoup, Tag
from commands import languages
from playwright.sync_api import Browser
from repository import Book, small_book

PAGE = """
# A page

```{code-cell} ipython3
count, size = 3, 5
print(f"{count} chips, {size} bytes")
```

(here)=
## A section

First {eval}`count`, then {eval}`size`; see {ref}`here`.

{while}`count < size` Fewer chips than bytes.

An outdated paragraph.

A paragraph that nobody has translated.

| left side | right side |
|---|---|
| {while}`count == 3` some chips | {eval}`count * size` of them |

{eval}`f"about {8 * size} minutes, easy"`

:::{admonition} Your guess
:class: tip
How many chips?
:::

:::{answer} chips
:ask: What number
{eval}`"few" if count < size else "many"`

- few
- many
:::

```{code-cell} ipython3
:tags: [remove-input]
import rooflib as rl
rl.Table({"left side": ["many chips", "other chips"], "ridge": ["1", "2"]})
```

```{code-cell} ipython3
:tags: [remove-input]
from roofkit import figures
figures.time()
```
"""
CATALOG = """
msgid ""
msgstr ""
"Language: zh_CN\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "A page"
msgstr "一页"

msgid "A section"
msgstr "一节"

msgid "First {eval}`count`, then {eval}`size`; see {ref}`here`."
msgstr "先是 {eval}`size`，再是 {eval}`count`；见{ref}`here`。"

msgid "{while}`count < size` Fewer chips than bytes."
msgstr "{while}`count < size` 芯片比字节少。"

#, fuzzy
msgid "An outdated paragraph."
msgstr "过时的一段。"

msgid "left side"
msgstr "左边"

msgid "{while}`count == 3` some chips"
msgstr "{while}`count == 3` 几块芯片"

msgid "{eval}`count * size` of them"
msgstr "共 {eval}`count * size` 块"

msgid "many chips"
msgstr "许多芯片"

msgid "few"
msgstr "很少"

msgid "many"
msgstr "很多"

msgid "What number"
msgstr "多大的数"
"""
WORDS = """
msgid ""
msgstr ""
"Language: zh_CN\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "The roofline"
msgstr "Roofline"

msgid "On this page"
msgstr "本页内容"

msgid "about {minutes} minutes, easy"
msgstr "简单，约 {minutes} 分钟"
"""
FIGURES = """
msgid ""
msgstr ""
"Language: zh_CN\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "bytes from and to HBM"
msgstr "与 HBM 往来的字节"
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    book = small_book(tmp_path_factory.mktemp("book"))
    catalogs = book.folder / "locale" / "zh_CN" / "LC_MESSAGES"
    (catalogs / "chapters").mkdir(parents=True)
    (catalogs / "chapters" / "page.po").write_text(CATALOG, encoding="utf-8")
    (catalogs / "course.po").write_text(WORDS, encoding="utf-8")
    (catalogs / "figures.po").write_text(FIGURES, encoding="utf-8")
    book.write(PAGE)
    # Build with empty files in place of Pyodide's, so that pages get their steps for Python.
    done = book.build(no_python(book.folder))
    assert done.returncode == 0, done.stderr
    return book


def no_python(folder: Path) -> Path:
    from browser.pyodide import files

    made = folder / "_build" / "no-python"
    made.mkdir(parents=True, exist_ok=True)
    for name in {*files.SERVED, *files.wanted()}:
        (made / name).touch()
    return made


def soup(book: Book, page: str) -> BeautifulSoup:
    text = (book.folder / "_build" / "html" / page).read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def article(book: Book, page: str = "zh/chapters/page.html") -> Tag:
    found = soup(book, page).find("article")
    assert isinstance(found, Tag)
    return found


def test_messages_are_translated_with_their_values_and_links(book: Book) -> None:
    page = article(book)
    assert page.h1
    assert page.h1.get_text().startswith("一页")
    (paragraph,) = [p for p in page.find_all("p") if p.get_text().startswith("先是")]
    assert paragraph.get_text() == "先是 5，再是 3；见一节。"
    assert [link["href"] for link in paragraph.find_all("a")] == ["#here"]
    assert paragraph.get("lang") is None


def test_missing_and_outdated_messages_show_marked_english(book: Book) -> None:
    page = article(book)
    english = [p.get_text() for p in page.find_all(["p", "th"]) if p.get("lang") == "en"]
    assert "A paragraph that nobody has translated." in english
    assert "An outdated paragraph." in english
    assert "right side" in english
    assert "过时" not in page.get_text()
    assert "芯片比字节少。" in page.get_text()
    code, printed, *translated = page.find_all(class_=["cell_input", "cell_output"])
    assert (code["lang"], printed["lang"]) == ("en", "en")
    assert [output.get("lang") for output in translated] == [None, None]
    assert not article(book, "chapters/page.html").find_all(lang="en")


def test_languages_link_to_each_other_by_relative_addresses(book: Book) -> None:
    english, chinese = soup(book, "chapters/page.html"), soup(book, "zh/chapters/page.html")
    assert (english.html["lang"], chinese.html["lang"]) == ("en", "zh-CN")
    assert english.select_one("a.language")["href"] == "../zh/chapters/page.html"
    assert chinese.select_one("a.language")["href"] == "../../chapters/page.html"
    assert english.select_one("a.language")["lang"] == "zh-CN"
    for page, up in ((english, "../"), (chinese, "../../")):
        found = {e["hreflang"]: e["href"] for e in page.select("link[rel=alternate][hreflang]")}
        assert found == {
            "en": f"{up}chapters/page.html",
            "zh-CN": f"{up}zh/chapters/page.html",
        }
    assert soup(book, "search.html").select_one("a.language")["href"] == "zh/search.html"
    assert not soup(book, "404.html").select("a.language")


def test_the_language_switch_works_by_keyboard_from_disk_and_keeps_the_section(
    book: Book, browser: Browser
) -> None:
    address = (book.folder / "_build" / "html" / "chapters" / "page.html").as_uri()
    page = browser.new_page()
    for start, place in ((f"{address}#here", "#here"), (address, "")):
        page.goto(start)
        page.focus("a.language")
        page.keyboard.press("Enter")
        page.wait_for_url("**/zh/**")
        assert page.url == address.replace("chapters/", "zh/chapters/") + place
        page.click("a.language")
        page.wait_for_url(start)
    page.close()


def test_both_languages_share_files(book: Book) -> None:
    html = book.folder / "_build" / "html"
    for page in ("index.html", "chapters/page.html"):
        for element in soup(book, f"zh/{page}").find_all(["link", "script", "a", "img"]):
            address = element.get("href") or element.get("src") or ""
            path = re.split("[?#]", address)[0]
            if path and ":" not in path:
                assert (html / "zh" / page).parent.joinpath(path).resolve().is_file(), address
    styles = [
        link["href"] for link in soup(book, "zh/chapters/page.html").select("link[rel=stylesheet]")
    ]
    assert [re.split("[?/]", str(style))[-2] for style in styles[-2:]] == [
        "course.css",
        "chinese.css",
    ]
    own = {path.name for path in (html / "zh" / "_static").iterdir()}
    sphinx = {"documentation_options.js", "language_data.js", "translations.js"}
    assert own == {*sphinx, "words.js", "chinese.css"}
    assert not (html / "zh" / "404.html").exists()


def test_a_table_in_an_output_is_translated_entry_by_entry(book: Book) -> None:
    output = article(book).find_all(class_="cell_output")[1]
    cells = [(cell.get_text().strip(), cell.p.get("lang")) for cell in output.find_all("td")]
    assert [*cells[:3:2]] == [("许多芯片", None), ("other chips", "en")]
    assert output.th.get_text().strip() == "左边"
    english = article(book, "chapters/page.html").find_all(class_="cell_output")[1]
    assert english.td.get_text().strip() == "many chips"


def test_words_of_tables_are_in_the_catalog_of_the_pages_python(book: Book) -> None:
    (file,) = (book.folder / "_build" / "html").glob("_static/python/*/words-zh_CN.zip")
    with zipfile.ZipFile(file) as archive:
        content = archive.read("kit/roofkit/locale/zh_CN.mo")
    known = gettext.GNUTranslations(io.BytesIO(content))
    assert known.gettext("many chips") == "许多芯片"
    assert known.gettext("bytes from and to HBM") == "与 HBM 往来的字节"
    assert known.gettext("{while}`count == 3` some chips") == "{while}`count == 3` some chips"


def test_a_page_shows_its_figure_in_its_language(book: Book) -> None:
    english = article(book, "chapters/page.html").select_one("figure.live")
    chinese = article(book).select_one("figure.live")
    assert "bytes from and to HBM" in english.get_text()
    assert "往来的字节" not in str(english)
    assert "与 HBM 往来的字节" in chinese.get_text()
    assert "bytes from and to HBM" not in str(chinese)
    html = book.folder / "_build" / "html"
    for page in ("chapters/page.html", "zh/chapters/page.html"):
        assert "vnd.roofline" not in (html / page).read_text(encoding="utf-8")


def test_ids_are_the_same_in_both_languages(book: Book) -> None:
    def ids(page: str) -> list[str]:
        return [str(element["id"]) for element in article(book, page).find_all(id=True)]

    assert ids("zh/chapters/page.html") == ids("chapters/page.html")


def test_a_steps_file_lists_values_in_the_order_of_its_page(book: Book) -> None:
    def blocks(page: str) -> list[dict[str, object]]:
        file = book.folder / "_build" / "html" / f"{page}.steps.json"
        found: list[dict[str, object]] = json.loads(file.read_text(encoding="utf-8"))["blocks"]
        return found

    english, chinese = blocks("chapters/page"), blocks("zh/chapters/page")
    assert [block["shown"] for block in english][:2] == [["count", "size"], [None]]
    assert [block["shown"] for block in chinese][:2] == [["size", "count"], [None]]
    # Stored values stay English, even in answers: the page compares them with those of a run.
    assert [b["values"] for b in chinese] == [b["values"] for b in english]
    assert [b.get("premise") for b in chinese] == [b.get("premise") for b in english]


def test_words_in_values_are_translated_by_their_template(book: Book) -> None:
    shown = [value.get_text() for value in article(book).select("p > .computed")]
    assert "简单，约 40 分钟" in shown
    assert value_words.translated("2 TB/s, sparse", lambda _: "稀疏 {figure}") == "稀疏 2 TB/s"
    assert value_words.translated("2 TB/s", lambda _: "none") == "2 TB/s"
    chinese = {"{list} and {last}": "{list} 和 {last}", "{items}, {item}": "{items}、{item}"}
    listed = value_words.translated("1 s, 2 s, 3 s and 4 s", lambda one: chinese.get(one, one))
    assert listed == "1 s、2 s、3 s 和 4 s"


def test_options_of_guesses_are_translated(book: Book) -> None:
    answer = article(book).select_one(".answer")
    assert [part.get_text() for part in answer.select(".choice")] == ["很少", "很多"]
    assert answer.select_one(".right").get_text() == "很少"
    assert answer["data-ask"] == "多大的数"
    assert article(book, "chapters/page.html").select_one(".answer .right").get_text() == "few"


def test_titles_and_words_of_templates_are_translated(book: Book) -> None:
    page = soup(book, "zh/chapters/page.html")
    assert page.title.get_text() == "一页 — Roofline"
    assert page.select_one("#on-this-page").get_text() == "本页内容"


@pytest.mark.long
def test_changed_catalogs_change_the_next_build(book: Book) -> None:
    catalogs = book.folder / "locale" / "zh_CN" / "LC_MESSAGES"
    page, figures = catalogs / "chapters" / "page.po", catalogs / "figures.po"
    page.write_text(CATALOG.replace("一页", "另一页"), encoding="utf-8")
    figures.write_text(FIGURES.replace("往来", "来往"), encoding="utf-8")
    # Also add a translation to the page's Python, so that the hash in its address changes.
    words = 'msgid ""\nmsgstr ""\n\nmsgid "a list"\nmsgstr "一个列表"\n'
    (catalogs / "checks.po").write_text(words, encoding="utf-8")
    assert book.build(no_python(book.folder)).returncode == 0
    assert article(book).h1.get_text().startswith("另一页")
    assert "与 HBM 来往的字节" in article(book).select_one("figure.live").get_text()
    site = book.folder / "_build" / "html"
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    named = {name for page in pages for name in re.findall(r"_static/python/(\w{8})/", page)}
    assert named
    assert all((site / "_static" / "python" / name).is_dir() for name in named)


def test_an_unpublished_language_is_included_only_on_request(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = book.folder / "locale" / "zh_CN" / "edition.toml"
    settings.write_text("published = false\n", encoding="utf-8")
    assert published.languages(book.folder) == []
    monkeypatch.setenv(published.VARIABLE, "1")
    assert published.languages(book.folder) == ["zh_CN"]
    settings.write_text("published = true\n", encoding="utf-8")
    monkeypatch.delenv(published.VARIABLE)
    assert published.languages(book.folder) == ["zh_CN"]


@pytest.mark.long
def test_a_book_without_catalogs_has_one_language(book: Book) -> None:
    (book.folder / "locale").rename(book.folder / "kept")
    assert book.build(no_python(book.folder)).returncode == 0
    assert not soup(book, "chapters/page.html").select("a.language, link[hreflang]")
    assert not (book.folder / "_build" / "html" / "zh").exists()


@pytest.mark.parametrize("report", [True, False])
@pytest.mark.parametrize("status", [0, 1])
def test_translations_are_published_only_if_their_builds_succeeded(
    status: int, report: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    process = Mock(returncode=status)
    process.communicate.return_value = ("a warning\n", None)
    builds = Mock(processes={"zh": process})
    assert languages.Translations.finish(builds, report=report) is (status == 0)
    assert builds.publish.called == (report and status == 0)
    assert capsys.readouterr().err == "a warning\n" * report
