"""How an artist looks: its colours on their ground, its dashes, its markers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Color = tuple[float, float, float]

# Distances between colours, red, green and blue from 0 to 1. Ivory on white is 0.07, yellow 1.
SEEN = 0.15
TOLD_APART = 0.1
WIDER = 1.5  # widths and sizes that differ by less look the same
THIN = 0.2  # points; a thinner line leaves no trace on a screen


@dataclass(frozen=True)
class Look:
    """What is to be seen of a line and its markers. Colours are mixed with the ground.

    dashes: () for a solid line, None for no line. marker: "" for none.
    plain: a patch in a legend, which stands for its colour alone.
    """

    line: Color = (0, 0, 0)
    dashes: tuple[float, ...] | None = None
    width: float = 0
    marker: str = ""
    face: Color = (0, 0, 0)
    edge: Color = (0, 0, 0)
    size: float = 0
    plain: bool = False
    opaque: Color | None = None  # of a plain one: its colour if it let nothing through

    def main(self, ground: Color) -> Color:
        """The colour that one would name."""
        if self.dashes is not None or self.plain:
            return self.line
        return self.face if distance(self.face, ground) >= SEEN else self.edge

    def seen(self, ground: Color) -> bool:
        """Whether it stands out from its ground."""
        line = self.dashes is not None and self.width >= THIN and _stands_out(self.line, ground)
        points = self.marker and self.size >= THIN
        return bool(
            line or (points and any(_stands_out(c, ground) for c in (self.face, self.edge)))
        )


def distance(one: Color, other: Color) -> float:
    return float(np.hypot.reduce(np.subtract(one, other)))


def _stands_out(color: Color, ground: Color) -> bool:
    return distance(color, ground) >= SEEN


def mixed(color: Any, ground: Color, alpha: Any = None) -> Color:
    """The colour as it is seen on its ground; the ground's where there is none."""
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
    """The colour behind the curves of an axis."""
    ground = mixed(ax.figure.get_facecolor(), (1, 1, 1))
    if ax.patch.get_visible() and ax.axison:
        ground = mixed(ax.patch.get_facecolor(), ground)
    return ground


def likeness(handle: Look, curve: Look, ground: Color) -> int:
    """2 for the same look, 1 for the same colour alone, 0 for different colours."""
    if distance(handle.main(ground), curve.main(ground)) >= TOLD_APART:
        # A pale area below a line of the same colour stands for the line.
        area = handle.opaque is not None and distance(handle.opaque, curve.main(ground))
        return int(area is not False and area < TOLD_APART)
    if handle.plain or (handle.dashes is None) != (curve.dashes is None):
        return 1
    if handle.dashes is not None and not (
        _same_dashes(handle.dashes, curve.dashes or ()) and _near(handle.width, curve.width)
    ):
        return 1
    if handle.marker != curve.marker:
        return 1
    same_points = not handle.marker or (
        _near(handle.size, curve.size) and distance(handle.face, curve.face) < TOLD_APART
    )
    return 2 if same_points else 1


def _near(one: float, other: float) -> bool:
    return max(one, other) <= WIDER * min(one, other)


def _same_dashes(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and np.allclose(one, other, rtol=0.25)


def look(artist: Any, ground: Color, scale: float = 1) -> Look | None:
    """The look of a line, a collection or a patch, None for anything else.

    scale: how much larger than on the curve a legend draws markers.
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
        pass  # an artist that is none of matplotlib's own
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
    (_, dashes), *_ = lines._us_linestyles
    colors = lines.get_edgecolor()
    return Look(
        line=mixed(colors[0], ground) if len(colors) else ground,
        dashes=tuple(dashes or ()),
        width=lines.get_linewidth()[0],
    )


def _of_points(points: Any, ground: Color, scale: float) -> Look:
    faces, edges = points.get_facecolor(), points.get_edgecolor()
    return Look(
        marker=str(np.round(points.get_paths()[0].vertices, 3).tolist()),
        face=mixed(faces[0], ground) if len(faces) else ground,
        edge=mixed(edges[0], ground) if len(edges) else ground,
        size=float(np.sqrt(points.get_sizes()[0])) / scale,
    )
