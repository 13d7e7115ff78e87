"""The units figure: a chip's matrix and vector units, and how busy they are."""

from __future__ import annotations

from roofkit.figures import units_marks
from roofkit.figures.engine.controls import Choice, Number
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import one_of
from roofkit.words import _
from rooflib.catalog import chips
from rooflib.quantities import text

N = 2**24
"""Elements of a vector, as in the chapter; longer vectors have the same intensity."""
D, F = 4096, 16384
"""Sides of the weight of the matmul."""
GELU_STEPS = 9
"""FLOPs per element, as the chapter counts them."""
ROWS = {"matmul, 1 row": 1, "matmul, 32 rows": 32, "matmul, 4,096 rows": 4096}
INPUTS = {"addition": 2, "ReLU": 1, "GELU": 1}
WORKS = ["dot product", *INPUTS, *ROWS]


@in_languages
def units() -> Figure:
    """Draw the matrix and the vector unit, each filled by the share it is busy.

    Areas are proportional to peaks.

    Controls: work (an operation of `rooflib`, bf16 in memory) and chip (with a vector peak in the
    catalog). Peaks are dense FLOP/s: bf16 for the matrix unit, fp32 for the vector unit. Ridges and
    intensities are FLOP/byte of HBM. At best, a unit is busy for the share intensity ÷ ridge of the
    time (Williams, Waterman & Patterson, CACM 52(4), 2009).
    """
    known = [chip for chip in chips() if "vector fp32" in chip and "bf16" in chip]
    return Figure(
        name="units",
        title=_("Which unit does the work, and how busy is it?"),
        controls=[
            Choice("work", _("operation"), WORKS, WORKS[0], work_names()),
            Choice("chip", _("chip"), [chip.name for chip in known], "TPU v5p"),
        ],
        given={
            "matrix_peak": {chip.name: chip["bf16"] for chip in known},
            "vector_peak": {chip.name: chip["vector fp32"] for chip in known},
            "hbm": {chip.name: chip["HBM"] for chip in known},
            "inputs": {work: INPUTS.get(work, 0) for work in WORKS},
            "rows": {work: ROWS.get(work, 0) for work in WORKS},
            "steps": {work: GELU_STEPS if work == "GELU" else 1 for work in WORKS},
            "n": N,
            "d": D,
            "f": F,
        },
        formulas=formulas(),
        numbers=[
            Number("matrix", _("matrix unit, bf16"), "FLOP/s"),
            Number("vector", _("vector unit, fp32"), "FLOP/s"),
            Number("ratio", _("matrix ÷ vector")),
            Number("matrix_ridge", _("ridge, matrix unit"), "FLOP/byte"),
            Number("vector_ridge", _("ridge, vector unit"), "FLOP/byte"),
            Number("intensity", _("intensity"), "FLOP/byte"),
            Number("matrix_busy", _("matrix unit busy"), "%"),
            Number("vector_busy", _("vector unit busy"), "%"),
            Number("lower", _("time, lower bound"), "s"),
        ],
        says="{told} {bound_by}",
        height=units_marks.HIGH,
        marks=lambda: units_marks.marks(work_names()),
    )


def work_names() -> dict[str, str]:
    """Return the labels of the operations, by their names in `WORKS`."""
    rows, one = _("matmul, {count} rows"), _("matmul, {count} row")
    return {
        "dot product": _("dot product"),
        "addition": _("addition"),
        **{
            name: (one if count == 1 else rows).format(count=text(count))
            for name, count in ROWS.items()
        },
    }


def formulas() -> dict[str, str]:
    vector = _(
        "The vector unit of {chip} does this work ({work}); the matrix unit has no part in it."
    )
    matrix = _(
        "The matrix unit of {chip} does this work ({work}); the vector unit has no part in it."
    )
    below = _(
        "At {intensity}, below the ridge of {ridge_text}, the bytes set the pace: the unit is busy"
        " {busy_text} of the time at best."
    )
    above = _(
        "At {intensity}, above the ridge of {ridge_text}, the unit can be busy all of the time."
    )
    return {
        "matrix": "matrix_peak[chip]",
        "vector": "vector_peak[chip]",
        "bandwidth": "hbm[chip]",
        "ratio": "matrix / vector",
        "matrix_ridge": "rl.ridge(matrix, bandwidth)",
        "vector_ridge": "rl.ridge(vector, bandwidth)",
        "b": "rows[work]",
        # The kind of the operation: 0: dot product, 1: element-wise operation, 2: matmul.
        "kind": "1 * (inputs[work] > 0) + 2 * (b > 0)",
        "flops": (
            "at([rl.dot_flops(n), rl.elementwise_flops(n, steps[work]), rl.matmul_flops(b, d, f)],"
            " kind)"
        ),
        # Two bytes per element in bf16.
        "bytes": (
            "at([rl.dot_bytes(n, 2), rl.elementwise_bytes(n, inputs[work], 2),"
            " rl.matmul_bytes(b, d, f, 2, 2, 2)], kind)"
        ),
        "intensity": "flops / bytes",
        "on_matrix": "1 * (kind == 2)",
        "ridge": "at([vector_ridge, matrix_ridge], on_matrix)",
        "busy": "rl.fraction_at(intensity, ridge)",
        "matrix_busy": "busy * on_matrix",
        "vector_busy": "busy * (1 - on_matrix)",
        "t_math": "rl.t_math(flops, at([vector, matrix], on_matrix))",
        "lower": "rl.lower(t_math, rl.t_comms(bytes, bandwidth), 0)",
        "busy_text": "percent(busy)",
        "ridge_text": "text(ridge, 'FLOP/byte')",
        "told": one_of((vector, matrix), "on_matrix"),
        "bound_by": one_of((below, above), "1 * (intensity >= ridge)"),
    }
