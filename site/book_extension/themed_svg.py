"""Conversion of matplotlib's SVG to an element of a page.

It runs at build time and in the page's Python.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree

from roofkit.lines import LINES, in_words, template

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
SPACES = re.compile(r"([:;]) ")
PATH_SPACES = re.compile(r"\s+(?=[A-Za-z])|(?<=[A-Za-z])\s+|\s+$")
PLACES = (
    *("d", "x", "y", "x1", "x2", "y1", "y2"),
    *("width", "height", "points", "transform", "viewBox"),
)
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
    new = {name: f"{prefix}-{number}" for number, name in enumerate(references(svg))}
    for element in svg.iter():
        paint_by_style(element)
        simplify(element)
        if address := element.attrib.pop(f"{{{XLINK}}}href", ""):
            element.set("href", address)
        if name := new.get(element.attrib.pop("id", "")):
            element.set("id", name)
        for key, value in element.attrib.items():
            if key == "href" and value.startswith("#"):
                value = f"#{new[value[1:]]}"
            value = REFERENCE.sub(lambda found: f"url(#{new[found[1]]})", value)
            if key == "style":
                value = COLOR.sub(lambda color: names.get(color[0].lower(), color[0]), value)
            element.set(key, value)
    unwrap(svg)
    svg.set("style", "stroke-linejoin:round")  # as matplotlib's <style>, which is for a whole page
    svg.attrib.pop("version", None)
    svg.set("class", "figure")
    svg.set("role", "img")
    svg.set("aria-label", label)
    return ElementTree.tostring(svg, encoding="unicode").replace(" />", "/>")


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
    """Drop fonts, turns by nothing, fractions that nobody sees, and spaces."""
    element.attrib |= {
        "style": SPACES.sub(r"\1", FONTS.sub("", element.get("style", ""))),
        "transform": NO_TURN.sub("", element.get("transform", "")),
    }
    for key, value in list(element.attrib.items()):
        if not value:
            del element.attrib[key]
        elif key in PLACES and "scale" not in value:
            value = FINE.sub(
                lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value
            )
            element.set(key, PATH_SPACES.sub("", value) if key == "d" else value)
    element.text = (element.text or "").strip() and element.text
    element.tail = (element.tail or "").strip() and element.tail


def unwrap(parent: ElementTree.Element) -> None:
    """Remove groups that say nothing of what is in them, and areas that nobody sees."""
    kept: list[ElementTree.Element] = []
    for child in list(parent):
        unwrap(child)
        if child.tag == f"{{{SVG}}}g" and not child.attrib:
            kept += child
        elif child.get("style") != "fill:none" and (child.tag != f"{{{SVG}}}defs" or len(child)):
            kept.append(child)
    parent[:] = kept


def references(svg: ElementTree.Element) -> list[str]:
    """Return the ids that the picture refers to."""
    used: dict[str, None] = {}
    for element in svg.iter():
        for key, value in element.attrib.items():
            if key in ("href", f"{{{XLINK}}}href"):
                used[value.removeprefix("#")] = None
            used |= dict.fromkeys(REFERENCE.findall(value))
    return list(used)
