"""Facts about a figure: what a learner's function has drawn, as plain data."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .curve_names import Drawn, Floats, entries, from_legend, from_texts, legends, shown
from .looks import background_of, look, page_color

Facts = dict[str, Any]
MAX_TICKS = 30


def facts(function: Callable[..., object], case: Mapping[str, Any]) -> Facts:
    """Let `function` draw on empty axes, and return facts about the drawing."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    try:
        function(ax, **{**case, "batches": np.asarray(case["batches"])})
        figure.draw_without_rendering()  # computes the layout, in a third of the time of `draw`
        return _facts(figure)
    finally:
        plt.close(figure)


def _facts(figure: Any) -> Facts:
    axes = [ax for ax in figure.axes if ax.get_visible()]
    seen = [{"x": _axis(ax, ax.xaxis), "y": _axis(ax, ax.yaxis)} for ax in axes]
    supers = {"x": figure.get_supxlabel(), "y": figure.get_supylabel()}
    return {
        "curves": [curve for number, ax in enumerate(axes) for curve in _curves(ax, number)],
        "legend": bool(legends(figure)),
        "entries": sum(len(legend.get_texts()) for legend in legends(figure)),
        "axes": seen,
        # Fallback for curves whose axes have no label: the label of twin axes or of the figure.
        **{
            f"{name}label": _first(
                *(ax[name]["label"] for ax in seen),
                label if _is_shown(label, figure) else "",
            )
            for name, label in supers.items()
        },
    }


def _is_shown(label: str, figure: Any) -> bool:
    """Return whether the figure visibly shows a text equal to the label."""
    page = page_color(figure)
    return any(text.get_text() == label and shown(text, page) for text in figure.texts)


def _first(*texts: str) -> str:
    return next((text for text in texts if text.strip()), "")


def _axis(ax: Any, axis: Any) -> Facts:
    """Return an axis's label, limits, scale, and tick texts."""
    page = page_color(ax.figure)
    there = ax.axison and axis.get_visible()
    offset = axis.get_offset_text()
    low, high = sorted(axis.get_view_interval())
    ticks = [
        [float(tick.get_loc()), text.get_text()]
        for tick in axis.majorTicks[:MAX_TICKS]
        for text in (tick.label1, tick.label2)
        # matplotlib keeps an extra tick beyond each end of the axis, but doesn't draw it.
        if there and tick.get_visible() and low <= tick.get_loc() <= high and shown(text, page)
    ]
    return {
        "label": axis.label.get_text() if there and shown(axis.label, page) else "",
        "limits": [float(end) for end in axis.get_view_interval()],
        "scale": str(axis.get_scale()),
        "ticks": ticks,
        "offset": offset.get_text() if there and shown(offset, page) else "",
    }


def _curves(ax: Any, number: int) -> list[Facts]:
    """Return each curve's points in data coordinates, and the texts that may name it."""
    background = background_of(ax)
    named = entries(ax.figure, background)
    drawn = [
        Drawn(seen, points, _on_screen(ax, artist, points))
        for artist, points in _artists(ax)
        if (seen := look(artist, background)) is not None
    ]
    there = _is_on_page(ax)
    visible = [curve for curve in drawn if there and curve.look.seen(background)]
    beside, between = from_texts(ax, visible, background)
    found = []
    for curve in drawn:
        best, texts = from_legend(curve.look, named, background)
        at = next((i for i, other in enumerate(visible) if other is curve), None)
        found.append(
            {
                "x": curve.points[:, 0].tolist(),
                "y": curve.points[:, 1].tolist(),
                "axes": number,
                "seen": at is not None,
                "legend": texts,
                "same_look": best == 2,
                "texts": beside[at] if at is not None else [],
                "between": between[at] if at is not None else [],
            }
        )
    return found


def _is_on_page(ax: Any) -> bool:
    """Return whether the axes are large enough to be seen, and inside the figure."""
    place = ax.get_position()
    size = min(place.width, place.height)
    return bool(size > 0.05 and place.x0 < 1 and place.y0 < 1 and place.x1 > 0 and place.y1 > 0)


def _artists(ax: Any) -> list[tuple[Any, Floats]]:
    """Return each artist that may be a curve, with its finite points, at least two."""
    found = [
        *((line, np.column_stack(line.get_data(orig=False))) for line in ax.get_lines()),
        *((dots, dots.get_offsets()) for dots in ax.collections),
        *((lines, part) for lines in ax.collections for part in _segments(lines)),
    ]
    curves = []
    for artist, points in found:
        if artist.get_visible() and _in_data(artist, ax):
            points = np.ma.filled(np.ma.asarray(points, dtype=float), np.nan)
            points = points[np.isfinite(points).all(axis=1)]
            if len(points) > 1:
                curves.append((artist, points))
    return curves


def _segments(collection: Any) -> list[Floats]:
    """Return a collection's curves; join a chain of segments, omit separate ones."""
    pieces = list(collection.get_segments()) if hasattr(collection, "get_segments") else []
    if pieces and all(len(piece) == 2 for piece in pieces):
        starts, ends = np.array([p[0] for p in pieces]), np.array([p[1] for p in pieces])
        if np.allclose(starts[1:], ends[:-1]):
            return [np.concatenate([starts, ends[-1:]])]
        return []  # separate segments such as stems or error bars aren't a curve
    return pieces


def _in_data(artist: Any, ax: Any) -> bool:
    """Return whether an artist uses data coordinates, unlike `axhline` and `axvline`."""
    is_points = hasattr(artist, "get_offset_transform") and not hasattr(artist, "get_segments")
    transform = artist.get_offset_transform() if is_points else artist.get_transform()
    return bool(transform == ax.transData)


def _on_screen(ax: Any, artist: Any, points: Floats) -> Floats:
    """Return the points in pixels, including the corners of step plots."""
    from matplotlib.cbook import STEP_LOOKUP_MAP

    style = artist.get_drawstyle() if hasattr(artist, "get_drawstyle") else "default"
    if style != "default":
        points = np.column_stack(STEP_LOOKUP_MAP[style](*points.T))
    screen = np.asarray(ax.transData.transform(points))
    seen: Floats = screen[np.isfinite(screen).all(axis=1)]
    return seen
