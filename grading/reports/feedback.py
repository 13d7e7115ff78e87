"""What a submission may put on a page: text, PNG and JPEG, and no active content.

Graded notebooks are shown to learners, as feedback, and to instructors in the formgrader, where
the browser is logged in. `clean` removes from a notebook what is neither text nor picture. Both
pages turn Markdown and code into HTML by `markdown` and `highlighted`. As a second defence, the
templates beside this file put a content security policy into their heads.
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
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor  # type: ignore[import-untyped]
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

TEMPLATES = [
    str(Path(__file__).parent / "templates"),
    str(Path(str(formgrader.__file__)).parent / "templates"),
]
Resources = dict[str, Any]
Room = dict[str, int]  # how much text and how many bytes of pictures a notebook may still show
Pictures = dict[str, dict[str, str]]  # name → kind → base64
TEXT = 100_000  # characters of one text; the rest is left out
ALL_TEXT = 1_000_000  # of all outputs of a notebook
ALL_PICTURES = 10_000_000  # bytes of all outputs of a notebook
PIXELS = 25_000_000  # of one picture: a small file can hold more than a browser can show
MARKUP = 4_000  # characters: longer texts are shown as plain text, since parsers can take n² steps
# The cell that a release adds, and nothing else.
PUBLISHED = re.compile(r'''from roofkit\.check import cases\s+cases\("""[\w+/=\s]*"""\)\s*''')
LINK = re.compile(r'(<a href="#([\w-]+)">)Test cell</a>')  # nbgrader gives all parts the same text
CELLS = 200  # on a page, and all graded ones
PICTURES = ("image/png", "image/jpeg")
ALT = "Figure drawn by this cell"
PEOPLE = ("first_name", "last_name", "student")  # in the resources of a formgrader's page
MARKS = ("grade", "locked", "solution", "task", "points", "schema_version", "cell_type", "checksum")


def clean(nb: NotebookNode) -> None:
    """Reduce a notebook, in place, to sources, text, PNG and JPEG, and known metadata."""
    kept: dict[str, Any] = {}
    kept["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    kept["language_info"] = {"name": "python"}
    if "rooflib" in nb.metadata:
        kept["rooflib"] = _scrubbed(nb.metadata["rooflib"])
    nb.metadata.clear()
    nb.metadata.update(kept)
    room = {"text": ALL_TEXT, "pictures": ALL_PICTURES}
    ids: set[str] = set()
    for index, cell in enumerate(nb.cells):
        _clean_cell(cell, room)
        if "id" in cell:
            valid = isinstance(cell.id, str) and re.fullmatch(r"[\w-]{1,64}", cell.id, re.ASCII)
            if not valid or cell.id in ids:
                cell.id = f"number-{index}"
            ids.add(cell.id)


class Clean(NbGraderPreprocessor):  # type: ignore[misc]
    """`clean` as a step of nbgrader: last in autograde, first when a page is made."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        clean(nb)
        # The formgrader sets them as they are, and a platform's roster may hold anything.
        for name in PEOPLE:
            if isinstance(resources.get(name), str):
                resources[name] = html.escape(resources[name])
        return nb, resources


class Page(HTMLExporter):
    """nbgrader's feedback page of a notebook.

    nbconvert's exporter would parse the finished HTML again to find pictures without a description.
    `clean` has given them one, and that parsing takes most of the time.
    """

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        resources = self._init_resources(resources)  # type: ignore[no-untyped-call]
        chosen = WidgetsDataTypeFilter(  # type: ignore[no-untyped-call]
            notebook_metadata={}, parent=self, resources=resources
        )
        register: Any = self.register_filter
        register("filter_data_type", chosen)
        # It has been made valid, and what is done to it here is ours.
        self._validate_preprocessor = lambda *_: None  # type: ignore[method-assign]
        # nbconvert's own takes n² steps for n brackets, and no notebook here has such addresses.
        register("strip_files_prefix", lambda text: text)
        page, resources = TemplateExporter.from_notebook_node(
            self, shortened(nb), resources, **options
        )
        return LINK.sub(r"\1\2</a>", page), resources


