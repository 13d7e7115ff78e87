"""The chips figure: roofs of a matmul split over N chips, and critical depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.axes import LogPlot, LogScale
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.expressions import along
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted
from roofkit.figures.engine.shapes import DASHES, FAINT, INKED, SERIES_COLORS, dot, label, line
from roofkit.figures.options import OWN, own_names, sizes, with_bf16
from roofkit.words import _

LOW, HIGH = 2**9, 2**17


def _traffic_at(D: int) -> str:
    """Return the formula of T_HBM at this D."""
    moved = f"rl.matmul_bytes(b, rl.part({D}, 'D', split, N), f, 2, 2, 2)"
    return f"rl.t_comms({moved}, bandwidth)"


def formulas() -> dict[str, str]:
    return {
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
X = LogScale(LOW, HIGH, "52", "wide - 28")
Y = LogScale("bottom", "top", f"({HEIGHT} - 42)", "28")
POINTS = 33


@in_languages
def chips() -> Figure:
    """Draw the times of a bf16 matmul split over N chips, against D.

    Every chip ends with the whole result. Controls: N, D, split, over (a chip and its link), B, F.
    """
    links = {
        f"{chip.name}, {link.name}": (chip, link) for chip in with_bf16() for link in chip.links
    }
    return Figure(
        name="chips",
        title=_("Move the number of chips and D: when does the link stop binding?"),
        controls=[
            Slider("N", _("N (chips)"), [2**e for e in range(1, 9)], 2),
            Slider("D", "D", sizes(9, 17), 4096),
            Choice("split", _("split dimension"), ["B", "D", "F"], "D"),
            Choice("over", _("chip and link"), [*links, OWN], "TPU v5e, ICI", own_names()),
            Slider("B", _("B (tokens)"), sizes(9, 17), 4096),
            Slider("F", "F", sizes(9, 17), 16384),
        ],
        given={
            "peaks": {name: chip["bf16"] for name, (chip, _link) in links.items()},
            "bandwidths": {name: chip["HBM"] for name, (chip, _link) in links.items()},
            "capacity": {name: chip.memory for name, (chip, _link) in links.items()},
            "links": {name: link.to_one_peer for name, (_chip, link) in links.items()},
        },
        own={
            "peaks": "peak",
            "bandwidths": "bandwidth",
            "capacity": "memory",
            "links": "link",
        },
        formulas=formulas(),
        numbers=[
            Number("busy", _("of peak"), "%"),
            Number("first", _("D at least")),
            Number("lower", _("lower bound"), "s"),
            Number("upper", _("upper bound"), "s"),
            Number("held", _("held by a chip"), "B"),
            Number("memory", _("its HBM"), "B"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
        ],
        says=_(
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
        away = f"abs({X.at('D')} - {X.at(self.at)} - {self.middle})"
        return f"either({away} < {self.half}, {self.otherwise}, {self.at})"


# The positions `at` and `otherwise` keep the names from overlapping.
def curve_names() -> dict[str, Name]:
    return {
        "t_math": Name(_("compute"), 2**16, 2**17, middle=-40, half=30),
        "t_comms": Name("HBM", 2**12, 2**10, middle=27, half=18, down=15),
        "t_link": Name(_("link"), LOW, 2**11, middle=18, half=15),
    }


def plot() -> LogPlot:
    ticks = [LOW * 4**e for e in range(5)]
    return LogPlot(X, Y, titles=("D", _("time")), units=("", "s"), ticks=ticks)


def marks() -> Sequence[Mark]:
    x = X.at("D")
    here = line(x, Y.end, x, Y.start, FAINT, stroke_dasharray="'2 3'", stroke_width=1)
    curves = [
        mark
        for series, (time, name) in enumerate(curve_names().items())
        for mark in _curve(series, time, name)
    ]
    return [*plot().axes(), here, *curves, *_crossing()]


def _curve(series: int, time: str, name: Name) -> list[Mark]:
    """Draw a time against D, with its name and a dot at the chosen D."""
    color = SERIES_COLORS[series]
    all_D = along(formulas(), time, D=X.step(POINTS))
    dashes = {"stroke_dasharray": DASHES[series]}
    return [
        plot().curve("D", time, color, POINTS, where=all_D, name=f"curve-{time}", **dashes),
        label(
            f"{X.at('D')} + {name.middle}",
            f"{Y.at(time)} + {name.down}",
            quoted(name.words),
            fill=color,
            text_anchor="'middle'",
            where=along(formulas(), time, D=name.place()),
            name="names",
        ),
        dot(X.at("D"), Y.at(time), color, 4.7, name=f"at-{time}"),
    ]


def _crossing() -> list[Mark]:
    """Draw a ring where the link takes as long as the arithmetic."""
    x, y = X.at("threshold"), Y.at("t_link")
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
