"""Pages as notebooks: one beside each page, to download, and all of them for JupyterLab.

Both have Markdown that every program shows, the page's cells, and the outputs of the build. They
differ in where links lead: on the site, or, from the builder "notebooks", to the other notebooks.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.locale import get_translation
from sphinx.util.osutil import ensuredir
from sphinx_design.dropdown import DropdownHtmlTransform

from roofkit import lines
from roofkit.drawings import translated_svg

from . import contents, languages
from .languages import code_words, page_words
from .markdown_writer import Block, CodeCell, Target, Writer, cell_id
from .values import is_hidden

_ = get_translation("sphinx")

# Cells whose code the page hides are folded, not dropped: other cells need their results.
FOLDED = {"hide-input", "remove-input", "remove-cell", "hide-cell"}
OUTPUT_FOLDED = {"hide-output", "hide-cell"}
NO_LINK = "cell"  # id of a cell to which no link leads, until it gets a number
LIVE = re.compile(r'<figure class="live"')
ROOT = Path(__file__).resolve().parents[2]
# The first cell, which installs missing packages. Released exercises begin with the same text.
FIRST_CELL = ROOT / code_words.FIRST_CELL
EXTENSION = "roofkit.kernel_language"
PACKAGES = {"rooflib": ROOT / "rooflib", "roofkit": ROOT / "kit" / "roofkit"}
TABLE_CELL = re.compile(r"(?<=\| )[^|\n]+(?= \|)")
OURS = re.compile(r"\b(?:rooflib|roofkit|roofmeter)\b")
# Matches code that imports roofkit.figures, which needs the packages that display figures.
FIGURES = re.compile(r"\bfrom roofkit import figures\b|\broofkit\.figures\b")
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


class NotebookBuilder(Builder):
    """Builder of the notebooks that JupyterLab opens; exercises are released by the grader."""

    name = format = "notebooks"

    def init(self) -> None:
        self.places = contents.names(Path(self.srcdir) / "_toc.yml")

    def get_outdated_docs(self) -> list[str]:
        return list(self.places)

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        return self.places.get(docname, contents.START)

    def prepare_writing(self, docnames: set[str]) -> None:
        pass

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        if docname in self.places and not docname.startswith("exercises/"):
            own = PurePosixPath(self.places[docname]).name
            writer = Writer(lambda to: to_cell(to, own), numbers=numbers(self.app, docname))
            write(self.app, docname, notebook(self.app, docname, doctree, writer))


class FoldInNotebooks(DropdownHtmlTransform):
    """Give the builder the folded blocks that pages have."""

    formats = (NotebookBuilder.format,)


def to_cell(to: str, own: str) -> str:
    """Return a link's address by the id of a cell, as JupyterLab finds it.

    A file that only the site has gets none. own: the name of the notebook with the link, for links
    inside it.
    """
    file, mark, anchor = to.partition("#")
    if file and not file.endswith(".ipynb"):
        return ""
    is_chapter = "/" not in file  # as the notebook with the link; others have cells of their own
    return (file or own) + (f"#cell-id={cell_id(anchor)}" if mark and is_chapter else "")


def offer_notebook(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a page's notebook next to the page, and pass its name to the template."""
    if doctree is None or not executed_file(app, page).exists():
        return
    site, top = str(app.config.html_baseurl or "").rstrip("/"), languages.top(app.config)
    writer = Writer(
        address=lambda to: urljoin(f"{site}/{page}.html", to) if site else "",
        files=f"{top}/_downloads/" if top else "",
        numbers=numbers(app, page),
    )
    if any(is_to_be_run(cell) for cell in executed(app, page)):
        write(app, page, notebook(app, page, doctree, writer))
        context["notebook"] = f"{page}.ipynb"


def notebook(app: Sphinx, page: str, document: nodes.document, writer: Writer) -> NotebookNode:
    """Return the notebook of a page, which Sphinx has resolved."""
    # The build's own cells, which record values, stay out. Positions of cells count them.
    ran = [None if is_hidden(cell) else cell for cell in executed(app, page)]
    if languages.is_translation(app):
        translate = languages.translation_of(app, page)
        for cell in filter(None, ran):
            cell.outputs = [in_language(output, translate) for output in cell.get("outputs", ())]
    cells = list(page_cells(writer.blocks(document.children), ran))
    if any(cell.cell_type == "code" for cell in cells):
        add_note(cells[0])
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    language = languages.current(app.config)
    if source := first_cell(code, languages.top(app.config), language.code):
        folded = {"jupyter": {"source_hidden": True}}
        cells.insert(0, nbformat.v4.new_code_cell(source, id=NO_LINK, metadata=folded))
    ids = {NO_LINK}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}" if cell["id"] in ids else cell["id"]
        ids.add(cell["id"])
    made: NotebookNode = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": contents.KERNEL}
    )
    return made


