"""A page's cells, run by the page's own Python: what they give, and the values of the prose.

Each cell sees the names as those above have left them, whatever was run later: a page is always
what it would be if it were run from top to bottom.
"""

import ast
import builtins
import io
import json
import linecache
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from numbers import Integral
from pprint import pformat
from types import CodeType, ModuleType, TracebackType
from typing import Any

from book_extension.themed_svg import themed_svg

from .call_times import TIMES, Tell
from .cell_names import needed
from .markdown_html import as_html
from .stand_ins import install

Output = dict[str, str]
# Roofkit takes such names for a notebook's cells.
CELL = "<ipython-input-{}-{}>"
MOST_TEXT = 200_000  # characters of a cell's prints: a loop could fill the memory with them
LOADED = ("rooflib.plots", "matplotlib.pyplot", "matplotlib.backends.backend_svg")
LARGEST_KEPT = 1_000_000  # bytes of an array that is copied, so that a cell may change it in place
IMAGES = (("_repr_html_", "html"), ("_repr_svg_", "svg"), ("_repr_markdown_", "markdown"))


class Page:
    """The cells of one page, as steps that are numbered from 0."""

    def __init__(self) -> None:
        self.module = ModuleType("__main__")
        self.names = self.module.__dict__
        self.before: list[dict[str, Any]] = []  # the names that each step finds
        self.rc: list[dict[str, Any]] = []  # and the settings of Matplotlib
        self.files: dict[str, int] = {}  # the step of each file of code
        self.shown: list[Output] = []
        self.runs = 0

    def go_back_to(self, step: int) -> None:
        """Take the names as they were before this step; ValueError if it was never reached."""
        if step == len(self.before):
            return
        if not 0 <= step < len(self.before):
            raise ValueError(f"step {step} was not reached yet, {len(self.before)} were")
        found = copied(self.before[step])
        self.names.clear()
        self.names.update(found)
        if self.rc[step]:
            dict.update(sys.modules["matplotlib"].rcParams, self.rc[step])
        del self.before[step:], self.rc[step:]

    def next_step(self) -> None:
        self.before.append(copied(self.names))
        matplotlib = sys.modules.get("matplotlib")
        # As they are: to ask for one of them could choose a backend.
        rc = matplotlib.rcParams if matplotlib else {}
        self.rc.append({name: dict.__getitem__(rc, name) for name in dict.keys(rc)})

    def run(self, source: str, alt: str = "", ours: bool = False, late: int = 0) -> str:
        """Run a cell as the next step: JSON of its outputs, and whether it failed.

        alt: what its figures show, for those who do not see them. ours: no reader sees its code;
        then it asserts nothing, since what holds for the page as built need not hold for another.
        late: the number of the checked call that counts as too late, since the page stopped it.
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
        with self.listening():
            try:
                for code, is_last_expression in compiled(source, name, 1 if ours else 0):
                    value = eval(code, self.names)
                    if is_last_expression and value is not None:
                        self.display(value)
                self.show_figures(alt, step)
            except BaseException as error:
                failed = True
                self.shown.append({"kind": "error", "text": self.told(error, step)})
                close_figures()
        return json.dumps({"outputs": self.shown, "failed": failed})

    def values(self, expressions: Sequence[str]) -> str:
        """JSON of each expression's text, null where there is none, as the next step."""
        self.next_step()
        return json.dumps({expression: self.value(expression) for expression in expressions})

    def value(self, expression: str) -> str | None:
        try:
            value = eval(expression, self.names)
            if isinstance(value, str):
                return value
            if isinstance(value, Integral) and not isinstance(value, bool):
                return f"{value:,}"
        except Exception:
            return None
        return None

    def needed(self, sources: Sequence[str]) -> str:
        """JSON of the places of the cells that the last of them needs."""
        return json.dumps(needed(sources))

    def tries(self) -> str:
        """JSON of what the checks have counted so far; null before there was a check."""
        check = sys.modules.get("roofkit.check")
        return json.dumps(check.tries() if check else None)

    def take_tries(self, tries: str) -> None:
        """Go on from the `tries` of an earlier Python of the same page."""
        if data := json.loads(tries):
            import_module("roofkit.check").take_tries(data)

    def display_all(self, *values: Any, **_: Any) -> None:
        """Show values as IPython's `display` does; its options change nothing here."""
        for value in values:
            self.display(value)

    def clear(self) -> None:
        """Remove what the cell has shown so far."""
        self.shown.clear()

    def display(self, value: Any) -> None:
        """Show a value as a notebook would."""
        if hasattr(value, "savefig"):
            return  # all figures are shown when the cell is through
        for method, kind in IMAGES:
            # A class has its objects' methods, too.
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
        """All figures that are open, as in a notebook, and close them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else ():
            figure = pyplot.figure(number)  # type: ignore[union-attr]
            file = io.StringIO()
            ground = figure.get_facecolor()
            figure.savefig(file, format="svg", bbox_inches="tight", facecolor=ground)
            svg = themed_svg(file.getvalue(), alt or "A figure", f"run-{step}-{number}")
            self.shown.append({"kind": "svg", "text": svg})
        close_figures()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Prints and displays go to the page; nobody can be asked anything."""
        asked, display = builtins.input, getattr(builtins, "display", None)

        def no_input(prompt: object = "") -> str:
            raise RuntimeError("a page cannot ask: write the answer into the cell instead")

        builtins.input = no_input
        builtins.display = self.display_all  # type: ignore[attr-defined]
        try:
            out, err = Prints(self.shown, "stdout"), Prints(self.shown, "stderr")
            with redirect_stdout(out), redirect_stderr(err):
                yield
        finally:
            builtins.input = asked
            if display is None:
                del builtins.display  # type: ignore[attr-defined]
            else:
                builtins.display = display  # type: ignore[attr-defined]

    def told(self, error: BaseException, step: int) -> str:
        """What went wrong, with the lines of the reader's cells and no others."""
        own_words = getattr(error, "_render_traceback_", None)
        if own_words:
            return "\n".join(own_words())
        lines = []
        if isinstance(error, SyntaxError) and error.filename in self.files:
            lines.append(f"Line {error.lineno} of this cell:")
            lines.append(f"    {(error.text or '').rstrip()}")
        for name, number, function in trace(error.__traceback__):
            if name in self.files:
                where = "this cell" if self.files[name] == step else "a cell above"
                inside = "" if function == "<module>" else f"{function}, in "
                lines.append(f"Line {number} of {inside}{where}:")
                lines.append(f"    {linecache.getline(name, number).strip()}")
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return "\n".join([*lines, f"{type(error).__name__}: {message}".removesuffix(": ")])


