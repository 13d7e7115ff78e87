"""Roofline plots with matplotlib.

Functions draw on the given axes and return them. Lines are labeled directly instead of in a legend;
each label has a list of offsets, and takes the first at which it covers nothing. Dashes and hatches
distinguish lines in grayscale, and the colors with every common form of color blindness.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import EngFormatter, NullLocator
from matplotlib.transforms import Affine2D

from rooflib.catalog import read_toml
from rooflib.checks import instance, short
from rooflib.hardware import Chip, rate
from rooflib.quantities import text
from rooflib.work import Times, Work

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from numpy.typing import ArrayLike

PALETTE: dict[str, str] = {name: light for name, (light, _) in read_toml("palette.toml").items()}
INK, MUTED, GRID = (PALETTE[name] for name in ("ink", "muted", "line"))
SERIES = tuple(PALETTE[name] for name in ("blue", "rust", "green", "violet", "ochre"))
ZONES = tuple(PALETTE[f"{name}-zone"] for name in ("rust", "ochre", "green", "blue", "violet"))
TINTS = (ZONES[3], ZONES[0], ZONES[2], ZONES[4], ZONES[1])  # fills that match the lines of SERIES
DASHES = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1.5, 1, 1.5, 1, 1.5)))
HATCHES = ("", "///", "---", "xxx", "\\\\\\")  # of lines: SVG draws each dot with many

# Offsets of a label to try, best first: (right, up) in points.
_GRID = [(right, up) for right in range(-240, 241, 8) for up in range(-160, 161, 4)]
ANYWHERE = sorted(_GRID, key=lambda offset: math.hypot(*offset))
UP_OR_DOWN = [offset for offset in ANYWHERE if offset[0] == 0]
LEFTWARDS = [(-left, up) for up in (0, -22) for left in range(0, 200, 8)]

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
    ceilings: Chip | Mapping[str, float],
    slopes: Mapping[str, float] | None = None,
    points: Mapping[str, Work | float | tuple[float, float]] | None = None,
    regions: Sequence[str] = (),
    span: tuple[float, float] | None = None,
) -> Axes:
    """Draw attainable FLOP/s against arithmetic intensity, both on logarithmic axes.

    Parameters
    ----------
    ceilings
        A chip, with the types that the points compute in as ceilings; or peak FLOP/s by label.
    slopes
        Bandwidth in bytes/s by label; of a chip its HBM.
    points
        By label: work, or an arithmetic intensity in FLOP/byte, drawn on the lowest roof at that
        intensity; or a pair (intensity, FLOP/s) for a measured point.
    regions
        Labels of the zones between the ridge points of the first ceiling, from left to right: one
        more than there are slopes. Empty for no zones.
    span
        Intensities at the left and right edge; by default, wide enough for all ridges and points.
    """
    points = {} if points is None else instance("points", points, Mapping, "a mapping from label")
    if isinstance(ceilings, Chip):
        chip, works = ceilings, [at for at in points.values() if isinstance(at, Work)]
        kinds = [kind for work in works for kind in work.compute.split(" and ")]
        ceilings = {kind: chip[kind] for kind in kinds or list(chip.rates)[:1]}
        slopes = slopes or {"HBM": chip["HBM"]}
    peaks, widths = _rates("ceilings", ceilings), _rates("slopes", slopes)
    if not peaks or not widths:
        raise ValueError("a roofline needs at least one ceiling and one slope")

    def height(x: float) -> float:
        return min([*peaks.values(), *(x * width for width in widths.values())])

    spots = {name: _position(f"points[{name!r}]", at, height) for name, at in points.items()}
    top, steepest = max(peaks.values()), max(widths.values())
    ridges = [peak / width for peak in peaks.values() for width in widths.values()]
    shown = [*ridges, *(x for x, _ in spots.values())]
    decades = np.floor(np.log10(min(shown) / 2.5)), np.ceil(np.log10(max(shown) * 2.5))
    low, high = span or (10 ** decades[0], 10 ** decades[1])
    floor = min([low * min(widths.values()), *(y / 2 for _, y in spots.values())])
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, top * 2.5))
    ax.set(xlabel="arithmetic intensity (FLOP/byte)", ylabel="attainable FLOP/s")
    ax.yaxis.set(major_formatter=EngFormatter(sep=""), minor_locator=NullLocator())
    ax.xaxis.set(major_formatter=lambda x, _: f"{x:,.10g}", minor_locator=NullLocator())
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    labels: list[tuple[Annotation, Any]] = []
    if regions:
        first = next(iter(peaks.values()))
        edges = [low, *sorted(first / width for width in widths.values()), high]
        labels += [(zone, ANYWHERE) for zone in _zones(ax, edges, regions)]
    for i, (name, width) in enumerate(widths.items()):
        ends = np.array([max(low, floor / width), top / width])
        style: dict[str, Any] = {"color": SERIES[i % 5]}
        ax.plot(ends, ends * width, linestyle=DASHES[i % 5], **style)
        across, up = np.ptp(ax.transData.transform(np.column_stack([ends, ends * width])), axis=0)
        angle, x = math.atan2(up, across), ends[0] * (ends[1] / ends[0]) ** 0.55
        style |= {"rotation": math.degrees(angle), "rotation_mode": "anchor", "ha": "center"}
        note = _note(ax, f"{name}: {text(width, 'B/s')}", (x, x * width), (-3, 3), **style)
        # Positions along one side of the slope, then along the other side.
        offsets = [(along, side) for side in (0, -17) for _, along in UP_OR_DOWN]
        labels.append((note, Affine2D().rotate(angle).transform(offsets)))
    for i, (name, peak) in enumerate(peaks.items()):
        style = {"color": SERIES[(len(widths) + i) % 5] if i else INK}
        ax.plot([peak / steepest, high], [peak, peak], linestyle=DASHES[i % 5], **style)
        unit = getattr(ceilings[name], "unit", "") or "FLOP/s"  # of int8, a chip's is OP/s
        label = f"{name}: {text(peak, unit)}"
        labels.append((_note(ax, label, (high, peak), (-2, 7), ha="right", **style), LEFTWARDS))
    for name, spot in sorted(spots.items(), key=lambda named: named[1], reverse=True):
        ax.plot(*spot, "o", color=INK, markersize=6, zorder=4)
        # Start below and to the right of the point: if it lies on the roof, no lines run there.
        labels.append((_note(ax, name, spot, (8, -12), leader=MUTED, va="center"), ANYWHERE))
    _place(ax, labels)
    return ax


def throughput(
    ax: Axes,
    x: ArrayLike,
    curves: Mapping[str, ArrayLike],
    ceiling: float | None = None,
    xlabel: str = "B (tokens)",
    ylabel: str = "attainable FLOP/s",
) -> Axes:
    """Draw attained FLOP/s against a swept dimension, one labeled line per curve.

    `x` holds the values of the swept dimension, shape [n]; `curves` holds arrays of shape [n] by
    label. `ceiling` is the peak, drawn as a thin line. Without any values of x the axes stay empty.
    """
    along = np.asarray(x, dtype=float)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if not along.size:
        return ax
    lines = {name: np.asarray(values, dtype=float) for name, values in curves.items()}
    for i, y in enumerate(lines.values()):
        ax.plot(along, y, color=SERIES[i % 5], linestyle=DASHES[i % 5])
    ax.set_xlim(along[0], along[-1])
    if ax.get_yscale() == "linear":
        ax.set_ylim(0, 1.12 * max([ceiling or 0.0, *map(np.max, lines.values())]))
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    labels: list[tuple[Annotation, Any]] = []
    if ceiling is not None:
        ax.axhline(ceiling, color=MUTED, linewidth=1)
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "right"}
        _note(ax, f"peak: {text(ceiling, 'FLOP/s')}", (1, ceiling), (-2, 3), color=MUTED, **where)
    gaps = np.diff(sorted(y[-1] for y in lines.values())) / np.ptp(ax.get_ylim())
    close_together = gaps.size > 0 and gaps.min() < 0.02
    heights = iter(np.linspace(0.72, 0.3, len(lines)))
    # Lines that end close together are labeled on their rising part, where they are farther apart.
    # The highest line is labeled where it reaches 72% of its maximum, the lowest at 30%.
    for name in sorted(lines, key=lambda name: -float(lines[name].sum())):
        y, color = lines[name], SERIES[list(lines).index(name) % 5]
        look: dict[str, Any] = {"color": color, "va": "center"}
        if close_together:
            i = int(np.argmax(y >= next(heights) * y.max()))
            ax.plot(along[i], y[i], "o", color=color, markersize=4)
            labels.append((_note(ax, name, (along[i], y[i]), (12, 0), color, **look), ANYWHERE))
        else:
            look |= {"xycoords": ("axes fraction", "data"), "in_layout": True}
            labels.append((_note(ax, name, (1, float(y[-1])), (6, 0), **look), UP_OR_DOWN))
    _place(ax, labels)
    return ax


def time_bars(ax: Axes, times: Mapping[str, Times]) -> Axes:
    """Draw the times at the roofs as bars, with both bounds, for each work.

    `times` are those of plain numbers, not arrays, by label.
    """
    if not instance("times", times, Mapping, "a mapping from label to Times"):
        raise ValueError("times must not be empty; got {}")
    for name, each in times.items():
        instance(f"times[{name!r}]", each, Times, "a Times")
        if any(np.size(time) != 1 for time in each.times.values()):
            raise ValueError(f"times[{name!r}] must hold plain numbers, not arrays")
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


def _rates(name: str, given: Any) -> dict[str, float]:
    instance(name, given, Mapping, "a mapping from label to rate")
    return {label: float(rate(f"{name}[{label!r}]", given[label])) for label in given}


def _position(name: str, at: Any, height: Callable[[float], float]) -> tuple[float, float]:
    """Return where a point lies: on the roof, unless it has a height of its own."""
    if isinstance(at, tuple):
        if len(at) != 2:
            raise ValueError(f"{name} must be a pair (intensity, FLOP/s); got {short(at)}")
        x, y = (float(rate(f"{name}[{i}]", at[i])) for i in (0, 1))
        return x, y
    x = float(rate(name, at.intensity if isinstance(at, Work) else at))
    return x, height(x)


def _zones(ax: Axes, edges: Sequence[float], labels: Sequence[str]) -> Iterator[Annotation]:
    """Color the zones between the edges, and write their labels at the bottom."""
    if len(labels) != len(edges) - 1:
        wanted = f"{len(edges) - 1} labels, one more than slopes"
        raise ValueError(f"regions must hold {wanted}; got {len(labels)}")
    for i, label in enumerate(labels):
        ax.axvspan(edges[i], edges[i + 1], color=ZONES[i % 5], zorder=0, linewidth=0)
        middle = float(np.sqrt(edges[i] * edges[i + 1]))
        look: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center"}
        note = _note(ax, label, (middle, 0.03), (0, 0), va="bottom", **look)
        left, right = ax.transData.transform([(edges[i], 1), (edges[i + 1], 1)])[:, 0]
        if Text.get_window_extent(note).width > right - left:
            # In a zone narrower than its label, put each word on its own line.
            note.set_text(label.replace(" ", "\n").replace("-", "-\n"))
        yield note


def _note(
    ax: Axes,
    label: str,
    point: tuple[float, float],
    offset: tuple[float, float],
    leader: str | None = None,
    **style: Any,
) -> Annotation:
    """Write `label` at `point`, shifted by `offset` in points, with a line of a color to it."""
    usual: dict[str, Any] = {"color": INK, "fontsize": STYLE["font.size"]}
    if leader:
        arrow = {"arrowstyle": "-", "color": leader, "linewidth": 0.7, "shrinkB": 2}
        usual["arrowprops"] = arrow
    # Labels that move must not shrink the axes.
    usual |= {"textcoords": "offset points", "in_layout": False}
    return ax.annotate(label, point, offset, **usual | style)


def _place(ax: Axes, labels: Sequence[tuple[Annotation, Any]]) -> None:
    """Move each label by its first offset at which neither it nor its leader covers anything.

    If there is none, a label may cover lines, and only then other labels.
    """
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    movable = [note for note, _ in labels]
    lines = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    dot = np.array([(-5, -5), (5, 5), (-5, 5), (5, -5)])
    taken = [_outline(note) for note in ax.texts if note not in movable]
    taken += [Path(dot + line.vertices) for line in lines if len(line) == 1]
    scale = ax.figure.dpi / 72
    for note, offsets in labels:
        room = (ax.figure.bbox if note.get_in_layout() else ax.get_window_extent()).padded(1)
        start, tip = _outline(note).vertices, ax.transData.transform(note.xy)
        for covered in ([*taken, *lines], taken, []):
            for offset in offsets:
                box = start + np.multiply(offset, scale)
                middle = (box[0] + box[2]) / 2
                # The leader ends before its own dot.
                end = tip + (middle - tip) * (7 / (np.hypot(*(middle - tip)) or 1))
                own = [Path(box), *([Path([middle, end])] if note.arrow_patch else [])]
                if (
                    all(room.contains(*corner) for corner in box)
                    and not any(own[0].intersects_path(other) for other in covered)
                    and not any(own[-1].intersects_path(other) for other in taken if covered)
                ):
                    break
            else:
                continue
            note.set_position(tuple(np.add(note.get_position(), offset)))
            taken += own
            break


def _outline(note: Text) -> Path:
    """Return the outline of a text in screen coordinates, including its rotation."""
    angle = note.get_rotation()
    note.set_rotation(0)
    corners = Text.get_window_extent(note).padded(1).corners()[[0, 1, 3, 2, 0]]
    note.set_rotation(angle)
    anchor = note.get_transform().transform(note.get_position())
    return Path(Affine2D().rotate_deg_around(anchor[0], anchor[1], angle).transform(corners))
