"""How charts look: axes and layers that several share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from roofkit.figure.colours import series, themed
from roofkit.figure.expressions import written
from rooflib.plots import GRID, INK, MUTED

FONT = "system-ui, sans-serif"
DASHES: tuple[list[float], ...] = ([1, 0], [6, 3], [2, 2])


def finished(layers: list[alt.Chart], height: int = 300) -> alt.LayerChart:
    """Lay one over the other, as wide as the place it stands in."""
    axis: dict[str, Any] = {
        "labelColor": themed(INK),
        "titleColor": themed(INK),
        "gridColor": themed(GRID),
        "domainColor": themed(MUTED),
        "tickColor": themed(MUTED),
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelFlush": False,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
        "aria": False,
    }
    chart: alt.LayerChart = (
        alt.layer(*layers)
        .properties(width="container", height=height)
        .configure(font=FONT, background="transparent", aria=False)
        .configure_axis(**axis)
        .configure_view(stroke=None)
        .configure_text(color=themed(INK), fontSize=12)
    )
    return chart


def log_axis(
    title: str,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    ticks: Sequence[float] = (),
) -> dict[str, Any]:
    """Keywords of a position channel on a logarithmic scale, with labels as people write numbers.

    A label of time has its unit, "1 ms". Of FLOPs and bytes it has the prefix, "10 T", and the
    title has the unit. Lines and labels are at `ticks`, by default at the powers of ten.
    """
    scale: dict[str, Any] = {"type": "log", "nice": False}
    # Where the data decide, with room for a label above and below them.
    scale |= {"padding": 18} if low is None else {"domain": [low, high]}
    words = written("datum.value", unit)
    if unit not in ("", "s"):
        words = f"replace({words}, '{unit}', '')"
    look: dict[str, Any] = {"labelExpr": words}
    if low is not None and high is not None and not ticks:
        decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        ticks = [float(f"1e{power}") for power in decades]
    if ticks:
        look["values"] = list(ticks)
    else:
        # At the powers of ten only: ten lines a decade would hide what is drawn.
        power = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6"
        lines = {"condition": {"test": power, "value": 1}, "value": 0}
        look |= {"gridOpacity": lines, "labelExpr": f"{power} ? ({words}) : ''"}
    axis = alt.Axis(title=title, **look)
    return {"type": "quantitative", "scale": alt.Scale(**scale), "axis": axis}


def sampled(low: float, high: float, points: int, name: str) -> alt.Chart:
    """Rows with `name` from low to high in even ratios."""
    rows = alt.sequence(0, points + 1, as_="i")
    return alt.Chart(rows).transform_calculate(
        as_=name, calculate=f"{low} * pow({high / low}, datum.i / {points})"
    )


def single(**columns: str) -> alt.Chart:
    """One row whose columns are expressions."""
    chart = alt.Chart(alt.InlineData(values=[{}]))
    for name, expression in columns.items():
        chart = chart.transform_calculate(as_=name, calculate=expression)
    return chart


def line(rows: alt.Chart, x: alt.X, y: alt.Y, i: int, ink: bool = False) -> alt.Chart:
    """A line in the colour and dashes of series `i`, or in ink."""
    colour = themed(INK) if ink else series(i)
    chart: alt.Chart = rows.mark_line(
        color=colour, strokeDash=DASHES[i], strokeWidth=2, clip=True
    ).encode(x=x, y=y)
    return chart


def note(row: alt.Chart, x: alt.X, y: alt.Y, words: str, **look: Any) -> alt.Chart:
    """A label: `words` is an expression."""
    chart: alt.Chart = row.mark_text(text=alt.ExprRef(words), clip=True, **look).encode(x=x, y=y)
    return chart
