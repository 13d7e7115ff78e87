"""Unit tests of the Sphinx extension: figures, tables, downloads, page heads."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from babel.messages import Catalog
from book_extension import (
    blocks,
    downloads,
    figures,
    fonts,
    licenses,
    page_download,
    pages,
    preview,
    preview_picture,
    prose,
    search,
    table_widths,
    tables,
    terms,
    theme,
    themed_svg,
    values,
)
from book_extension.languages import catalogs
from book_extension.markdown_writer import CodeCell
from docutils import nodes
from docutils.utils import new_document
from jinja2 import Environment
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from repository import HEADER
from sphinx import addnodes
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config

SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" id="top">
<title>drawn</title><metadata>when</metadata><style>* {stroke: red}</style>
<defs><clipPath id="clip"><path id="line" d="M0 0"/></clipPath><path id="unused" d="M1 1"/></defs>
<use xlink:href="#line" href="#line" style="fill: #0B5FA5; stroke: #22262b"/>
<g clip-path="url(#clip)" id="clip"><text fill="#0b5fa5">#0b5fa5</text></g>
<pattern><rect fill="#ECE3F2"/><path fill="none" stroke="#7a4a9e" style="fill: #dfe9f4"/></pattern>
</svg>"""


def test_figures_use_css_colors_and_unique_ids() -> None:
    text = themed_svg.themed_svg(SVG, 'A "line"', "figure-2")
    svg = ElementTree.fromstring(text)
    assert [svg.get(key) for key in ("role", "aria-label", "class")] == [
        "img",
        'A "line"',
        "figure",
    ]
    assert "stroke-linejoin: round" in svg.get("style", "")
    # Matplotlib's metadata, and the style that would apply to the whole page, are removed.
    assert not {"title", "metadata", "style"} & {e.tag.rpartition("}")[2] for e in svg.iter()}
    assert "var(--c-0b5fa5, #0B5FA5)" in text
    assert "var(--c-22262b, #22262b)" in text
    # A color in an attribute, such as a hatch's background, becomes a variable; text is unchanged.
    assert '<text style="fill: var(--c-0b5fa5, #0b5fa5); ">#0b5fa5<' in text
    ground, lines = next(svg.iter(f"{{{themed_svg.SVG}}}pattern"))
    assert ground.attrib == {"style": "fill: var(--c-ece3f2, #ECE3F2); "}
    # The style attribute takes precedence, as in the original.
    assert lines.attrib == {
        "fill": "none",
        "style": "stroke: var(--c-7a4a9e, #7a4a9e); fill: var(--c-dfe9f4, #dfe9f4)",
    }
    ids = [element.get("id") for element in svg.iter() if element.get("id")]
    assert ids == ["figure-2-clip", "figure-2-line", "figure-2-clip"]
    (use,) = svg.iter(f"{{{themed_svg.SVG}}}use")
    assert use.get("href") == use.get(f"{{{themed_svg.XLINK}}}href") == "#figure-2-line"
    assert 'clip-path="url(#figure-2-clip)"' in text
    assert ' xlink:href="#figure-2-line"' in text  # in HTML, no other prefix is known


