"""The time figure: times of FLOPs and bytes, bounds, and the idle fraction."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.bounds import bounds, bytes_misfit, fits
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import FAINT, INKED, LINE, SERIES_COLORS, box, label, line
from roofkit.figures.options import OWN, bandwidths, capacities, decades, names, own_names, peaks
from roofkit.words import _


def formulas() -> dict[str, str]:
    never = _("At the lower bound the compute units never wait.")
    waits = _("At the lower bound the compute units wait for {idle} of the time.")
    return {
        "peak": "peaks[chip]",
        "bandwidth": "bandwidths[chip]",
        **bounds(),
        **fits("bytes", words=bytes_misfit()),
        "idle": "rl.idle(t_math, lower)",
        # The axis is a little longer than the upper bound, and has about four ticks; their distance
        # is 1, 2 or 5 times a power of ten.
        "longest": "1.1 * upper",
        "power": "exp10(floor(log10(longest / 4)))",
        "ratio": "longest / 4 / power",
        "tick": "power * either(ratio < sqrt(2), 1, either(ratio < sqrt(10), 2, "
        "either(ratio < sqrt(50), 5, 10)))",
        "waiting": f"[{quoted(never)}, {quoted(waits)}][1 * (idle > 0)]",
    }


# Pixels.
LEFT, RIGHT = 68, 14
BAR = 34
TICK_ROOM = 50
ROWS = {"compute": 24, "HBM": 70, "bounds": 116}
"""Vertical centers of the rows."""
AXIS = 158
HEIGHT = AXIS + 42


@in_languages
def time() -> Figure:
    """Draw T_math, T_comms and both bounds for FLOPs and bytes on a chip in bf16.

    Controls: flops, bytes, chip.
    """
    return Figure(
        name="time",
        title=_("Move the FLOPs, the bytes and the chip: which of the two takes longer?"),
        controls=[
            Slider("flops", _("operations"), decades(9, 15), 1e12, "FLOP"),
            Slider("bytes", _("bytes from and to HBM"), decades(6, 12), 2e9, "B"),
            Choice("chip", _("chip"), [*names(), OWN], "H100 SXM", own_names()),
        ],
        given={"peaks": peaks(), "bandwidths": bandwidths(), "capacity": capacities()},
        own={"peaks": "peak", "bandwidths": "bandwidth", "capacity": "memory"},
        formulas=formulas(),
        numbers=[
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_comms", "s"),
            Number("lower", _("lower bound"), "s"),
            Number("upper", _("upper bound"), "s"),
            Number("idle", _("idle fraction"), "%"),
        ],
        says=_(
            "On {chip}, arithmetic of {flops} takes {t_math} and traffic of {bytes} takes "
            "{t_comms}: {binding} binds. {bounds} {waiting}{fits}"
        ),
        height=HEIGHT,
        marks=marks,
    )


def x(seconds: str) -> str:
    """Return the formula of the x position of a time."""
    return f"({LEFT} + {_length(seconds)})"


def _length(seconds: str) -> str:
    return f"(wide - {LEFT + RIGHT}) * ({seconds}) / longest"


def marks() -> Sequence[Mark]:
    words = {"compute": _("compute"), "HBM": "HBM", "bounds": _("bounds")}
    names = [
        label(LEFT - 8, y + 4, quoted(words[row]), text_anchor="'end'", name="rows")
        for row, y in ROWS.items()
    ]
    bars = [*_bar("t_math", ROWS["compute"], 0), *_bar("t_comms", ROWS["HBM"], 1)]
    return [*_axis(), *names, *bars, *_bounds()]


def _axis() -> list[Mark]:
    place = {"each": "floor(longest / tick) + 1", "where": {"place": x("i * tick")}}
    # If there is no room for all numbers, show every second one.
    shown = f"({_length('tick')} > {TICK_ROOM}) + (mod(i, 2) == 0)"
    words = {"text_anchor": "'middle'", "name": "ticks", "shown": shown, **place}
    return [
        line("place", ROWS["compute"] - BAR / 2, "place", AXIS, LINE, stroke_width=0.6, **place),
        line(LEFT, AXIS, f"wide - {RIGHT}", AXIS, FAINT, stroke_width=1),
        label("place", AXIS + 16, "text(i * tick, 's')", **words),
        label(
            f"({LEFT} + wide - {RIGHT}) / 2", AXIS + 34, quoted(_("time")), text_anchor="'middle'"
        ),
    ]


def _bar(name: str, y: float, series: int) -> list[Mark]:
    """Draw a time as a bar from zero, with its number inside if the bar is long."""
    color = SERIES_COLORS[series]
    inside = f"{name} > 0.6 * upper"
    look = {"stroke": color, "fill_opacity": 0.35, "rx": 0, "name": f"bar-{name}"}
    return [
        box(LEFT, y - BAR / 2, _length(name), BAR, color, **look),
        label(
            f"{x(name)} + either({inside}, -6, 6)",
            y + 4,
            f"text({name}, 's')",
            text_anchor=f"either({inside}, 'end', 'start')",
            name=f"words-{name}",
        ),
    ]


def _bounds() -> list[Mark]:
    """Draw a line from the lower bound to the upper, with both numbers below it."""
    y = ROWS["bounds"]
    look = {"stroke_width": 2}
    ends = [
        line(x(end), y - 8, x(end), y + 8, INKED, name=end, **look) for end in ("lower", "upper")
    ]
    words = said(_("{lower} to {upper}"), lower="text(lower, 's')", upper="text(upper, 's')")
    return [
        line(x("lower"), y, x("upper"), y, INKED, stroke_width=2, name="between"),
        *ends,
        label(f"{x('upper')} + 4", y + 24, words, text_anchor="'end'", name="words-bounds"),
    ]
