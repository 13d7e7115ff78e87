"""The printed book: one document of all pages, and its PDF."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from book_extension.languages import ORIGINAL, Language, chosen, words
from bs4 import BeautifulSoup, SoupStrainer, Tag
from commands.printing import built_pages, for_paper, hatches, inner_links, one_document, press
from playwright.sync_api import Browser
from pypdf import PdfReader
from repository import ROOT
from site_links import addresses, html_files, parsed

DOCUMENT = Path("_build", "print", "roofline.html")


@pytest.fixture(scope="module")
def book(site: Path) -> one_document.Book:
    return one_document.compose(site.parents[1])


@pytest.fixture(scope="module")
def document(book: one_document.Book) -> BeautifulSoup:
    return BeautifulSoup(book.document(book.folder / DOCUMENT), "html.parser")


def titles(site: Path) -> list[str]:
    """Return the title of each page in the table of contents, as the site shows it."""
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    names = re.findall(r"(?:root|file): (\S+)", contents)
    found = [parsed(site / f"{name}.html").select_one("article h1") for name in names]
    return [re.sub(r"#$", "", tag.get_text()) for tag in found if tag is not None]


# The HTML document.


@pytest.mark.long
def test_the_document_has_every_page_in_order(document: BeautifulSoup, site: Path) -> None:
    found = [h1.get_text() for h1 in document.select("article h1")]
    assert found == titles(site)
    assert len(found) > 15


@pytest.mark.long
def test_every_inner_link_has_exactly_one_target(document: BeautifulSoup) -> None:
    times = Counter(str(tag["id"]) for tag in document.find_all(id=True))
    assert [name for name, number in times.items() if number > 1] == []
    inner = [str(tag["href"]) for tag in document.select("a[href]") if tag["href"][:1] == "#"]
    assert len(inner) > 400
    assert [href for href in inner if times[href[1:]] != 1] == []


@pytest.mark.long
def test_references_within_pictures_resolve(document: BeautifulSoup) -> None:
    ids = {str(tag["id"]) for tag in document.find_all(id=True)}
    pointed: set[str] = set()
    for tag in document.select("article svg, article svg *"):
        for key, value in tag.attrs.items():
            pointed.update(re.findall(r"url\(['\"]?#([^)'\"]+)", str(value)))
            if key in ("href", "xlink:href"):
                pointed.add(str(value).removeprefix("#"))
    assert len(pointed) > 20
    assert pointed <= ids


@pytest.mark.long
def test_all_other_links_lead_to_the_web(document: BeautifulSoup) -> None:
    outer = [str(tag["href"]) for tag in document.select("a[href]") if tag["href"][:1] != "#"]
    assert outer
    assert [href for href in outer if not href.startswith("https://")] == []


@pytest.mark.long
def test_the_document_loads_only_the_sites_style_sheets(document: BeautifulSoup) -> None:
    loaded = [
        (tag.name, address)
        for tag, address in addresses(document)
        if tag.name != "a" and not address.startswith("#")
    ]
    assert {name for name, _ in loaded} == {"link"}
    for _, address in loaded:
        assert Path(os.path.normpath(ROOT / DOCUMENT.parent / address)).is_file(), address


@pytest.mark.long
def test_the_document_has_no_interactive_elements(document: BeautifulSoup) -> None:
    kinds = ["script", "details", "summary", "input", "select", "button", "fieldset", "img"]
    assert document.find_all(kinds) == []
    assert document.select(".headerlink, .toctree-wrapper, .steps") == []


@pytest.mark.long
def test_answers_and_hints_are_unfolded_with_their_titles(
    document: BeautifulSoup, book: one_document.Book, site: Path
) -> None:
    folded = [
        summary.get_text(strip=True)
        for page in book.pages
        for summary in parsed(site / f"{page.name}.html").select("article .sd-summary-text")
    ]
    assert len(folded) > 40
    assert [tag.get_text() for tag in document.select(".unfolded > .unfolded-title")] == folded
    for box in document.select(".unfolded"):
        assert len(box.get_text(" ", strip=True)) > len(box.p.get_text()) + 5


@pytest.mark.long
def test_live_figures_become_still_pictures(document: BeautifulSoup, site: Path) -> None:
    still = document.select("figure.live")
    built = [path.read_text(encoding="utf-8") for path in html_files(site)]
    assert len(still) == sum(page.count('<figure class="live"') for page in built) > 5
    for figure in still:
        assert figure.select_one(".still-title").get_text(strip=True)
        assert figure.select_one(".live-picture > svg :is(path, rect, line)")
        assert figure.select_one(".live-says").get_text(strip=True)
        assert figure.select("dd")
    assert all(figure.select_one("svg") for figure in document.select("figure"))
    # The document has no elements that Chromium would print as bitmaps.
    assert document.find_all(["pattern", "filter", "mask", "image", "foreignobject"]) == []


@pytest.mark.long
def test_the_title_page_matches_the_citation_file(document: BeautifulSoup) -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    imprint = document.select_one(".title-page .imprint").get_text()
    assert f"Version {cited['version']}, {cited['date-released']}" in imprint
    assert cited["authors"][0]["name"] in imprint
    for license in cited["license"]:
        assert re.sub(r"^(CC)-(BY)-", r"\1 \2 ", license) in imprint


@pytest.mark.long
def test_the_contents_list_every_page_with_its_number(book: one_document.Book) -> None:
    anchors = [a for part in book.contents().values() for a in one_document.anchors(part)]
    numbers = {anchor: place for place, anchor in enumerate(anchors, 7)}
    text = book.document(book.folder / DOCUMENT, numbers)
    filled = BeautifulSoup(text, "html.parser", parse_only=SoupStrainer("nav"))
    lines = filled.select("nav.book-contents a")
    assert [(a["href"][1:], int(a.b.get_text())) for a in lines] == list(numbers.items())
    assert {page.anchor for page in book.pages[1:]} <= set(anchors)


# Unit tests.


def page(name: str, article: str) -> built_pages.BuiltPage:
    tag = BeautifulSoup(f"<article>{article}</article>", "html.parser").article
    assert isinstance(tag, Tag)
    return built_pages.BuiltPage(name, "", tag, [])


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("#here", "#a-one--here"),
        ("two.html#there", "#a-two--there"),
        ("two.html", "#a-two"),
        ("../b/three.html#x%20y", "#b-three--x y"),
        ("https://example.org/two.html", "https://example.org/two.html"),
        ("../genindex.html", None),
        ("../_downloads/1/two.ipynb", None),
        ("../wheels/rooflib.whl", None),
    ],
)
def test_links_lead_into_the_document_or_become_plain_text(href: str, expected: str | None) -> None:
    one = page("a/one", f'<a class="reference" href="{href}" download="">words</a>')
    inner_links.join([one, page("a/two", ""), page("b/three", "")])
    link = one.article.select_one(".reference")
    assert link is not None
    assert (link.name, link.get("href")) == ("span" if expected is None else "a", expected)
    assert link.get_text() == "words"


def test_cells_with_only_folded_code_are_removed() -> None:
    folded = '<details class="hide above-input"><summary>Show</summary><pre>x</pre></details>'
    cell = page("p", f'<div class="cell">{folded}</div><p>text</p>')
    for_paper.prepare(cell.article)
    assert str(cell.article) == "<article><p>text</p></article>"


def test_folded_output_is_shown_without_a_title() -> None:
    folded = '<details class="hide below-input"><summary>Show</summary><pre>4</pre></details>'
    cell = page("p", f'<div class="cell">{folded}</div>')
    for_paper.prepare(cell.article)
    assert cell.article.get_text() == "4"
    assert not cell.article.select("details")


HATCHED = """<svg><defs><pattern id="h" width="72" height="72"><path d="M 0 0"></path></pattern>
</defs><path clip-path="url(#c)" d="M 57 56 L 150 56 L 150 76 L 57 76 z"
style="fill: url(#h); stroke: red"></path></svg>"""


def test_hatches_are_drawn_as_tiles() -> None:
    picture = page("p", HATCHED).article
    hatches.expand(picture)
    assert not picture.select("pattern")
    tiles = [tag["transform"] for tag in picture.select('use[href="#h"]')]
    places = [f"translate({x} {y})" for y in (0, 72) for x in (0, 72, 144)]
    assert tiles == places
    assert picture.select_one("clippath path")["d"] == "M 57 56 L 150 56 L 150 76 L 57 76 z"
    # A group with the tiles comes before the shape, with the same clip path; the shape keeps its
    # outline.
    ground, shape = picture.select('[clip-path="url(#c)"]')
    assert (ground.name, shape.name) == ("g", "path")
    assert shape["style"] == "fill: none; stroke: red"


def test_hatched_shapes_with_curves_are_refused() -> None:
    picture = page("p", HATCHED.replace("L 150 56", "C 1 1 1 1 1 1")).article
    with pytest.raises(ValueError, match="has a bend"):
        hatches.expand(picture)


@pytest.mark.long
def test_a_missing_chromium_is_reported_in_one_line(site: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "site"), "pdf"]
    # With this PATH, no browser is found.
    environment = {"PATH": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == f"{press.MISSING}\n"


def test_check_font_reports_a_missing_font(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    press.check_font("zh-CN")
    without_fonts = tmp_path / "fonts.conf"
    without_fonts.write_text("<fontconfig/>")
    monkeypatch.setenv("FONTCONFIG_FILE", str(without_fonts))
    with pytest.raises(press.CannotPrint, match="zh-CN"):
        press.check_font("zh-CN")


# The PDF.


@pytest.mark.long
def test_the_contents_start_a_new_page(book: one_document.Book, browser: Browser) -> None:
    """Print only the title page, the contents, and the first two articles."""
    work = book.folder / "_build" / "print"
    work.mkdir(exist_ok=True)
    document, printed = work / "front.html", work / "front.pdf"
    front = replace(book, pages=book.pages[:2])
    document.write_text(front.document(document), encoding="utf-8")
    with browser.new_page() as page:
        press.print_out(page, document, printed)
    texts = [" ".join(page.extract_text().split()) for page in PdfReader(printed).pages]
    (contents,) = (
        number for number, text in enumerate(texts) if re.match(r"(\d+ )?Contents ", text)
    )
    imprint = "Code that the site folds away is left out here."
    assert [imprint in text for text in texts].index(True) < contents
    assert "one question each" not in " ".join(texts[:contents])


# Language → the heading of the table of contents.
CONTENTS = {"en": "Contents", "zh_CN": "目录"}


@pytest.fixture(scope="module", params=CONTENTS)
def language(request: pytest.FixtureRequest) -> Language:
    return chosen(request.param)


@pytest.fixture(scope="module")
def pdf(site: Path, language: Language) -> PdfReader:
    book = str(site.parents[1])
    command = [sys.executable, str(ROOT / "site"), "pdf", book, "--language", language.code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return PdfReader(run.stdout.strip())


def bookmarks(pdf: PdfReader) -> Iterator[Any]:
    """Return the top-level bookmarks."""
    return (mark for mark in pdf.outline if not isinstance(mark, list))


def resources(pdf: PdfReader, kind: str) -> Iterator[Any]:
    """Yield the pages' resources of a kind, such as /Font, also nested ones."""
    todo = [page["/Resources"] for page in pdf.pages]
    seen = set()
    while todo:
        found = todo.pop().get_object()
        for group in ("/Font", "/XObject", "/Pattern"):
            for reference in found.get(group, {}).values():
                thing = reference.get_object()
                if id(thing) in seen:
                    continue
                seen.add(id(thing))
                if group == kind:
                    yield thing
                if "/Resources" in thing:
                    todo.append(thing["/Resources"])