def first_cell(code: str, site: str, language: str) -> str:
    """Return the first cell for a notebook's code; "" if it uses no package of ours.

    site: the address of the course's site, "" if unknown. In a translation it also has the kernel
    translate what the cells show.
    """
    if not OURS.search(code):
        return ""
    modules = ["rooflib", "roofkit.figures" if FIGURES.search(code) else "roofkit"]
    versions = {}
    for name, folder in PACKAGES.items():
        (versions[name],) = VERSION.findall((folder / "__init__.py").read_text(encoding="utf-8"))
    arguments = ", ".join(map(repr, (site, versions, *modules)))
    messages = code_words.extracted(ROOT, [code_words.FIRST_CELL])
    words = page_words.translated(messages)
    if words:
        arguments += f", words={words!r}, language={language!r}"
    call = f"set_up_notebook({arguments})"
    if words:
        call += f"\nget_ipython().extension_manager.load_extension({EXTENSION!r});"
    return f"{FIRST_CELL.read_text(encoding='utf-8')}\n\n{call}"


def add_note(first: NotebookNode) -> None:
    """Say below the title what a change of a cell changes."""
    note = _(
        "The numbers in the text are those of the course. "
        "If you change a cell, outputs change, and the text does not."
    )
    title, _break, text = first.source.partition("\n")
    first.source = "\n\n".join(filter(None, [title, f"*{note}*", text.strip()]))


def page_cells(blocks: list[Block], ran: list[NotebookNode | None]) -> Iterator[NotebookNode]:
    """Yield Markdown and code cells in page order.

    Code that is not shown comes before the next cell that is.
    """
    done, texts, name = 0, [], ""
    for block in (*blocks, CodeCell(len(ran))):
        if isinstance(block, str):
            texts.append(block)
            continue
        if texts:
            yield nbformat.v4.new_markdown_cell("\n\n".join(texts), id=name or NO_LINK)
            texts, name = [], ""
        if isinstance(block, Target):
            name = block.id
        else:
            for cell in ran[done : block.index + 1]:
                if cell and cell.cell_type == "code":
                    yield code_cell(cell)
            done = block.index + 1


def code_cell(cell: NotebookNode) -> NotebookNode:
    """Return a code cell without live figures, folded if the page folds or hides it."""
    tags = set(cell.metadata.get("tags", []))
    folded: dict[str, bool] = {}
    if tags & FOLDED:
        folded["source_hidden"] = True
    if tags & OUTPUT_FOLDED:
        folded["outputs_hidden"] = True
    made: NotebookNode = nbformat.v4.new_code_cell(
        cell.source,
        id=NO_LINK,
        execution_count=cell.execution_count,
        metadata={"jupyter": folded} if folded else {},
        # A live figure appears again when its cell runs.
        outputs=[
            output
            for output in cell.outputs
            if not LIVE.search("".join(output.get("data", {}).get("text/html", "")))
        ],
    )
    return made


def in_language(output: NotebookNode, translate: Callable[[str], str]) -> NotebookNode:
    """Return an output of a cell in the language that `translate` translates into.

    As on the page, these are what was printed, tables and plots.
    """
    if output.output_type == "stream":
        output.text = lines.translated(output.text, translate)
    data = output.get("data", {})
    if "text/markdown" in data:
        cells = TABLE_CELL.sub(lambda cell: translate(cell[0]), data["text/markdown"])
        data["text/markdown"] = cells
    if "image/svg+xml" in data:
        data["image/svg+xml"] = translated_svg(data["image/svg+xml"], translate)
    return output


def executed_file(app: Sphinx, page: str) -> Path:
    return Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"


def executed(app: Sphinx, page: str) -> list[NotebookNode]:
    """Return a page's cells with their outputs; a page without cells has none.

    MyST-NB omits outputs cached by an earlier build from the notebook that it writes.
    """
    file = executed_file(app, page)
    if not file.exists():
        return []
    notebook = nbformat.read(file, as_version=4)
    try:
        cache = get_cache(app.config.nb_execution_cache_path)
        notebook = cache.merge_match_into_notebook(notebook)[1]
    except KeyError:
        pass
    cells: list[NotebookNode] = notebook.cells
    return cells


def numbers(app: Sphinx, page: str) -> dict[str, str]:
    """Return id → "Fig. 2" or "Table 1" for a page's figures and tables."""
    names = {"figure": _("Fig. {number}"), "table": _("Table {number}")}
    return {
        name: str(names[kind]).format(number=".".join(map(str, number)))
        for kind, found in app.env.toc_fignumbers.get(page, {}).items()
        if kind in names
        for name, number in found.items()
    }


def is_to_be_run(cell: NotebookNode) -> bool:
    """Return whether a cell is code whose source or output is on the page."""
    return cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", [])


def write(app: Sphinx, page: str, notebook: NotebookNode) -> None:
    target = Path(app.outdir) / f"{page}.ipynb"
    ensuredir(target.parent)
    nbformat.write(notebook, target)
