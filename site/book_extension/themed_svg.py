"""Conversion of matplotlib's SVG to an element of a page.

It runs at build time and in the page's Python.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree

from roofkit.lines import LINES, filled, template

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)
COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
MOVE = re.compile(r"translate\(([\d.]+) ([\d.]+)\)")
FONT_SIZE = re.compile(r"font(?:-size)?: ([\d.]+)px")
# What a page doesn't need: it has fonts of its own, and shows no thousandths of a pixel.
FONTS = re.compile(r"font-family: [^;]*;? ?")
NO_TURN = re.compile(r" ?rotate\(-?0 [^)]*\)")
FINE = re.compile(r"\d+\.\d{3,}")
PLACES = ("d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "points", "transform")
LETTER = 0.58  # mean width of a letter in matplotlib's font, as a share of its size


def themed_svg(
    source: str,
    label: str,
    prefix: str,
    palette: Mapping[str, str],
    translate: Callable[[str], str] | None = None,
) -> str:
    """Return an SVG file's content as an element of a page.

    Every color of the palette (name → light) becomes ``var(--name)``, which CSS overrides on dark
    pages. Ids get ``prefix``, since two figures may use the same ones; unused ids are removed.
    Texts are translated as the messages that `messages` returns.
    """
    names = {light: f"var(--{name})" for name, light in palette.items()}
    svg = ElementTree.fromstring(source)
    if translate:
        for lines in texts(svg):
            translate_text(lines, translate)
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"):
                parent.remove(child)
    used = references(svg)
    for element in svg.iter():
        paint_by_style(element)
        simplify(element)
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
        for key, value in element.attrib.items():
            if key in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
                value = f"#{prefix}-{value[1:]}"
            value = REFERENCE.sub(rf"url(#{prefix}-\1)", value)
            if key == "style":
                value = COLOR.sub(lambda color: names.get(color[0].lower(), color[0]), value)
            element.set(key, value)
    # This is the content of matplotlib's <style> element, which would apply to the whole page.
    svg.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    svg.set("class", "figure")
    svg.set("role", "img")
    svg.set("aria-label", label)
    return ElementTree.tostring(svg, encoding="unicode")


def translated_svg(source: str, translate: Callable[[str], str]) -> str:
    """Return an SVG file's content with its texts translated."""
    svg = ElementTree.fromstring(source)
    for lines in texts(svg):
        translate_text(lines, translate)
    return ElementTree.tostring(svg, encoding="unicode")


def messages(source: str) -> list[str]:
    """Return the messages of an SVG file: its texts, with {1}, {2} … for the numbers."""
    return [message(lines)[0] for lines in texts(ElementTree.fromstring(source))]


def message(lines: list[ElementTree.Element]) -> tuple[str, list[str]]:
    """Return a text's message for translation, and the numbers for its places."""
    return template(LINES.join(line.text or "" for line in lines))


def translate_text(lines: list[ElementTree.Element], translate: Callable[[str], str]) -> None:
    """Replace the lines of a text by those of its translation, which may be fewer."""
    english, numbers = message(lines)
    translated = filled(translate(english), numbers).split(LINES, len(lines) - 1)
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


def paint_by_style(element: ElementTree.Element) -> None:
    """Move colors from attributes into the style.

    Attributes can't use CSS variables. So the background of a hatch, whose color matplotlib sets by
    attribute, is dark on a dark page.
    """
    style = element.get("style", "")
    for key in ("fill", "stroke"):
        if COLOR.fullmatch(element.get(key, "")):
            style = f"{key}: {element.attrib.pop(key)}; {style}"
    if style:
        element.set("style", style)


def simplify(element: ElementTree.Element) -> None:
    """Drop fonts, turns by nothing, fractions that nobody sees and the indentation."""
    element.attrib |= {
        "style": FONTS.sub("", element.get("style", "")),
        "transform": NO_TURN.sub("", element.get("transform", "")),
    }
    for key, value in list(element.attrib.items()):
        if not value:
            del element.attrib[key]
        elif key in PLACES and "scale" not in value:
            element.set(key, FINE.sub(lambda number: f"{float(number[0]):.2f}", value))
    element.text = (element.text or "").strip() and element.text
    element.tail = (element.tail or "").strip() and element.tail


def references(svg: ElementTree.Element) -> set[str]:
    """Return the ids that the picture refers to."""
    used = set()
    for element in svg.iter():
        for key, value in element.attrib.items():
            if key in ("href", f"{{{XLINK}}}href"):
                used.add(value.removeprefix("#"))
            used.update(REFERENCE.findall(value))
    return used
