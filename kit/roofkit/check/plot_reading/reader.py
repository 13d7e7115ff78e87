"""Interpretation of a figure's facts, which are untrusted input."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .axis_words import names_batch, rate_scales
from .number_words import scales
from .owners import MAX_CURVES, Facts, Floats, from_left_to_right, is_seen, owners
from .plain_text import plain_text
from .tick_words import shown_scale

Values = dict[str, list[float]]
# Share of the axis by which a visible line may extend beyond its limits.
MAX_OVERHANG = 0.005
# If the label names a logarithm, values below this are logarithms.
MAX_LOGARITHM = 60.0


def reading(seen: Facts, case: Mapping[str, Any]) -> tuple[Values, str]:
    """Return the FLOP/s of each size at the compared batches, and "" or a problem."""
    curves = seen["curves"][:MAX_CURVES]
    if not curves:
        return {}, "figure-empty"
    if not any(is_seen(curve) for curve in curves):
        return {}, "figure-unseen"
    named, problem = owners(curves, case["sizes"], bool(seen.get("legend")))
    if problem == "figure-curve" and seen.get("entries") == 0:
        problem = "figure-legend-empty"
    if problem:
        return {}, problem
    batches = np.asarray(case["batches"])
    shown: dict[str, Floats] = {}
    for size in case["sizes"]:
        shown[str(size)], problem = _read(named[size], seen, batches)
        if problem:
            return {}, problem
    labels = [_labels(curve, seen) for curve in named.values()]
    top = max(float(heights.max()) for heights in shown.values())
    values = {
        str(size): (shown[str(size)] * _unit(ylabel, axes.get("y", {}), top, case)).tolist()
        for size, (_, ylabel, axes) in zip(named, labels, strict=True)
    }
    return values, next(
        (problem for x, y, axis in labels if (problem := _label_problem(x, y, axis))), ""
    )


def looked_at(batches: Sequence[float] | Floats) -> NDArray[np.int64]:
    """Return the indices of the compared batches, spread evenly on a log scale."""
    spread = np.geomspace(1, len(batches), min(len(batches), 48)).round().astype(np.int64)
    return np.unique(spread) - 1


def _read(curve: Facts, seen: Facts, batches: Floats) -> tuple[Floats, str]:
    """Return the values at the compared batches, and "" or why they are invalid."""
    xlabel, ylabel, axes = _labels(curve, seen)
    x, y = from_left_to_right(curve)
    if _swapped(x, y, batches):
        return y, "figure-swapped"
    batch_of = _batch_of(xlabel, x, batches)
    x = batch_of(x)
    if x[0] > batches.min() or x[-1] < batches.max():
        return y, "figure-range"
    heights = np.interp(batches, x, y)
    limits = axes.get("x", {}), axes.get("y", {})
    if not (_inside(batches, limits[0], batch_of) and _inside(heights, limits[1])):
        return y, "figure-outside"
    return _as_shown(heights[looked_at(batches)], ylabel, axes.get("y", {})), ""


def _swapped(x: Floats, y: Floats, batches: Floats) -> bool:
    """Return whether the batches are on the vertical axis by mistake."""
    if x.size != batches.size:
        return False
    across, up, wanted = np.sort(x), np.sort(y), np.sort(batches)
    return bool(np.allclose(up, wanted) and not np.allclose(across, wanted))


def _as_shown(heights: Floats, label: str, axis: Facts) -> Floats:
    """Return the numbers as the ticks show them, with logarithms undone."""
    base = _base(label)
    if base and heights.max() < MAX_LOGARITHM:
        heights = base**heights
    shown, _, _ = shown_scale(axis)
    return heights * shown


def _unit(label: str, axis: Facts, top: float, case: Mapping[str, Any]) -> float:
    """Return the factor from the numbers on the axis to FLOP/s, by its label.

    If the label is ambiguous, choose the unit in which the highest value is nearest to the peak.
    """
    _, prefix, has_unit = shown_scale(axis)
    if has_unit:
        return 1.0
    units, _ = rate_scales(label)
    if prefix != 1 and prefix in units:
        return 1.0  # the numbers at the ticks already include the prefix
    peak = float(case.get("peak", 0.0))
    if len(units) == 1 or not (top > 0 and peak > 0):
        return units[0]
    return min(units, key=lambda unit: abs(math.log(top * unit / peak)))


def _batch_of(label: str, x: Floats, batches: Floats) -> Callable[[Floats], Floats]:
    """Return a function from values on the axis to batches.

    The values are unchanged, scaled, or exponentiated: whichever of these covers all batches first,
    or unchanged if none does.
    """
    factor, base = scales(plain_text(label))[0], _base(label)
    ways: list[Callable[[Floats], Floats]] = [lambda x: x, lambda x: np.round(x * factor, 6)]
    if base and x.max() < MAX_LOGARITHM:
        ways.append(lambda x: np.round(base**x, 6))
    for way in ways:
        if way(x).min() <= batches.min() and way(x).max() >= batches.max():
            return way
    return ways[0]


def _base(label: str) -> float:
    """Return the base of the logarithm that a label names, 0 if it names none."""
    plain = plain_text(label).lower().replace("_", "")
    if re.search(r"(?<![^\W\d_])lg(?![^\W\d_])", plain):
        return 10.0
    return next((base for base in (10.0, 2.0) if f"log{base:g}" in plain), 0.0)


def _inside(
    values: Floats, axis: Facts, as_values: Callable[[Floats], Floats] = lambda x: x
) -> bool:
    """Return whether all values are within the limits of the axis."""
    if "limits" not in axis:
        return True
    ends = np.sort(as_values(np.asarray(axis["limits"], dtype=float)))
    if axis.get("scale") == "log":
        with np.errstate(divide="ignore", invalid="ignore"):
            values, ends = np.log(values), np.log(ends)
    slack = MAX_OVERHANG * (ends[1] - ends[0])
    return bool(values.min() >= ends[0] - slack and values.max() <= ends[1] + slack)


def _labels(curve: Facts, seen: Facts) -> tuple[str, str, Facts]:
    """Return a curve's x and y labels, or the figure's if empty, and its axes' facts."""
    axes = seen["axes"][curve["axes"]] if "axes" in seen else {}
    labels = [
        next(
            (
                label
                for label in (axes.get(name, {}).get("label", ""), seen[f"{name}label"])
                if str(label).strip()
            ),
            "",
        )
        for name in "xy"
    ]
    return str(labels[0]), str(labels[1]), axes


def _label_problem(xlabel: str, ylabel: str, axes: Facts) -> str:
    """Return the first problem with the labels, "" if there is none."""
    if not plain_text(xlabel):
        return "figure-xlabel"
    if not names_batch(xlabel):
        return "figure-batch"
    _, _, unit_at_ticks = shown_scale(axes.get("y", {}))
    if unit_at_ticks:
        return ""
    if not plain_text(ylabel):
        return "figure-ylabel"
    _, problem = rate_scales(ylabel)
    return problem
