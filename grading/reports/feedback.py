"""Restriction of a submission's content to text, PNG and JPEG.

No active content reaches a page. Learners see graded notebooks as feedback pages, and instructors
see them in the formgrader, where the browser is logged in. `clean` removes everything but text and
pictures from a notebook. Both kinds of pages use `markdown` and `highlighted` to convert Markdown
and code to HTML. As a second line of defense, the templates in this folder set a content security
policy.
"""

import base64
import binascii
import copy
import functools
import html
import re
import struct
from pathlib import Path
from typing import Any

import mistune
import nbgrader.server_extensions.formgrader as formgrader  # type: ignore[import-untyped]
import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from mistune.plugins import import_plugin
from mistune.util import striptags
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from grading.reports import template_words
from roofkit import first_cell
from roofkit.notebook_language import language_of
from roofkit.words import N_, ORIGINAL, _, spoken

TEMPLATES = [
    str(Path(__file__).parent / "templates"),
    str(Path(str(formgrader.__file__)).parent / "templates"),
]
Resources = dict[str, Any]
Budget = dict[str, int]  # characters of text and of base64 that the next outputs may have
Attachments = dict[str, dict[str, str]]  # file name → MIME type → base64 data
# Limits for one output, and for all outputs of a notebook.
MAX_OUTPUT_CHARACTERS, MAX_TEXT_CHARACTERS = 100_000, 1_000_000
MAX_PICTURE_BYTES = 10_000_000  # bytes of all pictures of a notebook
MAX_PIXELS = 25_000_000  # pixels of one picture: a small file can decompress to a huge one
MAX_MARKUP_CHARACTERS = 4_000  # longer sources are not parsed, since parsers can be quadratic
# These match the cells that a release adds, unless the learner changed them.
OPENING_CELL = re.compile(
    re.escape(Path(first_cell.__file__).read_text(encoding="utf-8"))
    + r"\s+set_up_notebook\(.*\)\s*"
)
CASES_CELL = re.compile(
    r'''from roofkit\.check import cases\s+cases\("""[\w+/=\s]*"""(?:, "\w+")?\)\s*'''
)
# nbgrader's links to the parts all have the text “Test cell”; the part's key replaces it.
TEST_CELL_LINK = re.compile(r'(<a href="#([\w-]+)">)Test cell</a>')
MAX_CELLS = 200  # cells on a page; later ones appear only if they belong to the exercise
PICTURE_TYPES = ("image/png", "image/jpeg")
ALT_TEXT = N_("Figure drawn by this cell")
NAME_KEYS = ("first_name", "last_name", "student")  # keys in a formgrader page's resources
METADATA_KEYS = (  # kept keys of nbgrader's cell metadata
    *("grade", "locked", "solution", "task", "points"),
    *("schema_version", "cell_type", "checksum"),
)


