"""Assignment of curves to the sizes asked for, by the legend and by nearby texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .size_words import named_size

Facts = dict[str, Any]
Floats = NDArray[np.float64]
MAX_CURVES = 100
MAX_TEXTS = 20  # limit on the texts read per curve, for each kind of text


def owners(curves: list[Facts], sizes: Sequence[int], legend: bool) -> tuple[dict[int, Facts], str]:
    """Return each size's curve and "", or no curves and why some size has none."""
    whose = _with_sizes_of_points([_sizes(curve, sizes) for curve in curves], curves)
    by_elimination = _named_by_elimination(curves, whose, sizes)
    named: dict[int, Facts] = {}
    for size in sizes:
        own = [c for c, found in zip(curves, whose, strict=True) if found == {size}]
        shown = [curve for curve in own if is_seen(curve)] or by_elimination.get(size, [])
        if shown:
            named[size] = max(shown, key=_weight)
        elif own:
            return {}, "figure-unseen"
        elif any(size in found for found in whose):
            return {}, "figure-alike"
        else:
            return {}, "figure-curve" if legend else "figure-legend"
    return named, ""


def _sizes(curve: Facts, sizes: Sequence[int]) -> set[int]:
    """Return the size that a curve's texts name; none, or several if it is ambiguous."""
    legend = {named_size(text, sizes) for text in curve.get("legend", [])[:MAX_TEXTS]} - {None}
    if len(legend) == 1:
        return {size for size in legend if size is not None}
    beside = (named_size(text, sizes) for text in curve["texts"][:MAX_TEXTS])
    if (nearest := next((size for size in beside if size is not None), None)) is not None:
        return {nearest}
    return {size for size in legend if size is not None} if curve.get("same_look") else set()


def _with_sizes_of_points(whose: list[set[int]], curves: list[Facts]) -> list[set[int]]:
    """Give each line without a name the sizes of the labeled points on it."""
    return [
        found
        or set().union(
            *(
                other
                for other, points in zip(whose, curves, strict=True)
                if len(other) == 1 and is_seen(curve) and _lies_on(points, curve)
            )
        )
        for found, curve in zip(whose, curves, strict=True)
    ]


def _lies_on(points: Facts, curve: Facts) -> bool:
    """Return whether all points lie on the curve and are fewer than the curve's."""
    if points["axes"] != curve["axes"] or len(points["x"]) >= len(curve["x"]):
        return False
    x, y = from_left_to_right(curve)
    heights = np.interp(points["x"], x, y, left=np.nan, right=np.nan)
    return bool(np.allclose(heights, np.asarray(points["y"], float), atol=0))


def _named_by_elimination(
    curves: list[Facts], whose: list[set[int]], sizes: Sequence[int]
) -> dict[int, list[Facts]]:
    """Return size → [curve] if exactly one unnamed curve is near a text of this size."""
    free = [
        curve for curve, found in zip(curves, whose, strict=True) if not found and is_seen(curve)
    ]
    left: dict[int, list[Facts]] = {}
    for size in sizes:
        found = [
            curve
            for curve in free
            if any(named_size(text, sizes) == size for text in curve.get("between", [])[:MAX_TEXTS])
        ]
        if len(found) == 1:
            left[size] = found
    return left


def from_left_to_right(curve: Facts) -> tuple[Floats, Floats]:
    """Return a curve's x and y values, sorted by x; points of one x keep their order."""
    order = np.argsort(curve["x"], kind="stable")
    return np.asarray(curve["x"], float)[order], np.asarray(curve["y"], float)[order]


def is_seen(curve: Facts) -> bool:
    return bool(curve.get("seen", True))


def _weight(curve: Facts) -> tuple[bool, int, bool]:
    """Return a sort key that prefers sloped curves, then those with more points."""
    heights = curve["y"]
    return (
        min(heights) < max(heights),
        len(heights),
        bool(curve.get("same_look")),
    )
