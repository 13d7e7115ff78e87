"""Where the marks of a figure's drawing lie, on its own axes, and how long they are."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from figure_claims import TIMES
from figure_oracles import number

# Figure → its marks: color, number on the x axis, number on the y axis if it has one.
POINTS = {
    "attention": "rust rate lower",
    "browser_roof": "blue ridge peak, ink ridge peak, muted before peak_before",
    "chips": "blue D t_math, rust D t_comms, green D t_link, muted D -",
    "intensity": "blue n dot, rust n add, green n matmul, ink - ridge, muted n -",
    "matmul": "rust intensity attained, blue ridge peak, ink ridge peak, muted ridge -",
    "matmul_blocks": "blue x_intensity -, blue w_intensity -, blue out_intensity -, "
    "ink intensity -, ink ridge -",
    "one_roof": "rust intensity reached, blue ridge peak, ink ridge peak, muted intensity -, "
    "rust-zone ridge -, green-zone ridge -",
    "roofline": "blue intensity reached, rust intensity second_reached, ink ridge peak, "
    "blue ridge peak, rust second_ridge peak, rust-zone ridges_0 -, ochre-zone ridges_0 -, "
    "ochre-zone ridges_1 -, green-zone ridges_1 -",
    "time": "blue t_math -, rust t_comms -, ink lower -, ink upper -",
    "timeline": "ink lower -, ink upper -, ink takes -",
    "units": "rust-zone vector_ridge -, rust-zone matrix_ridge -, green-zone vector_ridge -, "
    "green-zone matrix_ridge -, rust vector_ridge -, blue matrix_ridge -",
}
# Figure → the colors of the names of curves, or of the squares beside words.
NAMES = {
    "chips": {"compute": "blue", "HBM": "rust", "link": "green"},
    "intensity": {"dot product": "blue", "addition": "rust", "matmul": "green"},
    "roofline": {"HBM": "blue", "second": "rust"},
    "timeline": {"load": "blue", "store": "rust", "arithmetic": "green"},
    "units": {"left of the ridge: waits for bytes": "rust-zone",
              "right of it: can be kept busy": "green-zone"},
}  # fmt: skip
# Figure → colors of bars that are as long, or of areas as large, as numbers, on one scale: all of a
# color, those of a height (@), or the last one ($).
LENGTHS = {
    "chip": "blue bandwidth_and_key, blue$ 1e12, rust total_0",
    "model": "blue blue_spent, rust rust_spent, green green_spent",
    "ring": "blue@18 done, none@18 slots",
    "shards": "rust sent, none out",
    "tiles": "blue loaded, blue-zone most",
    "time": "blue t_math, rust t_comms",
    "timeline": "blue loads, rust stores, green t_math",
}
AREAS = {
    "chip": "ochre-zone memory_and_key, ochre-zone$ 1e9, ink on_chip; "
    "green-zone compute_and_key, green-zone$ 1e14",
    "units": "blue-zone squares, unit filled",
}
# The element that is followed in a matmul → the arrays in which a line is drawn, and whether it is
# a row; the dashed one is where the element adds.
FOLLOWED = {
    "x": [("w", True, False), ("out", True, True)],
    "w": [("x", False, False), ("out", False, True)],
    "out": [("x", True, False), ("w", False, False)],
}
CELLS = {"ring": r"\d+/\d+", "tiles": r"\d+"}  # texts in a grid, without its empty cells
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
KEY = 12  # the side of a square that explains a color


class Mark(NamedTuple):
    color: str
    x: float
    y: float
    wide: float = 0
    high: float = 0


class Drawing:
    """Ends of lines, centers of dots and upper corners of areas; and each of them by kind."""

    def __init__(self, picture: str) -> None:
        self.ends: list[Mark] = []
        self.lines: list[tuple[Mark, Mark, bool]] = []  # both ends, and whether it is dashed
        self.dots: list[Mark] = []
        self.bars: list[Mark] = []
        self.keys: list[Mark] = []  # squares that explain a color
        self.curves: list[list[Mark]] = []
        self.texts: list[tuple[str, dict[str, str]]] = []
        root = ET.fromstring(f"<svg>{picture.replace('&nbsp;', ' ')}</svg>")
        for group in root.iter("g"):
            for one in group:
                one.attrib |= group.attrib
        for one in root.iter():
            at = {name: float(text) for name, text in one.attrib.items() if NUMBER.fullmatch(text)}
            fill, stroke = (
                one.get(name, "").removeprefix("var(--").removesuffix(")")
                for name in ("fill", "stroke")
            )
            if one.tag == "line":
                first, last = (Mark(stroke, at[f"x{end}"], at[f"y{end}"]) for end in "12")
                self.ends += [first, last]
                self.lines.append((first, last, one.get("stroke-dasharray", "none") != "none"))
            elif one.tag == "circle":
                self.dots.append(Mark(fill, at["cx"], at["cy"]))
            elif one.tag == "rect":
                one_bar = Mark(fill, at["x"], at["y"], at["width"], at["height"])
                is_key = {one_bar.wide, one_bar.high} == {KEY}
                (self.keys if is_key else self.bars).append(one_bar)
            elif one.tag == "path" and fill == "none":
                places = [place.split() for place in re.split("[ML]", one.get("d", ""))[1:]]
                self.curves.append([Mark(stroke, float(x), float(y)) for x, y in places])
            elif one.tag == "polygon":
                tip = one.get("points", "").split()[1].split(",")
                self.ends.append(Mark(fill, float(tip[0]), float(tip[1])))
            elif one.tag == "text":
                places = one.get("x", "").split()  # one for each sign, or one for all
                for x, words in zip(
                    places, one.text or "" if places[1:] else [one.text or ""], strict=True
                ):
                    self.texts.append((words, {**one.attrib, "x": x}))
        right = [bar._replace(x=bar.x + bar.wide) for bar in self.bars]
        self.points = [*self.ends, *self.dots, *self.bars, *right]


class Axis(NamedTuple):
    """A log scale, or another one from 0 on: two numbers on it, and their places.

    seconds: whether this is the unit of all its numbers.
    """

    low: float
    high: float
    first: float
    last: float
    seconds: bool

    def at(self, value: float) -> float:
        log = math.log(value / self.low) / math.log(self.high / self.low) if self.low else 0
        share = log if self.low else value / self.high
        return self.first + share * (self.last - self.first)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def has(self, place: float, value: float) -> bool:
        """Whether a place is that of a number, or the nearest end if it is beyond."""
        beyond = sorted((self.at(value), self.first, self.last))[1]
        return min(abs(place - self.at(value)), abs(place - beyond)) < 1


def axis(texts: list[tuple[str, dict[str, str]]], along: str) -> Axis:
    """Return the axis whose numbers stand in a row, or in a column."""
    across, anchor = ("y", "middle") if along == "x" else ("x", "end")
    down = 4 if along == "y" else 0  # from a line to the baseline of its number
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for text, looks in texts:
        value = number(f"{text}FLOP" if along == "y" and not text.endswith("s") else text)
        if looks.get("text-anchor") == anchor and value >= 0 and len(text.split()) <= 2:
            rows.setdefault(looks[across], []).append((value, float(looks[along]) - down, text))
    long = [rows[place] for place in sorted(rows, key=float) if len(rows[place]) > 1]
    # That of x stands lowest.
    ticks = sorted(long[-1] if along == "x" and long else max(long, key=len, default=[(1, 0, "")]))
    seconds = all(re.search(r"\d\s?[mµnp]?s$", text) for *_, text in ticks)
    return Axis(ticks[0][0], ticks[-1][0], ticks[0][1], ticks[-1][1], seconds)


def between(dot: Mark, left: Mark, right: Mark) -> bool:
    """Whether a dot lies on the line between two places, or less than 2 pixels beside it."""
    if not left.x - 1 <= dot.x <= right.x + 1:
        return False
    share = (dot.x - left.x) / ((right.x - left.x) or 1)
    return abs(left.y + share * (right.y - left.y) - dot.y) < 2


def misplaced(figure: str, values: dict[str, Any], picture: str) -> Iterator[str]:
    """Yield marks that are missing where rooflib's numbers are, and bars of another length."""
    drawing = Drawing(picture)
    axes = {along: axis(drawing.texts, along) for along in "xy"}
    if "second_ridge" in values:
        ridges = sorted((values["ridge"], values["second_ridge"]))
        values = values | {"ridges_0": ridges[0], "ridges_1": ridges[1]}
    for row in filter(None, POINTS.get(figure, "").split(", ")):
        color, *names = row.split()
        wanted = [
            (along, axes[along], values[name])
            for along, name in zip("xy", names, strict=True)
            if name != "-"
        ]
        for along, name in zip("xy", names, strict=True):
            if name != "-" and axes[along].seconds != (name in TIMES):
                yield f"the numbers beside {name} have another unit"
        # Beyond the end of an axis, a line ends where that is, at any height.
        if wanted[0][0] == "x" and not axes["x"].holds(wanted[0][2]):
            wanted = wanted[:1]
        near = [
            point
            for point in drawing.points
            if point.color == color
            and all(scale.has(getattr(point, along), value) for along, scale, value in wanted)
        ]
        if not near:
            yield f"no {color} mark at {names}"
    lengths = [(row, 0) for row in LENGTHS.get(figure, "").split("; ") if row]
    areas = [(row, 1) for row in AREAS.get(figure, "").split("; ") if row]
    for scale, power in lengths + areas:
        found = []
        for row in scale.split(", "):
            color, name = row.split()
            if color == "unit":
                color = {"vector": "rust", "matrix": "blue"}[values["unit"]]
            color, _, high = color.partition("@")
            same = [bar for bar in drawing.bars if bar.color == color.removesuffix("$")]
            same = [bar for bar in same if not high or bar.high == float(high)]
            sizes = [bar.wide * bar.high**power for bar in same]
            long = sum(sizes[-1:] if color.endswith("$") else sizes)
            found.append((long, values[name] if name in values else float(name)))
        longest, most = max(found)
        if any(abs(long - longest * value / most) > 0.01 * longest for long, value in found):
            yield f"not on one scale: {scale}: {found}"
    for bar, (columns, rows) in zip(drawing.bars, values.get("shapes", []), strict=False):
        side = max(bar.wide, bar.high) / max(columns, rows)
        if abs(bar.wide - side * columns) + abs(bar.high - side * rows) > 0.5:
            yield f"{bar} should be as {columns} to {rows}"
    for one, other in pairwise(sorted(drawing.bars, key=lambda bar: (bar.y, bar.x))):
        if figure == "timeline" and one.y == other.y and one.x + one.wide > other.x + 0.1:
            yield f"{one} and {other} at the same time"
    dots = {name: axes["x"].at(value) for name, value in values.get("dots", {}).items()}
    for name, at in dots.items():
        own = [float(looks["x"]) for text, looks in drawing.texts if text.endswith(name)]
        if not any(abs(x - at) <= min(abs(x - one) for one in dots.values()) + 8 for x in own):
            yield f"{name} is written at {own}, nearer to another dot than to its own at {at}"
    if figure == "units":  # the operation lies in the row whose ridge has the color of its unit
        color, dot = {"vector": "rust", "matrix": "blue"}[values["unit"]], drawing.dots[-1]
        ridges = [(first, last) for first, last, _ in drawing.lines if first.color == color]
        if not any(first.y < dot.y < last.y and dot.color == color for first, last in ridges):
            yield f"{dot} is not in the row of the {values['unit']} unit"
        if not axes["x"].has(dot.x, values["intensity"]):
            yield f"{dot} is not at {values['intensity']}"
    for text, looks in drawing.texts:
        if color := NAMES.get(figure, {}).get(text):
            left, below = float(looks["x"]) - 7, float(looks["y"]) - 10
            has = [looks.get("fill")]
            has += [
                f"var(--{bar.color})"
                for bar in (*drawing.keys, *drawing.bars)
                if left < bar.x + bar.wide < left + 4 and abs(bar.y - below) < 2
            ]
            if f"var(--{color})" not in has:
                yield f"{text} is {has}, not {color}"
    if figure == "matmul_blocks":
        long = [last.x - first.x for first, last, _ in drawing.lines if first.color == "ink"]
        scale = next(number(text) for text, _ in drawing.texts if "elements, all" in text) * side
        if not any(abs(one - scale) < 1 for one in long):
            yield f"the scale is as long as none of {long}"
        arrays = dict(zip(("x", "w", "out"), drawing.bars, strict=False))
        found = {
            (name, first.y == last.y, dashed)
            for first, last, dashed in drawing.lines
            for name, bar in arrays.items()
            if first.color == "rust"
            and bar.x - 1 < first.x < bar.x + bar.wide + 1
            and bar.y - 1 < last.y < bar.y + bar.high + 1
        }
        if found != set(FOLLOWED[values["one"]]):
            yield f"lines in {found}, not in {FOLLOWED[values['one']]}"
    # A dot lies on the curve of its color, if there is one; else on any.
    for dot in drawing.dots if drawing.curves else []:
        of_color = [curve for curve in drawing.curves if curve[0].color == dot.color]
        curves = of_color or drawing.curves
        if not any(between(dot, *ends) for curve in curves for ends in pairwise(curve)):
            yield f"the {dot.color} dot is on no curve"
    if figure in CELLS:
        cells = [
            (float(looks["y"]), float(looks["x"]), text)
            for text, looks in drawing.texts
            if re.fullmatch(CELLS[figure], text) and looks.get("text-anchor") == "middle"
        ]
        if [text for *_, text in sorted(cells)] != values["cells"]:
            yield f"the cells are {[text for *_, text in sorted(cells)]}, not {values['cells']}"
