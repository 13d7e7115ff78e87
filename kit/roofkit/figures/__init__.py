"""Interactive figures: picture and numbers follow the reader's controls.

    >>> from roofkit import figures
    >>> figures.time().values(chip="H100 SXM", flops=1e12)["t_math"]  # doctest: +ELLIPSIS
    0.00101...

As the last expression of a cell, a figure displays itself: in JupyterLab as a widget, whose
controls and numbers are available as `figure.settings` and `figure.values()`; on a static page as
HTML that needs no kernel.

Each figure is a module, `<name>_figure.py`, with its controls, its formulas and the marks of its
scene, which Python and JavaScript evaluate alike (`engine`). The formulas of rooflib are in
`formulas.toml`.
"""

from roofkit.figures.attention_figure import attention
from roofkit.figures.blocks_figure import matmul_blocks
from roofkit.figures.browser_roof_figure import browser_roof
from roofkit.figures.byte_figure import byte
from roofkit.figures.chip_figure import chip
from roofkit.figures.chips_figure import chips
from roofkit.figures.engine.figure import PAGE, Figure
from roofkit.figures.intensity_figure import intensity
from roofkit.figures.matmul_figure import matmul
from roofkit.figures.model_figure import model
from roofkit.figures.one_roof_figure import one_roof
from roofkit.figures.ring_figure import ring
from roofkit.figures.roofline_figure import roofline
from roofkit.figures.shards_figure import shards
from roofkit.figures.tiles_figure import tiles
from roofkit.figures.time_figure import time
from roofkit.figures.timeline_figure import timeline
from roofkit.figures.units_figure import units

__all__ = [
    "PAGE",
    "Figure",
    "attention",
    "browser_roof",
    "byte",
    "chip",
    "chips",
    "intensity",
    "matmul",
    "matmul_blocks",
    "model",
    "one_roof",
    "ring",
    "roofline",
    "shards",
    "tiles",
    "time",
    "timeline",
    "units",
]