def clean(nb: NotebookNode) -> None:
    """Reduce a notebook, in place, to sources, text, pictures and known metadata.

    The pictures are PNG and JPEG.
    """
    kept: dict[str, Any] = {}
    kept["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    kept["language_info"] = {"name": "python"}
    if (language := language_of(nb)) != ORIGINAL:
        kept["exercise"] = type(nb)(language=language)
    if "rooflib" in nb.metadata:
        kept["rooflib"] = _scrubbed(nb.metadata["rooflib"])
    nb.metadata.clear()
    nb.metadata.update(kept)
    budget = {"text": MAX_TEXT_CHARACTERS, "pictures": MAX_PICTURE_BYTES}
    ids: set[str] = set()
    for index, cell in enumerate(nb.cells):
        with spoken(language):
            _clean_cell(cell, budget)
        if "id" in cell:
            valid = isinstance(cell.id, str) and re.fullmatch(r"[\w-]{1,64}", cell.id, re.ASCII)
            if not valid or cell.id in ids:
                cell.id = f"number-{index}"
            ids.add(cell.id)


class Clean(NbGraderPreprocessor):  # type: ignore[misc]
    """`clean` as a preprocessor.

    It is the last step of autograde, and the first for a page.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        clean(nb)
        # The formgrader does not escape names, and a platform's roster may contain anything.
        for name in NAME_KEYS:
            if isinstance(resources.get(name), str):
                resources[name] = html.escape(resources[name])
        return nb, resources


class Page(HTMLExporter):
    """Exporter of nbgrader's feedback page."""

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        with spoken(language_of(nb)):
            return self._in_language(nb, resources, **options)

    def _in_language(
        self, nb: NotebookNode, resources: Resources | None, **options: Any
    ) -> tuple[str, Resources]:
        # Skip HTMLExporter's method: it parses the finished page, which takes most of the time, to
        # add missing alt texts to pictures. `clean` has added them already.
        page, resources = super(HTMLExporter, self).from_notebook_node(
            without_extra_cells(nb), resources, **options
        )
        return template_words.translated(TEST_CELL_LINK.sub(r"\1\2</a>", page)), resources


def without_extra_cells(nb: NotebookNode) -> NotebookNode:
    """Return a copy without the cells that a release adds or that exceed MAX_CELLS.

    Added cells are not meant for readers; one with outputs is kept. Of more than MAX_CELLS cells,
    only the first ones and those of the exercise are kept.
    """
    cells = [cell for cell in nb.cells if cell.get("outputs") or not _is_added(cell.source)]
    shown = [
        cell for index, cell in enumerate(cells) if index < MAX_CELLS or "nbgrader" in cell.metadata
    ]
    left_out = len(cells) - len(shown)
    if left_out:
        note = _("{count} cells of this notebook are not shown here.").format(count=left_out)
        shown.insert(0, type(nb)(cell_type="markdown", metadata=type(nb)(), source=note))
    short = copy.copy(nb)
    short.cells = shown
    return short


def _is_added(source: str) -> bool:
    return any(cell.fullmatch(source) for cell in (OPENING_CELL, CASES_CELL))


# --- cells ----------------------------------------------------------------------------------------


def _clean_cell(cell: NotebookNode, budget: Budget) -> None:
    cell.source = _text(cell.source)
    cell.metadata = _safe_metadata(cell.metadata)
    pictures = _attachments(cell.pop("attachments", None))
    if pictures and cell.cell_type != "code":
        cell.attachments = pictures
    if cell.cell_type == "code":
        count = cell.get("execution_count")
        cell.execution_count = count if type(count) is int and count >= 0 else None
        outputs = cell.get("outputs", ())
        cell.outputs = [_safe_output(output, cell.execution_count, budget) for output in outputs]


def _safe_metadata(metadata: NotebookNode) -> NotebookNode:
    """Keep nbgrader's metadata of a cell, and whether its source is hidden."""
    kept = type(metadata)()
    marks = metadata.get("nbgrader")
    if isinstance(marks, dict):
        plain = {
            key: marks[key]
            for key in METADATA_KEYS
            if isinstance(marks.get(key), bool | int | float)
        }
        plain |= {
            key: _identifier(marks[key]) for key in METADATA_KEYS if isinstance(marks.get(key), str)
        }
        if "grade_id" in marks:
            plain["grade_id"] = _identifier(marks["grade_id"])
        kept["nbgrader"] = type(metadata)(plain)
    folded = metadata.get("jupyter")
    if isinstance(folded, dict) and folded.get("source_hidden") is True:
        kept["jupyter"] = {"source_hidden": True}
    return kept


def _identifier(value: object) -> str:
    return re.sub(r"[^\w-]", "", str(value), flags=re.ASCII)


def _safe_output(output: NotebookNode, count: int | None, budget: Budget) -> NotebookNode:
    """Return a new output with only the safe parts of this one.

    The learner's process sent it, so it may contain anything.
    """
    new = type(output)
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return new(output_type="stream", name=name, text=_within_budget(output.get("text"), budget))
    if kind == "error":
        lines = output.get("traceback")
        text = "\n".join(map(_text, lines)) if isinstance(lines, list) else _text(lines)
        return new(
            output_type="error",
            ename=_text(output.get("ename"))[:200],
            evalue=_shortened(_text(output.get("evalue")), 2_000),
            traceback=_within_budget(text, budget).split("\n"),
        )
    data, about = new(), new()
    found = output.get("data")
    found = found if isinstance(found, dict) else {}
    for kind_of_data in PICTURE_TYPES:
        picture = _picture(found.get(kind_of_data), kind_of_data)
        if picture and len(picture) <= budget["pictures"]:
            budget["pictures"] -= len(picture)
            data[kind_of_data] = picture
            about[kind_of_data] = {"alt": _(ALT_TEXT)}
            break
    if "text/plain" in found:
        data["text/plain"] = _within_budget(found["text/plain"], budget)
    elif not data:
        kinds = ", ".join(sorted(_text(one)[:60] for one in list(found)[:5]))
        if kinds:
            data["text/plain"] = _("({kinds}: not shown here)").format(kinds=kinds)
        else:
            data["text/plain"] = _("(nothing: not shown here)")
    if kind == "execute_result":
        return new(output_type=kind, execution_count=count, data=data, metadata=about)
    return new(output_type="display_data", data=data, metadata=about)


def _within_budget(value: object, budget: Budget) -> str:
    """Return an output's text, truncated to the budget, and reduce the budget."""
    text = _shortened(_text(value), min(MAX_OUTPUT_CHARACTERS, budget["text"]))
    budget["text"] = max(0, budget["text"] - len(text))
    return text


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    said = _("({count} more characters are left out here)").format(count=len(text) - most)
    return f"{text[:most]}\n{said}\n"


# Matches control characters and terminal escape sequences; the group marks color codes, which stay.
_CONTROL = re.compile(
    r"(?P<color>\x1b\[(?:\d{1,3}(?:;\d{1,3}){0,8})?m)"
    r"|\x1b\[[\d;?]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]"
)


def _text(value: object) -> str:
    """Convert to a string without control characters, surrogates or escape sequences."""
    if isinstance(value, list):
        value = "".join(one for one in value if isinstance(one, str))
    text = "" if value is None else str(value)
    return _CONTROL.sub(lambda found: found["color"] or "", text)


def _scrubbed(value: Any) -> Any:
    """Apply `_text` to each string in nested lists and dicts; return the result."""
    if isinstance(value, dict):
        for key in value:
            value[key] = _scrubbed(value[key])
    elif isinstance(value, list):
        value[:] = map(_scrubbed, value)
    return _text(value) if isinstance(value, str) else value


def _attachments(found: object) -> Attachments:
    """Return the attachments that are pictures."""
    kept: Attachments = {}
    for name, data in found.items() if isinstance(found, dict) else ():
        for kind in PICTURE_TYPES:
            picture = _picture(data.get(kind) if isinstance(data, dict) else None, kind)
            if picture:
                kept[_text(name)] = {kind: picture}
                break
    return kept


# --- pictures: only their headers are parsed, since this runs outside the sandbox -----------------


def _picture(encoded: object, kind: str) -> str | None:
    """Return a picture as base64, None if it is invalid or too large.

    A picture of another type is invalid.
    """
    if isinstance(encoded, list):
        encoded = "".join(map(str, encoded))
    if not isinstance(encoded, str):
        return None
    try:
        content = base64.b64decode("".join(encoded.split()), validate=True)
        size = _png_size(content) if kind == "image/png" else _jpeg_size(content)
    except (binascii.Error, ValueError, struct.error, IndexError):
        return None
    if size is None or not 0 < size[0] * size[1] <= MAX_PIXELS:
        return None
    return base64.b64encode(content).decode("ascii")


def _png_size(content: bytes) -> tuple[int, int] | None:
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR" or b"IEND" not in content:
        return None
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    if content[:3] != b"\xff\xd8\xff":
        return None
    place = 2
    while content[place] == 0xFF:
        mark = content[place + 1]
        if mark in range(0xC0, 0xD0) and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[place + 5 : place + 9])
            return width, height
        if mark == 0xDA:
            return None
        place += 2 + struct.unpack(">H", content[place + 2 : place + 4])[0]
    return None


