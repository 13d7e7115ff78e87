"""The texts of matplotlib's SVG in the reader's language.

They are translated at build time, in the page's Python and in kernels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from roofkit.lines import LINES, in_words, template

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)
MOVE = re.compile(r"translate\(([\d.]+) ([\d.]+)\)")
FONT_SIZE = re.compile(r"font(?:-size)?: ([\d.]+)px")
LETTER = 0.58  # mean width of a letter in matplotlib's font, as a share of its size


def translated_svg(source: str, translate: Callable[[str], str]) -> str:
    """Return an SVG file's content with its texts translated."""
    svg = ElementTree.fromstring(source)
    for lines in texts(svg):
        translate_text(lines, translate)
    return ElementTree.tostring(svg, encoding="unicode")


def messages(source: str) -> list[str]:
    """Return the messages of an SVG file: its texts, with {1}, {2} … for numbers and names."""
    return [template(joined(lines))[0] for lines in texts(ElementTree.fromstring(source))]


def joined(lines: list[ElementTree.Element]) -> str:
    return LINES.join(line.text or "" for line in lines)


def translate_text(lines: list[ElementTree.Element], translate: Callable[[str], str]) -> None:
    """Replace the lines of a text by those of its translation, which may be fewer."""
    translated = in_words(joined(lines), translate).split(LINES, len(lines) - 1)
    center(lines)
    for line, text in zip(lines, [*translated, *[""] * len(lines)], strict=False):
        line.text = text


def center(lines: list[ElementTree.Element]) -> None:
    """Anchor centered lines at their middle.

    For several lines, matplotlib writes where each begins.
    """
    moves = [MOVE.match(line.get("transform", "")) for line in lines]
    starts = [float(move[1]) for move in moves if move]
    if len(starts) < len(lines) or len(set(starts)) < 2:
        return
    start, longest = min(zip(starts, lines, strict=True), key=lambda pair: pair[0])
    size = FONT_SIZE.search(longest.get("style", ""))
    half = len(longest.text or "") * LETTER * float(size[1] if size else 10) / 2
    for line, move in zip(lines, moves, strict=True):
        if move:
            line.set("transform", f"translate({start + half:.2f} {move[2]})")
            line.set("style", f"text-anchor: middle; {line.get('style', '')}")


def texts(svg: ElementTree.Element) -> Iterator[list[ElementTree.Element]]:
    """Yield the line elements of each text, which matplotlib groups; skip formulas."""
    for group in svg.iter(f"{{{SVG}}}g"):
        lines = group.findall(f"{{{SVG}}}text")
        if lines and not any(len(line) for line in lines):
            yield lines