def table(*rows: tuple[str, ...], heading: bool = True) -> nodes.table:
    def row(cells: tuple[str, ...]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", c)) for c in cells))

    made = [row(cells) for cells in rows]
    group = nodes.tgroup("")
    if heading:
        group += nodes.thead("", made.pop(0))
    group += nodes.tbody("", *made)
    return nodes.table("", group)


@pytest.mark.parametrize(
    ("rows", "wide"),
    [
        ([("a", "b", "c", "d"), ("x" * 15,) * 4], False),
        ([("a", "b", "c", "d"), ("x" * 16, *("x" * 15,) * 3)], True),
        ([("a", "b", "c", "d"), ("x" * 61, "", "", ""), ("", "", "", "")], True),
        # Long headings wrap, so they don't make a table wide.
        ([("x" * 99, "b", "c", "d"), ("1",) * 4], False),
        ([("a", "b", "c"), ("x" * 99,) * 3], False),
        ([("a", "b", "c", "d", "e"), ("1",) * 5], True),
    ],
)
def test_tables_too_wide_for_a_phone_repeat_the_heading_in_each_cell(
    rows: list, wide: bool
) -> None:
    document = new_document("page")
    document += table(*rows)
    tables.label_cells(None, document)  # type: ignore[arg-type]
    labels = [
        node.astext()
        for node in document.findall(nodes.inline)
        if node["classes"] == ["heading-of-cell"]
    ]
    assert labels == (list(rows[0]) * (len(rows) - 1) if wide else [])
    assert ("wide" in document[0]["classes"]) == wide
    shown = [[entry.astext() for entry in row] for row in document.findall(nodes.row)]
    named = [tuple(map("".join, zip(rows[0], row, strict=True))) for row in rows[1:]]
    assert list(map(tuple, shown)) == [rows[0], *(named if wide else rows[1:])]


def test_a_long_table_stays_a_table_on_a_phone() -> None:
    for rows, kind in ((table_widths.LISTED_ROWS, "wide"), (table_widths.LISTED_ROWS + 1, "long")):
        document = new_document("page")
        document += table(("a",) * 5, *[("1",) * 5] * rows)
        tables.label_cells(None, document)  # type: ignore[arg-type]
        assert document[0]["classes"] == [kind]
        assert bool(list(document.findall(nodes.inline))) == (kind == "wide")


def test_a_long_table_of_few_columns_with_sentences_is_a_list_on_a_phone() -> None:
    for length, kind in ((table_widths.SOME_WORDS, "long"), (table_widths.SOME_WORDS + 1, "wide")):
        row = ("x" * length, "x" * 20, "1", "1")
        assert table_widths.shown_as([("a",) * 4, *[row] * 30]) == kind
        assert table_widths.shown_as([("a",) * 5, *[(*row, "1")] * 30]) == "long"


def test_column_width_depends_on_the_longest_cell() -> None:
    document = new_document("page")
    cells = ("x" * 20, "x" * 21, "x" * 45, "x" * 46, "1")
    document += table(("a long heading, which breaks",) * 5, cells, ("1",) * 5)
    tables.label_cells(None, document)  # type: ignore[arg-type]
    heading, *rows = document.findall(nodes.row)
    wanted = ["figure-cell", "words-cell", "words-cell", "sentence-cell", "figure-cell"]
    for row in rows:
        assert [entry["classes"] for entry in row.findall(nodes.entry)] == [[w] for w in wanted]
    assert [entry["classes"] for entry in heading.findall(nodes.entry)] == [[]] * 5


def test_empty_and_code_cells_of_a_wide_table_repeat_no_heading() -> None:
    document = new_document("page")
    document += table(("a", "b", "c", "d", "e"), ("1",) * 5)
    *_, row = document.findall(nodes.row)
    row[0].clear()
    row[1][0] = nodes.literal_block("", "code")
    tables.label_cells(None, document)  # type: ignore[arg-type]
    assert [node.astext() for node in document.findall(nodes.inline)] == ["c", "d", "e"]


def test_cells_of_tables_without_headings_get_no_labels() -> None:
    document = new_document("page")
    document += table(("1",) * 5, ("2",) * 5, heading=False)
    tables.label_cells(None, document)  # type: ignore[arg-type]
    assert not list(document.findall(nodes.inline))


# Notebooks to download.

PAGE = f"""{HEADER}
# A page of {{eval}}`n` lines

`` {{eval}}`n` `` stays, {{eval}}`n +
1` does not.

```{{code-cell}} ipython3
n = 2
```

```{{code-cell}} ipython3
:tags: [remove-cell]

secret = 1
```
"""


def test_a_downloaded_notebook_omits_cells_added_by_the_build() -> None:
    page = values.read_page(PAGE, [])
    live = {"output_type": "display_data", "metadata": {}, "data": {}}
    code = [cell for cell in page.cells if cell.cell_type == "code"]
    shown = nbformat.from_dict(live | {"data": {"text/plain": "2"}})
    figure = nbformat.from_dict(live | {"data": {"text/html": '<figure class="live">'}})
    for cell in code:
        cell.outputs = [shown, figure]
    document = new_document("page")
    index = next(i for i, cell in enumerate(page.cells) if cell.source == "n = 2")
    container = nodes.container("", nb_element="cell_code", cell_index=index)
    document += [nodes.paragraph("", "before"), container, nodes.paragraph("", "after")]
    notebook = page_download.download_notebook("page", document, page, "", {}, values.is_hidden)
    assert [cell.source for cell in notebook.cells] == ["before", "n = 2", "after", "secret = 1"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [shown] for cell in code)
    # Cells that the page hides are in the notebook, folded: later cells need their results.
    assert [cell.metadata for cell in code] == [{}, {"jupyter": {"source_hidden": True}}]
    assert notebook.metadata.kernelspec.name == "python3"


def test_notebooks_are_offered_for_pages_with_code_cells_that_are_not_removed() -> None:
    cells = values.read_page(PAGE, []).cells
    assert [cell.source for cell in cells if downloads.is_to_be_run(cell)] == ["n = 2"]


def test_values_are_computed_at_their_place_in_the_page() -> None:
    caption = '---\nmystnb:\n  figure: {caption: "{eval}`later`"}\n---\n'
    text = (
        PAGE + "\n{eval}`n` {eval}`n`\n" + f"\n```{{code-cell}} ipython3\n{caption}later = 1\n```\n"
    )
    page = values.read_page(text, [])
    sources = [cell.source.splitlines()[0] for cell in page.cells]
    asks = [
        values.values_cell(text).source
        for text in ("{eval}`n` {eval}`n + 1`", "{eval}`n`", "{eval}`later`")
    ]
    assert sources[0].startswith("# First, hidden cell")
    # The hidden cell that computes a text's values comes before the text; for a caption, it comes
    # after the cell that has the caption.
    assert [s for s in sources[1:] if s] == [
        *(asks[0], "# A page of {eval}`n` lines", "n = 2", "secret = 1"),
        *(asks[1], "{eval}`n` {eval}`n`", "later = 1", asks[2]),
    ]
    assert len(page.metadata["source_map"]) == len(page.cells)
    assert page.metadata["source_map"][:3] == [
        0,
        len(HEADER.splitlines()),
        len(HEADER.splitlines()),
    ]
    words = values.read_page(f"{HEADER}# Words\n", [])
    assert [cell.source for cell in words.cells] == ["# Words"]
    assert words.metadata["source_map"] == [len(HEADER.splitlines())]
    assert page.cells[-1].metadata.tags == ["remove-cell"]
    # A repeated expression is computed once.
    assert values.values_cell("{eval}`n` {eval}`n`").source.count("'n'") == 1
    assert values.values_cell("{while}`n` A. {while}`n` B.").source.count("'n'") == 1
    assert values.values_cell("`` {while}`n` ``") is None


def test_a_while_role_applies_to_its_table_row_or_else_its_paragraph() -> None:
    row = nodes.row("", nodes.entry("", nodes.paragraph("", "", mark := nodes.inline("", "x"))))
    assert blocks.block_of(mark) is row
    strong = nodes.strong("", "", mark := nodes.inline("", "x"))
    item = nodes.list_item("", text := nodes.paragraph("", "", strong))
    assert blocks.block_of(mark) is text
    assert blocks.block_of(item) is None


def test_the_line_of_a_failing_cell_is_found() -> None:
    rule = "------------------\n"
    failure = SimpleNamespace(ename="KeyError", evalue="7")
    failure = type("Failure", (Exception,), vars(failure))(f"{rule}n = 2\n{rule}KeyError: 7")
    line = PAGE.splitlines().index("n = 2") + 1
    said = pages.where_and_why("chapters/page.md", PAGE, failure)
    assert said.startswith(f"chapters/page.md:{line}: a cell failed: KeyError: 7\n")


def test_a_failure_without_a_cell_is_reported_at_the_top_of_the_page() -> None:
    rule = "------------------\n"
    for text in ("it took 60 s", f"{rule}m = 3\n{rule}"):
        said = pages.where_and_why("chapters/page.md", PAGE, TimeoutError(text))
        assert said == f"chapters/page.md:1: a cell failed: TimeoutError: {text}\n{text}"


def test_expressions_in_code_are_ignored() -> None:
    text = "{eval}`a`\n\n```\n{eval}`b`\n```\n% {eval}`c`\n\\{eval}`d` and {eval}`e\n> f`\n"
    assert list(prose.expressions(text)) == [("a", 0), ("e f", 6)]
    assert len(prose.without_code(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # A fence is closed only by a fence of the same character that is at least as long.
        ("```\n{eval}`a`\n`````\n{eval}`b`\n", ["b"]),
        ("````\n{eval}`a`\n```\n{eval}`b`\n", []),
        ("~~~\n{eval}`a`\n```\n{eval}`b`\n", []),
        # A directive's body is prose, except in directives such as `math` and `code-block`.
        (":::{note}\n{eval}`a`\n:::\n", ["a"]),
        ("```{note}\n{eval}`a`\n```\n", ["a"]),
        ("::: title\n{eval}`a`\n:::\n", ["a"]),
        ("```{math}\n{eval}`a`\n```\n", []),
        (":::{code-block} text\n{eval}`a`\n:::\n", []),
        # Nested admonitions; the outer fence closes both.
        ("::::{tip}\n:::{note}\n{eval}`a`\n:::\n{eval}`b`\n::::\n{eval}`c`\n", ["a", "b", "c"]),
        ("```{note}\n~~~\n{eval}`a`\n```\n{eval}`b`\n", ["b"]),
        # Three backticks with others later on the line are inline code.
        ("``` {eval}`a` ```\n{eval}`b`\n", ["b"]),
    ],
)
def test_roles_are_found_in_prose_only(text: str, found: list[str]) -> None:
    assert [expression for expression, _ in prose.expressions(text)] == found


@pytest.mark.parametrize(
    ("failure", "builder", "kept"),
    [(None, "html", True), (ValueError(), "html", False), (None, "gettext", False)],
)
def test_search_terms_are_kept_only_after_a_successful_html_build(
    tmp_path: Path, failure: Exception | None, builder: str, kept: bool
) -> None:
    app: Any = SimpleNamespace(
        env="the terms", doctreedir=tmp_path, builder=SimpleNamespace(format=builder)
    )
    search.keep_terms(app, failure)
    assert [pickle.loads(path.read_bytes()) for path in tmp_path.iterdir()] == ["the terms"] * kept


# Tests of a page's head, and of the files that the page loads.


def app_with(*captions: str) -> SimpleNamespace:
    trees = [SimpleNamespace(caption=c, items=[f"{c}/one", f"{c}/two"]) for c in captions]
    config = SimpleNamespace(
        external_site_map=SimpleNamespace(root=SimpleNamespace(subtrees=trees)),
        html_baseurl="",
        html_title="The roofline",
        language="en",
        root_doc="index",
    )
    maths = SimpleNamespace(data={"has_equations": {"Part/one": True}})
    title = nodes.title("", "Time")
    env = SimpleNamespace(get_domain=lambda name: maths, titles={"Part/one": title, "index": title})
    return SimpleNamespace(config=config, env=env)


def test_pages_know_their_part_and_position() -> None:
    app = app_with("Start", "Part")
    assert theme.place(app, "Part/two") == {"part": "Part", "number": 2, "of": 2}
    assert theme.place(app, "index") is None


def test_link_previews_have_title_description_and_picture() -> None:
    app, document = app_with("Part"), new_document("page")
    document += nodes.meta(name="description", content="What takes time.")
    document += nodes.meta(**{"http-equiv": "refresh", "content": "60"})
    context = {"pathto": lambda path, resource: f"../{path}" if resource else "another page"}
    seen = theme.social(app, "Part/one", context, document)
    assert seen["og:title"] == "Time"
    assert seen["og:type"] == "article"
    assert seen["og:description"] == "What takes time."
    assert seen["og:image"] == "../_static/social-preview.png"
    app.config.html_baseurl = "https://example.org/course/"
    seen = theme.social(app, "index", context, document)
    assert seen["og:type"] == "website"
    assert seen["og:image"] == "https://example.org/course/_static/social-preview.png"
    assert theme.social(app, "search", context, None) == {}


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("", ""),
        ("https://example.org", "/"),
        ("https://example.org/course", "/course/"),
        ("https://example.org/a/b/", "/a/b/"),
    ],
)
def test_site_path_is_taken_from_the_address(address: str, path: str) -> None:
    assert theme.site_path(address) == path


