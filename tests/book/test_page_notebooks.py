"""Tests of pages as notebooks: no raw MyST, working links, values.

The notebooks are those for JupyterLab and those to download.
"""

import posixpath
import re
from pathlib import Path

import mistune
import nbformat
import pytest
from book_extension.prose import without_code
from bs4 import BeautifulSoup
from commands.jupyterlab import page_values
from commands.jupyterlab.page_copy import book_of, chapter_notebook, kept_book
from nbformat import NotebookNode
from repository import HEADER, ROOT
from series import in_part

BOOK = book_of(ROOT)
CHAPTERS = [page for page in BOOK.places if page.startswith("chapters/")]
ROLE = re.compile(r"\{([a-z][\w:.+-]*)\}`")
DIRECTIVE = re.compile(r"^[ >]*(?:`{3,}|:{3,}|~{3,})[ ]*\{([\w:-]+)\}", re.MULTILINE)
LABEL = re.compile(r"^\([\w-]+\)=", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Directives in our pages that jupyterlab-myst supports.
KNOWN = {"admonition", "dropdown", "math", "table", "note"}


def words(notebook: NotebookNode) -> list[str]:
    """Return the sources of the Markdown cells, with code blanked out."""
    return [without_code(c.source) for c in notebook.cells if c.cell_type == "markdown"]


def copies() -> dict[str, NotebookNode]:
    return {page: chapter_notebook(ROOT / f"{page}.md") for page in CHAPTERS}


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda p: p.split("/")[1])
def test_chapter_notebooks_use_only_markup_that_jupyterlab_supports(
    page: str,
) -> None:
    copy = chapter_notebook(ROOT / f"{page}.md")
    nbformat.validate(copy)
    for text in words(copy):
        assert set(ROLE.findall(text)) <= {"eval"}
        assert set(DIRECTIVE.findall(text)) <= KNOWN
        assert not LABEL.search(text)


def test_links_of_chapter_notebooks_lead_to_existing_notebooks_and_cells() -> None:
    made = copies()
    cells = {BOOK.places[page]: {c.id for c in copy.cells} for page, copy in made.items()}
    exercises = {place for page, place in BOOK.places.items() if page.startswith("exercises/")}
    counted = 0
    for page, copy in made.items():
        here = posixpath.dirname(BOOK.places[page])
        for address in LINK.findall("\n".join(words(copy))):
            if re.match("https?:", address):
                continue
            place, _, fragment = address.partition("#")
            place = posixpath.normpath(posixpath.join(here, place))
            counted += 1
            if place in exercises:
                assert not fragment
                continue
            assert place in cells, f"{page}: {address}"
            if fragment:
                assert fragment.removeprefix("cell-id=") in cells[place], f"{page}: {address}"
    # Guard against an empty check: references, glossary terms and citations give many links.
    assert counted > 200


def test_a_reference_without_a_target_becomes_plain_text(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(HEADER + "{ref}`there <nowhere>` {term}`X`\n")
    assert [cell.source for cell in chapter_notebook(page).cells] == ["there X"]


def test_while_roles_are_removed_from_chapter_notebooks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    cell = (
        '```{code-cell} python3\n---\nmystnb:\n  figure: {caption: "{while}`n` C"}\n---\nn = 1\n```'
    )
    text = f"{HEADER}{cell}\n# {{while}}`n` A\n\n- {{while}}`n >\n  0` B {{eval}}`n`\n\n"
    page.write_text(text + "`` {while}`n` `` stays.\n")
    shown = ["n = 1", "C", "# A\n\n- B {eval}`n`\n\n`` {while}`n` `` stays."]
    assert [cell.source for cell in chapter_notebook(page).cells] == shown


def test_the_same_sources_make_the_same_chapter_notebook() -> None:
    kept_book.cache_clear()
    assert chapter_notebook(ROOT / "chapters/time.md") == copies()["chapters/time"]


def test_a_failing_cell_keeps_the_values_above_it(tmp_path: Path) -> None:
    cell = "```{{code-cell}} ipython3\n{}\n```\n"
    text = f"{HEADER}{cell.format('n = 1')}\nA {{eval}}`n`\n\n"
    page = tmp_path / "page.md"
    page.write_text(text + cell.format("1 / 0") + "\nB {eval}`m`\n")
    shown = [
        entry["result"]["data"]["text/plain"]
        for made in chapter_notebook(page).cells
        for entry in made.metadata.get("user_expressions", [])
    ]
    assert shown == ["1", "(run all cells)"]


@pytest.fixture(scope="module")
def downloads(site: Path) -> dict[str, Path]:
    """Return page → notebook, for the pages that offer one to download."""
    found = {p.relative_to(site).with_suffix("").as_posix(): p for p in site.rglob("*.ipynb")}
    found = {
        page: path for page, path in found.items() if "_downloads" not in page and page[0] != "_"
    }
    assert {"index", "chapters/matmul", "chapters/hardware"} <= set(found)
    return found


def test_downloads_have_no_roles_or_directives(downloads: dict[str, Path]) -> None:
    for page, path in downloads.items():
        for text in words(nbformat.read(path, as_version=4)):
            assert not ROLE.search(text), page
            assert not DIRECTIVE.search(text), page
            assert not re.search(r"^:{3,}", text, re.MULTILINE), page
            assert not LABEL.search(text), page


@pytest.mark.parametrize("which", in_part([slice(0, None, 2), slice(1, None, 2)]))
def test_downloads_contain_the_text_of_their_page(
    site: Path, downloads: dict[str, Path], which: slice
) -> None:
    """The notebook contains each paragraph, list item, heading and value of its page."""
    render = mistune.create_markdown(escape=False, plugins=["table", "math"])
    for page, path in sorted(downloads.items())[which]:
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
        rendered = BeautifulSoup(str(render(text)), "html.parser")
        for formula in rendered.select(".math"):
            formula.decompose()
        mine = plain(rendered.get_text())
        article = BeautifulSoup((site / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
        body = article.find("article") or article.find("main")
        assert body is not None
        for gone in body.select(
            ".answer, .place, .cell, .section-number, .headerlink, .heading-of-cell, .math"
        ):
            gone.decompose()
        values = [plain(value.get_text()) for value in body.select(".computed")]
        for found in [*values, *(plain(p.get_text()) for p in body.select("p, h2, h3"))]:
            for piece in filter(None, re.split(r"\s*\n\s*", found)):
                assert piece in mine, f"{page}: {piece}"


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_downloads_have_the_code_of_their_page(site: Path, downloads: dict[str, Path]) -> None:
    for page, path in downloads.items():
        # The executed notebook includes cells that the build adds.
        original = page.removeprefix("zh/")  # cells run once for all languages
        executed = nbformat.read(
            site.parent / "jupyter_execute" / f"{original}.ipynb", as_version=4
        )
        mine = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
        theirs = [c.source for c in executed.cells if c.cell_type == "code"]
        theirs = [source for source in theirs if "_page_values" not in source]
        assert mine[-len(theirs) :] == theirs, page


def test_figures_of_one_page_are_closed_before_the_next(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    draw = ("code", "import matplotlib.pyplot as plt\nfor _ in range(15):\n    plt.figure()")
    opened = ("values", "len(plt.get_fignums())")
    found = page_values.computed(tmp_path, {"one": [draw, opened], "other": [draw, opened]})
    assert [page["values"] for page in found.values()] == [{opened[1]: "15"}] * 2
    assert capfd.readouterr().err == ""
