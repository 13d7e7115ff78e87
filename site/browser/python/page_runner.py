"""Runner of a page's cells in the page's own Python.

It gives their outputs, and the values in the prose. Each cell sees the names as the cells above it
left them, even if cells below it have run: a page always shows what running it from top to bottom
would show.
"""

import ast
import builtins
import io
import json
import linecache
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pprint import pformat
from types import CodeType, ModuleType, TracebackType
from typing import Any, TextIO

from book_extension.themed_svg import themed_svg

from .call_times import TIMES, Report
from .cell_dependencies import needed
from .ipython_stubs import install
from .markdown_html import as_html
from .whole_numbers import WideAstype

Output = dict[str, str]
# roofkit recognizes code of a notebook's cells by file names of this form.
CELL = "<ipython-input-{}-{}>"
MAX_PRINTED = 200_000  # characters per cell: a loop could fill the memory with output
# Modules that most pages import; those that most cells need come first.
PRELOADS = (
    "rooflib",
    "rooflib.plots",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_svg",
    "roofkit.check",
)
MAX_COPIED_BYTES = 1_000_000  # larger arrays are shared: a change in place affects all cells
RICH_METHODS = (("_repr_html_", "html"), ("_repr_svg_", "svg"), ("_repr_markdown_", "markdown"))


def _(message: str) -> str:
    """Return a message in the page's language."""
    return str(import_module("roofkit.words")._(message))