def test_terms_are_explained_by_their_first_sentence() -> None:
    def item(names: list[str], *sentences: str) -> nodes.definition_list_item:
        terms = [nodes.term("", name, ids=[f"term-{name}"]) for name in names]
        text = nodes.paragraph("", "\n".join(sentences))
        return nodes.definition_list_item("", *terms, nodes.definition("", text))

    document = new_document("page")
    document += addnodes.glossary(
        "",
        nodes.definition_list(
            "",
            item(["byte"], "Eight bits. All is counted in 2.5 of them."),
            item(["a", "b"], "One of\ntwo?", "Yes."),
            item(["字节"], "八个比特。一切都用它来数。"),
        ),
    )
    # A definition list outside of a glossary doesn't define terms.
    document += nodes.definition_list("", item(["other"], "No."))
    assert terms.first_sentences(document) == {
        "term-byte": "Eight bits.",
        "term-a": "One of two?",
        "term-b": "One of two?",
        "term-字节": "八个比特。",
    }


def test_a_glossary_writes_its_terms_as_a_script(tmp_path: Path) -> None:
    glossary = new_document("glossary")
    text = nodes.definition("", nodes.paragraph("", "八个“比特”。 More."))
    term = nodes.term("", "byte", ids=["term-byte"])
    item = nodes.definition_list_item("", term, text)
    glossary += addnodes.glossary("", nodes.definition_list("", item))
    app = SimpleNamespace(outdir=tmp_path)
    script = tmp_path / "_static/terms.js"
    for document, written in ((None, False), (new_document("page"), False), (glossary, True)):
        terms.write_terms(app, "page", "page.html", {}, document)  # type: ignore[arg-type]
        assert script.exists() == written
    terms.write_terms(app, "page", "page.html", {}, new_document("page"))  # type: ignore[arg-type]
    before, _, data = script.read_text(encoding="utf-8").partition(" = ")
    assert before == "window.courseTerms"
    assert json.loads(data.strip().removesuffix(";")) == {"term-byte": "八个“比特”。"}
    assert "比特" in data  # as characters, not escaped