@pytest.mark.long
def test_bookmarks_are_the_titles_in_order(pdf: PdfReader, site: Path, language: Language) -> None:
    found = [mark.title for mark in bookmarks(pdf)]
    first, *others = titles(site / language.folder)
    assert found == [first, CONTENTS[language.code], *others]
    assert pdf.page_mode == "/UseOutlines"
    assert pdf.root_object["/Lang"] == language.tag
    for mark in bookmarks(pdf):
        number = pdf.get_destination_page_number(mark)
        assert readable(mark.title.split(". ")[-1]) in readable(pdf.pages[number].extract_text())


@pytest.mark.long
def test_every_inner_link_of_the_pdf_resolves(pdf: PdfReader) -> None:
    places = pdf.named_destinations
    inner, outer = [], []
    for sheet in pdf.pages:
        for note in sheet.get("/Annots", []):
            note = note.get_object()
            if "/Dest" in note:
                inner.append(str(note["/Dest"]))
            else:
                outer.append(str(note["/A"]["/URI"]))
    assert len(inner) > 400
    assert {name for name in inner if name not in places} == set()
    assert all(pdf.get_destination_page_number(place) is not None for place in places.values())
    # All other links lead to the web, none to this machine.
    assert [address for address in outer if not address.startswith("https://")] == []


