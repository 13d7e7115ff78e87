"""Roofline plots with matplotlib.

Functions draw on the given axes and return them. Lines are labeled directly instead of in a legend,
each label at the nearest place where it covers nothing. Dashes and hatches distinguish lines in
grayscale, and the colors with every common form of color blindness.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.text import Annotation, Text
from matplotlib.ticker import EngFormatter, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

from rooflib import catalog
from rooflib.catalog import read_toml
from rooflib.hardware import Chip, positive
from rooflib.quantities import text
from rooflib.work import Times, Work

PALETTE: dict[str, str] = {name: light for name, (light, _) in read_toml("palette.toml").items()}
INK, MUTED, GRID = (PALETTE[name] for name in ("ink", "muted", "line"))
SERIES = tuple(PALETTE[name] for name in ("blue", "rust", "green", "violet", "ochre"))
ZONES = tuple(PALETTE[f"{name}-zone"] for name in ("rust", "ochre", "green", "blue", "violet"))
TINTS = (ZONES[3], ZONES[0], ZONES[2], ZONES[4], ZONES[1])  # fills that match the lines of SERIES
DASHES = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1.5, 1, 1.5, 1, 1.5)))
HATCHES = ("", "///", "---", "xxx", "\\\\\\")  # of lines: SVG draws each dot with many

# Places of a label to try, nearest first: (right, up) in points.
NEAREST = sorted(
    ((right, up) for right in range(-240, 241, 8) for up in range(-160, 161, 4)),
    key=lambda shift: math.hypot(*shift),
)

STYLE: dict[Any, Any] = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), MUTED),
    **dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.axisbelow", "axes.grid"), True),
    "text.color": INK,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "font.size": 10.5,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 2.0,
    # Keep text as text: screen readers, search and page styles need it.
    "svg.fonttype": "none",
    "svg.hashsalt": "rooflib",
}


def use_style() -> None:
    """Apply the course's style to all following figures; draw SVG in notebooks."""
    plt.rcParams.update(STYLE)
    if "IPython" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg")  # type: ignore[no-untyped-call]