PLOT = """<svg xmlns="http://www.w3.org/2000/svg"><g><text>Time of Mixtral</text></g>
<g><text>Mixtral</text></g><g><text>Time of Mixtral</text></g><g><text>memory</text></g></svg>"""


def page_with_figures(folder: Path, *alternatives: str) -> nodes.document:
    document = new_document("page")
    (folder / "plot.svg").write_text(PLOT)
    for text in alternatives:
        image = nodes.image(uri="plot.svg", alt=text)
        document += nodes.container("", image, mime_type="image/svg+xml")
    document += nodes.container("", nodes.image(uri="photo.png"), mime_type="image/png")
    return document


def building(folder: Path, builder: str, language: str = "en") -> Any:
    env = SimpleNamespace(
        docname="chapters/page",
        relfn2path=lambda uri, page: (uri, str(folder / uri)),
        doc2path=lambda page: f"{page}.md",
    )
    config = SimpleNamespace(language=language, locale_dirs=["words"], gettext_compact=False)
    return SimpleNamespace(
        builder=SimpleNamespace(name=builder), env=env, config=config, srcdir=folder
    )


def test_figures_become_inline_svg_and_a_missing_text_alternative_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(figures.logger, "warning", lambda said, location: warned.append(said))
    document = page_with_figures(tmp_path, " A plot. ", "")
    figures.inline_figures(building(tmp_path, "html"), document)
    first, second = document.findall(nodes.raw)
    assert (first["format"], second["format"]) == ("html", "html")
    labels = [ElementTree.fromstring(raw.astext()).get("aria-label") for raw in (first, second)]
    assert labels == ["A plot.", ""]
    assert [image["uri"] for image in document.findall(nodes.image)] == ["photo.png"]
    (warning,) = warned
    assert "mystnb.image.alt" in warning


