"""The one-roof figure: a chip, an operation to drag, and what limits it."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures import roofs
from roofkit.figures.engine.axes import LogScale
from roofkit.figures.engine.base_figure import Handle
from roofkit.figures.engine.controls import Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted
from roofkit.figures.engine.shapes import FAINT, SERIES_COLORS, dot, label
from roofkit.figures.options import decades
from roofkit.words import _
from rooflib import dot as dot_product
from rooflib import matmul


def formulas() -> dict[str, str]:
    memory = _("Memory holds it back: the compute units wait for {idle} of the time.")
    arithmetic = _("Arithmetic holds it back: it can be no faster on this chip.")
    return {
        **roofs.FORMULAS,
        "idle": "1 - share",
        "verdict": f"[{quoted(memory)}, {quoted(arithmetic)}][1 * (intensity >= ridge)]",
    }


HIGH = 320
X = LogScale(0.1, 1e4, "42", "wide - 26")
Y = LogScale(1e11, 1e16, str(HIGH - 44), "32")
SMALL, LARGE = 32, 1024
# Intensities of three operations, as rooflib counts them.
KNOWN = {
    "dot": float(dot_product(10**6).intensity),
    "small": float(matmul(SMALL, 4096, 16384).intensity),
    "large": float(matmul(LARGE, 4096, 16384).intensity),
}


@in_languages
def one_roof() -> Figure:
    """Draw a chip's roof in bf16, and an operation to drag under it.

    Controls: intensity (FLOP/byte), chip.
    """
    return Figure(
        name="one-roof",
        title=_("Choose a chip and drag the operation: what holds it back?"),
        controls=[
            Slider("intensity", _("arithmetic intensity"), decades(-1, 4), 5, "FLOP/byte"),
            roofs.chip_choice(),
        ],
        given=roofs.chip_tables(),
        own=roofs.OWN_TABLES,
        formulas=formulas(),
        numbers=[
            Number("reached", _("reached, at best"), "FLOP/s"),
            Number("share", _("of the peak"), "%"),
            Number("idle", _("compute units idle"), "%"),
            Number("ridge", _("the roof bends at"), "FLOP/byte"),
        ],
        says=_("At {intensity} the operation reaches {reached} at best on {chip}. {verdict}"),
        height=HIGH,
        marks=marks,
        handles=[
            Handle(
                _("the operation"),
                X.inside("intensity"),
                Y.inside("reached"),
                {"intensity": X.back("to_x")},
                "intensity",
                X.low,
                X.high,
                "text(intensity, 'FLOP/byte')",
            )
        ],
    )


def marks() -> Sequence[Mark]:
    plot, ridge = roofs.RooflinePlot(X, Y), X.inside("ridge")
    names = {
        "dot": _("dot product"),
        "small": _("matmul, batch {size}").format(size=f"{SMALL:,}"),
        "large": _("batch {size}").format(size=f"{LARGE:,}"),
    }
    known: list[Mark] = []
    for row, (name, intensity) in enumerate(KNOWN.items()):
        x, y = X.at(repr(intensity)), Y.inside(f"min(ceiling, bandwidth * {intensity!r})")
        known.append(dot(x, y, FAINT, 4, name=f"known-{row}"))
        # The label is right of the slope, or centered under the ceiling.
        anchor = f"either({intensity!r} < ridge, 'start', 'middle')"
        beside = f"{x} + either({intensity!r} < ridge, 7, 0)"
        known.append(
            label(beside, f"{y} + 20", quoted(names[name]), fill=FAINT, text_anchor=anchor)
        )
    # Each zone's name, in two lines.
    memory = _("memory\nholds it back").split("\n")
    arithmetic = _("arithmetic\nholds it back").split("\n")
    return [
        # The zones' names avoid the lines: one is above the slope, one below the ceiling.
        *plot.zone(X.start, ridge, 0, memory, room=84, top=True),
        *plot.zone(ridge, X.end, 2, arithmetic, room=84),
        *plot.axes(),
        plot.slope("bandwidth", 0, stroke_width=2.5, name="slope"),
        *plot.ceiling("ridge", 2.5),
        *known,
        plot.upright("intensity"),
        dot(X.inside("intensity"), Y.inside("reached"), SERIES_COLORS[1], 7, name="reached"),
    ]
