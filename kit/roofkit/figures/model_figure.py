"""The model figure: a language model's step by kind of operation, and what would help."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from roofkit.figures import model_changes
from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure
from roofkit.figures.engine.shapes import quoted
from roofkit.figures.model_marks import FORMULAS as PLACES
from roofkit.figures.model_marks import HEIGHT, marks
from roofkit.figures.model_rows import CHIPS, COUNTS, in_bf16, row
from roofkit.figures.options import OWN, sizes
from rooflib.catalog import chips as cataloged
from rooflib.catalog import models
from rooflib.config import model_from_config
from rooflib.dtypes import DTYPES
from rooflib.hardware import Chip
from rooflib.models import ROWS, Model

START, STORED = "Qwen3 30B-A3B", "as stored"
WIDTHS, CACHES = ("bf16", "int8", "int4"), ("bf16", "fp8")

STEP = [
    "A decode step of {model} on {chips} × {chip}, with a batch of {B} and {S} positions in each:"
    " a chip computes for {t_math}, moves bytes from and to HBM for {t_comms} and sends for"
    " {t_link}, so {binding} binds.",
    "A prefill of {model} on {chips} × {chip}, with a batch of {B} and prompts of {S} tokens: a"
    " chip computes for {t_math}, moves bytes from and to HBM for {t_comms} and sends for {t_link},"
    " so {binding} binds.",
]
LARGEST = " Of the operations, one after the other, {largest} would take the most: {largest_share}."
ROUTED = " The step loads as many experts as are expected under uniform routing."
NO_LINK = " has no link to other chips in the catalog: choose 1 as the number of chips."

LAST = len(ROWS) - 1
TIMES = ", ".join(
    [f"max(all_flops[{i}] / peak, all_bytes[{i}] / bandwidth)" for i in range(LAST)] + ["t_link"]
)
FORMULAS = {
    "m": "shapes[model]",
    "count": f"indexof({list(COUNTS)}, chips)",
    "problem": "either(chips > 1, either(at(m['refusals'], count) == '', either(links[chip] > 0,"
    f" '', chip + {quoted(NO_LINK)}), at(m['refusals'], count)), '')",
    "prefill": "1 * (phase == 'prefill')",
    "sizes": f"either(w == '{STORED}', m['stored'], widths[w])",
    "bits": f"either(w == '{STORED}', m['bits'], width_bits[w])",
    "cache": "size[kv]",
    "now": model_changes.setting(),
    "peak": "peaks[chip]",
    "bandwidth": "bandwidths[chip]",
    "to_one_peer": "max(1, links[chip])",
    "memory": "capacity[chip]",
    "all_flops": "rl.step_flops(m, now)",
    "all_bytes": "rl.step_bytes(m, now)",
    "flops": "sum(all_flops)",
    "bytes": "sum(all_bytes)",
    "sent": "rl.step_sent(m, now)",
    "held": "rl.step_held(m, now)",
    **fits("held", "memory"),
    **bounds(link=True),
    "rate": "rl.step_tokens(now) / lower",
    # The longest time of each kind of operation, as in the column "share" of rooflib.breakdown.
    "spent": f"[{TIMES}]",
    "whole": "sum(spent)",
    "step": f"at([{', '.join(map(quoted, STEP))}], prefill)",
    "routed": f"either(all_flops[{ROWS.index('experts')}] > 0, {quoted(ROUTED)}, '')",
    **model_changes.formulas(),
    **PLACES,
    "largest": "at(titles, indexof(spent, longest))",
    "largest_share": "percent(longest / whole)",
}


def model(own: Model | str | os.PathLike[str] | Mapping[str, Any] | None = None) -> Figure:
    """Draw the operations of a model's step under the roof of a chip, with their shares of time.

    Controls: model, phase, B, S, chips, chip, w, kv (data types of weights and cache).

    `own` is a model to choose beside the catalog's: a `Model`, or what `rooflib.model_from_config`
    reads, with its errors. Arithmetic is in bf16: a model in fp16 is drawn as one in bf16, and one
    in another type raises a ValueError.
    """
    shown = {each.name: each for each in models()}
    if own is not None:
        mine = in_bf16(own if isinstance(own, Model) else model_from_config(own))
        shown = {mine.name: mine, **shown, mine.name: mine}
    chips = [chip for chip in cataloged(more=True) if "bf16" in chip.peaks]
    return Figure(
        name="model",
        title="Choose a model: which operation takes the time, and what would help?",
        controls=[
            Choice("model", "model", list(shown), START if own is None else next(iter(shown))),
            Choice("phase", "phase", ("decode", "prefill"), "decode"),
            Slider("B", "B (sequences)", sizes(0, 12), 16),
            Slider("S", "S (positions)", sizes(7, 17), 8192),
            Slider("chips", "chips", CHIPS, 1),
            Choice("chip", "chip", [*(chip.name for chip in chips), OWN], "H100 SXM"),
            Choice("w", "type of weights", [STORED, *WIDTHS], STORED),
            Choice("kv", "type of the cache", CACHES, "bf16"),
        ],
        given={
            "shapes": {name: row(each) for name, each in shown.items()},
            **_tables(chips),
            "names": [chip.name for chip in chips],
            "size": {kind: DTYPES[kind].bytes for kind in CACHES},
            "widths": {STORED: [], **{w: [DTYPES[w].bytes] * len(ROWS) for w in WIDTHS}},
            "width_bits": {STORED: 0, **{w: DTYPES[w].bits for w in WIDTHS}},
        },
        own={
            "peaks": "peak",
            "bandwidths": "bandwidth",
            "capacity": "memory",
            "links": "link",
            "next": -1,
        },
        formulas=FORMULAS,
        numbers=[
            Number("lower", "time of the step, at least", "s"),
            Number("rate", "tokens per second, at most"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
            Number("upper", "upper bound", "s"),
            Number("flops", "operations of a chip", "FLOP"),
            Number("bytes", "bytes of a chip", "B"),
            Number("held", "held by a chip", "B"),
            Number("memory", "its HBM", "B"),
        ],
        says="{step} {bounds}" + LARGEST + "{routed}{fits}",
        ranking=model_changes.TITLE,
        lines=model_changes.LINES,
        reads=("model", "shapes"),
        height=HEIGHT,
        marks=marks,
    )


def _tables(chips: list[Chip]) -> dict[str, dict[str, Any]]:
    """Return the figures of chips, by name; `next` is the index of the next chip, or -1."""
    return {
        "peaks": {chip.name: chip.peak() for chip in chips},
        "bandwidths": {chip.name: chip.bandwidth for chip in chips},
        "capacity": {chip.name: chip.capacity for chip in chips},
        "links": {chip.name: chip.links[0].to_one_peer if chip.links else 0 for chip in chips},
        "next": {chip.name: _next(chip, chips) for chip in chips},
    }


def _next(chip: Chip, chips: list[Chip]) -> int:
    """Return the index of the maker's chip with the next higher bandwidth, as in `Serving`."""
    faster = [
        each for each in chips if each.maker == chip.maker and each.bandwidth > chip.bandwidth
    ]
    return chips.index(min(faster, key=lambda each: each.bandwidth)) if faster else -1