def test_texts_in_figures_are_extracted_and_translated(tmp_path: Path) -> None:
    document = page_with_figures(tmp_path, "A plot.")
    app = building(tmp_path, "gettext")
    figures.inline_figures(app, document)
    found = list(document.findall(nodes.paragraph))
    # Each text is extracted once; text that is only a name, such as "Mixtral", is not.
    assert [(words.astext(), words.rawsource) for words in found] == [
        ("Time of Mixtral", "Time of Mixtral"),
        ("memory", "memory"),
    ]
    assert [words.source for words in found] == ["chapters/page.md"] * 2
    assert len(list(document.findall(nodes.image))) == 2
    catalog = Catalog(locale="zh_CN")
    for english, text in {
        "Time of Mixtral": "Mixtral 的时间",
        "Mixtral": "米",
        "memory": "存",
    }.items():
        catalog.add(english, text)
    catalogs.write_compiled(catalog, tmp_path / "words/zh_CN/LC_MESSAGES/chapters/page")
    document = page_with_figures(tmp_path, "A plot.")
    figures.inline_figures(building(tmp_path, "html", "zh_CN"), document)
    svg = ElementTree.fromstring(next(iter(document.findall(nodes.raw))).astext())
    words = [text.text for text in svg.iter(f"{{{themed_svg.SVG}}}text")]
    assert words == ["Mixtral 的时间", "Mixtral", "Mixtral 的时间", "存"]


