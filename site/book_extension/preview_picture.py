"""Drawing of social-preview.png, the picture shown with links to the site."""

from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Polygon, Rectangle

from .fonts import font_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 1200, 630
DPI = 100
INK, MUTED, GRID = "#22262b", "#5b6670", "#d3d9de"
BLUE, MEMORY_ZONE, COMPUTE_ZONE = "#0b5fa5", "#f6dfd5", "#dcefe6"
# Positions in pixels from the top left corner: the plot's edges, ridge, and points under the roof.
LEFT, RIGHT, TOP, BOTTOM = 560, 1130, 180, 540
RIDGE = (846, 238)
POINTS = [(655, 440), (774, 314), (1010, 238)]
TITLE = "The roofline"
QUESTION = "How long should this\ncomputation take on\nthis chip, and what\nholds it back?"


def draw(target: Path) -> None:
    """Draw the picture for link previews as a PNG file."""
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.set_axis_off()
    _draw_plot(axes)
    axes.add_patch(Rectangle((80, 114), 72, 9, color=BLUE, linewidth=0))
    _write(axes, 226, TITLE, 76, "SourceSerifPro-Semibold")
    for row, words in enumerate(QUESTION.splitlines()):
        _write(axes, 312 + 50 * row, words, 38, "SourceSerifPro-Regular")
    # Drop the metadata, so that the same picture gives the same bytes.
    figure.savefig(target, metadata={"Software": None})


def _draw_plot(axes: "Axes") -> None:
    x, y = RIDGE
    for corners, color in (
        ([(LEFT, BOTTOM), RIDGE, (x, BOTTOM)], MEMORY_ZONE),
        ([RIDGE, (RIGHT, y), (RIGHT, BOTTOM), (x, BOTTOM)], COMPUTE_ZONE),
    ):
        axes.add_patch(Polygon(corners, color=color, linewidth=0))
    axes.hlines([439, 339, 238], LEFT, RIGHT, GRID, linewidth=_points(2))
    axes.vlines([703, 846, 988], TOP, BOTTOM, GRID, linewidth=_points(2))
    axes.plot([LEFT, LEFT, RIGHT], [TOP, BOTTOM, BOTTOM], MUTED, linewidth=_points(3))
    axes.plot([LEFT, x], [BOTTOM, y], BLUE, linewidth=_points(9), solid_capstyle="butt")
    axes.plot([x - 3, RIGHT], [y, y], INK, linewidth=_points(9), solid_capstyle="butt")
    across, down = zip(*POINTS, strict=True)
    axes.scatter(across, down, s=_points(24) ** 2, color=INK, zorder=3, linewidth=0)


def _write(axes: "Axes", y: float, words: str, pixels: float, face: str) -> None:
    font = FontProperties(fname=font_file("font-source-serif-pro", face), size=_points(pixels))
    axes.text(80, y, words, color=INK, fontproperties=font)


def _points(pixels: float) -> float:
    return pixels * 72 / DPI