class Prints(io.TextIOBase):
    """A stream that puts what is printed among a cell's outputs."""

    def __init__(self, shown: list[Output], name: str) -> None:
        self.shown, self.name, self.room = shown, name, MOST_TEXT

    def write(self, text: str) -> int:
        if self.room > 0:
            kept = text if len(text) <= self.room else text[: self.room] + "\n… and so on"
            self.room -= len(text)
            if not (self.shown and self.shown[-1]["kind"] == self.name):
                self.shown.append({"kind": self.name, "text": ""})
            self.shown[-1]["text"] += kept
        return len(text)


def compiled(source: str, name: str, optimize: int) -> Iterator[tuple[CodeType, bool]]:
    """The code of a cell: all of it, but its last expression apart, which is displayed.

    A semicolon at its end keeps it from being displayed. optimize: 1 leaves assertions out.
    """
    tree = ast.parse(source, name)
    last: ast.Expression | None = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        end = ast.get_source_segment(source, tree.body[-1]) or ""
        after = source.rstrip().rpartition(end)[2] if end else ""
        if not after.lstrip().startswith(";"):
            statement = tree.body.pop()
            assert isinstance(statement, ast.Expr)
            last = ast.Expression(statement.value)
    yield compile(tree, name, "exec", optimize=optimize), False
    if last is not None:
        yield compile(last, name, "eval", optimize=optimize), True


def trace(traceback: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    """File, line and function of each frame, from the outermost to the innermost."""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        yield code.co_filename, traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


def copied(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names with copies of what a cell could change in place: lists, dictionaries, arrays."""
    known: dict[int, Any] = {}
    return {name: copy(value, known) for name, value in names.items() if name != "__builtins__"}


def copy(value: Any, known: dict[int, Any]) -> Any:
    """A copy of a plain collection, and what is in it; anything else as it is."""
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
        made = value.copy() if value.nbytes <= LARGEST_KEPT else value
    else:
        return value
    known[id(value)] = made
    return made


def close_figures() -> None:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot:
        pyplot.close("all")


def loaded() -> None:
    """Load what each page needs and what changes no setting: browsers keep what is there then."""
    install()
    for name in LOADED:
        import_module(name)


def started(tell: Tell | None = None) -> Page:
    """The page that this Python is for: its names are those of `__main__`.

    tell: called when a check calls a function, and when that has ended; see call_times.py.
    """
    if tell:
        TIMES.tell = tell
    random.seed()  # a start that was kept has the chances of the first
    page = Page()
    sys.modules["__main__"] = page.module
    install()
    return page