class Page:
    """The cells of one page, run as steps numbered from 0."""

    def __init__(self) -> None:
        self.module = ModuleType("__main__")
        self.names = self.module.__dict__
        self.before: list[dict[str, Any]] = []  # names at the start of each step
        self.rc: list[Any] = []  # Matplotlib's settings at the start of each step, if loaded
        self.files: dict[str, int] = {}  # file name of a cell's code → its step
        self.shown: list[Output] = []
        self.runs = 0

    def speak(self, language: str) -> None:
        """Show the messages of the course's code in this language."""
        import_module("roofkit.words").use(language)

    def rewind_to(self, step: int) -> None:
        """Restore the names as they were before this step; ValueError if it never ran."""
        if step == len(self.before):
            return
        if not 0 <= step < len(self.before):
            raise ValueError(f"step {step} was not reached yet, {len(self.before)} were")
        restored = snapshot(self.before[step])
        self.names.clear()
        self.names.update(restored)
        if matplotlib := sys.modules.get("matplotlib"):
            restore_settings(matplotlib, self.rc[step])
        del self.before[step:], self.rc[step:]

    def next_step(self) -> None:
        """Record the names and settings that the next step starts from."""
        self.before.append(snapshot(self.names))
        matplotlib = sys.modules.get("matplotlib")
        self.rc.append(matplotlib.rcParams.copy() if matplotlib else None)

    def run(self, source: str, alt: str = "", ours: bool = False, late: int = 0) -> str:
        """Run a cell as the next step; return JSON of its outputs and whether it failed.

        alt: text alternative of its figures. ours: the page hides the cell's code; its assertions
        are skipped, since they hold for the page as built and not for a reader's changes. late: the
        number of the checked call that counts as timed out, since the page terminated it before.
        """
        TIMES.begin(late)
        step = len(self.before)
        self.next_step()
        self.runs += 1
        name = CELL.format(step, self.runs)
        self.files[name] = step
        self.shown = []
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)
        failed = False
        with self.capturing():
            try:
                for code, is_last_expression in compiled(source, name, 1 if ours else 0):
                    value = eval(code, self.names)
                    if is_last_expression and value is not None:
                        self.display(value)
                self.show_figures(alt, step)
            except BaseException as error:
                failed = True
                if report := getattr(error, "report", None):  # of a check
                    self.display(report)
                else:
                    self.shown.append({"kind": "error", "text": self.error_text(error, step)})
                close_figures()
        return json.dumps({"outputs": self.shown, "failed": failed})

    def blocks(self, blocks: str) -> str:
        """Return what blocks of prose show, as a step of the page; see roofkit.following.

        blocks and the result are JSON.
        """
        self.next_step()
        state = import_module("roofkit.following").state
        return json.dumps([state(block, self.names) for block in json.loads(blocks)])

    def needed(self, sources: Sequence[str]) -> str:
        """Return JSON of the indices of the cells that the last one depends on."""
        return json.dumps(needed(sources))

    def tries(self) -> str:
        """Return JSON of checks' counts and results, for hints; null before any check."""
        check = sys.modules.get("roofkit.check")
        return json.dumps(check.tries() if check else None)

    def take_tries(self, tries: str) -> None:
        """Restore the `tries` that a worker had before the page terminated it."""
        if data := json.loads(tries):
            import_module("roofkit.check").take_tries(data)

    def preloads(self) -> str:
        """Return JSON of the modules that a page imports before the reader runs a cell."""
        return json.dumps(PRELOADS)

    def preload(self, module: str) -> None:
        """Import a module, so that a cell that needs it runs sooner."""
        import_module(module)

    def display_all(self, *values: Any, **_: Any) -> None:
        """Show values as IPython's `display` does, ignoring its options."""
        for value in values:
            self.display(value)

    def clear(self) -> None:
        """Remove what the cell has shown so far."""
        self.shown.clear()

    def display(self, value: Any) -> None:
        """Show a value as a notebook would."""
        if hasattr(value, "savefig"):
            return  # all figures are shown at the end of the cell
        for method, kind in RICH_METHODS:
            # Skip classes: their display methods can be called only on an instance.
            shown = not isinstance(value, type) and getattr(value, method, None)
            text = shown() if callable(shown) else None
            if text is not None:
                markdown = kind == "markdown"
                html = as_html(text) if markdown else text
                self.shown.append({"kind": "html" if markdown else kind, "text": html})
                return
        plain = repr(value) if hasattr(value, "__array__") else pformat(value, sort_dicts=False)
        self.shown.append({"kind": "plain", "text": plain})

    def show_figures(self, alt: str, step: int) -> None:
        """Show all open figures, as a notebook does, and close them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else ():
            figure = pyplot.figure(number)  # type: ignore[union-attr]
            file = io.StringIO()
            background = figure.get_facecolor()
            figure.savefig(file, format="svg", bbox_inches="tight", facecolor=background)
            name = f"run-{step}-{number}"
            svg = themed_svg(file.getvalue(), alt or _("A figure"), name, _)
            self.shown.append({"kind": "svg", "text": svg})
        close_figures()

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Capture prints and displays for the page, and make `input` raise."""
        original_input, display = builtins.input, getattr(builtins, "display", None)
        show_in_files = warnings.showwarning

        def no_input(*args: object, **named: object) -> str:
            raise RuntimeError(_("a page cannot ask: write the answer into the cell instead"))

        builtins.input = no_input
        warnings.showwarning = show_warning
        builtins.display = self.display_all  # type: ignore[attr-defined]
        try:
            out, err = Stream(self.shown, "stdout"), Stream(self.shown, "stderr")
            with redirect_stdout(out), redirect_stderr(err):
                yield
        finally:
            builtins.input = original_input
            warnings.showwarning = show_in_files
            if display is None:
                del builtins.display  # type: ignore[attr-defined]
            else:
                builtins.display = display  # type: ignore[attr-defined]

    def error_text(self, error: BaseException, step: int) -> str:
        """Return an error's message with traceback lines from the page's cells only."""
        render = getattr(error, "_render_traceback_", None)
        if render:
            return "\n".join(render())
        lines = []
        if isinstance(error, SyntaxError) and error.filename in self.files:
            lines.append(_("Line {number} of this cell:").format(number=error.lineno))
            text = error.text or linecache.getline(error.filename, error.lineno or 0)
            lines.append(f"    {text.rstrip()}")
        for name, number, function in trace(error.__traceback__):
            if name in self.files:
                here, inside = self.files[name] == step, function != "<module>"
                said = {
                    (True, False): _("Line {number} of this cell:"),
                    (False, False): _("Line {number} of a cell above:"),
                    (True, True): _("Line {number} of {function}, in this cell:"),
                    (False, True): _("Line {number} of {function}, in a cell above:"),
                }[here, inside]
                lines.append(said.format(number=number, function=function))
                lines.append(f"    {linecache.getline(name, number).strip()}")
        if isinstance(error, SyntaxError) and only_in_jupyter(error):
            said = _(
                "Lines that begin with `%` or `!`, and `await` outside of a function, are "
                "Jupyter's own and don't run on this page: delete them, or work in JupyterLab."
            )
            return "\n".join([*lines, said])
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return "\n".join([*lines, f"{type(error).__name__}: {message}".removesuffix(": ")])


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


