"""The Markdown of downloaded notebooks, for each kind of block and inline text."""

import mistune
import nbformat
import pytest
from book_extension import page_download
from book_extension.markdown_writer import CodeCell, Writer, code_span
from docutils import nodes
from docutils.core import publish_doctree
from docutils.nodes import document as Document
from sphinx import addnodes

RST = """
Title
=====

One *two* **three** ``four [x]``.

- a
- b

  c

4. four
5. five

.. math:: a_b < c

.. admonition:: Watch

   out

   twice

.. code-block:: python

   1 + 1

   2

=====  =====
left   right
=====  =====
a|b    $5
=====  =====

    said

term
  meaning
"""

MARKDOWN = r"""# Title

One *two* **three** `four [x]`.

- a
- b

  c

4. four
5. five

$$
a_b < c
$$

> **Watch**
>
> out
>
> twice

```python
1 + 1

2
```

| left | right |
| --- | --- |
| a\|b | \$5 |

> said

- **term**: meaning"""


def read(source: str) -> Document:
    settings = {"doctitle_xform": False, "syntax_highlight": "none"}
    document: Document = publish_doctree(source, settings_overrides=settings)
    for block in document.findall(nodes.literal_block):
        block["language"] = "python"
    return document


def test_blocks_are_written_as_plain_markdown() -> None:
    assert Writer().parts(read(RST)) == [MARKDOWN]


@pytest.mark.parametrize(
    "text",
    [
        "a * b * c",
        "x[1](2)",
        "<b>no</b>",
        "costs $5 and $6",
        "_not stressed_",
        "back\\slash and `tick`",
        "# no heading",
        "1. no list",
        "- no list",
        "snake_case",
    ],
)
def test_markup_characters_in_text_are_escaped(text: str) -> None:
    paragraph = nodes.paragraph("", "", nodes.Text(text))
    written = Writer().text([paragraph])
    tokens = mistune.create_markdown(renderer=None, plugins=["math"])(written)
    assert [token["type"] for token in tokens] == ["paragraph"]
    children = tokens[0]["children"]
    assert "".join(child.get("raw", f"<{child['type']}>") for child in children) == text


def reference(uri: str, text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.reference("", text, refuri=uri, internal="://" not in uri))


@pytest.mark.parametrize(
    ("address", "uri", "written"),
    [
        ("", "glossary.html#term-x", "word"),
        ("https://a.example/b", "glossary.html#t",
         "[word](https://a.example/b/chapters/glossary.html#t)"),
        ("https://a.example/b", "#fig", "[word](https://a.example/b/chapters/p.html#fig)"),
        ("", "https://c.example/", "[word](https://c.example/)"),
    ],
)  # fmt: skip
def test_links_to_other_pages_need_the_sites_address(address: str, uri: str, written: str) -> None:
    assert Writer(address, "chapters/p").text([reference(uri, "word")]) == written


def test_links_whose_text_is_their_address_are_written_as_autolinks() -> None:
    uri = "https://c.example/"
    assert Writer().text([reference(uri, uri)]) == f"<{uri}>"


def test_downloads_are_links_if_the_sites_address_is_known() -> None:
    node = addnodes.download_reference("", "", nodes.literal("", "x.zip"), filename="ab/x.zip")
    block = nodes.paragraph("", "", node)
    assert Writer().text([block]) == "`x.zip`"
    found = Writer("https://a.example", "chapters/p").text([block])
    assert found == "[`x.zip`](https://a.example/_downloads/ab/x.zip)"


def test_text_is_split_at_code_cells_and_captions_replace_figures() -> None:
    figure = nodes.figure("", nodes.caption("", "A slope."), ids=["fig-a"])
    cell = nodes.container("", figure, nb_element="cell_code", cell_index=7)
    section = nodes.section("", nodes.title("", "T"), cell, nodes.paragraph("", "below"))
    document = read("")
    document += section
    parts = Writer(numbers={"fig-a": "Fig. 1.2"}).parts(document)
    assert parts == ["# T", CodeCell(7), "**Fig. 1.2.** A slope.\n\nbelow"]


def test_code_spans_may_contain_backticks() -> None:
    assert code_span("a") == "`a`"
    assert code_span("{eval}`x`") == "`` {eval}`x` ``"
    assert code_span("a``b") == "```a``b```"


def ran(source: str, *tags: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"tags": [*tags]}, execution_count=1)


def download(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the download of a page that ran these cells but doesn't show them."""
    executed = nbformat.v4.new_notebook(cells=cells)
    made = page_download.download_notebook(
        "page",
        read("About rooflib."),
        executed,
        "https://a.example/",
        {},
        is_hidden=lambda _: False,
    )
    nbformat.validate(made)
    return made


def test_a_notebook_begins_by_installing_our_packages_if_it_imports_them() -> None:
    assert [cell.source for cell in download(ran("import numpy")).cells] == [
        "About rooflib.",
        "import numpy",
    ]
    opening, text, _ = download(ran("import rooflib")).cells
    assert "rooflib" in opening.source
    assert "https://a.example" in opening.source
    assert opening.metadata == {"jupyter": {"source_hidden": True}}
    assert text.source == "About rooflib."


def test_the_same_page_gives_the_same_notebook() -> None:
    assert download(ran("1")) == download(ran("1"))
    assert len({cell.id for cell in download(ran("1"), ran("2")).cells}) == 3


@pytest.mark.parametrize(
    ("tags", "hidden"),
    [
        ([], []),
        (["hide-input"], ["source"]),
        (["remove-cell", "other"], ["source"]),
        (["hide-output"], ["outputs"]),
        (["hide-cell"], ["source", "outputs"]),
    ],
)
def test_cells_are_folded_as_on_the_page(tags: list[str], hidden: list[str]) -> None:
    _, cell = download(ran("1", *tags)).cells
    assert cell.metadata.get("jupyter", {}) == {f"{name}_hidden": True for name in hidden}
    assert cell.execution_count == 1
