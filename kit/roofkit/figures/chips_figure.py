"""The chips figure: roofs of a matmul split over N chips, and critical depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.axes import LogPlot, LogScale
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.expressions import along
from roofkit.figures.engine.figure import Figure
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.shapes import DASHES, FAINT, INKED, SERIES_COLORS, dot, label, line
from roofkit.figures.options import OWN, sizes, with_bf16

LOW, HIGH = 2**9, 2**17


def _traffic_at(D: int) -> str:
    """Return the formula of T_HBM at another D."""
    moved = f"rl.matmul_bytes(b, rl.part({D}, 'D', split, N), f, 2, 2, 2)"
    return f"rl.t_comms({moved}, bandwidth)"


FORMULAS = {
    "peak": "peaks[over]",
    "bandwidth": "bandwidths[over]",
    "to_one_peer": "links[over]",
    "b": "rl.part(B, 'B', split, N)",
    "d": "rl.part(D, 'D', split, N)",
    "f": "rl.part(F, 'F', split, N)",
    "flops": "rl.matmul_flops(b, d, f)",
    "bytes": "rl.matmul_bytes(b, d, f, 2, 2, 2)",
    # A chip holds its parts of x and w, and at the end the whole output.
    "held": "rl.matmul_bytes(b, d, f, 2, 2, 0) + 2 * B * F",
    "memory": "capacity[over]",
    **fits("held", "memory"),
    "sent": "rl.sharded_sent(B, F, N, split, 2)",
    **bounds(link=True),
    "busy": "rl.fraction_of_peak(t_math, lower)",
    "threshold": "rl.critical_depth(split, N, 2, peak, to_one_peer)",
    "first": "rl.first_whole_from(threshold)",
    # Shortest and longest time at the ends of the curves, and axis limits with some margin.
    "shortest": f"min(t_math * {LOW} / D, {_traffic_at(LOW)}, t_link)",
    "longest": f"max(t_math * {HIGH} / D, {_traffic_at(HIGH)}, t_link)",
    "bottom": "shortest / pow(longest / shortest, 0.08)",
    "top": "longest * pow(longest / shortest, 0.08)",
}
HEIGHT = "either(wide < 480, 280, 350)"
PLOT = LogPlot(
    LogScale(LOW, HIGH, "52", "wide - 28"),
    LogScale("bottom", "top", f"({HEIGHT} - 42)", "28"),
    titles=("D", "time"),
    units=("", "s"),
    ticks=[LOW * 4**e for e in range(5)],
)
POINTS = 33


def chips() -> Figure:
    """Draw the times of a bf16 matmul split over N chips, against D.

    Every chip ends with the whole result. Controls: N, D, split, over (a chip and its link), B, F.
    """
    links = {
        f"{chip.name}, {link.name}": (chip, link) for chip in with_bf16() for link in chip.links
    }
    return Figure(
        name="chips",
        title="Move the number of chips and D: when does the link stop binding?",
        controls=[
            Slider("N", "N (chips)", [2**e for e in range(1, 9)], 2),
            Slider("D", "D", sizes(9, 17), 4096),
            Choice("split", "split dimension", ["B", "D", "F"], "D"),
            Choice("over", "chip and link", [*links, OWN], "TPU v5e, ICI"),
            Slider("B", "B (tokens)", sizes(9, 17), 4096),
            Slider("F", "F", sizes(9, 17), 16384),
        ],
        given={
            "peaks": {name: chip.peak() for name, (chip, _) in links.items()},
            "bandwidths": {name: chip.bandwidth for name, (chip, _) in links.items()},
            "capacity": {name: chip.capacity for name, (chip, _) in links.items()},
            "links": {name: link.to_one_peer for name, (_, link) in links.items()},
        },
        own={
            "peaks": "peak",
            "bandwidths": "bandwidth",
            "capacity": "memory",
            "links": "link",
        },
        formulas=FORMULAS,
        numbers=[
            Number("busy", "of peak", "%"),
            Number("first", "D at least"),
            Number("lower", "lower bound", "s"),
            Number("upper", "upper bound", "s"),
            Number("held", "held by a chip", "B"),
            Number("memory", "its HBM", "B"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
        ],
        says=(
            "Each of {N} chips computes for {t_math}, moves bytes from and to HBM for {t_comms} "
            "and sends for {t_link}: {binding} binds. {bounds} Split along {split} over {over}, "
            "the link takes no longer than computing from D = {first} on; here D is {D}.{fits}"
        ),
        height=HEIGHT,
        marks=marks,
    )


@dataclass(frozen=True)
class Name:
    """The name of a curve.

    Attributes
    ----------
    words
        The text.
    at, otherwise
        The D next to which it is drawn, and a second one, used when the line at the chosen D would
        cross the text.
    middle, half
        Pixels from that D to the middle of the text, and from there to its ends.
    down
        Pixels from the curve to the baseline of the text.
    """

    words: str
    at: int
    otherwise: int
    middle: int
    half: int
    down: int = -6

    def place(self) -> str:
        """Return the formula of the D next to which the name is drawn."""
        away = f"abs({PLOT.x.at('D')} - {PLOT.x.at(self.at)} - {self.middle})"
        return f"either({away} < {self.half}, {self.otherwise}, {self.at})"


# Positions far enough apart that names don't overlap.
NAMES = {
    "t_math": Name("compute", 2**15, 2**17, middle=-40, half=30),
    "t_comms": Name("HBM", 2**13, 2**15, middle=27, half=18, down=15),
    "t_link": Name("link", LOW, 2**11, middle=18, half=15),
}


def marks() -> Sequence[Mark]:
    x = PLOT.x.at("D")
    here = line(x, PLOT.y.end, x, PLOT.y.start, FAINT, stroke_dasharray="'2 3'", stroke_width=1)
    curves = [
        mark
        for series, (time, name) in enumerate(NAMES.items())
        for mark in _curve(series, time, name)
    ]
    return [*PLOT.axes(), here, *curves, *_crossing()]


def _curve(series: int, time: str, name: Name) -> list[Mark]:
    """Draw a time against D, with its name and a dot at the chosen D."""
    color = SERIES_COLORS[series]
    all_D = along(FORMULAS, time, D=PLOT.x.step(POINTS))
    dashes = {"stroke_dasharray": DASHES[series]}
    return [
        PLOT.curve("D", time, color, POINTS, where=all_D, name=f"curve-{time}", **dashes),
        label(
            f"{PLOT.x.at('D')} + {name.middle}",
            f"{PLOT.y.at(time)} + {name.down}",
            f"'{name.words}'",
            fill=color,
            text_anchor="'middle'",
            where=along(FORMULAS, time, D=name.place()),
            name="names",
        ),
        dot(PLOT.x.at("D"), PLOT.y.at(time), color, 4.7, name=f"at-{time}"),
    ]


def _crossing() -> list[Mark]:
    """Draw a ring where the link takes as long as the arithmetic."""
    x, y = PLOT.x.at("threshold"), PLOT.y.at("t_link")
    left = "threshold < 3e4"
    shown = f"(threshold >= {LOW}) * (threshold <= {HIGH})"
    ring = {"stroke": INKED, "stroke_width": 2, "shown": shown, "name": "crossing"}
    return [
        dot(x, y, "'none'", 6.2, **ring),
        label(
            f"{x} + either({left}, 8, -8)",
            f"{y} + 20",
            "'D = ' + text(first)",
            text_anchor=f"either({left}, 'start', 'end')",
            shown=shown,
            name="threshold",
        ),
    ]