# --- Markdown and code as HTML --------------------------------------------------------------------


class _Renderer(mistune.HTMLRenderer):
    """Markdown renderer that shows HTML, links and remote pictures as text."""

    def __init__(self, attachments: Attachments) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False)
        self.attachments = attachments

    def link(self, text: str, url: str, title: str | None = None) -> str:
        address = html.escape(url[:300])
        return text if text == address else f"{text} ({address})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        alt = html.escape(html.unescape(striptags(text)))
        if url.startswith("attachment:"):
            attached = self.attachments.get(url.removeprefix("attachment:"), {})
            for kind, picture in attached.items():
                return f'<img src="data:{kind};base64,{picture}" alt="{alt}">'
        return f"[{alt}] ({html.escape(url[:100])})"

    # Show formulas as TeX source: a self-contained page cannot load MathJax.
    def block_math(self, body: str) -> str:
        return f"<code>$${html.escape(body)}$$</code>"

    def inline_math(self, body: str) -> str:
        return f"<code>${html.escape(body)}$</code>"

    def latex_environment(self, name: str, body: str) -> str:
        formula = "\\begin{%s}%s\\end{%s}" % (name, body, name)  # noqa: UP031
        return f"<code>{html.escape(formula)}</code>"


PLUGINS = ("strikethrough", "table", "def_list")
TAGS = {
    *("p", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "br"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "dl", "dt", "dd", "img"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"*": set[str](), "img": {"src", "alt"}, "ol": {"start"}}
# A second line of defense: it finds nothing to remove unless the Markdown parser has a bug.
_SANITIZER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags={"script", "style"},
    attributes=ATTRIBUTES,
    attribute_filter=lambda tag, name, value: value if _allowed(tag, name, value) else None,
    url_schemes={"data"},
    generic_attribute_prefixes=set(),
    filter_style_properties=set(),
)


