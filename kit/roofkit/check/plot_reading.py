"""Reading of a learner's figure: the values that its curves show.

There are two steps. `facts` runs in the learner's process: it calls the function and returns plain
data about the figure. `reading` interprets these untrusted facts, in grading in another process.
The question says what a figure must have: a legend that names each size as a number, the batch on
the horizontal axis, and FLOP/s on the vertical one. Everything else is a matter of style.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Facts = dict[str, Any]
Floats = NDArray[np.float64]
Color = tuple[float, ...]
Look = dict[str, Any]  # what tells one line or marker from another

MAX_CURVES, MAX_TICKS, MAX_LENGTH = 100, 30, 300
# Distances between RGB colors with channels from 0 to 1. Ivory on white has 0.07, yellow 1.
MIN_CONTRAST = 0.15  # smallest distance of a visible color from its background
MIN_DIFFERENCE = 0.1  # smallest distance of two colors that can be told apart
MIN_WIDTH = 0.2  # points; thinner lines are invisible on screens
MAX_WIDTH_RATIO = 1.5  # largest ratio of widths that look the same
MAX_OVERHANG = 0.005  # share of the axis by which a visible line may extend beyond its limits
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}

_FLOP = r"(?<![A-Za-z])(?P<prefix>[kKmMgGtTpPeE])?[ -]?(?i:flop)"
_SECOND = r"(?:s(?:ec(?:ond)?)?s?|秒)(?![a-z])"
# FLOP/s, FLOPs per second, FLOP s^-1, FLOPS (its last S is "per second"), TFLOPs
_RATE = re.compile(
    rf"{_FLOP}(?:s?[ )]*(?:/|per ) ?\(?{_SECOND}|s?[ ·]+s\^\(?-1"
    r"|S(?![a-z])|(?(prefix)s(?![a-z])|(?!)))"
)
_POWER = re.compile(r"(?:10\^|1e)\+?(\d{1,2})")
_BATCH = re.compile(r"batch|token|\brows?\b|(?<![a-z])b(?![a-z])|批", re.IGNORECASE)
_OTHER = re.compile(r"(?i:flop)|[(\[](?:[mµμn]?s|seconds|bytes?)[)\]]")
_NUMBER = re.compile(r"([+-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?)?[×x ]*(?:10\^([+-]?\d+))? ?([kMGTPE]?)")
_TEX = re.compile(r"\\(?:math\w+|text\w*|left|right|,|;|:|!| )|[${}]")


# ---- what is drawn


def facts(function: Callable[..., object], case: Mapping[str, Any]) -> Facts:
    """Let `function` draw on empty axes, and return facts about the drawing."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    try:
        function(**{"ax": ax, **case, "batches": np.asarray(case["batches"], "int64")})
        figure.draw_without_rendering()  # computes the layout, in a third of the time of `draw`
        axes = [one for one in figure.axes if one.get_visible()]
        return {
            "curves": [curve for n, one in enumerate(axes) for curve in _curves(one, n)],
            "legend": [text for one in axes for _, text in _entries(one)],
            "axes": [{"x": _axis(one.xaxis), "y": _axis(one.yaxis)} for one in axes],
            "xlabel": figure.get_supxlabel(),
            "ylabel": figure.get_supylabel(),
        }
    finally:
        plt.close(figure)


def _curves(ax: Any, number: int) -> Iterator[Facts]:
    """Yield each curve's points, whether it can be seen, and the legend's texts for it."""
    entries, background = list(_entries(ax)), _background(ax)
    place = ax.get_position()
    there = place.x0 < 1 and place.y0 < 1 and place.x1 > 0 and place.y1 > 0
    for artist, points in _artists(ax):
        points = np.ma.filled(np.ma.asarray(points, dtype=float), np.nan)
        points = points[np.isfinite(points).all(axis=1)]
        look = _look(artist, background)
        if len(points) < 2 or look is None:
            continue
        levels = [_likeness(look, handle) for handle, _ in entries]
        best = max(levels, default=0)
        yield {
            "x": points[:, 0].tolist(),
            "y": points[:, 1].tolist(),
            "axes": number,
            "seen": there and look["seen"],
            "names": [
                text for (_, text), level in zip(entries, levels, strict=True) if level == best > 0
            ],
        }


