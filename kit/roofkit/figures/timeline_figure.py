"""The timeline figure: loads, arithmetic and stores of a matmul in slices.

All slices are equal, and each has its share of the bytes. A single slice is loaded, computed and
stored. With more slices, there are two input buffers and two output buffers: while the chip
computes a slice, it stores the result of the previous slice and then loads the next slice. A round
ends when both are done:

    load 1 | compute 1, load 2 | compute 2, store 1, load 3 | … | compute n, store n-1 | store n

No other order of loads and stores is faster with two buffers; a test tries them all.
"""

from __future__ import annotations

from roofkit.figures.bounds import fits, matmul_misfit
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import quoted
from roofkit.figures.options import OWN, bandwidths, capacities, names, own_names, peaks
from roofkit.figures.timeline_marks import HIGH, marks
from roofkit.words import _
from rooflib.operations import matmul

# The chapter's layer at several batch sizes, and a matmul that stores more than it loads.
SHAPES = ((64, 4096, 16384), (128, 4096, 16384), (256, 4096, 16384), (512, 4096, 16384))
JOBS = {f"B = {B}, D = {D}, F = {F}": matmul(B, D, F) for B, D, F in (*SHAPES, (4096, 256, 16384))}


def formulas() -> dict[str, str]:
    more, least, one = map(
        quoted,
        (
            _(
                "Cut into {slices} slices, with two buffers, it takes {takes}, {above} more than"
                " the lower bound."
            ),
            _(
                "Cut into {slices} slices, with two buffers, it takes {takes}, which is the lower"
                " bound."
            ),
            _("In one slice nothing overlaps, so it takes {takes}, which is the upper bound."),
        ),
    )
    return {
        "t_load": "rl.t_comms(loaded[job], hbm[chip])",
        "t_math": "rl.t_math(flops[job], peak[chip])",
        "t_store": "rl.t_comms(written[job], hbm[chip])",
        "t_comms": "t_load + t_store",
        "lower": "rl.lower(t_math, t_comms, 0)",
        "upper": "rl.upper(t_math, t_comms, 0)",
        # Seconds of one slice.
        "load": "t_load / slices",
        "math": "t_math / slices",
        "store": "t_store / slices",
        "round": "max(math, load + store)",
        # Time that can't overlap: if the arithmetic binds, the first load and the last store; if
        # HBM binds, its waits for the arithmetic of the first and of the last slice.
        "edges": "either(math > load + store, load + store,"
        " max(0, math - load) + max(0, math - store))",
        "beyond": "either(slices > 1, edges, min(t_math, t_comms))",
        "takes": "lower + beyond",
        "above": "beyond / lower",
        "math_waits": "1 - t_math / takes",
        "road_waits": "1 - t_comms / takes",
        "slice": "loaded[job] / slices",
        **fits("(loaded[job] + written[job])", words=matmul_misfit()),
        "how": f"either(slices > 1, either(beyond > 0, {more}, {least}), {one})",
        # Seconds between ticks: 1, 2 or 5 times a power of ten, for three to six labels.
        "power": "exp10(floor(log10(upper / 2)))",
        "tick": "power * either(upper / 2 >= 5 * power, 5, either(upper / 2 >= 2 * power, 2, 1))",
    }


@in_languages
def timeline() -> Figure:
    """Draw when a matmul's slices are loaded, computed and stored, and its bounds.

    Controls: slices, job, chip.
    """
    return Figure(
        name="timeline",
        title=_("Cut the work into slices: who waits, and how near is the lower bound?"),
        controls=[
            Slider("slices", _("slices"), [1, 2, 4, 8, 16, 32], 4),
            Choice("job", _("matmul x[B, D] · w[D, F] in bf16"), list(JOBS), list(JOBS)[1]),
            Choice("chip", _("chip"), [*names(), OWN], "TPU v5e", own_names()),
        ],
        given={
            "flops": {name: job.flops for name, job in JOBS.items()},
            "loaded": {name: job.loaded for name, job in JOBS.items()},
            "written": {name: job.written for name, job in JOBS.items()},
            "peak": peaks(),
            "hbm": bandwidths(),
            "capacity": capacities(),
        },
        own={"peak": "peak", "hbm": "bandwidth", "capacity": "memory"},
        formulas=formulas(),
        numbers=[
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_comms", "s"),
            Number("lower", _("lower bound"), "s"),
            Number("upper", _("upper bound"), "s"),
            Number("takes", _("takes"), "s"),
            Number("above", _("above the lower bound"), "%"),
            Number("math_waits", _("compute units wait"), "%"),
            Number("road_waits", _("road to HBM waits"), "%"),
            Number("slice", _("loaded for one slice"), "B"),
        ],
        says=_(
            "On {chip} the matmul with {job} has a lower bound of {lower} and an upper bound of "
            "{upper}. {how} The compute units wait for {math_waits} of that time, and the road to "
            "HBM for {road_waits}. The bars are to scale.{fits}"
        ),
        height=HIGH,
        marks=marks,
    )
