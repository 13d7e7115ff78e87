"""What a translated page gets: its language, addresses, citations and marks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from book_extension import languages
from book_extension.languages import citations, page_words
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

CHINESE = {
    "A book": "一本书",
    "Somebody": "某人",
    "Part": "部分",
    "Search this book...": "搜索",
    "et al.": "等",
    "n.d.": "无日期",
    "{one} and {other}": "{one} 和 {other}",
    "{one}, {other}": "{one}、{other}",
    "{names}, {year}": "{names} {year}",
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "locale/zh_CN/LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "course.po").write_text('msgid "Back"\nmsgstr "返回"\n', encoding="utf-8")
    return tmp_path


def config(language: str, address: str = "") -> Any:
    trees = [SimpleNamespace(caption=caption) for caption in ("Part", None)]
    return SimpleNamespace(
        language=language,
        html_baseurl=address,
        html_title="A book",
        project="A book",
        author="Somebody",
        html_theme_options={},
        external_site_map=SimpleNamespace(root=SimpleNamespace(subtrees=trees)),
    )


@pytest.mark.parametrize(
    ("address", "expected"),
    [("", ""), ("https://a.example/", "https://a.example/zh"), (None, None)],
)
def test_a_translation_has_its_own_title_and_address(
    monkeypatch: pytest.MonkeyPatch, address: str, expected: str
) -> None:
    monkeypatch.setattr(languages, "_", CHINESE.__getitem__)
    found = config("zh_CN", address)
    languages.translate_settings(SimpleNamespace(), found)  # type: ignore[arg-type]
    assert found.html_baseurl == expected
    assert (found.html_title, found.project, found.author) == ("一本书", "一本书", "某人")
    assert found.html_theme_options == {"search_bar_text": "搜索"}
    assert [tree.caption for tree in found.external_site_map.root.subtrees] == ["部分", None]
    english = config("en", address)
    languages.translate_settings(SimpleNamespace(), english)  # type: ignore[arg-type]
    assert vars(english).keys() == vars(config("en")).keys()
    assert (english.html_baseurl, english.html_title) == (address, "A book")


def test_the_address_of_the_whole_site_omits_the_language_folder() -> None:
    assert languages.top(config("zh_CN", "https://a.example/zh")) == "https://a.example"
    assert languages.top(config("en", "https://a.example/")) == "https://a.example"
    assert languages.top(config("en", "https://a.example/zh")) == "https://a.example/zh"
    assert languages.top(config("zh_CN", None)) == languages.top(config("en", "")) == ""  # type: ignore[arg-type]


def offered(book: Path, page: str, language: str, address: str = "", is_page: bool = True) -> Any:
    context: dict[str, Any] = {}
    app: Any = SimpleNamespace(
        srcdir=book,
        config=config(language, address),
        builder=SimpleNamespace(get_target_uri="{}.html".format),
    )
    document = new_document(page) if is_page else None
    languages.offer_languages(app, page, "page.html", context, document)
    links, alternates = (
        [(one.code, address) for one, address in context[name]]
        for name in ("other_languages", "alternates")
    )
    return links, alternates, context.get("translated_words")


@pytest.mark.parametrize(
    ("page", "language", "address", "link", "starts"),
    [
        ("index", "en", "", "zh/index.html", ("", "zh/")),
        ("a/b", "en", "", "../zh/a/b.html", ("../", "../zh/")),
        ("a/b", "zh_CN", "", "../../a/b.html", ("../../", "../../zh/")),
        ("a/b", "zh_CN", "https://a.example/zh", "../../a/b.html",
         ("https://a.example/", "https://a.example/zh/")),
    ],
)  # fmt: skip
def test_a_page_links_to_its_translations(
    book: Path, page: str, language: str, address: str, link: str, starts: tuple[str, str]
) -> None:
    other = "zh_CN" if language == "en" else "en"
    links, alternates, words = offered(book, page, language, address)
    assert links == [(other, link)]
    assert alternates == [
        (code, f"{start}{page}.html") for code, start in zip(("en", "zh_CN"), starts, strict=True)
    ]
    assert words is None
    # Pages without a source, such as the search page, have no alternates for search engines.
    assert offered(book, page, language, address, is_page=False)[:2] == (links, [])


def test_the_404_page_has_its_words_in_all_languages(book: Path) -> None:
    links, alternates, [(language, words)] = offered(book, "404", "en")
    assert (links, alternates, language.code) == ([], [], "zh_CN")
    assert (words("Back"), words("Forth")) == ("返回", "Forth")
    assert offered(book, "404", "zh_CN") == ([], [], None)


def test_a_book_in_one_language_links_to_no_others(tmp_path: Path) -> None:
    assert offered(tmp_path, "index", "en") == ([], [], None)
    assert offered(tmp_path, "404", "en") == ([], [], [])


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    assert languages.chosen("en") is languages.ORIGINAL
    with pytest.raises(ValueError, match="no language de; there are en, zh_CN"):
        languages.chosen("de")


# Tests of how text that stays English is marked.


def text(**attributes: Any) -> nodes.paragraph:
    made = nodes.paragraph("words", "words", **attributes)
    made.source = "page.md"
    return made


def output(*inside: nodes.Node) -> nodes.container:
    return nodes.container("", *inside, nb_element="cell_code_output")


@pytest.mark.parametrize(
    ("node", "marked"),
    [
        (text(), True),
        (text(translated=True), False),
        (nodes.container("", text()), False),
        (nodes.image(alt="words"), False),
        (nodes.meta(content="words"), False),
        (addnodes.toctree(), False),
        (nodes.container(nb_element="cell_code_source"), True),
        (output(nodes.raw("", "<svg>")), True),
        (output(nodes.raw("", "<svg>", translated=True), nodes.raw("", "")), False),
    ],
)
def test_untranslated_messages_and_code_are_marked_as_english(
    node: nodes.Element, marked: bool
) -> None:
    assert languages.is_original(node) == marked


def translation(
    document: nodes.document, language: str = "zh_CN", *, fragment: bool = False
) -> Any:
    document["source"] = "page.md:3:<translated>" if fragment else "page.md"
    return SimpleNamespace(document=document, app=SimpleNamespace(config=config(language)))


@pytest.mark.parametrize(
    ("language", "fragment", "changed"),
    [("zh_CN", False, True), ("zh_CN", True, False), ("en", False, False)],
)
def test_english_parts_are_marked_only_in_whole_translated_pages(
    language: str, fragment: bool, changed: bool
) -> None:
    document = new_document("page")
    document += nodes.section("", text(), nodes.raw("", '<a href="../a"><a href=../slides/b>'))
    page = translation(document, language, fragment=fragment)
    for transform in (languages.CountWords, languages.MarkOriginals, languages.LeadUp):
        transform.apply(page)
    section, paragraph, raw = document[0], document[0][0], document[0][1]
    assert paragraph["classes"] == ["language-en"] * changed
    assert section["classes"] == raw["classes"] == []
    assert ("counted" in document, "counted" in section) == (changed, changed)
    address = "../../a" if changed else "../a"
    assert raw.astext() == f'<a href="{address}"><a href=../slides/b>'


def test_cells_of_tables_are_messages_and_formulas_are_not() -> None:
    document = new_document("page")
    document["source"] = "page.md"
    cells = [nodes.entry("", nodes.paragraph("", words)) for words in ("some words", "12 GB")]
    document += nodes.table("", nodes.tgroup("", nodes.tbody("", nodes.row("", *cells))))
    document += nodes.math_block("", "words of a formula")
    document += nodes.paragraph("", "", nodes.strong("", "12 GB"))
    languages.ChooseMessages.apply(SimpleNamespace(document=document))  # type: ignore[arg-type]
    found = {
        node.astext(): node.get("translatable", True)
        for node in document.findall(nodes.TextElement)
    }
    assert found == {"some words": True, "12 GB": True, "words of a formula": False}
    paragraphs = list(document.findall(nodes.paragraph))
    assert [one.get("translatable", True) for one in paragraphs] == [True, False, False]
    assert [one.source for one in paragraphs[:2]] == ["page.md", "page.md"]


# Citations.


def cited(*parts: nodes.Node) -> nodes.document:
    document = new_document("page")
    document += nodes.paragraph(
        "", "", nodes.inline("", "", *parts, classes=["x", "bibtex-citation-a"])
    )
    document += nodes.paragraph("", "", nodes.Text("One and Two, 2024"))
    return document


def citation(others: str = "et al.") -> list[nodes.Node]:
    link = nodes.reference(
        "", "", nodes.Text("One "), nodes.emphasis("", others), nodes.Text(", n.d.")
    )
    return [link, nodes.Text(", "), nodes.reference("", "A and B, 2024a")]


def test_citations_are_in_the_language_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    english = cited(*citation())
    before = english.pformat()
    citations.translate(SimpleNamespace(), english, "page")  # type: ignore[arg-type]
    assert english.pformat() == before
    monkeypatch.setattr(citations, "_", CHINESE.__getitem__)
    chinese = cited(*citation())
    citations.translate(SimpleNamespace(), chinese, "page")  # type: ignore[arg-type]
    found, other = chinese.findall(nodes.paragraph)
    assert found.astext() == "One 等 无日期、A 和 B 2024a"
    assert other.astext() == "One and Two, 2024"
    assert not list(chinese.findall(nodes.emphasis))
    # An emphasized title stays as it is.
    titled = cited(*citation("The End"))
    citations.translate(SimpleNamespace(), titled, "page")  # type: ignore[arg-type]
    assert next(iter(titled.findall(nodes.emphasis))).astext() == "The End"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_bibliography_entries_are_marked_as_english_in_a_translation(language: str) -> None:
    document = new_document("page")
    document += nodes.citation("", nodes.paragraph("", "A work."))
    app: Any = SimpleNamespace(config=config(language))
    citations.mark_works(app, document, "page")
    if language != "en":
        assert document[0]["classes"] == ["language-en"]


# Words of scripts.


@pytest.mark.parametrize("builder", ["html", "gettext"])
@pytest.mark.parametrize("language", ["zh_CN", "en"])
def test_only_a_translated_site_has_words_for_scripts(
    book: Path, builder: str, language: str
) -> None:
    languages.catalogs.compile_all(
        book / "locale/zh_CN/LC_MESSAGES", book / "made/zh_CN/LC_MESSAGES", "zh_CN"
    )
    loaded = []
    app: Any = SimpleNamespace(
        srcdir=book,
        outdir=book / "html",
        builder=SimpleNamespace(format=builder),
        config=SimpleNamespace(language=language, locale_dirs=[str(book / "made")]),
        add_js_file=lambda name, **_: loaded.append(name),
        add_css_file=lambda name, **_: loaded.append(name),
    )
    page_words.write_words(app)
    has_words = (builder, language) == ("html", "zh_CN")
    assert loaded == ["words.js", "chinese.css"] * has_words
    for name in ("words.js", "chinese.css"):
        assert (book / "html/_static" / name).exists() == has_words


def test_words_without_a_translation_are_left_out(book: Path) -> None:
    compiled = book / "made"
    languages.catalogs.write_compiled(
        languages.catalogs.of_code(book / "locale/zh_CN/LC_MESSAGES", "zh_CN"), compiled
    )
    assert page_words.translated(book / "made.mo", ["Back", "Forth"]) == {"Back": "返回"}
