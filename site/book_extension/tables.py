"""Tables too wide for a phone: short ones become lists there, long ones scroll sideways."""

from docutils import nodes
from sphinx.application import Sphinx

# What fits beside each other on a phone, judged by the longest cell of each column.
COLUMNS, CHARACTERS = 4, 60
# A list of each row's cells is easy to read, and takes a line for each: with more rows than this a
# reader would scroll past screens of them.
LISTED_ROWS = 4
# A figure or a name stays in one line; what is longer gets room for some words, or for a sentence.
ONE_LINE, SOME_WORDS = 20, 45


def label_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Say of a wide table how its rows are shown on a phone, and how wide its columns are.

    Where css shows rows as lists, each cell repeats its heading.
    """
    for table in doctree.findall(nodes.table):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        if next(iter(table.findall(nodes.thead)), None) is None or not is_wide(rows):
            continue
        set_widths(rows)
        if len(rows) - 1 > LISTED_ROWS:
            table["classes"].append("long")
            continue
        table["classes"].append("wide")
        headings = [entry.astext() for entry in rows[0]]
        for row in rows[1:]:
            for heading, entry in zip(headings, row, strict=True):
                label = nodes.inline("", heading, classes=["heading-of-cell"])
                if entry.children and isinstance(entry[0], nodes.paragraph):
                    entry[0].insert(0, label)


def is_wide(rows: list[list[nodes.entry]]) -> bool:
    longest = [longest_of(column) for column in zip(*rows, strict=True)]
    return len(longest) > COLUMNS or (len(longest) > 3 and sum(longest) > CHARACTERS)


def set_widths(rows: list[list[nodes.entry]]) -> None:
    """Name each column after what is in it, for css."""
    for column in zip(*rows, strict=True):
        longest = longest_of(column)
        words = "words-cell" if longest <= SOME_WORDS else "sentence-cell"
        for entry in column[1:]:
            entry["classes"].append("figure-cell" if longest <= ONE_LINE else words)


def longest_of(column: tuple[nodes.entry, ...]) -> int:
    """Characters in the longest cell below the heading."""
    return max(len(entry.astext()) for entry in column[1:] or column)
