"""A chapter's cells in ordinary Python: what readers should see after an edit of a cell.

A page runs them with its own machinery; here they are run by `exec`, one after another.
"""

import ast
import contextlib
import io
import re
import warnings
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from processes import in_fork
from repository import ROOT

PIECE = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?P<cell>.*?)^```$|\{eval\}`(?P<value>[^`]*)`", re.M | re.S
)
HEAD = re.compile(r"---\n(?P<yaml>.*?)\n---\n|(?P<options>(?::[^\n]*\n)+)", re.S)
HIDDEN = re.compile("remove-(?:cell|input)")


class Cell(NamedTuple):
    code: str
    hidden: bool  # the page shows no code, so nobody can edit it
    line: int


Piece = Cell | str  # a string is the expression of a value in the text


@dataclass
class Page:
    """What a reader sees of a chapter: outputs of the cells with code, values in the text.

    drawings: a digest of each cell's drawing.
    error: that of the cell that ended the run, or "".
    """

    outputs: list[str] = field(default_factory=list)
    values: list[str | None] = field(default_factory=list)
    drawings: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    error: str = ""


def chapters() -> list[str]:
    """Return the pages with cells that readers can run, such as "chapters/time"."""
    found = [ROOT / "index.md", *sorted(ROOT.glob("chapters/*.md"))]
    names = [path.relative_to(ROOT).with_suffix("").as_posix() for path in found]
    return [name for name in names if any(not cell.hidden for _, cell in cells(pieces(name)))]


def pieces(name: str) -> list[Piece]:
    """Return a chapter's cells, and the values of its text, in order."""
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    found: list[Piece] = []
    for piece in PIECE.finditer(text):
        if piece["value"] is not None:
            found.append(" ".join(piece["value"].split()))
            continue
        head = HEAD.match(piece["cell"])
        yaml = head[0] if head else ""
        code = piece["cell"].removeprefix(yaml).strip("\n")
        line = text.count("\n", 0, piece.start()) + 1
        found.append(Cell(code, bool(HIDDEN.search(yaml)), line))
        # A cell's header may have the caption of its figure.
        found += [" ".join(one.split()) for one in re.findall(r"\{eval\}`([^`]*)`", yaml)]
    return found


def cells(page: list[Piece]) -> list[tuple[int, Cell]]:
    return [(place, piece) for place, piece in enumerate(page) if isinstance(piece, Cell)]


def edited(page: list[Piece], old: str, new: str) -> list[Piece]:
    """Replace code in the first cell with visible code that has it."""
    for place, cell in cells(page):
        if not cell.hidden and old in cell.code:
            return [
                *page[:place],
                cell._replace(code=cell.code.replace(old, new)),
                *page[place + 1 :],
            ]
    raise LookupError(f"no cell has the code {old!r}")


def run(page: list[Piece]) -> Page:
    """Run a chapter in a fork of this process."""
    found: Page = in_fork(lambda: _run(page))
    return found


def _run(page: list[Piece]) -> Page:
    found, names = Page(), {"__name__": "__main__"}
    for piece in page:
        if isinstance(piece, str):
            found.values.append(None if found.error else shown(piece, names))
            continue
        if found.error:
            continue
        try:
            output = run_cell(piece, names, found.warned, found.drawings)
        except Exception as error:
            found.error = f"{type(error).__name__}: {error}"
        else:
            if not piece.hidden:
                found.outputs.append(output)
    return found


def run_cell(cell: Cell, names: dict[str, Any], warned: list[str], drawings: list[str]) -> str:
    """Return what a cell prints and shows, and draw its figures."""
    tree = ast.parse(cell.code)
    is_shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.code.endswith(";")
    last = tree.body.pop() if is_shown else None
    # Pages skip the authors' own assertions, which hold for the printed numbers.
    optimize = int(cell.hidden)
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        warnings.catch_warnings(record=True) as w,
    ):
        warnings.simplefilter("always")
        exec(compile(tree, f"line {cell.line}", "exec", optimize=optimize), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"line {cell.line}", "eval"), names)
            if value is not None:
                table = getattr(value, "_repr_markdown_", None)
                print(table() if table else repr(value))
        for number in plt.get_fignums():
            canvas = FigureCanvasAgg(plt.figure(number))
            canvas.draw()
            drawings.append(sha256(canvas.buffer_rgba()).hexdigest())
            plt.close(number)
    warned += [f"line {cell.line}: {one.message}" for one in w]
    return out.getvalue()


def shown(expression: str, names: dict[str, Any]) -> str | None:
    """Return a value as the text shows it, None if it cannot be computed."""
    try:
        value = eval(expression, names)
    except Exception:
        return None
    return f"{value:,}" if isinstance(value, int) else str(value)


def words(text: str) -> list[str]:
    """Return the words of an output; those of a table are alike in Markdown and on a page."""
    plain = re.sub(r"^\|[\s:|-]+\|$", " ", text, flags=re.M).replace("\\", "")
    return re.sub(r"[|*`]", " ", plain).split()
