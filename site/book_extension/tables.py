"""Tables that are too wide for a phone.

Short ones become lists there; long ones scroll sideways.
"""

from docutils import nodes
from sphinx.application import Sphinx

from .table_widths import column_class, shown_as


def label_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Mark wide tables with their display on a phone and their columns' widths.

    For wide tables, whose rows CSS shows as lists there, each cell repeats its heading.
    """
    for table in doctree.findall(nodes.table):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        headed = next(iter(table.findall(nodes.thead)), None) is not None
        texts = [[entry.astext() for entry in row] for row in rows]
        kind = shown_as(texts) if headed else ""
        if not kind:
            continue
        set_widths(rows)
        table["classes"].append(kind)
        if kind == "long":
            continue
        headings = [entry.astext() for entry in rows[0]]
        for row in rows[1:]:
            for heading, entry in zip(headings, row, strict=True):
                label = nodes.inline("", heading, classes=["heading-of-cell"])
                if entry.children and isinstance(entry[0], nodes.paragraph):
                    entry[0].insert(0, label)


def set_widths(rows: list[list[nodes.entry]]) -> None:
    """Set each column's CSS class by the length of its texts."""
    for column in zip(*rows, strict=True):
        for entry in column[1:]:
            entry["classes"].append(column_class([entry.astext() for entry in column]))
