"""Tables too wide for a phone: there each row becomes a list of its cells, with their headings."""

from docutils import nodes
from sphinx.application import Sphinx

# What fits beside each other on a phone, judged by the longest cell of each column.
COLUMNS, CHARACTERS = 4, 60


def label_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Repeat a wide table's headings in its cells; css shows them where the rows are lists."""
    for table in doctree.findall(nodes.table):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        if next(iter(table.findall(nodes.thead)), None) is None or not is_wide(rows):
            continue
        table["classes"].append("wide")
        headings = [entry.astext() for entry in rows[0]]
        for row in rows[1:]:
            for heading, entry in zip(headings, row, strict=True):
                label = nodes.inline("", heading, classes=["heading-of-cell"])
                if entry.children and isinstance(entry[0], nodes.paragraph):
                    entry[0].insert(0, label)


def is_wide(rows: list[list[nodes.entry]]) -> bool:
    columns = list(zip(*rows, strict=True))
    longest = [max(len(entry.astext()) for entry in column[1:] or column) for column in columns]
    return len(columns) > COLUMNS or (len(columns) > 3 and sum(longest) > CHARACTERS)
