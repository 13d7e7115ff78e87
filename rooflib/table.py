"""A small table that renders in notebooks, in the book and in terminals."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rooflib.quantities import breakable, shown

translate: Callable[[str], str] = str
"""Returns a heading or cell in the language of a notebook or page; a program may set it."""


class Table:
    """A table: columns of equal length, by heading. Cells are texts, numbers or quantities.

    A column is a sequence of cells, or a pair of numbers and their unit. `rows` has the cells as
    text.

    >>> print(Table({"chip": ["A", "B"], "ridge": [1, 20.25], "time": ([2e-6, 3e-3], "s")}))
    chip  ridge  time
    A         1  2 µs
    B      20.2  3 ms
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = columns
        self.rows = list(zip(*map(_texts, columns.values()), strict=True))

    @property
    def _right(self) -> list[bool]:
        # The first column names the rows. Numbers are right-aligned, text is left-aligned.
        _, *others = zip(*self.rows, strict=True) if self.rows else self.columns
        return [False, *(all(c[:1] in "0123456789+-−–∞" for c in cells) for cells in others)]

    def _repr_markdown_(self) -> str:
        heading, *rows = (map(translate, row) for row in (self.columns, *self.rows))
        rule = ("--:" if right else ":--" for right in self._right)
        lines = ([cell.replace("|", r"\|") for cell in row] for row in (heading, rule, *rows))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def __str__(self) -> str:
        heading, *rows = (map(translate, row) for row in (self.columns, *self.rows))
        padded = []
        for cells, right in zip(zip(heading, *rows, strict=True), self._right, strict=True):
            width, side = max(map(columns_of, cells)), ">" if right else "<"
            padded.append(
                [f"{each:{side}{width - columns_of(each) + len(each)}}" for each in cells]
            )
        lines = ("  ".join(row).rstrip() for row in zip(*padded, strict=True))
        return breakable("\n".join(lines))

    __repr__ = __str__


def _texts(cells: Sequence[Any]) -> list[str]:
    paired = isinstance(cells, tuple) and len(cells) == 2 and not isinstance(cells[0], str)
    values, unit = cells if paired and isinstance(cells[1], str) else (cells, None)
    return [shown(value, unit) for value in values]


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def from_rows(headings: Iterable[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table with these headings and rows; `rows` must not be empty."""
    return Table(dict(zip(headings, zip(*rows, strict=True), strict=True)))


def markdown(self: Any) -> str:
    """Return the `table` of something as a notebook shows it."""
    shown: str = self.table._repr_markdown_()
    return shown