def _artists(ax: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each line and each set of points in data coordinates, unlike `axhline`."""
    from matplotlib.collections import PathCollection

    for line in ax.get_lines():
        if line.get_visible() and line.get_transform() == ax.transData:
            yield line, np.column_stack(line.get_data(orig=False))
    for dots in ax.collections:
        if dots.get_visible() and isinstance(dots, PathCollection):
            yield dots, dots.get_offsets()


def _entries(ax: Any) -> Iterator[tuple[Look, str]]:
    """Yield the look and the text of each visible entry of the legends."""
    background = _background(ax)
    own = [*ax.figure.legends, *(one.get_legend() for one in ax.figure.axes)]
    for legend in own:
        if legend is None or not legend.get_visible():
            continue
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=False):
            look = _look(handle, background)
            if look is not None and _is_shown(text, background):
                yield look, text.get_text()


def _look(artist: Any, background: Color) -> Look | None:
    """Return the look of a line, points or a patch, None for anything else."""
    color, style, marker, width, seen = None, "", "", 0.0, True
    if hasattr(artist, "get_marker"):  # a line
        style, marker = str(artist.get_linestyle()), str(artist.get_marker())
        style = "" if style in ("None", " ") else style
        style += str(artist._unscaled_dash_pattern) if style == "--" else ""
        marker = "" if marker in ("None", " ") else marker
        width = artist.get_linewidth() if style else artist.get_markersize()
        color = artist.get_color() if style else artist.get_markerfacecolor()
        seen = bool(style or marker) and width >= MIN_WIDTH
    elif hasattr(artist, "get_sizes"):  # points
        faces = artist.get_facecolor() if len(artist.get_facecolor()) else artist.get_edgecolor()
        color = faces[0] if len(faces) else background
        marker = str(np.round(artist.get_paths()[0].vertices, 3).tolist())
    elif hasattr(artist, "get_facecolor"):  # a patch or error bars, which only show a color
        for colors in (artist.get_facecolor(), artist.get_edgecolor()):
            if color is None and np.size(colors):
                color = _blended(np.atleast_2d(colors)[0], background, 1)
        style = "any"
        return {"color": color, "style": style, "marker": "", "width": 0.0, "seen": True}
    if color is None:
        return None
    shown = _blended(color, background, artist.get_alpha())
    seen = seen and _distance(shown, background) >= MIN_CONTRAST
    return {"color": shown, "style": style, "marker": marker, "width": width, "seen": seen}


def _likeness(one: Look, other: Look) -> int:
    """Return 2 for the same look, 1 for the same color only, 0 for different colors."""
    if _distance(one["color"], other["color"]) >= MIN_DIFFERENCE:
        return 0
    narrow, wide = sorted((one["width"], other["width"]))
    same = all(one[key] == other[key] for key in ("style", "marker"))
    return 2 if same and (not one["style"] or wide <= MAX_WIDTH_RATIO * narrow) else 1


def _axis(axis: Any) -> Facts:
    """Return an axis's label, limits, scale, and the texts at its ticks."""
    there = axis.axes.axison and axis.get_visible()
    low, high = sorted(map(float, axis.get_view_interval()))
    offset, page = axis.get_offset_text(), _page(axis.axes.figure)
    ticks = [
        [float(tick.get_loc()), tick.label1.get_text() or tick.label2.get_text()]
        for tick in axis.majorTicks[:MAX_TICKS]
        if there and low <= tick.get_loc() <= high
    ]
    return {
        "label": axis.label.get_text() if there and _is_shown(axis.label, page) else "",
        "limits": [low, high],
        "scale": str(axis.get_scale()),
        "ticks": ticks,
        "offset": offset.get_text() if there and offset.get_visible() else "",
    }


def _is_shown(text: Any, background: Color) -> bool:
    color = _blended(text.get_color(), background, text.get_alpha())
    return bool(text.get_visible()) and _distance(color, background) >= MIN_CONTRAST


def _blended(color: Any, background: Color, alpha: Any = None) -> Color:
    """Return a color as it shows on its background."""
    from matplotlib.colors import to_rgba

    *channels, share = to_rgba(color, alpha if isinstance(alpha, int | float) else None)
    pairs = zip(channels, background, strict=True)
    return tuple(share * one + (1 - share) * other for one, other in pairs)


def _page(figure: Any) -> Color:
    """Return the figure's background color, which shows around the axes."""
    return _blended(figure.get_facecolor(), (1.0, 1.0, 1.0))


def _background(ax: Any) -> Color:
    page = _page(ax.figure)
    shown = ax.patch.get_visible() and ax.axison
    return _blended(ax.patch.get_facecolor(), page) if shown else page


def _distance(one: Color, other: Color) -> float:
    return float(np.hypot.reduce(np.subtract(one, other)))


# ---- what it says


def reading(seen: Facts, case: Mapping[str, Any]) -> tuple[dict[str, list[float]], str]:
    """Return the FLOP/s of each size at the compared batches, and "" or a problem."""
    curves = seen["curves"][:MAX_CURVES]
    if not curves:
        return {}, "figure-empty"
    if not any(curve["seen"] for curve in curves):
        return {}, "figure-unseen"
    batches = np.asarray(case["batches"], "int64")
    values, labels = {}, []
    for size in case["sizes"]:
        curve, problem = _curve_of(size, curves, case["sizes"], seen["legend"])
        if problem:
            return {}, problem
        axes = seen["axes"][curve["axes"]]
        heights, problem = _heights(curve, axes, batches)
        if problem:
            return {}, problem
        factor, problem = _unit(_label("y", axes, seen), axes["y"])
        labels.append(_problem_of_x(_label("x", axes, seen)) or problem)
        values[str(size)] = (heights * factor).tolist()
    return values, next(filter(None, labels), "")


def looked_at(batches: Sequence[float] | Floats) -> NDArray[np.int64]:
    """Return the indices of the compared batches, spread evenly on a log scale."""
    spread = np.geomspace(1, len(batches), min(len(batches), 48)).round().astype(np.int64)
    return np.unique(spread) - 1


def _curve_of(
    size: int, curves: Sequence[Facts], sizes: Sequence[int], legend: Sequence[str]
) -> tuple[Facts, str]:
    """Return the curve that the legend names by this size, and "" or why there is none."""
    named = [{_size(text, sizes) for text in curve["names"]} - {None} for curve in curves]
    own = [curve for curve, found in zip(curves, named, strict=True) if found == {size}]
    if visible := [curve for curve in own if curve["seen"]]:
        return max(visible, key=lambda curve: len(curve["x"])), ""
    if maybe := [curve for curve, found in zip(curves, named, strict=True) if size in found]:
        return {}, "figure-alike" if any(curve["seen"] for curve in maybe) else "figure-unseen"
    return {}, "figure-curve" if legend else "figure-legend"


def _size(text: str, sizes: Sequence[int]) -> int | None:
    """Return the size that a text names first, None if it names none."""
    plain = re.sub(r"(?<=\d)[,_' ](?=\d{3}(?!\d))", "", _plain(text))
    numbers = [int(number) for number in re.findall(r"(?<![\d.])\d{1,9}(?![\d.])", plain)]
    return next((number for number in numbers if number in sizes), None)


def _heights(curve: Facts, axes: Facts, batches: Floats) -> tuple[Floats, str]:
    """Return the heights at the compared batches, and "" or why they can't be read."""
    x, y = (np.asarray(curve[name], float) for name in "xy")
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    if x.size == batches.size and np.allclose(np.sort(y), batches) and not np.allclose(x, batches):
        return y, "figure-swapped"
    if x[0] > batches.min() or x[-1] < batches.max():
        return y, "figure-range"
    heights = np.interp(batches, x, y)
    if not (_inside(batches, axes["x"]) and _inside(heights, axes["y"])):
        return y, "figure-outside"
    return heights[looked_at(batches)], ""


def _inside(values: Floats, axis: Facts) -> bool:
    """Return whether all values are within the limits of the axis."""
    ends = np.asarray(axis["limits"], float)
    if axis["scale"] == "log":
        with np.errstate(divide="ignore", invalid="ignore"):
            values, ends = np.log(values), np.log(ends)
    slack = MAX_OVERHANG * (ends[1] - ends[0])
    return bool(values.min() >= ends[0] - slack and values.max() <= ends[1] + slack)


def _label(name: str, axes: Facts, seen: Facts) -> str:
    """Return an axis's label; if it has none, that of twin axes or of the whole figure."""
    others = [one[name]["label"] for one in seen["axes"]]
    return _plain(next(filter(str.strip, [axes[name]["label"], *others, seen[f"{name}label"]]), ""))


def _problem_of_x(label: str) -> str:
    if not label:
        return "figure-xlabel"
    return "" if _BATCH.search(label) and not _OTHER.search(label) else "figure-batch"


def _unit(label: str, axis: Facts) -> tuple[float, str]:
    """Return the factor from heights to FLOP/s, and "" or what the label lacks."""
    if not label:
        return 1.0, "figure-ylabel"
    rate = _RATE.search(label)
    if not rate:
        return 1.0, "figure-rate" if re.search(_FLOP, label) else "figure-unit"
    at_ticks, has_prefix = _at_ticks(axis)
    power = _POWER.search(label[: rate.start()])
    prefix = (rate["prefix"] or "").upper().replace("K", "k")
    scale = 10.0 ** int(power[1]) if power else PREFIXES[prefix]
    return (1.0 if has_prefix else scale) * at_ticks, ""


def _at_ticks(axis: Facts) -> tuple[float, bool]:
    """Return the factor from heights to the numbers at the ticks, and whether those have prefixes.

    The factor is a power of ten, or 1 if the texts are no plain numbers.
    """
    corner = _quantity(axis["offset"])[0] or 1.0
    powers, prefixes = [], False
    for place, text in axis["ticks"]:
        value, prefix = _quantity(text)
        if value * corner * place > 0:
            powers.append(np.log10(value * corner / place))
            prefixes = prefixes or prefix
    if not powers or max(powers) - min(powers) > 0.3:  # tick texts may be rounded: 0.1 for 0.125
        return 1.0, False
    return 10.0 ** round(float(np.median(powers))), prefixes


def _quantity(text: str) -> tuple[float, bool]:
    """Parse 2×10^14, 1e14 or 100 T: its value (0 for other texts), and whether it has a prefix."""
    parts = _NUMBER.fullmatch(_plain(text))
    if not parts or not (parts[1] or parts[2]):
        return 0.0, False
    value = float((parts[1] or "1").replace(",", ""))
    power = 10.0 ** min(int(parts[2] or 0), 300)
    return value * power * PREFIXES[parts[3]], bool(parts[3])


def _plain(text: str) -> str:
    """Return a text without TeX, with powers as 10^12."""
    plain = _TEX.sub("", text[:MAX_LENGTH].replace(r"\times", "×").replace(r"\cdot", "·"))
    plain = re.sub(
        "[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+",
        lambda raised: "^" + raised[0].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")),
        plain,
    )
    return " ".join(plain.replace("−", "-").replace("\N{FRACTION SLASH}", "/").split())
