"""Conversion of a cell's Markdown to HTML like that of the built pages."""

import re
from html import escape

RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
COLUMN = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"\[([^\]]*)\]\((https://[^\s()]+)\)")
# A link in angle brackets, which `escape` has already turned into &lt; and &gt;.
BARE_LINK = re.compile(r"&lt;(https://[^\s&]+)&gt;")
MARKS = (
    (re.compile(r"(?<=\w)'"), "’"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)"), r"<em>\1</em>"),
    (BARE_LINK, r'<a class="reference external" href="\1">\1</a>'),
    (LINK, r'<a class="reference external" href="\2">\1</a>'),
)
CODE = re.compile(r"`([^`]+)`")


def as_html(markdown: str) -> str:
    """Convert blocks, separated by empty lines: each is a table or a paragraph."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", markdown.strip())]
    return "".join(table(b) if is_table(b) else f"<p>{inline(' '.join(b))}</p>" for b in blocks)


def is_table(lines: list[str]) -> bool:
    return len(lines) > 1 and "|" in lines[0] and RULE.fullmatch(lines[1].strip()) is not None


def table(lines: list[str]) -> str:
    """Convert a table to the markup of a page's tables."""
    sides = [side(rule) for rule in cells(lines[1])]
    rows = [[inline(cell) for cell in cells(line)] for line in (lines[0], *lines[2:])]
    # A row may have fewer or more cells than the heading: pad or truncate it.
    rows = [(row + [""] * len(sides))[: len(sides)] for row in rows]
    body = "".join(row_html(number, row, sides) for number, row in enumerate(rows[1:]))
    head = "".join(
        f"<th{classes('head', side)}><p>{cell}</p></th>"
        for cell, side in zip(rows[0], sides, strict=True)
    )
    return (
        f'<div class="scrolls"><table>'
        f'<thead><tr class="row-odd">{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def row_html(number: int, row: list[str], sides: list[str]) -> str:
    """Convert a row."""
    shown = [
        f"<td{classes(side)}><p>{cell}</p></td>" for side, cell in zip(sides, row, strict=True)
    ]
    return f'<tr class="row-{("even", "odd")[number % 2]}">{"".join(shown)}</tr>'


def classes(*names: str) -> str:
    found = " ".join(filter(None, names))
    return f' class="{found}"' if found else ""


def cells(line: str) -> list[str]:
    text = line.strip().removeprefix("|")
    if not text.endswith("\\|"):
        text = text.removesuffix("|")
    return [cell.replace("\\|", "|").strip() for cell in COLUMN.split(text)]


def side(rule: str) -> str:
    """Return the CSS class of a column's alignment, given its delimiter cell."""
    left, right = rule.startswith(":"), rule.endswith(":")
    return {(1, 1): "text-center", (0, 1): "text-right", (1, 0): "text-left"}.get((left, right), "")


def inline(text: str) -> str:
    """Convert code, bold, italics and links; escape all other text."""
    parts = []
    for number, part in enumerate(CODE.split(text)):
        if number % 2:
            parts.append(f'<code class="docutils literal notranslate">{escape(part, False)}</code>')
            continue
        part = escape(part, False)
        for mark, html in MARKS:
            part = mark.sub(html, part)
        parts.append(part)
    return "".join(parts)
