"""The cells of a page, in the page's own Python: their outputs, and the values in the text.

Each cell sees the names as the cells above it left them, even if cells below it have run: a page
shows what running it from top to bottom would show.
"""

import ast
import builtins
import io
import json
import linecache
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from numbers import Integral
from pprint import pformat
from types import CodeType, ModuleType
from typing import Any

from book_extension.themed_svg import themed_svg

from roofkit.lines import print_of_cells, value_in_words
from roofkit.words import ORIGINAL, _, use

from . import notebook_stubs, whole_numbers

Output = dict[str, str]
# roofkit recognizes code of a notebook's cells by file names of this form.
CELL = "<ipython-input-{}-{}>"
MAX_PRINTED = 200_000  # characters per cell: a loop could fill the memory with output
MAX_COPIED = 1_000_000  # bytes; larger arrays are shared: a change in place affects all cells
RICH_METHODS = (("_repr_html_", "html"), ("_repr_svg_", "svg"), ("_repr_markdown_", "markdown"))


class Page:
    """The cells of one page and the values between them, run as steps numbered from 0.

    python.js describes a step.
    """

    def __init__(self) -> None:
        self.module = ModuleType("__main__")
        self.names = self.module.__dict__
        self.before: list[dict[str, Any]] = []  # names at the start of each step
        self.ran: list[Any] = []  # the steps that have run, None for one that failed
        self.files: dict[str, int] = {}  # file name of a cell's code → its step
        self.built: set[str] = set()  # the lines of the page's cells as built
        self.shown: list[Output] = []
        self.alt = ""  # what is said of a figure of the cell that runs
        self.runs = 0

    def rewind(self, steps: str, target: int) -> int:
        """Restore the names before the first step that has changed, at the latest the target.

        steps: JSON of all steps. Return that step.
        """
        same = [old == new for old, new in zip(self.ran, json.loads(steps), strict=False)]
        step = min(target, len(same), *(at for at, one in enumerate(same) if not one))
        if step < len(self.before):
            self.names.clear()
            self.names.update(snapshot(self.before[step]))
        del self.before[step:], self.ran[step:]
        return step

    def run(self, step: str) -> str:
        """Run the next step; return JSON of what came out."""
        wanted = json.loads(step)
        self.before.append(snapshot(self.names))
        if "values" in wanted:
            self.ran.append(wanted)
            return json.dumps({"values": [self.value(*each) for each in wanted["values"]]})
        failed = not self.run_cell(wanted)
        self.ran.append(None if failed else wanted)
        return json.dumps({"outputs": self.shown, "failed": failed})

    def value(self, expression: str, power: int) -> str | None:
        """Return a value as the page shows it, None if it can't be computed.

        power: of ten, of the scale word that a translation has after the value, else 0.
        """
        try:
            found = eval(expression, self.names)
        except Exception:
            return None
        if isinstance(found, Integral) and not isinstance(found, bool):
            found = f"{found:,}"
        is_text = isinstance(found, str) or hasattr(found, "unit")
        return value_in_words(str(found), power, _) if is_text else None

    def run_cell(self, wanted: dict[str, Any]) -> bool:
        """Run a cell as the last step; return whether it came to its end."""
        step, source = len(self.before) - 1, wanted["code"]
        optimize = 1 if wanted.get("ours") else 0
        self.shown, self.runs = [], self.runs + 1
        self.alt = wanted.get("alt") or _("A figure")
        name = CELL.format(step, self.runs)
        self.files[name] = step
        self.built.update(line.strip() for line in wanted.get("built", "").splitlines())
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        out, err = Stream(self.shown, "stdout"), Stream(self.shown, "stderr")
        with redirect_stdout(out), redirect_stderr(err):
            try:
                for code, is_last_expression in compiled(source, name, optimize):
                    value = eval(code, self.names)
                    if is_last_expression and value is not None:
                        self.display(value)
                self.show_figures()
                return True
            except BaseException as error:
                if report := getattr(error, "report", None):  # of a check
                    self.display(report)
                else:
                    self.shown.append({"kind": "error", "text": self.error_text(error, step)})
                return False
            finally:
                if pyplot := sys.modules.get("matplotlib.pyplot"):
                    pyplot.close("all")

    def display(self, *values: Any, **_: Any) -> None:
        """Show values as IPython's `display` does, ignoring its options."""
        for value in values:
            if not hasattr(value, "savefig"):  # figures are shown at the end of the cell
                self.shown.append(output(value))

    def show_figures(self) -> None:
        """Show all open figures and close them, as a notebook does."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else ():
            figure = pyplot.figure(number)  # type: ignore[union-attr]
            file, background = io.StringIO(), figure.get_facecolor()
            figure.savefig(file, format="svg", bbox_inches="tight", facecolor=background)
            palette = import_module("rooflib.plots").PALETTE
            prefix = f"run-{len(self.before) - 1}-{len(self.shown)}"
            svg = themed_svg(file.getvalue(), self.alt, prefix, palette, _)
            self.shown.append({"kind": "svg", "text": svg})
            pyplot.close(number)  # type: ignore[union-attr]

    def error_text(self, error: BaseException, step: int) -> str:
        """Return an error's message with the lines of the page's cells that led to it."""
        if render := getattr(error, "_render_traceback_", None):
            return "\n".join(render())
        lines = []
        if isinstance(error, SyntaxError) and error.filename in self.files:
            lines.append(_("Line {number} of this cell:").format(number=error.lineno))
            text = error.text or linecache.getline(error.filename, error.lineno or 0)
            lines.append(f"    {text.rstrip()}")
        at = error.__traceback__
        while at is not None:
            code = at.tb_frame.f_code
            if code.co_filename in self.files:
                said = {
                    (True, False): _("Line {number} of this cell:"),
                    (False, False): _("Line {number} of a cell above:"),
                    (True, True): _("Line {number} of {function}, in this cell:"),
                    (False, True): _("Line {number} of {function}, in a cell above:"),
                }[self.files[code.co_filename] == step, code.co_name != "<module>"]
                place = [
                    said.format(number=at.tb_lineno, function=code.co_name),
                    f"    {linecache.getline(code.co_filename, at.tb_lineno).strip()}",
                ]
                if lines[-2:] != place:  # a function without an end calls itself a thousand times
                    lines += place
            at = at.tb_next
        if isinstance(error, SyntaxError) and only_in_jupyter(error):
            said = _(
                "Lines that begin with `%` or `!`, and `await` outside of a function, are "
                "Jupyter's own and don't run on this page: delete them, or work in JupyterLab."
            )
            return "\n".join([*lines, said])
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return "\n".join([*lines, f"{type(error).__name__}: {message}".removesuffix(": ")])


def output(value: Any) -> Output:
    """Return what a notebook would show for a value."""
    for method, kind in RICH_METHODS:
        # Skip classes: their display methods can be called only on an instance.
        shown = not isinstance(value, type) and getattr(value, method, None)
        text = shown() if callable(shown) else None
        if text is not None:
            return {"kind": kind, "text": text}
    plain = repr(value) if hasattr(value, "__array__") else pformat(value, sort_dicts=False)
    return {"kind": "plain", "text": plain}


def only_in_jupyter(error: SyntaxError) -> bool:
    """Return whether a syntax error is due to a magic, a shell command or a top-level await."""
    command = (error.text or "").split("=")[-1].strip()  # also of `files = !ls`
    return command.startswith(("%", "!")) or "'await' outside" in error.msg


class Stream(io.TextIOBase):
    """A text stream that appends what is printed to a cell's outputs."""

    def __init__(self, shown: list[Output], name: str) -> None:
        self.shown, self.name, self.left = shown, name, MAX_PRINTED

    def write(self, text: str) -> int:
        """Append text, truncated once this stream has MAX_PRINTED characters."""
        if self.left > 0:
            kept = text if len(text) <= self.left else text[: self.left] + _("\n… and so on")
            self.left -= len(text)
            if not (self.shown and self.shown[-1]["kind"] == self.name):
                self.shown.append({"kind": self.name, "text": ""})
            self.shown[-1]["text"] += kept
        return len(text)


