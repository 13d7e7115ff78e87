"""`Chart`: a live figure whose picture is a Vega-Lite chart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from roofkit.figure.expressions import written
from roofkit.figure.live_figure import STATIC_WIDTH, LiveFigure

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Chart(LiveFigure):
    """A live figure with a Vega-Lite chart; its formulas are Vega expressions that are Python too.

    Attributes
    ----------
    draw
        Makes the chart. Its Vega-Lite parameters are the controls, what is given, the formulas,
        and the numbers as text, under their name with "_text" at the end.
    """

    draw: Callable[[Chart], alt.LayerChart]

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, with the controls at their start."""
        import altair as alt

        params = [alt.param(name=c.name, value=c.start) for c in self.controls]
        params += [alt.param(name=name, value=value) for name, value in self.tables.items()]
        params += [alt.param(name=name, expr=expr) for name, expr in self.formulas.items()]
        params += [
            alt.param(name=f"{n.name}_text", expr=written(n.name, n.unit)) for n in self.numbers
        ]
        chart = self.draw(self).add_params(*params)
        specification: dict[str, Any] = chart.to_dict()
        return specification

    def svg(self, **settings: Any) -> str:
        import vl_convert

        # The tables, too: the reader's own chip may have changed since the chart was made.
        now = {**self.tables, **self.checked(settings)}
        params = [
            p | {"value": now[p["name"]]} if p["name"] in now else p for p in self.spec["params"]
        ]
        svg: str = vl_convert.vegalite_to_svg(self.spec | {"params": params, "width": STATIC_WIDTH})
        return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)

    def for_browser(self) -> dict[str, Any]:
        return {"spec": self.spec}