@pytest.mark.parametrize(
    ("page", "body", "used"),
    [
        ("Part/one", "", []),
        ("search", None, ["search-excerpts"]),
        ("Part/two", '<a href="glossary.html"><span class="std-term">', ["term-notes"]),
    ],
)
def test_pages_load_only_files_that_they_use(page: str, body: str | None, used: list[str]) -> None:
    def files(*names: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(filename=name, attributes={}) for name in names]

    text = '<div role="list" class="citation-list"><p role="doc-biblioentry">A</p></div>'
    context = {
        "script_files": [
            *files("course.js", "search-excerpts.js", "term-notes.js"),
            SimpleNamespace(filename="", attributes={"body": "import design-tabs"}),
        ],
        "css_files": files("design-tabs.css", "course.css"),
    } | ({} if body is None else {"body": text + body})
    app, document = app_with("Part"), None if page == "search" else new_document(page)
    app.env.titles["Part/two"] = nodes.title("", "Space")
    app.config.html_baseurl = "https://example.org/course"
    theme.prepare_page(app, page, "page.html", context, document)
    assert context["site_path"] == "/course/"
    titles = {"search": None, "Part/one": "Time", "Part/two": "Space"}
    assert context["social"].get("og:title") == titles[page]
    without_roles = '<div class="citation-list"><p>A</p></div>'
    assert context["body"] == ("" if body is None else without_roles + body)
    names = [file.filename for file in context["script_files"]]
    assert names == ["course.js", *(f"{name}.js" for name in used)]
    assert [file.filename for file in context["css_files"]] == ["course.css"]
    assert (context["place"] is None) == (page == "search")


def test_our_templates_are_searched_before_those_of_the_theme() -> None:
    config = Config(overrides={"templates_path": ["of a theme"]})
    config.html_theme_options = {}
    config.html_additional_pages = {}
    config.templates_path = ["of a theme"]
    theme.use_templates(Mock(), config)
    ours, other = config.templates_path
    assert (Path(ours) / config.html_additional_pages["404"]).is_file()
    assert other == "of a theme"


def test_templates_leave_no_empty_lines() -> None:
    builder = Mock(spec=StandaloneHTMLBuilder)
    builder.templates = SimpleNamespace(environment=Environment())
    theme.trim_pages(SimpleNamespace(builder=builder))  # type: ignore[arg-type]
    template = builder.templates.environment.from_string("a\n  {% if true %}\nb\n  {% endif %}\nc")
    assert template.render() == "a\nb\nc"
    theme.trim_pages(SimpleNamespace(builder=object()))  # type: ignore[arg-type]


# Tests of fonts and preview, which the build makes only if they are missing or outdated.