def no_input(*_args: object, **_named: object) -> str:
    """Raise instead of asking the reader."""
    raise RuntimeError(_("a page cannot ask: write the answer into the cell instead"))


def warning_line(message: Warning | str, category: type[Warning], *_: object) -> str:
    """Return a warning without the name of a file, which says nothing to a page's reader."""
    return f"{category.__name__}: {message}\n"


def compiled(source: str, name: str, optimize: int) -> Iterator[tuple[CodeType, bool]]:
    """Compile a cell, its last expression separately, since its value is displayed.

    A semicolon after the expression suppresses the display. optimize: 1 removes assertions.
    """
    tree = ast.parse(source, name)
    last: ast.Expression | None = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        end = ast.get_source_segment(source, tree.body[-1]) or ""
        if not source.rpartition(end)[2].lstrip().startswith(";"):
            last = ast.Expression(tree.body[-1].value)
            tree.body.pop()
    yield compile(tree, name, "exec", optimize=optimize), False
    if last is not None:
        yield compile(last, name, "eval", optimize=optimize), True


def snapshot(names: dict[str, Any]) -> dict[str, Any]:
    """Copy a namespace with the lists, tables, sets and small arrays in it.

    A cell can change these in place.
    """
    known: dict[int, Any] = {}

    def copy(value: Any) -> Any:
        if id(value) in known:
            return known[id(value)]
        kind = type(value)
        made: Any
        if kind is list:
            made = known[id(value)] = []
            made += map(copy, value)
        elif kind is dict:
            made = known[id(value)] = {}
            made.update({key: copy(entry) for key, entry in value.items()})
        elif kind is set or is_small_array(value):
            made = known[id(value)] = value.copy()
        else:
            return value
        return made

    return {name: copy(value) for name, value in names.items() if name != "__builtins__"}


def is_small_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy, with its own and not too many entries."""
    is_array = type(value).__name__ == "ndarray" and value.base is None
    return bool(is_array and value.nbytes <= MAX_COPIED)


def start(language: str) -> Page:
    """Create the Page of this worker, whose namespace is that of `__main__`."""
    page = Page()
    sys.modules["__main__"] = page.module
    builtins.input = no_input
    builtins.print = print_of_cells(page.built, _)
    builtins.display = page.display  # type: ignore[attr-defined]
    warnings.formatwarning = warning_line  # type: ignore[assignment]
    # A plot keeps its text as text, and browsers have letters that Matplotlib's own font lacks.
    warnings.filterwarnings("ignore", "Glyph .* missing from")
    # Pyodide's list of fonts is that of another Matplotlib, which so makes its own, and says that.
    log = logging.getLogger("matplotlib.font_manager")
    log.addFilter(lambda record: "font cache" not in record.getMessage())
    notebook_stubs.install(page)
    whole_numbers.install()
    if language != ORIGINAL:
        use(language)
    return page