@pytest.mark.long
def test_all_pages_but_the_first_are_numbered(pdf: PdfReader) -> None:
    assert len(pdf.pages) > 80
    for number, sheet in enumerate(pdf.pages, 1):
        assert (str(number) in at_the_foot(sheet)) == (number > 1), number


def readable(text: str) -> str:
    """Return the Latin part of a text, without spaces.

    Machines may lack a font for Chinese.
    """
    return re.sub(r"[^\x21-\x7e]", "", text)


def at_the_foot(sheet: Any) -> list[str]:
    """Return the texts in a page's footer."""
    found: list[str] = []

    def look(text: str, outer: list[float], inner: list[float], *_: object) -> None:
        # Compute the text's y position on the page from both transformation matrices.
        if inner[5] * outer[3] + outer[5] < 60:
            found.append(text.strip())

    sheet.extract_text(visitor_text=look)
    return found


@pytest.mark.long
def test_the_contents_have_the_right_page_numbers(pdf: PdfReader) -> None:
    text = " ".join(sheet.extract_text() for sheet in pdf.pages[1:5])
    for mark in list(bookmarks(pdf))[2:]:
        number = pdf.get_destination_page_number(mark) + 1
        title = "[^!-~]*".join(map(re.escape, readable(mark.title)))
        assert re.search(rf"{title}[^!-~]+{number}(?!\d)", text), mark.title


