"""What a reader sees of a page's paragraphs and other blocks after an edit.

The page's own machinery decides it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from book_extension.prose import Block

from .edits import Edit
from .page import EditedPage, Prose, Shown

PREMISE_FAILS = "As printed. It need not hold with your changes."


@dataclass(frozen=True)
class Displayed:
    """A paragraph or other block of prose as the page displays it.

    texts: of its values, in order. changed: which of them differ from the printed ones. stale: it
    is marked since a cell above it failed.
    """

    texts: tuple[str, ...]
    changed: tuple[bool, ...]
    note: str = ""
    stale: bool = False


@dataclass(frozen=True)
class Outcome:
    """The page after an edit: all blocks in order, and the failed cell's error.

    error: "" if no cell failed.
    """

    error: str
    blocks: tuple[Displayed, ...]

    @property
    def following(self) -> int:
        """The number of blocks that show a new value."""
        return sum(any(block.changed) for block in self.blocks)

    @property
    def as_printed(self) -> int:
        """The number of blocks that keep their built values and have a note saying so."""
        return sum(bool(block.note) for block in self.blocks)


def outcomes(page: EditedPage, edits: Iterable[Edit]) -> list[Outcome]:
    """Make each edit, and return what the page shows after it."""
    return [outcome(page, edit) for edit in edits]


def outcome(page: EditedPage, edit: Edit) -> Outcome:
    decided = {id(shown.block): displayed(page, shown) for shown in page.after(edit)}
    found = []
    for number, step in enumerate(page.steps):
        for block in step.blocks if isinstance(step, Prose) else ():
            is_below = number > edit.step
            found.append(decided.get(id(block)) or unchanged(page, block, stale=is_below))
    return Outcome(page.failed.rpartition("\n")[2], tuple(found))


def displayed(page: EditedPage, shown: Shown) -> Displayed:
    """Return how a page displays a block, depending on whether it follows the edit."""
    printed, now = page.printed[id(shown.block)].values, shown.state["now"]
    if shown.state["follows"]:
        texts = tuple(shown.displayed)
        return Displayed(texts, tuple(e in now for e in shown.block.expressions))
    changes = [f"{printed[e]} → {'can’t be computed' if n is None else n}" for e, n in now.items()]
    said = "; ".join(dict.fromkeys(changes))
    note = f"As printed. With your changes: {said}." if said else PREMISE_FAILS
    plain = unchanged(page, shown.block)
    return Displayed(plain.texts, plain.changed, note)


def unchanged(page: EditedPage, block: Block, *, stale: bool = False) -> Displayed:
    """Return how a page displays a block that keeps its built values."""
    printed = page.printed[id(block)].values
    texts = tuple(printed[expression] for expression in block.expressions)
    return Displayed(texts, (False,) * len(texts), "", stale)
