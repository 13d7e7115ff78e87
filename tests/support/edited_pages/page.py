"""A page that is edited and recomputed without a browser.

The code that runs Python in the site's pages recomputes it.
"""

import ast
import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from book_extension.prose import EVAL, WHILE, Block, blocks, one_line
from book_extension.values import caption
from browser.python.cell_dependencies import names
from browser.python.page_runner import Page
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from repository import ROOT

from roofkit.following import State, state

from .edits import Edit, edits

HIDDEN = {"remove-cell", "remove-input"}
LIVE = re.compile(r"^from roofkit import figures$", re.MULTILINE)
CELL_SECONDS = 10


@dataclass(frozen=True)
class Code:
    """A code cell of a page; `ours` means that the page hides its code."""

    source: str
    ours: bool
    draws: bool


@dataclass(frozen=True)
class Prose:
    """Blocks of prose between cells; an edit may leave some of them outdated."""

    blocks: tuple[Block, ...]


@dataclass
class Shown:
    """A block after an edit: whether its text still holds, and the variables there."""

    block: Block
    state: State
    values: dict[str, str]
    reads: dict[str, str]  # name → repr, for variables read by a block with a {while} role
    names: dict[str, Any] = field(repr=False)

    @property
    def text(self) -> str:
        """Text of the block, with the values that the reader sees."""
        return shown_text(self.block, self.values)

    @property
    def displayed(self) -> list[str]:
        """Texts of the block's values, in order."""
        return [self.values[expression] for expression in self.block.expressions]


class QuietPage(Page):
    """A page that closes figures without drawing them."""

    def show_figures(self, alt: str, step: int) -> None:
        from matplotlib import pyplot

        pyplot.close("all")


class EditedPage:
    """A page that runs once unedited, then again from the edited cell for each edit."""

    def __init__(self, name: str, source: str = "") -> None:
        self.name = name
        source = source or (ROOT / f"{name}.md").read_text(encoding="utf-8")
        self.steps = without_drawings(list(read_steps(source)))
        self.page = QuietPage()
        self.unedited = 0  # up to this step, variables are those of the unedited page
        self.printed = {id(s.block): s for s in self.run(0, {})}

    def run(self, start: int, changed: dict[int, str]) -> Iterator[Shown]:
        """Run from a step on, and yield each block; end at a cell that fails."""
        self.failed = ""
        begin, self.unedited = min(start, self.unedited), start
        if begin < len(self.page.before):
            self.page.rewind_to(begin)
        for number, step in enumerate(self.steps[begin:], begin):
            if isinstance(step, Prose):
                self.page.next_step()
                for block in step.blocks if number >= start else ():
                    yield self.decide(block)
                continue
            source = changed.get(number, step.source)
            with at_most(CELL_SECONDS):
                answer = json.loads(self.page.run(source, "", step.ours))
            if answer["failed"]:
                self.failed = answer["outputs"][-1]["text"]
                return

    def decide(self, block: Block) -> Shown:
        names = self.page.names
        first = self.printed.get(id(block)) if hasattr(self, "printed") else None
        values = first.values if first else evaluated(block, names)
        data: dict[str, Any] = {"values": values}
        if block.premise:
            data["premise"] = block.premise
        found = state(data, names)
        now = {e: str(text) for e, text in found["now"].items()} if found["follows"] else {}
        return Shown(block, found, values | now, read_by(block, names), names)

    def after(self, edit: Edit) -> Iterator[Shown]:
        """Yield the blocks below an edited cell, each with the page's variables there."""
        step = self.steps[edit.step]
        assert isinstance(step, Code)
        return self.run(edit.step, {edit.step: edit.apply(step.source)})

    @cached_property
    def edits(self) -> list[Edit]:
        """All edits of the cells whose code the reader sees."""
        cells = [(n, s) for n, s in enumerate(self.steps) if isinstance(s, Code) and not s.ours]
        return [edit for number, step in cells for edit in edits(number, step.source)]


def evaluated(block: Block, names: dict[str, Any]) -> dict[str, str]:
    """Return a block's values as the build computes them."""
    found = state({"values": dict.fromkeys(block.expressions, "")}, names)["now"]
    return {e: found.get(e) or "" for e in block.expressions}


def read_by(block: Block, names: dict[str, Any]) -> dict[str, str]:
    """Return name → repr for variables read by a block with a {while} role; else {}."""
    if not block.premise:
        return {}
    expressions = (block.premise, *block.expressions)
    read = set().union(*(names_of(expression) for expression in expressions))
    return {name: repr(names[name]) for name in sorted(read) if name in names}


def read_steps(source: str) -> Iterator[Code | Prose]:
    """Yield a page's cells and prose, without cells that show figures with controls."""
    config = MdParserConfig(enable_extensions={"colon_fence", "dollarmath", "amsmath", "deflist"})
    for cell in read_myst_markdown_notebook(source, config=config).cells:
        if cell.cell_type == "markdown":
            text = cell.source
        else:
            tags = set(cell.metadata.get("tags", ()))
            if not LIVE.search(cell.source):
                draws = "image" in (cell.metadata.get("mystnb") or {})
                yield Code(cell.source, bool(HIDDEN & tags), draws)
            text = caption(cell)
        # Omit answers to guesses: they never follow an edit.
        if found := tuple(block for block in blocks(text) if block.directive != "answer"):
            yield Prose(found)


def without_drawings(steps: list[Code | Prose]) -> list[Code | Prose]:
    """Leave out hidden cells that draw figures, unless a later step needs them.

    A step needs a cell if it reads what the cell computes.
    """
    kept: list[Code | Prose] = []
    live: set[str] = set()  # names that the steps below read before they assign them
    for step in reversed(steps):
        if isinstance(step, Prose):
            expressions = [e for b in step.blocks for e in (b.premise, *b.expressions) if e]
            live |= set().union(*map(names_of, expressions))
        else:
            read, bound = names(step.source)
            if step.ours and step.draws and not bound & live:
                continue
            live = live - assigned(step.source) | read
        kept.append(step)
    return kept[::-1]


def assigned(source: str) -> set[str]:
    """Return the names that a cell assigns unconditionally and doesn't read."""
    targets = [
        target
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    stored = {
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    }
    return stored - names(source)[0]


def shown_text(block: Block, values: dict[str, str]) -> str:
    """Return a block's words with these values."""
    text = EVAL.sub(lambda role: values[one_line(role["expression"])], WHILE.sub("", block.text))
    return " ".join(text.split())


def typed_text(block: Block) -> str:
    """Return a block's words in the source, with … for each value."""
    return " ".join(EVAL.sub("…", WHILE.sub("", block.text)).split())


def names_of(expression: str) -> set[str]:
    """Return the names that an expression reads."""
    tree = ast.parse(expression, mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the with block if it runs longer than this."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