@pytest.mark.long
def test_figures_are_vectors_and_fonts_are_embedded(pdf: PdfReader) -> None:
    assert [x for x in resources(pdf, "/XObject") if x["/Subtype"] == "/Image"] == []
    fonts = list(resources(pdf, "/Font"))
    assert len(fonts) > 5
    for font in fonts:
        if font["/Subtype"] == "/Type3":
            assert font["/CharProcs"]
            continue
        (descendant,) = font["/DescendantFonts"]
        described = descendant.get_object()["/FontDescriptor"]
        assert {"/FontFile2", "/FontFile3"} & set(described), font["/BaseFont"]


@pytest.mark.long
def test_formulas_are_not_printed_as_latex_source(pdf: PdfReader) -> None:
    text = "".join(sheet.extract_text() for sheet in pdf.pages)
    assert r"\frac" not in text
    assert r"\[" not in text


@pytest.mark.long
def test_the_pdf_has_title_author_and_release_date(pdf: PdfReader, language: Language) -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    translate = (lambda words: words) if language is ORIGINAL else words(ROOT, language)
    assert pdf.metadata.title == translate("The roofline")
    assert pdf.metadata.author == translate(cited["authors"][0]["name"])
    assert f"{pdf.metadata.creation_date:%Y-%m-%d}" == str(cited["date-released"])
    assert "HeadlessChrome" not in str(pdf.metadata)
