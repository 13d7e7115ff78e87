"""What a figure shows, as plain facts; and what a reader takes from them.

Knows nothing of how the figure was drawn: lines, steps, points, a legend or texts beside the
curves are all read.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Facts = dict[str, Any]
Floats = NDArray[np.float64]


def facts(function: Callable[..., object], case: Mapping[str, Any]) -> Facts:
    """Let `function` draw on an empty axis and read off what is to be seen there."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    try:
        arguments = dict(case)
        if "batches" in arguments:
            arguments["batches"] = np.asarray(arguments["batches"])
        function(ax, **arguments)
        figure.draw_without_rendering()  # places everything, and takes a third of the time
        curves = _curves(figure)
        return {
            "curves": curves,
            "legend": any(_legend(ax) for ax in figure.axes) or bool(figure.legends),
            "xlabel": _first(*(ax.get_xlabel() for ax in figure.axes), figure.get_supxlabel()),
            "ylabel": _first(*(ax.get_ylabel() for ax in figure.axes), figure.get_supylabel()),
        }
    finally:
        plt.close(figure)


def _first(*texts: str) -> str:
    return next((text for text in texts if text.strip()), "")


def _legend(ax: Any) -> bool:
    legend = ax.get_legend()
    return legend is not None and legend.get_visible()


def _curves(figure: Any) -> list[dict[str, Any]]:
    """Each curve's points in data coordinates, and all texts that tell whose they are."""
    found = []
    for ax in figure.axes:
        named = _legend_texts(ax, figure)
        drawn = [
            *((line, np.column_stack(line.get_data(orig=False))) for line in ax.get_lines()),
            *((dots, np.asarray(dots.get_offsets())) for dots in ax.collections),
            *((lines, part) for lines in ax.collections for part in _segments(lines)),
        ]
        shown = [
            (artist, np.asarray(points, dtype=float))
            for artist, points in drawn
            if artist.get_visible() and len(points) > 1 and _in_data(artist, ax)
        ]
        beside = _texts_beside(ax, [points for _, points in shown])
        for index, (artist, points) in enumerate(shown):
            finite = points[np.isfinite(points).all(axis=1)]
            texts = [text for key, text in named if key in (id(artist), _color(artist))]
            label = str(artist.get_label())
            if named and not label.startswith("_") and label in {text for _, text in named}:
                texts = [label]
            found.append(
                {
                    "x": finite[:, 0].tolist(),
                    "y": finite[:, 1].tolist(),
                    "texts": texts + beside.get(index, []),
                }
            )
    return found


def _segments(collection: Any) -> list[Any]:
    return list(collection.get_segments()) if hasattr(collection, "get_segments") else []


def _in_data(artist: Any, ax: Any) -> bool:
    """Points given in data coordinates, unlike the ends of `axhline` and `axvline`."""
    if hasattr(artist, "get_offset_transform"):
        return True
    return bool(artist.get_transform() == ax.transData)


def _color(artist: Any) -> Any:
    from matplotlib.colors import to_hex

    if hasattr(artist, "get_color"):
        colors = artist.get_color()
    elif hasattr(artist, "get_facecolor"):
        colors = artist.get_facecolor()
    else:
        return None
    try:
        return to_hex(colors if isinstance(colors, str | tuple) else np.atleast_2d(colors)[0])
    except (ValueError, TypeError, IndexError):
        return None


def _legend_texts(ax: Any, figure: Any) -> list[tuple[Any, str]]:
    """(colour of the entry, its text) of each entry of the axis' or the figure's legends."""
    legends = [ax.get_legend()] if _legend(ax) else []
    legends += [artist for artist in ax.artists if hasattr(artist, "legend_handles")] + list(
        figure.legends
    )
    return [
        (_color(handle), text.get_text())
        for legend in legends
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=False)
    ]


def _texts_beside(ax: Any, curves: list[Floats]) -> dict[int, list[str]]:
    """For each curve the texts that stand nearer to it than to any other."""
    if not curves:
        return {}
    beside: dict[int, list[str]] = {}
    screen = [ax.transData.transform(points) for points in curves]
    for text in ax.texts:
        anchor = getattr(text, "xy", None)
        place = text.get_transform().transform(text.get_position())
        if anchor is not None and getattr(text, "xycoords", "") == "data":
            place = ax.transData.transform(anchor)
        gaps = [np.nanmin(np.hypot(*(points - place).T)) for points in screen]
        beside.setdefault(int(np.argmin(gaps)), []).append(text.get_text())
    return beside


def reading(seen: Facts, case: Mapping[str, Any]) -> tuple[dict[str, list[float]], str]:
    """What a reader takes from the figure: size → FLOP/s at some batches, and "" or a problem."""
    if not seen["curves"]:
        return {}, "figure-empty"
    batches = np.asarray(case["batches"], dtype=float)
    unit, known = scale(seen["ylabel"])
    values = {}
    for size in case["sizes"]:
        named = [curve for curve in seen["curves"] if _names(curve["texts"], size)]
        if not named:
            return {}, "figure-curve" if seen["legend"] else "figure-legend"
        curve = max(named, key=lambda curve: len(curve["x"]))
        order = np.argsort(curve["x"], kind="stable")
        x, y = np.asarray(curve["x"])[order], np.asarray(curve["y"])[order]
        if not x.size or x[0] > batches.min() or x[-1] < batches.max():
            return {}, "figure-range"
        values[str(size)] = (np.interp(batches[looked_at(batches)], x, y) * unit).tolist()
    if not seen["xlabel"].strip():
        return values, "figure-xlabel"
    if not seen["ylabel"].strip():
        return values, "figure-ylabel"
    return values, "" if known else "figure-unit"


def looked_at(batches: Sequence[float] | Floats) -> NDArray[np.int64]:
    """Positions of the batches at which a curve is compared: spread evenly over a log axis."""
    spread = np.geomspace(1, len(batches), min(len(batches), 48)).round().astype(np.int64)
    return np.unique(spread) - 1


def scale(label: str) -> tuple[float, bool]:
    """What to multiply the values by for FLOP/s, and whether the label names the unit at all."""
    label = label.replace("\\mathrm", "").replace("\\text", "")
    powers = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
    words = {"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15}
    prefixes = "kilo|mega|giga|tera|peta|[kmgtp]"
    named = re.search(rf"\b({prefixes})?[\s{{-]*(flop|op|operation)s?\b", label.lower())
    if named is None:
        return 1.0, False
    if prefix := named.group(1):
        return (powers | words)[prefix], True
    unit = 1.0
    power = re.search(r"(?:10\s*(?:\^|\*\*)\s*\{?\s*(\d+)|1e(\d+)|10([⁰¹²³⁴⁵⁶⁷⁸⁹]+))", label)
    if power:
        digits = next(group for group in power.groups() if group)
        unit = 10.0 ** int(digits.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
    return unit, True


def _names(texts: list[str], size: int) -> bool:
    ways = {str(size), f"{size:,}", f"{size:,}".replace(",", " ")}
    ways |= {f"{size:,}".replace(",", sep) for sep in ("\u2009", "\u202f", "_", "{,}")}
    if size % 1024 == 0:
        ways |= {f"{size // 1024}k", f"{size // 1024}K", f"{size // 1024}Ki"}
    return any(
        re.search(rf"(?<![\d.,]){re.escape(way)}(?!\d|[.,]\d)", text)
        for text in texts
        for way in ways
    )
