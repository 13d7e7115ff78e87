"""Candidates for a curve's name: matching legend entries, and texts nearby."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .looks import MIN_CONTRAST, Color, Look, blended, distance, look, similarity

Floats = NDArray[np.float64]
MAX_TIE_PIXELS = 1.5  # curves whose distances to a text differ by less are equally near
MIN_COLORFULNESS = 0.2  # grayer texts aren't matched to curves by color


@dataclass(frozen=True)
class Drawn:
    """A curve: its look, and its points in data coordinates and in pixels."""

    look: Look
    points: Floats
    screen: Floats


def legends(figure: Any) -> list[Any]:
    """Return all visible legends."""
    found = [*figure.legends]
    for ax in figure.axes:
        own = [ax.get_legend()] if ax.get_legend() is not None else []
        found += own + [artist for artist in ax.artists if hasattr(artist, "legend_handles")]
    return [legend for legend in found if legend.get_visible()]


def entries(figure: Any, background: Color) -> list[tuple[Look, str]]:
    """Return the handle's look and the text of each visible legend entry."""
    found = []
    for legend in legends(figure):
        pairs = zip(legend.legend_handles, legend.get_texts(), strict=False)
        for handle, text in pairs:
            seen = look(handle, background, legend.markerscale)
            if seen is not None and shown(text, background):
                found.append((seen, text.get_text()))
    return found


def from_legend(
    curve: Look, named: Sequence[tuple[Look, str]], background: Color
) -> tuple[int, list[str]]:
    """Return how well the best entries match the curve (0 to 2), and their texts."""
    levels = [similarity(handle, curve, background) for handle, _ in named]
    best = max(levels, default=0)
    texts = [text for (_, text), level in zip(named, levels, strict=True) if level == best > 0]
    return best, texts


def shown(text: Any, background: Color) -> bool:
    """Return whether a text is visible and stands out from its background."""
    if not (text.get_visible() and text.get_text().strip()):
        return False
    box = text.get_bbox_patch()
    if box is not None and box.get_visible():
        background = blended(box.get_facecolor(), background)
    return (
        distance(blended(text.get_color(), background, text.get_alpha()), background)
        >= MIN_CONTRAST
    )


def from_texts(ax: Any, curves: Sequence[Drawn], background: Color) -> tuple[list[Any], list[Any]]:
    """Return, by curve, texts that name it alone, and texts that may name several."""
    clear: list[list[tuple[float, str]]] = [[] for _ in curves]
    others: list[list[str]] = [[] for _ in curves]
    for text in [*ax.texts, *ax.figure.texts] if curves else []:
        if not (shown(text, background) and any(map(str.isdigit, text.get_text()))):
            continue
        found = _curves_in_color_of(text, curves, background)
        gap = -np.inf  # a text in a curve's color takes precedence over all others
        if found is None:
            found, gap = _nearest(_place(text, ax), curves)
        # If several curves fit the text, prefer lines to points on them, and sloped to horizontal.
        for better in (_is_line, _is_not_level):
            found = [index for index in found if better(curves[index])] or found
        for index in found:
            if _coincide([curves[i] for i in found]):
                clear[index].append((gap, text.get_text()))
            else:
                others[index].append(text.get_text())
    return [[text for _, text in sorted(texts)] for texts in clear], others


def _curves_in_color_of(text: Any, curves: Sequence[Drawn], background: Color) -> list[int] | None:
    """Return the curves of the text's color, None if it is gray or no curve has it."""
    color = blended(text.get_color(), background, text.get_alpha())
    if max(color) - min(color) < MIN_COLORFULNESS:
        return None
    gaps = [distance(curve.look.main(background), color) for curve in curves]
    return [index for index, gap in enumerate(gaps) if gap < 0.05] or None


def _place(text: Any, ax: Any) -> Floats:
    """Return the position of the text in pixels, or of the tip of its arrow."""
    if getattr(text, "arrow_patch", None) is not None and text.xycoords == "data":
        return np.asarray(ax.transData.transform(text.xy))
    return np.asarray(text.get_transform().transform(text.get_position()))


def _nearest(place: Floats, curves: Sequence[Drawn]) -> tuple[list[int], float]:
    """Return the nearest curves, several if they tie, and their distance."""
    gaps = [_distance_to(place, curve) for curve in curves]
    near = [index for index, gap in enumerate(gaps) if gap <= min(gaps) + MAX_TIE_PIXELS]
    return near, min(gaps)


def _is_line(curve: Drawn) -> bool:
    return curve.look.dashes is not None


def _is_not_level(curve: Drawn) -> bool:
    heights = curve.points[:, 1]
    return bool(heights.size and heights.min() < heights.max())


def _coincide(curves: Sequence[Drawn]) -> bool:
    """Return whether all of these curves have the same points."""
    return all(np.array_equal(curves[0].points, curve.points) for curve in curves[1:])


def _distance_to(place: Floats, curve: Drawn) -> float:
    """Return the distance in pixels to the line, or to the nearest point."""
    points = curve.screen
    if not len(points):
        return float("inf")
    gap = np.hypot(*(points - place).T).min()
    if _is_line(curve) and len(points) > 1:
        start, along = points[:-1], np.diff(points, axis=0)
        length = np.maximum((along**2).sum(axis=1), np.finfo(float).tiny)
        share = np.clip(((place - start) * along).sum(axis=1) / length, 0, 1)
        gap = np.hypot(*(start + share[:, None] * along - place).T).min()
    return float(gap)
