"""Hatched bars drawn as lines.

Chromium prints an SVG pattern as a bitmap of 72 dpi. So the pattern's content is repeated behind
the shape and clipped at the shape's edge.
"""

import re

from bs4 import BeautifulSoup, Tag

FILL = re.compile(r"fill:\s*url\(#([^)]+)\)")
CORNER = re.compile(r"(-?[\d.]+)[ ,]+(-?[\d.]+)")
# An outline of straight lines only, whose corners give the extent of the shape.
STRAIGHT = re.compile(r"[MLz\d., -]+")


def expand(picture: Tag) -> None:
    """Replace the patterns of one SVG by repeated tiles behind the shapes."""
    patterns = {str(pattern["id"]): pattern for pattern in picture.select("pattern[id]")}
    tiles = {name: (_size(p, "width"), _size(p, "height")) for name, p in patterns.items()}
    for number, shape in enumerate(picture.select("path[style]"), 1):
        found = FILL.search(str(shape["style"]))
        if found is None or found[1] not in patterns:
            continue
        if not STRAIGHT.fullmatch(str(shape["d"])):
            raise ValueError(f"a hatched shape has a bend: {shape['d']}")
        name = found[1]
        shape["style"] = FILL.sub("fill: none", str(shape["style"]))
        edge = _tag("clippath", id=f"{name}-{number}")
        edge.append(_tag("path", d=str(shape["d"])))
        ground = _tag("g", **{"clip-path": f"url(#{name}-{number})"})
        for x, y in _places(str(shape["d"]), *tiles[name]):
            ground.append(_tag("use", href=f"#{name}", transform=f"translate({x:g} {y:g})"))
        # The tiles get the same clip path as the shape.
        outer = _tag("g", **{k: str(v) for k, v in shape.attrs.items() if k == "clip-path"})
        shape.insert_before(outer)
        outer.extend([edge, ground])
    for name, pattern in patterns.items():
        pattern.name = "g"
        pattern.attrs = {"id": name}


def _size(pattern: Tag, side: str) -> float:
    return float(str(pattern[side]))


def _places(outline: str, width: float, height: float) -> list[tuple[float, float]]:
    """Return the positions of tiles that cover an outline.

    They are aligned to the picture's corner.
    """
    corners = [(float(x), float(y)) for x, y in CORNER.findall(outline)]
    xs, ys = zip(*corners, strict=True)
    columns = range(int(min(xs) // width), int(max(xs) // width) + 1)
    rows = range(int(min(ys) // height), int(max(ys) // height) + 1)
    return [(column * width, row * height) for row in rows for column in columns]


def _tag(name: str, **attributes: str) -> Tag:
    return BeautifulSoup("", "html.parser").new_tag(name, attrs=attributes)
