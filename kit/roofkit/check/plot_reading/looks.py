"""Looks of matplotlib artists: colors, dashes, markers, and visibility."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Color = tuple[float, float, float]

# Euclidean distances in RGB from 0 to 1. Ivory on white has 0.07, yellow 1.
MIN_CONTRAST = 0.15  # between a visible color and its background
MIN_DIFFERENCE = 0.1  # between two colors that can be told apart
MAX_WIDTH_RATIO = 1.5  # between widths or sizes that look the same
MIN_WIDTH = 0.2  # points; thinner lines are invisible on screens


@dataclass(frozen=True)
class Look:
    """The look of a line and its markers, with colors blended with the background.

    dashes: () for a solid line, None for no line. marker: "" for none.
    plain: whether this is a patch in a legend, which only shows a color.
    """

    line: Color = (0, 0, 0)
    dashes: tuple[float, ...] | None = None
    width: float = 0
    marker: str = ""
    face: Color = (0, 0, 0)
    edge: Color = (0, 0, 0)
    size: float = 0
    plain: bool = False
    opaque: Color | None = None  # for a patch: its color without transparency

    def main(self, ground: Color) -> Color:
        """Return the color that a reader would name."""
        if self.dashes is not None or self.plain:
            return self.line
        return self.face if distance(self.face, ground) >= MIN_CONTRAST else self.edge

    def seen(self, ground: Color) -> bool:
        """Return whether the line or its markers stand out from the background."""
        line = (
            self.dashes is not None and self.width >= MIN_WIDTH and _stands_out(self.line, ground)
        )
        points = self.marker and self.size >= MIN_WIDTH
        return bool(
            line or (points and any(_stands_out(c, ground) for c in (self.face, self.edge)))
        )


def distance(one: Color, other: Color) -> float:
    return float(np.hypot.reduce(np.subtract(one, other)))


def _stands_out(color: Color, ground: Color) -> bool:
    return distance(color, ground) >= MIN_CONTRAST


def mixed(color: Any, ground: Color, alpha: Any = None) -> Color:
    """Return a color blended with its background, or just that if it is invalid."""
    from matplotlib.colors import to_rgba

    try:
        red, green, blue, share = to_rgba(color, alpha if isinstance(alpha, int | float) else None)
    except (ValueError, TypeError):
        return ground
    rest = 1 - share
    return (
        share * red + rest * ground[0],
        share * green + rest * ground[1],
        share * blue + rest * ground[2],
    )


def ground_of(ax: Any) -> Color:
    """Return the background color of the axes."""
    ground = mixed(ax.figure.get_facecolor(), (1, 1, 1))
    if ax.patch.get_visible() and ax.axison:
        ground = mixed(ax.patch.get_facecolor(), ground)
    return ground


def likeness(handle: Look, curve: Look, ground: Color) -> int:
    """Return 2 for the same look, 1 for the same color only, 0 for different colors."""
    if distance(handle.main(ground), curve.main(ground)) >= MIN_DIFFERENCE:
        # A transparent patch in the line's color, as from `fill_between`, matches the line.
        area = handle.opaque is not None and distance(handle.opaque, curve.main(ground))
        return int(area is not False and area < MIN_DIFFERENCE)
    if handle.plain or (handle.dashes is None) != (curve.dashes is None):
        return 1
    if handle.dashes is not None and not (
        _same_dashes(handle.dashes, curve.dashes or ()) and _near(handle.width, curve.width)
    ):
        return 1
    if handle.marker != curve.marker:
        return 1
    same_points = not handle.marker or (
        _near(handle.size, curve.size) and distance(handle.face, curve.face) < MIN_DIFFERENCE
    )
    return 2 if same_points else 1


def _near(one: float, other: float) -> bool:
    return max(one, other) <= MAX_WIDTH_RATIO * min(one, other)


def _same_dashes(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and np.allclose(one, other, rtol=0.25)


def look(artist: Any, ground: Color, scale: float = 1) -> Look | None:
    """Return the look of a line, a collection or a patch, None for anything else.

    scale: factor by which a legend enlarges markers.
    """
    try:
        if hasattr(artist, "get_marker"):
            return _of_line(artist, ground, scale)
        if hasattr(artist, "get_segments"):
            return _of_segments(artist, ground)
        if hasattr(artist, "get_offsets"):
            return _of_points(artist, ground, scale)
        if hasattr(artist, "get_facecolor"):
            face = mixed(artist.get_facecolor(), ground)
            edge = mixed(artist.get_edgecolor(), ground)
            opaque = mixed(artist.get_facecolor(), ground, 1) if _stands_out(face, ground) else None
            return Look(line=face if _stands_out(face, ground) else edge, plain=True, opaque=opaque)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        pass  # a custom artist without matplotlib's usual methods
    return None


def _of_line(line: Any, ground: Color, scale: float) -> Look:
    alpha, marker = line.get_alpha(), line.get_marker()
    drawn = str(line.get_linestyle()) not in ("None", " ", "")
    return Look(
        line=mixed(line.get_color(), ground, alpha),
        dashes=tuple(line._unscaled_dash_pattern[1] or ()) if drawn else None,
        width=line.get_linewidth(),
        marker="" if str(marker) in ("None", " ", "") else str(marker),
        face=mixed(line.get_markerfacecolor(), ground, alpha),
        edge=mixed(line.get_markeredgecolor(), ground, alpha),
        size=line.get_markersize() / scale,
    )


def _of_segments(lines: Any, ground: Color) -> Look:
    (_, dashes), *_ = lines.get_linestyle()
    colors, width = lines.get_edgecolor(), lines.get_linewidth()[0]
    return Look(
        line=mixed(colors[0], ground) if len(colors) else ground,
        # matplotlib has scaled the dashes by the line width.
        dashes=tuple(length / (width or 1) for length in dashes or ()),
        width=width,
    )


def _of_points(points: Any, ground: Color, scale: float) -> Look:
    faces, edges = points.get_facecolor(), points.get_edgecolor()
    return Look(
        marker=str(np.round(points.get_paths()[0].vertices, 3).tolist()),
        face=mixed(faces[0], ground) if len(faces) else ground,
        edge=mixed(edges[0], ground) if len(edges) else ground,
        size=float(np.sqrt(points.get_sizes()[0])) / scale,
    )