@pytest.mark.parametrize(
    ("builder", "language", "age", "made"),
    [
        ("html", "en", None, True),
        ("html", "en", -1, True),
        ("html", "en", 0, False),
        ("html", "en", 1, False),
        ("html", "zh_CN", None, False),
        ("gettext", "en", None, False),
    ],
)
def test_fonts_and_preview_are_made_once_for_the_original(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    builder: str,
    language: str,
    age: int | None,
    made: bool,
) -> None:
    """`age` is how many seconds the files are newer than their code, None if missing."""
    targets: list[Path] = []

    def write(target: Path) -> None:
        target.touch()
        targets.append(target)

    monkeypatch.setattr(preview, "draw", write)
    monkeypatch.setattr(fonts, "cut", lambda source, target, ranges: write(target))
    static = tmp_path / "_static"
    wanted = {static / "social-preview.png": preview.DRAWING}
    for source, _ in fonts.sources():
        wanted[static / "fonts" / f"{source.stem}.woff"] = Path(fonts.__file__)
    for target, code in wanted.items() if age is not None else ():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
        written = code.stat().st_mtime_ns + age * 10**9
        os.utime(target, ns=(written, written))
    app = SimpleNamespace(
        outdir=tmp_path,
        builder=SimpleNamespace(format=builder),
        config=SimpleNamespace(language=language),
    )
    preview.write_preview(app)  # type: ignore[arg-type]
    fonts.write_fonts(app)  # type: ignore[arg-type]
    assert set(targets) == (set(wanted) if made else set())


def test_the_link_preview_picture_shows_a_roofline_beside_text(tmp_path: Path) -> None:
    preview.draw(tmp_path / "preview.png")
    assert b"Matplotlib" not in (tmp_path / "preview.png").read_bytes()  # its version would change
    picture = imread(tmp_path / "preview.png")[..., :3]
    assert picture.shape[:2] == (630, 1200)  # the preview size that other sites show

    def rows_and_columns(color: str) -> tuple[np.ndarray, np.ndarray]:
        return np.nonzero(np.abs(picture - to_rgb(color)).max(axis=2) < 0.02)

    for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
        assert (edge == 1).all()
    left, right = preview_picture.LEFT, preview_picture.RIGHT
    bottom = preview_picture.BOTTOM
    for color in (preview_picture.MEMORY_ZONE, preview_picture.COMPUTE_ZONE):
        _, across = rows_and_columns(color)
        assert len(across) > 30_000
        assert left <= across.min() < across.max() <= right
    down, across = rows_and_columns(preview_picture.BLUE)
    mark, slope = across < left - 20, across > left - 20
    assert mark.any()
    assert np.corrcoef(across[slope], down[slope])[0, 1] < -0.99
    assert down[slope].max() < bottom + 4
    down, across = rows_and_columns(preview_picture.INK)
    x, y = preview_picture.RIDGE
    roof = across[(down == y) & (across > x - 3)]
    assert len(roof) == pytest.approx(right - x, abs=5)
    # Two points lie below the roof, and the text is left of the plot.
    assert 600 < ((down > y + 20) & (across > left + 10)).sum() < 1200
    text = across < left
    assert across[text].max() < left - 20
    for top in (150, 275, 325, 375, 425):
        assert (text & (down > top) & (down < top + 50)).sum() > 500
    assert not (text & (down > 490)).any()
    down, across = rows_and_columns(preview_picture.GRID)
    _, in_rows = np.unique(down, return_counts=True)
    _, in_columns = np.unique(across, return_counts=True)
    assert (in_rows > 300).sum() >= 2
    assert (in_columns > 200).sum() >= 2
    down, across = rows_and_columns(preview_picture.MUTED)
    assert (down.max() - down.min() > 300, across.max() - across.min() > 500) == (True, True)


# First and last character of blocks of Unicode.
LATIN = [(0x0020, 0x007F), (0x0080, 0x00FF)]
GREEK, PUNCTUATION, SMALL_DIGITS = (0x0370, 0x03FF), (0x2000, 0x206F), (0x2070, 0x209F)
ARROWS, OPERATORS, MATHS_LETTERS = (0x2190, 0x21FF), (0x2200, 0x22FF), (0x1D400, 0x1D7FF)
BLOCKS = [*LATIN, GREEK, PUNCTUATION, SMALL_DIGITS, ARROWS, OPERATORS]
LETTERLIKE, TECHNICAL, LONG_ARROWS = (0x2100, 0x214F), (0x2300, 0x23FF), (0x27F0, 0x27FF)
MATHS_BLOCKS = [*BLOCKS, LETTERLIKE, TECHNICAL, LONG_ARROWS, MATHS_LETTERS]


