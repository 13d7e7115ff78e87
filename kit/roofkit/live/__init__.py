"""Live figures: the reader moves a control, and picture and numbers follow.

    >>> from roofkit import live
    >>> live.time().values(chip="H100 SXM", flops=1e12)["t_math"]  # doctest: +ELLIPSIS
    0.00101...

As the last expression of a cell a figure shows itself: in JupyterLab as a widget whose controls
are read as `figure.settings` and whose numbers as `figure.values()`, on a static page as HTML
that needs no kernel. Each figure has one definition: its formulas are expressions that Python and
the browser read alike, and its picture is a Vega-Lite chart with the controls as parameters.
"""

from roofkit.figure.live_figure import PAGE, LiveFigure
from roofkit.live.attention_figure import attention
from roofkit.live.chips_figure import chips
from roofkit.live.intensity_figure import intensity
from roofkit.live.matmul_figure import matmul
from roofkit.live.time_figure import time
from roofkit.pictures.roofline_picture import roofline

__all__ = ["PAGE", "LiveFigure", "attention", "chips", "intensity", "matmul", "roofline", "time"]
