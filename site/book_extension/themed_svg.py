"""Conversion of matplotlib's SVG to an element of a page.

It runs at build time and in the page's Python.
"""

import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree

from roofkit.drawings import SVG, XLINK, texts, translate_text

COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
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
    Texts are translated as the messages that `roofkit.drawings.messages` returns.
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
