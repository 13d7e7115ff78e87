"""Convert matplotlib's SVG to an element of a page, at build time and in the page's Python."""

import re
from xml.etree import ElementTree

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)
COLOR = re.compile(r"#([0-9a-fA-F]{6})\b")
PAINTED = re.compile(r"#[0-9a-fA-F]{6}")
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def themed_svg(source: str, label: str, prefix: str) -> str:
    """Return an SVG file's content as an element of a page.

    Every color becomes ``var(--c-rrggbb, #rrggbb)``, which CSS overrides on dark pages. Ids get
    ``prefix``, since two figures may use the same ones; unused ids are removed.
    """
    svg = ElementTree.fromstring(source)
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"):
                parent.remove(child)
    used = references(svg)
    for element in svg.iter():
        paint_by_style(element)
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
        for key, value in element.attrib.items():
            if key in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
                value = f"#{prefix}-{value[1:]}"
            value = REFERENCE.sub(rf"url(#{prefix}-\1)", value)
            if key == "style":
                value = COLOR.sub(lambda m: f"var(--c-{m[1].lower()}, #{m[1]})", value)
            element.set(key, value)
    # From matplotlib's own <style> element, which would apply to the whole page.
    svg.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    svg.set("class", "figure")
    svg.set("role", "img")
    svg.set("aria-label", label)
    return ElementTree.tostring(svg, encoding="unicode")


def paint_by_style(element: ElementTree.Element) -> None:
    """Move colors from attributes into the style, since attributes can't use CSS variables.

    So the background of a hatch, whose color matplotlib sets by attribute, is dark on a dark page.
    """
    style = element.get("style", "")
    for key in ("fill", "stroke"):
        if PAINTED.fullmatch(element.get(key, "")):
            style = f"{key}: {element.attrib.pop(key)}; {style}"
    if style:
        element.set("style", style)


def references(svg: ElementTree.Element) -> set[str]:
    """Return the ids that the picture refers to."""
    used = set()
    for element in svg.iter():
        for key, value in element.attrib.items():
            if key in ("href", f"{{{XLINK}}}href"):
                used.add(value.removeprefix("#"))
            used.update(REFERENCE.findall(value))
    return used