def axes(width: float = 5.4, height: float = 3.6) -> Axes:
    """Create axes in a new figure in the course's style; sizes are in inches.

    The default width keeps labels legible when the figure is scaled down on a phone.
    """
    with plt.rc_context(STYLE):
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def roofline(
    ax: Axes,
    ceilings: str | Chip | Mapping[str, float],
    slopes: Mapping[str, float] | None = None,
    points: Mapping[str, Work | float | tuple[float, float]] | None = None,
    span: tuple[float, float] | None = None,
) -> Axes:
    """Draw attainable FLOP/s against arithmetic intensity, both on logarithmic axes.

    Parameters
    ----------
    ceilings
        A chip or its name, with the types that the points compute in as ceilings; or peak FLOP/s by
        label.
    slopes
        Bandwidth in bytes/s by label; of a chip its HBM.
    points
        By label: work, drawn on the lowest roof of the types that it computes in; an arithmetic
        intensity in FLOP/byte, on the lowest of all; or a pair (intensity, FLOP/s) for a measured
        point.
    span
        Intensities at the left and right edge; by default, wide enough for all ridges and points.
    """
    points = points or {}
    if isinstance(ceilings, (str, Chip)):
        chip, works = catalog.chip(ceilings), [at for at in points.values() if isinstance(at, Work)]
        kinds = [kind for work in works for kind in work.types]
        ceilings = {kind: chip[kind] for kind in kinds or list(chip.rates)[:1]}
        slopes = slopes or {"HBM": chip["HBM"]}
    if not ceilings or not slopes:
        raise ValueError("a roofline needs at least one ceiling and one slope")
    for what, rates in (("ceilings", ceilings), ("slopes", slopes)):
        for name in rates:
            positive(f"{what}[{name!r}]", rates[name])
    slowest, steepest = min(slopes.values()), max(slopes.values())
    lowest, top = min(ceilings.values()), max(ceilings.values())
    spots: dict[str, tuple[float, float]] = {}
    for name, at in points.items():
        x: Any = at.intensity if isinstance(at, Work) else at
        for part in at if isinstance(at, tuple) else (x,):
            positive(f"points[{name!r}]", part)
        own = [ceilings[kind] for kind in getattr(at, "types", ()) if kind in ceilings]
        spots[name] = at if isinstance(at, tuple) else (x, min(*own or [lowest], x * slowest))
    shown = [peak / width for peak in ceilings.values() for width in slopes.values()]
    shown += [x for x, _ in spots.values()]
    decades = np.floor(np.log10(min(shown) / 2.5)), np.ceil(np.log10(max(shown) * 2.5))
    low, high = span or (10 ** decades[0], 10 ** decades[1])
    floor = min([low * slowest, *(y / 2 for _, y in spots.values())])
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, top * 2.5))
    ax.set(xlabel="arithmetic intensity (FLOP/byte)", ylabel="attainable FLOP/s")
    ax.yaxis.set(major_formatter=EngFormatter(sep=""), minor_locator=NullLocator())
    ax.xaxis.set(major_formatter=lambda x, _: f"{x:,.10g}", minor_locator=NullLocator())
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    movable = []
    for i, (name, width) in enumerate(slopes.items()):
        ends = np.array([max(low, floor / width), top / width])
        look: dict[str, Any] = {"color": SERIES[i % 5]}
        ax.plot(ends, ends * width, linestyle=DASHES[i % 5], **look)
        across, up = np.ptp(ax.transData.transform(np.column_stack([ends, ends * width])), axis=0)
        look |= {"rotation": math.degrees(math.atan2(up, across)), "rotation_mode": "anchor"}
        x = ends[0] * (ends[1] / ends[0]) ** 0.55
        _note(ax, f"{name}: {text(width, 'B/s')}", (x, x * width), (-3, 3), ha="center", **look)
    for i, (name, peak) in enumerate(ceilings.items()):
        look = {"color": SERIES[(len(slopes) + i) % 5] if i else INK}
        ax.plot([peak / steepest, high], [peak, peak], linestyle=DASHES[i % 5], **look)
        unit = getattr(peak, "unit", "FLOP/s")  # of int8, a chip's is OP/s
        label = f"{name}: {text(peak, unit)}"
        movable.append(_note(ax, label, (high, peak), (-2, 7), ha="right", **look))
    for name, spot in sorted(spots.items(), key=lambda named: named[1], reverse=True):
        ax.plot(*spot, "o", color=INK, markersize=6, zorder=4)
        # Start below and to the right of the point: if it lies on the roof, no lines run there.
        movable.append(_note(ax, name, spot, (8, -12), leader=MUTED, va="center"))
    _place(ax, movable)
    return ax


def throughput(
    ax: Axes,
    x: ArrayLike,
    curves: Mapping[str, ArrayLike],
    ceiling: float | None = None,
) -> Axes:
    """Draw a labeled line for each of `curves` over `x`, all of shape [n].

    `ceiling` is a peak in FLOP/s, drawn as a thin line.
    """
    along = np.asarray(x, dtype=float)
    lines = {name: np.asarray(values, dtype=float) for name, values in curves.items()}
    for i, y in enumerate(lines.values()):
        ax.plot(along, y, color=SERIES[i % 5], linestyle=DASHES[i % 5])
    ax.set_xlim(along[0], along[-1])
    if ax.get_yscale() == "linear":
        ax.set_ylim(0, 1.12 * max([ceiling or 0.0, *map(np.max, lines.values())]))
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    if ceiling is not None:
        ax.axhline(ceiling, color=MUTED, linewidth=1)
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "right"}
        _note(ax, f"peak: {text(ceiling, 'FLOP/s')}", (1, ceiling), (-2, 3), color=MUTED, **where)
    # Label each line where it is farthest from all others, and from the edge below.
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    heights = [ax.transData.transform(np.column_stack([along, y]))[:, 1] for y in lines.values()]
    movable = []
    for i, (name, y) in enumerate(lines.items()):
        others = [np.full(len(y), ax.bbox.y0), *heights[:i], *heights[i + 1 :]]
        j = int(np.argmax(np.min(np.abs(np.array(others) - heights[i]), axis=0)))
        look: dict[str, Any] = {"color": SERIES[i % 5], "va": "center"}
        ax.plot(along[j], y[j], "o", color=look["color"], markersize=4)
        movable.append(_note(ax, name, (along[j], y[j]), (12, 0), leader=look["color"], **look))
    _place(ax, movable)
    return ax


