"""What a submission may put on a page: text, PNG and JPEG, and nothing that acts.

Graded notebooks are shown to learners, as feedback, and to instructors in the formgrader, where
the browser is logged in. `clean` takes out of a notebook what is neither text nor picture. Both
pages turn Markdown and code into HTML by `markdown` and `highlighted`. The policy that
grading/templates puts into their heads is a second wall.
"""

import base64
import binascii
import copy
import functools
import html
import re
import struct
from pathlib import Path

import bleach
import mistune
import nbgrader.server_extensions.formgrader as formgrader
from jinja2 import pass_context
from mistune.plugins import import_plugin
from mistune.util import striptags
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbgrader.preprocessors import NbGraderPreprocessor
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

TEMPLATES = [
    str(Path(__file__).parent / "templates"),
    str(Path(formgrader.__file__).parent / "templates"),
]
TEXT = 100_000  # characters of one text; what comes after them is left out
ALL_TEXT = 1_000_000  # of all outputs of a notebook
ALL_PICTURES = 10_000_000  # bytes of all outputs of a notebook
PIXELS = 25_000_000  # of one picture: a small file can hold more than a browser can bear
MARKUP = 4_000  # characters: longer texts are shown as they are, since parsers can take n² steps
# The cell that releasing adds, and nothing else.
PUBLISHED = re.compile(r'''from roofkit\.check import cases\s+cases\("""[\w+/=\s]*"""\)\s*''')
LINK = re.compile(r'(<a href="#([\w-]+)">)Test cell</a>')  # nbgrader calls all parts alike
CELLS = 200  # on a page; those that are graded come on top
PICTURES = ("image/png", "image/jpeg")
ALT = "Figure drawn by this cell"
MARKS = ("grade", "locked", "solution", "task", "points", "schema_version", "cell_type", "checksum")


def clean(nb):
    """Reduce a notebook, in place, to sources, text, PNG and JPEG, and metadata that we know."""
    kept = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    kept["language_info"] = {"name": "python"}
    if "rooflib" in nb.metadata:
        kept["rooflib"] = _scrubbed(nb.metadata["rooflib"])
    nb.metadata.clear()
    nb.metadata.update(kept)
    room = {"text": ALL_TEXT, "pictures": ALL_PICTURES}
    ids = set()
    for index, cell in enumerate(nb.cells):
        _clean_cell(cell, room)
        if "id" in cell:
            valid = isinstance(cell.id, str) and re.fullmatch(r"[\w-]{1,64}", cell.id, re.ASCII)
            if not valid or cell.id in ids:
                cell.id = f"number-{index}"
            ids.add(cell.id)


class Clean(NbGraderPreprocessor):
    """`clean` as a step of nbgrader: last in autograde, first when a page is made."""

    def preprocess(self, nb, resources):
        clean(nb)
        return nb, resources


class Page(HTMLExporter):
    """nbgrader's feedback page of a notebook.

    nbconvert's exporter reads the finished HTML once more to see to pictures without a description;
    `clean` has given them one, and that reading takes most of the time.
    """

    def from_notebook_node(self, nb, resources=None, **options):
        resources = self._init_resources(resources)
        chosen = WidgetsDataTypeFilter(notebook_metadata={}, parent=self, resources=resources)
        self.register_filter("filter_data_type", chosen)
        # nbconvert's own takes n² steps for n brackets, and nobody here writes such addresses.
        self.register_filter("strip_files_prefix", lambda text: text)
        page, resources = TemplateExporter.from_notebook_node(
            self, shortened(nb), resources, **options
        )
        return LINK.sub(r"\1\2</a>", page), resources


def shortened(nb):
    """The notebook without its published cases, which nobody reads.

    Of very many cells, the first and all those that are graded.
    """
    cells = [cell for cell in nb.cells if not PUBLISHED.fullmatch(cell.source)]
    shown = [
        cell for index, cell in enumerate(cells) if index < CELLS or "nbgrader" in cell.metadata
    ]
    left_out = len(cells) - len(shown)
    if left_out:
        words = f"{left_out} cells of this notebook are not shown here."
        shown.insert(0, type(nb)(cell_type="markdown", metadata=type(nb)(), source=words))
    short = copy.copy(nb)
    short.cells = shown
    return short


# --- what a cell may hold --------------------------------------------------------------------


def _clean_cell(cell, room):
    cell.source = _text(cell.source)
    cell.metadata = _marks(cell.metadata)
    pictures = _attachments(cell.pop("attachments", None))
    if pictures and cell.cell_type != "code":
        cell.attachments = pictures
    if cell.cell_type == "code":
        count = cell.get("execution_count")
        cell.execution_count = count if type(count) is int else None
        outputs = cell.get("outputs", ())
        cell.outputs = [_output(output, cell.execution_count, room) for output in outputs]


def _marks(metadata):
    """Of a cell's metadata what nbgrader has put there, and whether the source is folded."""
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


def _word(value):
    return re.sub(r"[^\w-]", "", str(value), flags=re.ASCII)


def _output(output, count, room):
    """A new output in the place of one that a process of the learner's has sent: it may be
    anything, not only what a kernel would send."""
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


