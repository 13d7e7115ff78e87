"""The intensity figure: dot product, addition and matmul against a ridge."""

from __future__ import annotations

from collections.abc import Sequence

from roofkit.figures.bounds import fits, matmul_misfit
from roofkit.figures.engine.axes import LogPlot, LogScale
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.expressions import along
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import DASHES, FAINT, INKED, SERIES_COLORS, dot, label, line
from roofkit.figures.options import OWN, bandwidths, capacities, names, own_names, peaks, sizes
from roofkit.words import _


def formulas() -> dict[str, str]:
    left = _("left of the ridge, bound by HBM")
    right = _("right of it, bound by compute")
    return {
        "ridge": "rl.ridge(peaks[chip], bandwidths[chip])",
        "dot": "rl.dot_flops(n) / rl.dot_bytes(n, 2)",
        "add": "rl.elementwise_flops(n, 1) / rl.elementwise_bytes(n, 2, 2)",
        "matmul": "rl.matmul_flops(n, n, n) / rl.matmul_bytes(n, n, n, 2, 2, 2)",
        "dot_share": "rl.fraction_at(dot, ridge)",
        "add_share": "rl.fraction_at(add, ridge)",
        "matmul_share": "rl.fraction_at(matmul, ridge)",
        "matmul_side": f"[{quoted(left)}, {quoted(right)}][1 * (matmul >= ridge)]",
        **fits("rl.matmul_bytes(n, n, n, 2, 2, 2)", words=matmul_misfit()),
        # In bf16 the matmul's intensity is n / 3.
        "enough": "3 * ridge",
    }


LOW, HIGH = 1, 2**14
HEIGHT = "either(wide < 480, 280, 350)"
PLOT = LogPlot(
    LogScale(LOW, HIGH, "46", "wide - 26"),
    LogScale(0.05, 1e4, f"({HEIGHT} - 42)", "28"),
    titles=("n", "FLOP/byte"),
    ticks=[4**e for e in range(8)],
    tick_room=40,
)
POINTS = 43
LINES = ("dot", "add", "matmul")
# For each label: the condition for drawing it left of the line at n instead of at the right edge,
# and the n at which it is then drawn. The matmul's label also avoids a ridge as low as a CPU's.
LEFT = {
    "dot": ("n > 300", "12"),
    "add": ("n > 300", "12"),
    "matmul": ("n > 500", "either((ridge > 3.5) * (ridge < 18), 110, 20)"),
}
RIDGE_AT = "either(n > 20, 1, either(ridge < 60, 1000, 30))"


@in_languages
def intensity() -> Figure:
    """Draw the FLOP/byte of three bf16 operations against their size n.

    Controls: n, chip.
    """
    return Figure(
        name="intensity",
        title=_("Move n: whose intensity grows until it reaches the ridge?"),
        controls=[
            Slider("n", _("n (elements a side)"), sizes(0, 14), 256),
            Choice("chip", _("chip"), [*names(), OWN], "TPU v5e", own_names()),
        ],
        given={"peaks": peaks(), "bandwidths": bandwidths(), "capacity": capacities()},
        own={"peaks": "peak", "bandwidths": "bandwidth", "capacity": "memory"},
        formulas=formulas(),
        numbers=[
            Number("matmul", _("matmul"), "FLOP/byte"),
            Number("matmul_share", _("of peak, matmul"), "%"),
            Number("ridge", _("ridge"), "FLOP/byte"),
            Number("enough", _("matmul's n at the ridge")),
            Number("dot", _("dot product"), "FLOP/byte"),
            Number("dot_share", _("of peak, dot product"), "%"),
            Number("add", _("element-wise addition"), "FLOP/byte"),
            Number("add_share", _("of peak, addition"), "%"),
        ],
        says=_(
            "At n = {n} the matmul has {matmul}, the dot product {dot} and the addition {add}. "
            "The ridge of {chip} is {ridge}: the matmul is {matmul_side}, and reaches "
            "{matmul_share} of the peak. The dot product reaches {dot_share}.{fits}"
        ),
        height=HEIGHT,
        marks=marks,
    )


def marks() -> Sequence[Mark]:
    x, ridge = PLOT.x.at("n"), PLOT.y.at("ridge")
    seen = "(ridge >= 0.05) * (ridge <= 1e4)"
    words = said(_("ridge {ridge}"), ridge="text(floor(ridge + 0.5))")
    rule = {"stroke_width": 2, "shown": seen, "name": "ridge"}
    here = {"stroke_dasharray": "'2 3'", "stroke_width": 1, "name": "here"}
    return [
        *PLOT.axes(),
        line(PLOT.x.start, ridge, PLOT.x.end, ridge, INKED, **rule),
        label(f"{PLOT.x.at(RIDGE_AT)} + 4", f"{ridge} - 6", words, shown=seen, name="names"),
        line(x, PLOT.y.end, x, PLOT.y.start, FAINT, **here),
        *(mark for series, name in enumerate(LINES) for mark in _curve(series, name)),
    ]


def _curve(series: int, name: str) -> list[Mark]:
    """Draw an intensity against n, with its name and a dot at the chosen n."""
    color = SERIES_COLORS[series]
    words = {"dot": _("dot product"), "add": _("addition"), "matmul": _("matmul")}
    # The label is below a horizontal line, and left of a rising one.
    rises = name == "matmul"
    left, at = LEFT[name]
    anchor = "'end'" if rises else f"either({left}, 'start', 'end')"
    label_at = along(formulas(), name, n=f"either({left}, {at}, {HIGH})")
    look = {"stroke_dasharray": DASHES[series], "name": f"curve-{name}"}
    all_n = along(formulas(), name, n=PLOT.x.step(POINTS))
    return [
        PLOT.curve("n", name, color, POINTS, where=all_n, **look),
        label(
            f"{PLOT.x.at('n')} - 10",
            f"{PLOT.y.at(name)} + {4 if rises else 15}",
            quoted(words[name]),
            fill=color,
            text_anchor="anchor",
            # The text anchor depends on the chosen n, so it is evaluated before n is replaced.
            where={"anchor": anchor, **label_at},
            name="names",
        ),
        dot(PLOT.x.at("n"), PLOT.y.at(name), color, 4.7, name=f"at-{name}"),
    ]