def shortened(nb: NotebookNode) -> NotebookNode:
    """The notebook without the cell of published cases, which nobody reads.

    Of more than `CELLS` cells only the first ones and those of the exercise are shown.
    """
    cells = [cell for cell in nb.cells if not PUBLISHED.fullmatch(cell.source)]
    shown = [
        cell for index, cell in enumerate(cells) if index < CELLS or "nbgrader" in cell.metadata
    ]
    left_out = len(cells) - len(shown)
    if left_out:
        note = f"{left_out} cells of this notebook are not shown here."
        shown.insert(0, type(nb)(cell_type="markdown", metadata=type(nb)(), source=note))
    short = copy.copy(nb)
    short.cells = shown
    return short


# --- what a cell may hold --------------------------------------------------------------------


def _clean_cell(cell: NotebookNode, room: Room) -> None:
    cell.source = _text(cell.source)
    cell.metadata = _marks(cell.metadata)
    pictures = _attachments(cell.pop("attachments", None))
    if pictures and cell.cell_type != "code":
        cell.attachments = pictures
    if cell.cell_type == "code":
        count = cell.get("execution_count")
        cell.execution_count = count if type(count) is int and count >= 0 else None
        outputs = cell.get("outputs", ())
        cell.outputs = [_output(output, cell.execution_count, room) for output in outputs]


def _marks(metadata: NotebookNode) -> NotebookNode:
    """Of a cell's metadata what nbgrader has put there, and whether the source is hidden."""
    kept = type(metadata)()
    marks = metadata.get("nbgrader")
    if isinstance(marks, dict):
        plain = {key: marks[key] for key in MARKS if isinstance(marks.get(key), bool | int | float)}
        plain |= {key: _word(marks[key]) for key in MARKS if isinstance(marks.get(key), str)}
        if "grade_id" in marks:
            plain["grade_id"] = _word(marks["grade_id"])
        kept["nbgrader"] = type(metadata)(plain)
    folded = metadata.get("jupyter")
    if isinstance(folded, dict) and folded.get("source_hidden") is True:
        kept["jupyter"] = {"source_hidden": True}
    return kept


def _word(value: object) -> str:
    return re.sub(r"[^\w-]", "", str(value), flags=re.ASCII)


def _output(output: NotebookNode, count: int | None, room: Room) -> NotebookNode:
    """A new output with what may be shown of this one.

    The old one was sent by a process of the learner's and may be anything.
    """
    new = type(output)
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return new(output_type="stream", name=name, text=_take(output.get("text"), room))
    if kind == "error":
        lines = output.get("traceback")
        text = "\n".join(map(_text, lines)) if isinstance(lines, list) else _text(lines)
        return new(
            output_type="error",
            ename=_text(output.get("ename"))[:200],
            evalue=_cut(_text(output.get("evalue")), 2_000),
            traceback=_take(text, room).split("\n"),
        )
    data, about = new(), new()
    found = output.get("data")
    found = found if isinstance(found, dict) else {}
    for kind_of_data in PICTURES:
        picture = _picture(found.get(kind_of_data), kind_of_data)
        if picture and len(picture) <= room["pictures"]:
            room["pictures"] -= len(picture)
            data[kind_of_data] = picture
            about[kind_of_data] = {"alt": ALT}
            break
    if "text/plain" in found:
        data["text/plain"] = _take(found["text/plain"], room)
    elif not data:
        kinds = ", ".join(sorted(_text(one)[:60] for one in list(found)[:5]))
        data["text/plain"] = f"({kinds or 'nothing'}: not shown here)"
    if kind == "execute_result":
        return new(output_type=kind, execution_count=count, data=data, metadata=about)
    return new(output_type="display_data", data=data, metadata=about)


def _take(value: object, room: Room) -> str:
    """The text of an output, cut to the room that is left in this notebook."""
    text = _cut(_text(value), min(TEXT, room["text"]))
    room["text"] = max(0, room["text"] - len(text))
    return text


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n({len(text) - most} more characters are left out here)\n"


# Colours stay; all other terminal commands and control characters go.
_CONTROL = re.compile(
    r"(?P<colour>\x1b\[(?:\d{1,3}(?:;\d{1,3}){0,8})?m)"
    r"|\x1b\[[\d;?]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]"
)


