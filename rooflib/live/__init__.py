"""Live figures: the reader moves a control, and picture and numbers follow.

    >>> from rooflib import live
    >>> live.time().values(chip="H100 SXM", flops=1e12)["t_math"]  # doctest: +ELLIPSIS
    0.00101...

As the last expression of a cell a figure shows itself: in JupyterLab as a widget whose controls
are read as `figure.settings` and whose numbers as `figure.values()`, on a static page as HTML
that needs no kernel. Each figure has one definition: its formulas are expressions that Python and
the browser read alike, and its picture is a Vega-Lite chart with the controls as parameters.
"""

from rooflib.live.chips_figure import chips
from rooflib.live.figure import PAGE, LiveFigure
from rooflib.live.intensity_figure import intensity
from rooflib.live.matmul_figure import matmul
from rooflib.live.roofline_figure import roofline
from rooflib.live.time_figure import time

__all__ = ["PAGE", "LiveFigure", "chips", "intensity", "matmul", "roofline", "time"]
