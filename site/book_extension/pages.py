"""Parser of pages: every page is a notebook, and errors name file and line."""

from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.execute import ExecutionError
from myst_nb.core.read import is_myst_markdown_notebook
from myst_nb.sphinx_ import Parser
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils import base
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from myst_parser.parsers.mdit import create_md_parser
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import SphinxError

from . import exercise_pages
from .values import expressions


class PageError(SphinxError):
    """Raised for a page that cannot be built."""

    category = "Page error"


def read_pages_with_values(app: Sphinx, config: Config) -> None:
    """Make MyST-NB read every page with `values.read_page`."""
    reader_options = {"myst_extensions": sorted(config.myst_enable_extensions)}
    reader = ["book_extension.values.read_page", reader_options, False]
    config.nb_custom_formats = {".md": reader, ".py": reader}


def read_exercises(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the text of an exercise's file by that of its page."""
    source[0] = exercise_pages.markdown_of(Path(app.env.doc2path(docname)))


class PageParser(Parser):  # type: ignore[misc]
    """MyST-NB's parser that requires the jupytext header.

    It reports where a cell failed.
    """

    def parse(self, inputstring: str, document: nodes.document) -> None:
        path = self.env.doc2path(self.env.docname, base=False)
        if str(document.current_source).endswith("<translated>"):
            parse_message(inputstring, document, self.env.myst_config)
            return
        if not is_myst_markdown_notebook(inputstring):
            raise PageError(f"{path}:1: the jupytext header is missing or incomplete")
        try:
            super().parse(inputstring, document)
        except ExecutionError as error:
            raise PageError(where_and_why(str(path), inputstring, error.__cause__)) from error


def parse_message(text: str, document: nodes.document, config: MdParserConfig) -> None:
    """Parse a translated message as MyST does, but set the parser up only once.

    Setting it up takes longer than parsing a message, and a book has thousands.
    """
    if _message_parsers.get("config") is not config:
        parser = create_md_parser(config, SphinxRenderer)
        _message_parsers.update(config=config, parser=parser)
    # MyST would make a new document, even if it is given one. Making it reads all docutils options,
    # which takes longer than parsing the message.
    original, base.make_document = base.make_document, lambda *_: document
    try:
        _message_parsers["parser"].render(text)
    finally:
        base.make_document = original


_message_parsers: dict[str, Any] = {}


def where_and_why(path: str, text: str, failure: BaseException | None) -> str:
    """Return where and why a page failed, with the traceback if a cell failed."""
    name = getattr(failure, "ename", type(failure).__name__)
    value = getattr(failure, "evalue", failure)
    reason = f"{name}: {value}"
    roles = [(f"{{eval}}`{expression}`", line) for expression, line in expressions(text)]
    for role, line in roles:
        if role in reason:
            return f"{path}:{line}: {value}"
    # nbclient prints the failing cell between two lines of dashes.
    _, _, rest = str(failure).partition("------------------\n")
    source = rest.partition("------------------\n")[0].strip()
    line = text.count("\n", 0, max(text.find(source), 0)) + 1
    return f"{path}:{line}: a cell failed: {reason}\n{failure}"