def _text(value: object) -> str:
    """A string that can be written into a file and drawn."""
    if isinstance(value, list):
        value = "".join(one for one in value if isinstance(one, str))
    if not isinstance(value, str):
        value = "" if value is None else str(value)
    return _CONTROL.sub(lambda found: found["colour"] or "", value)


def _scrubbed(value: Any) -> Any:
    """The same plain data, in place, with each text as `_text` has it."""
    if isinstance(value, dict):
        for key in value:
            value[key] = _scrubbed(value[key])
    elif isinstance(value, list):
        value[:] = map(_scrubbed, value)
    return _text(value) if isinstance(value, str) else value


def _attachments(found: object) -> Pictures:
    """The attachments that are pictures."""
    kept: Pictures = {}
    for name, data in found.items() if isinstance(found, dict) else ():
        for kind in PICTURES:
            picture = _picture(data.get(kind) if isinstance(data, dict) else None, kind)
            if picture:
                kept[_text(name)] = {kind: picture}
                break
    return kept


# --- pictures: only their headers are read, since this happens outside the sandbox ---------------


def _picture(encoded: object, kind: str) -> str | None:
    """base64 of a picture that is of this kind and not too large, None otherwise."""
    if isinstance(encoded, list):
        encoded = "".join(map(str, encoded))
    if not isinstance(encoded, str):
        return None
    try:
        content = base64.b64decode("".join(encoded.split()), validate=True)
        size = _png_size(content) if kind == "image/png" else _jpeg_size(content)
    except (binascii.Error, ValueError, struct.error, IndexError):
        return None
    if size is None or not 0 < size[0] * size[1] <= PIXELS:
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
    """Markdown in which HTML, links and remote pictures stay text."""

    def __init__(self, attachments: Pictures) -> None:
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

    # Formulas are shown as they were written: a page that is one file cannot load MathJax.
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
# Nothing is left for it to remove, unless the Markdown parser has a hole.
_SANITIZER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags={"script", "style"},
    attributes=ATTRIBUTES,
    attribute_filter=lambda tag, name, value: value if _allowed(tag, name, value) else None,
    url_schemes={"data"},
    link_rel=None,
    generic_attribute_prefixes=set(),
    filter_style_properties=set(),
)


def _allowed(tag: str, name: str, value: str) -> bool:
    """Of addresses only those of pictures inside the page."""
    return name != "src" or value.startswith(tuple(f"data:{kind};base64," for kind in PICTURES))


@pass_context
def markdown(context: Context, source: str) -> str:
    """Filter `markdown2html`."""
    pictures = _attachments((context.get("cell") or {}).get("attachments"))
    source = _text(source)
    return _rendered(source, pictures) if pictures else _markdown(source)


@functools.lru_cache(maxsize=256)
def _markdown(source: str) -> str:
    """Cached, since most cells belong to the exercise and are the same for everybody."""
    return _rendered(source, {})


def _rendered(source: str, pictures: Pictures) -> str:
    if len(source) > MARKUP:
        return as_text(source)
    try:
        plugins = [import_plugin(name) for name in PLUGINS]
        made = MarkdownWithMath(_Renderer(pictures), plugins=plugins).render(source)
        return _SANITIZER.clean(str(made))
    except Exception:  # nested too deep, or anything else that a parser may fail at
        return as_text(source)


def as_text(source: str) -> str:
    """Filter `clean_html`, which nbconvert puts around raw cells."""
    return f"<pre>{html.escape(_cut(_text(source), TEXT))}</pre>"


def highlighted(source: str, language: str | None = None, metadata: object = None) -> str:
    """Filter `highlight_code`."""
    return _highlighted(_text(source))


@functools.lru_cache(maxsize=256)
def _highlighted(source: str) -> str:
    if len(source) > MARKUP:
        return f'<div class="highlight">{as_text(source)}</div>'
    html: str = highlight(source or " ", _LEXER, _FORMATTER)
    return html


_LEXER = PythonLexer()
_FORMATTER = HtmlFormatter(cssclass="highlight hl-ipython3")
FILTERS = {"markdown2html": markdown, "highlight_code": highlighted, "clean_html": as_text}
