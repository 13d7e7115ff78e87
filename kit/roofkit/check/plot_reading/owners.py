"""Which curve belongs to which size, by what a legend and the texts beside the curves say."""

from collections.abc import Sequence
from typing import Any

from .size_words import named_size

Facts = dict[str, Any]
MOST = 100  # curves, and texts of one curve, that are looked at


def owners(curves: list[Facts], sizes: Sequence[int], legend: bool) -> tuple[dict[int, Facts], str]:
    """Size → its curve, and "" or why there is no telling."""
    whose = [_sizes(curve, sizes) for curve in curves]
    by_elimination = _left_over(curves, whose, sizes)
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
    """The sizes that a curve is named by: one, or several that share its look in the legend."""
    legend = {named_size(text, sizes) for text in curve.get("legend", [])[:MOST]} - {None}
    if len(legend) == 1:
        return {size for size in legend if size is not None}
    beside = (named_size(text, sizes) for text in curve["texts"][:MOST])
    if (nearest := next((size for size in beside if size is not None), None)) is not None:
        return {nearest}
    return {size for size in legend if size is not None} if curve.get("same_look") else set()


def _left_over(
    curves: list[Facts], whose: list[set[int]], sizes: Sequence[int]
) -> dict[int, list[Facts]]:
    """Where a text stands between two curves and the other one is named: the one that is left."""
    free = [
        curve for curve, found in zip(curves, whose, strict=True) if not found and is_seen(curve)
    ]
    left: dict[int, list[Facts]] = {}
    for size in sizes:
        found = [
            curve
            for curve in free
            if any(named_size(text, sizes) == size for text in curve.get("between", [])[:MOST])
        ]
        if len(found) == 1:
            left[size] = found
    return left


def is_seen(curve: Facts) -> bool:
    return bool(curve.get("seen", True))


def _weight(curve: Facts) -> tuple[bool, int, bool]:
    """Of several curves of one size the one that is read: no level line, and the longest."""
    heights = curve["y"]
    return (
        len(heights) > 0 and min(heights) < max(heights),
        len(heights),
        bool(curve.get("same_look")),
    )