@pytest.mark.parametrize(
    ("ranges", "blocks", "needed"),
    [
        (fonts.RANGES, BLOCKS, "a~éÿαω“…⁰₉→√≤"),
        (fonts.MATHS_RANGES, MATHS_BLOCKS, "a~αω→≤↔⇔ℏ≪⋯⎛⎭⟵⟶𝐴𝑧𝛼𝜛"),
    ],
)
def test_fonts_have_the_characters_of_the_pages_and_only_their_unicode_blocks(
    ranges: list[tuple[int, int]], blocks: list[tuple[int, int]], needed: str
) -> None:
    kept = {number for first, last in ranges for number in range(first, last + 1)}
    assert {sign for sign in needed if ord(sign) not in kept} == set()
    of_blocks = {number for first, last in blocks for number in range(first, last + 1)}
    assert kept <= of_blocks


def test_figure_and_table_numbers_are_returned_as_text_by_id() -> None:
    shown = {
        "figure": {"fig-a": (1, 2), "fig-b": (3,)},
        "table": {"tab": (1, 1)},
        "section": {"": ()},
    }
    env: Any = SimpleNamespace(toc_fignumbers={"page": shown})
    assert downloads.numbers(env, "page") == {
        "fig-a": "Fig. 1.2",
        "fig-b": "Fig. 3",
        "tab": "Table 1.1",
    }
    assert downloads.numbers(env, "other") == {}


def test_a_notebook_without_cached_outputs_stays_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    assert downloads.with_outputs(notebook, "") is notebook
    assert list(tmp_path.iterdir()) == []
    assert downloads.with_outputs(notebook, str(tmp_path / "cache")) is notebook


def test_a_package_lists_each_license_text_once(tmp_path: Path) -> None:
    """Check also the license texts inside fonts, which may have no other copy."""
    files = {}
    for name, text in {
        "pack/LICENSE": "Free.\n",
        "pack/part/COPYING": " Free.",
        "pack/NOTICE.txt": "Mention us.",
        "pack/license.py": "code",
        "pack/readme.txt": "words",
        "empty/LICENSE": "",
    }.items():
        files[name] = tmp_path / name
        files[name].parent.mkdir(parents=True, exist_ok=True)
        files[name].write_text(text)
    files["a/folder/LICENSE"] = tmp_path
    title, *texts = licenses.of_files("pack 1", files).split("=" * 80 + "\n")[1:]
    assert title == "pack 1\n"
    assert texts == ["\npack/LICENSE\n\nFree.\n\npack/NOTICE.txt\n\nMention us.\n"]
    assert "brings no text of its license" in licenses.of_files("pack 1", {})
    font = next(source for source, _ in fonts.sources())
    text = licenses.of_files("fonts", {"a.ttf": font, "b.ttf": font})
    assert "a.ttf" in text
    assert "b.ttf" not in text
    assert "licensed under the SIL Open Font License" in text


@pytest.mark.parametrize("shown", [{0}, {1}, {2}, {0, 2}, {0, 1, 2}, set()])
def test_downloads_keep_every_cell_in_order(shown: set[int]) -> None:
    executed = [nbformat.v4.new_code_cell(str(number)) for number in range(3)]
    parts: list[str | CodeCell] = []
    for number in sorted(shown):
        parts += [f"text {number}", CodeCell(number)]
    found = list(page_download.page_cells([*parts, "end"], [*executed]))
    assert [cell.source for cell in found if cell.cell_type == "code"] == ["0", "1", "2"]
    texts = [cell.source for cell in found if cell.cell_type == "markdown"]
    assert texts == [*(f"text {number}" for number in sorted(shown)), "end"]
    for number in shown:
        assert found.index(next(c for c in found if c.source == str(number))) > texts.index(
            f"text {number}"
        )