def time_bars(ax: Axes, times: Mapping[str, Times]) -> Axes:
    """Draw the times at the roofs as bars, with both bounds, for each work.

    `times` are those of plain numbers, not arrays, by label.
    """
    roofs = list(dict.fromkeys(roof for each in times.values() for roof in each.times))
    y, ticks = 0.0, {}
    for name, each in times.items():
        at: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        _note(ax, name, (0, y - 0.62), (0, 0), fontweight="bold", **at)
        for roof, time in each.times.items():
            i, seconds = roofs.index(roof), float(time)
            style: dict[str, Any] = {"facecolor": TINTS[i % 5], "edgecolor": SERIES[i % 5]}
            ax.barh(y, seconds, 0.72, hatch=HATCHES[i % 5], linewidth=1.2, **style)
            _note(ax, text(seconds, "s"), (seconds, y), (5, 0), va="center")
            ticks[y] = roof
            y += 1
        low, high = float(each.lower), float(each.upper)
        ax.plot([low, high], [y, y], color=INK, linewidth=1.6, marker="|", markersize=11)
        label = " to ".join(dict.fromkeys([text(low, "s"), text(high, "s")]))
        _note(ax, label, (high, y), (5, 0), va="center")
        ticks[y] = "bounds"
        y += 2
    ax.set_yticks(list(ticks), list(ticks.values()))
    # The space to the right is for the label of the largest upper bound.
    ax.set(ylim=(y - 1.3, -1.1), xlim=(0, 1.55 * max(float(t.upper) for t in times.values())))
    ax.xaxis.set_major_formatter(EngFormatter(unit="s"))
    ax.locator_params(axis="x", nbins=4)
    ax.set_xlabel("time")
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    return ax


def _note(
    ax: Axes,
    label: str,
    point: tuple[float, float],
    shift: tuple[float, float],
    leader: str | None = None,
    **look: Any,
) -> Annotation:
    """Write `label` at `point`, shifted by so many points, with a line of a color to it."""
    usual: dict[str, Any] = {"color": INK, "fontsize": STYLE["font.size"]}
    if leader:
        arrow = {"arrowstyle": "-", "color": leader, "linewidth": 0.7, "shrinkB": 2}
        usual["arrowprops"] = arrow | {"relpos": (0, 0.5)}
    # Labels that move must not shrink the axes.
    usual |= {"textcoords": "offset points", "in_layout": False}
    return ax.annotate(label, point, shift, **usual | look)


def _place(ax: Axes, movable: Sequence[Annotation]) -> None:
    """Move each label to the nearest place where it covers no line, no dot and no other label."""
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    drawn: list[Any] = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    lines = [line for line in drawn if len(line) > 1]
    taken = [Bbox([line.vertices[0]] * 2).padded(5) for line in drawn if len(line) == 1]
    for note in ax.texts:
        box = Text.get_window_extent(note)
        if note.get_rotation():  # only its diagonal
            lines.append(Path([box.min, box.max]))
        elif note not in movable:
            taken.append(box)
    for note in movable:
        start, point = Text.get_window_extent(note).padded(1), ax.transData.transform(note.xy)
        others = [box for box in taken if not box.contains(*point)]
        for right, up in NEAREST:
            box = start.translated(*np.multiply((right, up), ax.figure.dpi / 72))
            leader = Path(np.array([point, (box.x0, (box.y0 + box.y1) / 2)]))
            inside = all(ax.bbox.contains(*corner) for corner in box.corners())
            if (
                inside
                and not box.count_overlaps(taken)
                and not any(line.intersects_bbox(box, filled=False) for line in lines)
                and not (note.arrow_patch and any(map(leader.intersects_bbox, others)))
            ):
                note.set_position(tuple(np.add(note.get_position(), (right, up))))
                taken.append(box)
                lines += [leader] if note.arrow_patch else []
                break