def _take(value, room):
    """A text of an output, as long as there is room for texts in this notebook."""
    text = _cut(_text(value), min(TEXT, room["text"]))
    room["text"] = max(0, room["text"] - len(text))
    return text


def _cut(text, most):
    if len(text) <= most:
        return text
    return f"{text[:most]}\n({len(text) - most} more characters are left out here)\n"


# Colours stay, of whatever else a terminal would obey nothing does.
_CONTROL = re.compile(
    r"(?P<colour>\x1b\[(?:\d{1,3}(?:;\d{1,3}){0,8})?m)"
    r"|\x1b\[[\d;?]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]"
)


def _text(value):
    """A string that can be written into a file and drawn."""
    if isinstance(value, list):
        value = "".join(one for one in value if isinstance(one, str))
    if not isinstance(value, str):
        value = "" if value is None else str(value)
    return _CONTROL.sub(lambda found: found["colour"] or "", value)


def _scrubbed(value):
    """The same plain data with each text fit to be written, in place."""
    if isinstance(value, dict):
        for key in value:
            value[key] = _scrubbed(value[key])
    elif isinstance(value, list):
        value[:] = map(_scrubbed, value)
    return _text(value) if isinstance(value, str) else value


def _attachments(found):
    """name → kind → picture, of the attachments that are pictures."""
    kept = {}
    for name, data in found.items() if isinstance(found, dict) else ():
        for kind in PICTURES:
            picture = _picture(data.get(kind) if isinstance(data, dict) else None, kind)
            if picture:
                kept[_text(name)] = {kind: picture}
                break
    return kept


# --- pictures: looked at, not decoded, since this happens outside of the sandbox ------------------


def _picture(encoded, kind):
    """base64 of a picture that is what it is said to be and not too large, None otherwise."""
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


def _png_size(content):
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR" or b"IEND" not in content:
        return None
    return struct.unpack(">II", content[16:24])


def _jpeg_size(content):
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
    """Markdown whose HTML, links and remote pictures stay text."""

    def __init__(self, attachments):
        super().__init__(escape=True, allow_harmful_protocols=False)
        self.attachments = attachments

    def link(self, text, url, title=None):
        address = html.escape(url[:300])
        return text if text == address else f"{text} ({address})"

    def image(self, text, url, title=None):
        alt = html.escape(html.unescape(striptags(text)))
        if url.startswith("attachment:"):
            attached = self.attachments.get(url.removeprefix("attachment:"), {})
            for kind, picture in attached.items():
                return f'<img src="data:{kind};base64,{picture}" alt="{alt}">'
        return f"[{alt}] ({html.escape(url[:100])})"

    # Formulas are shown as they were written: what sets them would have to be fetched.
    def block_math(self, body):
        return f"<code>$${html.escape(body)}$$</code>"

    def inline_math(self, body):
        return f"<code>${html.escape(body)}$</code>"

    def latex_environment(self, name, body):
        formula = "\\begin{%s}%s\\end{%s}" % (name, body, name)  # noqa: UP031
        return f"<code>{html.escape(formula)}</code>"


PLUGINS = ("strikethrough", "table", "def_list")
TAGS = frozenset(
    (
        *("p", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "br"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "dl", "dt", "dd", "img"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    )
)


def _attribute(tag, name, value):
    if tag == "img" and name == "src":
        return value.startswith(tuple(f"data:{kind};base64," for kind in PICTURES))
    return (tag, name) in {("img", "alt"), ("ol", "start")}


@pass_context
def markdown(context, source):
    """Filter `markdown2html`."""
    pictures = _attachments((context.get("cell") or {}).get("attachments"))
    source = _text(source)
    return _rendered(source, pictures) if pictures else _markdown(source)


@functools.lru_cache(maxsize=256)
def _markdown(source):
    """Kept, since most cells are those of the exercise, the same for everybody."""
    return _rendered(source, {})


def _rendered(source, pictures):
    if len(source) > MARKUP:
        return as_text(source)
    try:
        plugins = [import_plugin(name) for name in PLUGINS]
        made = MarkdownWithMath(_Renderer(pictures), plugins=plugins).render(source)
        # Nothing is left to take out, unless the parser has a hole.
        return bleach.clean(made, TAGS, _attribute, protocols=["data"])
    except Exception:  # nested too deep, or whatever else a parser may trip over
        return as_text(source)


def as_text(source):
    """Filter `clean_html`, which nbconvert puts around raw cells."""
    return f"<pre>{html.escape(_cut(_text(source), TEXT))}</pre>"


def highlighted(source, language=None, metadata=None):
    """Filter `highlight_code`."""
    return _highlighted(_text(source))


@functools.lru_cache(maxsize=256)
def _highlighted(source):
    if len(source) > MARKUP:
        return f'<div class="highlight">{as_text(source)}</div>'
    return highlight(source or " ", _LEXER, _FORMATTER)


_LEXER = PythonLexer()
_FORMATTER = HtmlFormatter(cssclass="highlight hl-ipython3")
FILTERS = {"markdown2html": markdown, "highlight_code": highlighted, "clean_html": as_text}