def _allowed(tag: str, name: str, value: str) -> bool:
    """Return whether an attribute is allowed: `src` must be a data URL of a picture."""
    return name != "src" or value.startswith(
        tuple(f"data:{kind};base64," for kind in PICTURE_TYPES)
    )


@pass_context
def markdown(context: Context, source: str) -> str:
    """Render Markdown: the Jinja filter `markdown2html`."""
    pictures = _attachments((context.get("cell") or {}).get("attachments"))
    source = _text(source)
    return _rendered(source, pictures) if pictures else _markdown(source)


@functools.lru_cache(maxsize=256)
def _markdown(source: str) -> str:
    """Render Markdown, with a cache: most cells are identical in all submissions."""
    return _rendered(source, {})


def _rendered(source: str, pictures: Attachments) -> str:
    if len(source) > MAX_MARKUP_CHARACTERS:
        return as_text(source)
    try:
        plugins = [import_plugin(name) for name in PLUGINS]
        made = MarkdownWithMath(_Renderer(pictures), plugins=plugins).render(source)
        return _SANITIZER.clean(str(made))
    except Exception:  # deep nesting, or any bug in the parser
        return as_text(source)


def as_text(source: str) -> str:
    """Return a text as HTML: shortened, escaped and in a `pre` element.

    This replaces the Jinja filter `clean_html`, which nbconvert applies to raw cells.
    """
    return f"<pre>{html.escape(_shortened(_text(source), MAX_OUTPUT_CHARACTERS))}</pre>"


def highlighted(source: str, language: str | None = None, metadata: object = None) -> str:
    """Highlight Python code: the Jinja filter `highlight_code`."""
    return _highlighted(_text(source))


@functools.lru_cache(maxsize=256)
def _highlighted(source: str) -> str:
    if len(source) > MAX_MARKUP_CHARACTERS:
        return f'<div class="highlight">{as_text(source)}</div>'
    html: str = highlight(source or " ", _LEXER, _FORMATTER)
    return html


_LEXER = PythonLexer()
_FORMATTER = HtmlFormatter()


def preferred_type(data: dict[str, Any]) -> list[str]:
    """Choose which MIME type of an output's data to show.

    This replaces the Jinja filter `filter_data_type`.
    """
    return [kind for kind in (*PICTURE_TYPES, "text/plain") if kind in data][:1]


FILTERS = {
    "markdown2html": markdown,
    "highlight_code": highlighted,
    "clean_html": as_text,
    "filter_data_type": preferred_type,
    # nbconvert's filter is quadratic in the number of brackets, and no notebook here needs it.
    "strip_files_prefix": lambda text: text,
}