def show_warning(
    message: Warning | str,
    category: type[Warning],
    *_: object,
    file: TextIO | None = None,
    **__: object,
) -> None:
    """Print a warning without the name of a file, which says nothing to a page's reader."""
    print(f"{category.__name__}: {message}", file=file or sys.stderr)


def compiled(source: str, name: str, optimize: int) -> Iterator[tuple[CodeType, bool]]:
    """Compile a cell, its last expression separately, since its value is displayed.

    A semicolon after the expression suppresses the display. optimize: 1 removes assertions.
    """
    tree = WideAstype().visit(ast.parse(source, name))
    last: ast.Expression | None = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        end = ast.get_source_segment(source, tree.body[-1])
        assert end is not None
        after = source.rstrip().rpartition(end)[2]
        if not after.lstrip().startswith(";"):
            statement = tree.body.pop()
            assert isinstance(statement, ast.Expr)
            last = ast.Expression(statement.value)
    yield compile(tree, name, "exec", optimize=optimize), False
    if last is not None:
        yield compile(last, name, "eval", optimize=optimize), True


def trace(traceback: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and function of each frame, outermost first."""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        yield code.co_filename, traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


def snapshot(names: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a namespace, including the values that a cell can change in place.

    These are lists, dictionaries, sets and arrays.
    """
    known: dict[int, Any] = {}
    return {name: copy(value, known) for name, value in names.items() if name != "__builtins__"}


def copy(value: Any, known: dict[int, Any]) -> Any:
    """Return a deep copy of a list, dict, set or small array, or other values as is."""
    if id(value) in known:
        return known[id(value)]
    kind = type(value)
    if kind is list:
        made: Any = []
        known[id(value)] = made
        made += [copy(entry, known) for entry in value]
        return made
    if kind is dict:
        made = {}
        known[id(value)] = made
        made.update({key: copy(entry, known) for key, entry in value.items()})
        return made
    if kind is set:
        made = set(value)
    elif kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.base is None:
        made = value.copy() if value.nbytes <= MAX_COPIED_BYTES else value
    else:
        return value
    known[id(value)] = made
    return made


def restore_settings(matplotlib: ModuleType, saved: Any) -> None:
    """Restore Matplotlib's settings from a saved copy.

    Restore the defaults if Matplotlib was not loaded when they were saved.
    """
    if saved is None:
        matplotlib.rcdefaults()
        return
    now = matplotlib.rcParams.copy()
    changed = {name: value for name, value in saved.items() if now[name] != value}
    matplotlib.rcParams.update(changed)


def close_figures() -> None:
    """Close all open figures, if Matplotlib is loaded."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot:
        pyplot.close("all")


def start_page(report: Report | None = None) -> Page:
    """Create the Page of this worker, whose namespace is that of `__main__`.

    report: called when a check calls a function and when the call ends; see call_times.py.
    """
    if report:
        TIMES.report = report
    page = Page()
    sys.modules["__main__"] = page.module
    install()
    return page
