"""The units figure: a chip's matrix and vector units, and how busy they are."""

from __future__ import annotations

from roofkit.figures import units_marks
from roofkit.figures.engine.controls import Choice, Number
from roofkit.figures.engine.figure import Figure
from rooflib.catalog import chips

N = 2**24
"""Elements of a vector, as in the chapter; longer vectors have the same intensity."""
D, F = 4096, 16384
"""Sides of the weight of the matmul."""
GELU_STEPS = 9
"""FLOPs per element, as the chapter counts them."""
ROWS = {"matmul, 1 row": 1, "matmul, 32 rows": 32, "matmul, 4,096 rows": 4096}
INPUTS = {"addition": 2, "ReLU": 1, "GELU": 1}
WORKS = ["dot product", *INPUTS, *ROWS]


def units() -> Figure:
    """Draw both units with areas proportional to their peaks, filled if busy.

    Controls: work (an operation of `rooflib`, bf16 in memory) and chip (with a vector peak in the
    catalog). Peaks are dense FLOP/s: bf16 for the matrix unit, fp32 for the vector unit. Ridges and
    intensities are FLOP/byte of HBM. At best, a unit is busy for the share intensity ÷ ridge of the
    time (Williams, Waterman & Patterson, CACM 52(4), 2009).
    """
    known = [chip for chip in chips() if "fp32" in chip.vector and "bf16" in chip.peaks]
    return Figure(
        name="units",
        title="Which unit does the work, and how busy is it?",
        controls=[
            Choice("work", "operation", WORKS, WORKS[0]),
            Choice("chip", "chip", [chip.name for chip in known], "TPU v5p"),
        ],
        given={
            "matrix_peak": {chip.name: chip.peak("bf16") for chip in known},
            "vector_peak": {chip.name: chip.peak("fp32", "vector") for chip in known},
            "hbm": {chip.name: chip.bandwidth for chip in known},
            "inputs": {work: INPUTS.get(work, 0) for work in WORKS},
            "rows": {work: ROWS.get(work, 0) for work in WORKS},
            "steps": {work: GELU_STEPS if work == "GELU" else 1 for work in WORKS},
            "n": N,
            "d": D,
            "f": F,
        },
        formulas=FORMULAS,
        numbers=[
            Number("matrix", "matrix unit, bf16", "FLOP/s"),
            Number("vector", "vector unit, fp32", "FLOP/s"),
            Number("ratio", "matrix ÷ vector"),
            Number("matrix_ridge", "ridge, matrix unit", "FLOP/byte"),
            Number("vector_ridge", "ridge, vector unit", "FLOP/byte"),
            Number("intensity", "intensity", "FLOP/byte"),
            Number("matrix_busy", "matrix unit busy", "%"),
            Number("vector_busy", "vector unit busy", "%"),
            Number("lower", "time, lower bound", "s"),
        ],
        says="{told} {bound_by}",
        height=units_marks.HIGH,
        marks=units_marks.marks,
    )


FORMULAS = {
    "matrix": "matrix_peak[chip]",
    "vector": "vector_peak[chip]",
    "bandwidth": "hbm[chip]",
    "ratio": "matrix / vector",
    "matrix_ridge": "rl.ridge(matrix, bandwidth)",
    "vector_ridge": "rl.ridge(vector, bandwidth)",
    "b": "rows[work]",
    # 0: dot product, 1: element-wise operation, 2: matmul.
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
    "told": (
        "at(['The vector unit of {chip} does this work ({work}); the matrix unit has no part in"
        " it.', 'The matrix unit of {chip} does this work ({work}); the vector unit has no part"
        " in it.'], on_matrix)"
    ),
    "bound_by": (
        "at(['At {intensity}, below the ridge of {ridge_text}, the bytes set the pace: the unit is"
        " busy {busy_text} of the time at best.', 'At {intensity}, above the ridge of"
        " {ridge_text}, the unit can be busy all of the time.'], 1 * (intensity >= ridge))"
    ),
}
