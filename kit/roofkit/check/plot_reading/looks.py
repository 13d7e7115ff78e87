"""The look of matplotlib artists: colors, dashes, markers, and visibility."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Color = tuple[float, float, float]
NO_COLOR: Color = (0, 0, 0)  # color of a line or marker that isn't drawn

# Distances between RGB colors with channels from 0 to 1. Ivory on white has 0.07, yellow 1.
MIN_CONTRAST = 0.15  # smallest distance of a visible color from its background
MIN_DIFFERENCE = 0.1  # smallest distance of two colors that can be told apart
MAX_WIDTH_RATIO = 1.5  # largest ratio of widths or sizes that look the same
MIN_WIDTH = 0.2  # points; thinner lines are invisible on screens


@dataclass(frozen=True)
class Look:
    """The look of a line and its markers, with colors blended with the background.

    dashes: () for a solid line, None for no line. marker: "" for none.
    plain: whether this is a patch, which only shows a color.
    """

    line: Color = NO_COLOR
    dashes: tuple[float, ...] | None = None
    width: float = 0
    marker: str = ""
    face: Color = NO_COLOR
    edge: Color = NO_COLOR
    size: float = 0
    plain: bool = False
    opaque: Color | None = None  # for a patch: its color without transparency

    def main(self, background: Color) -> Color:
        """Return the line's or patch's color, or the markers' if there is no line."""
        if self.dashes is not None or self.plain:
            return self.line
        return self.face if _stands_out(self.face, background) else self.edge

    def seen(self, background: Color) -> bool:
        """Return whether the line or its markers stand out from the background."""
        line = (
            self.dashes is not None
            and self.width >= MIN_WIDTH
            and _stands_out(self.line, background)
        )
        points = self.marker and self.size >= MIN_WIDTH
        return bool(
            line or (points and any(_stands_out(c, background) for c in (self.face, self.edge)))
        )


def distance(one: Color, other: Color) -> float:
    """Return the Euclidean distance between two colors in RGB."""
    return float(np.hypot.reduce(np.subtract(one, other)))


def _stands_out(color: Color, background: Color) -> bool:
    return distance(color, background) >= MIN_CONTRAST


def blended(color: Any, background: Color, alpha: Any = None) -> Color:
    """Return a color blended with its background.

    If the color is invalid, return the background.
    """
    from matplotlib.colors import to_rgba

    try:
        red, green, blue, share = to_rgba(color, alpha if isinstance(alpha, int | float) else None)
    except (ValueError, TypeError):
        return background
    rest = 1 - share
    return (
        share * red + rest * background[0],
        share * green + rest * background[1],
        share * blue + rest * background[2],
    )


def page_color(figure: Any) -> Color:
    """Return the figure's background color, which shows around the axes."""
    return blended(figure.get_facecolor(), (1, 1, 1))


def background_of(ax: Any) -> Color:
    """Return the background color of the axes."""
    background = page_color(ax.figure)
    if ax.patch.get_visible() and ax.axison:
        background = blended(ax.patch.get_facecolor(), background)
    return background


def similarity(handle: Look, curve: Look, background: Color) -> int:
    """Return 2 for the same look, 1 for the same color only, 0 for different colors."""
    if distance(handle.main(background), curve.main(background)) >= MIN_DIFFERENCE:
        # A transparent patch in the line's color, as from `fill_between`, matches the line.
        area = handle.opaque is not None and distance(handle.opaque, curve.main(background))
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
    smaller, larger = sorted((one, other))
    return larger <= MAX_WIDTH_RATIO * smaller


def _same_dashes(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and np.allclose(one, other, rtol=0.25)


def look(artist: Any, background: Color, scale: float = 1) -> Look | None:
    """Return the look of a line, a collection or a patch, None for anything else.

    scale: factor by which a legend enlarges markers.
    """
    try:
        if hasattr(artist, "get_marker"):
            return _of_line(artist, background, scale)
        if hasattr(artist, "get_segments"):
            return _of_segments(artist, background)
        if hasattr(artist, "get_offsets"):
            return _of_points(artist, background, scale)
        face = blended(artist.get_facecolor(), background)
        if _stands_out(face, background):
            opaque = blended(artist.get_facecolor(), background, 1)
            return Look(line=face, plain=True, opaque=opaque)
        return Look(line=blended(artist.get_edgecolor(), background), plain=True)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None  # a custom artist without matplotlib's usual methods


def _of_line(line: Any, background: Color, scale: float) -> Look:
    alpha, marker = line.get_alpha(), line.get_marker()
    drawn = str(line.get_linestyle()) not in ("None", " ", "")
    return Look(
        line=blended(line.get_color(), background, alpha),
        dashes=tuple(line._unscaled_dash_pattern[1] or ()) if drawn else None,
        width=line.get_linewidth(),
        marker="" if str(marker) in ("None", " ", "") else str(marker),
        face=blended(line.get_markerfacecolor(), background, alpha),
        edge=blended(line.get_markeredgecolor(), background, alpha),
        size=line.get_markersize() / scale,
    )


def _of_segments(lines: Any, background: Color) -> Look:
    (_, dashes), *_ = lines.get_linestyle()
    colors, width = lines.get_edgecolor(), lines.get_linewidth()[0]
    return Look(
        line=blended(colors[0], background) if len(colors) else background,
        # matplotlib has scaled the dashes by the line width.
        dashes=tuple(length / (width or 1) for length in dashes or ()),
        width=width,
    )


def _of_points(points: Any, background: Color, scale: float) -> Look:
    faces, edges = points.get_facecolor(), points.get_edgecolor()
    return Look(
        marker=str(np.round(points.get_paths()[0].vertices, 3).tolist()),
        face=blended(faces[0], background) if len(faces) else background,
        edge=blended(edges[0], background) if len(edges) else background,
        size=float(np.sqrt(points.get_sizes()[0])) / scale,
    )
