"""Attention: a step of a whole model; how long each token takes, and how many come out."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt

from roofkit.figure.colours import series, themed
from roofkit.figure.controls import Choice, Number, Slider
from roofkit.figure.expressions import inlined
from roofkit.figure.live_figure import BETWEEN_BOUNDS
from roofkit.figure.options import OWN, sizes, with_bf16
from roofkit.live.chart import Chart
from roofkit.live.theme import DASHES, finished, log_axis, note, sampled, single
from rooflib.catalogue import models
from rooflib.dtypes import DTYPES
from rooflib.models import Model
from rooflib.plots import INK

TYPES = ("bf16", "int8")

# As in rooflib.models: of one chip, in bf16 where no other type is chosen.
FORMULAS = {
    "peak": "peaks[chip]",
    "bandwidth": "bandwidths[chip]",
    "to_one_peer": "links[chip]",
    "memory": "capacity[chip]",
    # No model of the catalogue has fewer heads of keys than there are chips here.
    "own": "keys[model] / chips",
    "matrices": "layers[model] * (split[model] / chips + 2 * across[model] * own * head[model])",
    "logits": "vocabulary[model] / chips",
    "last": "logits * across[model]",
    "gains": "layers[model] * 2 * across[model] + across[model]",
    "weights": "size[w] * (matrices + last + gains)",
    "position": "2 * layers[model] * own * head[model] * size[kv]",
    "flops": "2 * B * (matrices + last)"
    " + layers[model] * 4 * head[model] * B * queries[model] / chips * S",
    "bytes": "weights + size[w] * B * across[model] / chips + position * B * S"
    " + position * B + 2 * B * logits",
    "sent": "2 * layers[model] * 2 * (chips - 1) / chips * 2 * B * across[model]",
    "resting": "weights + size[w] * last",
    "held": "resting + position * B * S",
    "fitting": "max(0, floor((memory - resting) / (position * S)))",
    "fits": "[' It does not fit: a chip must hold {held}, and its HBM holds {memory}.', '']"
    "[1 * (held <= memory)]",
    "room": "['The weights alone are too large for it.',"
    " 'At this length HBM has room for a batch of {fitting}.'][1 * (fitting > 0)]",
    "t_math": "flops / peak",
    "t_comms": "bytes / bandwidth",
    "t_link": "sent / to_one_peer",
    "lower": "max(t_math, t_comms, t_link)",
    "upper": "t_math + t_comms + t_link",
    "rate": "B / lower",
    "binding": "['compute', 'HBM', 'the link'][indexof([t_math, t_comms, t_link], lower)]",
    "caches": "position * B * S / bytes",
    "bounds": BETWEEN_BOUNDS,
}
LOW, HIGH = 1, 2**18
RATES, TIMES = (0.3, 3e6), (1e-4, 1e2)


def attention() -> Chart:
    """A step of decode: time per token against tokens per second, with the batch as the knob.

    Controls: B, S, model, chip, chips, w, kv (data types of weights and cache).
    """
    chips = with_bf16()
    return Chart(
        name="attention",
        title="Move the batch: how long does each token take, and how many come out?",
        controls=[
            Slider("B", "B (sequences)", sizes(0, 12), 16),
            Slider("S", "S (positions)", sizes(7, 17), 8192),
            Choice("model", "model", [model.name for model in models()], "Llama 3 8B"),
            Choice("chip", "chip", [*(chip.name for chip in chips), OWN], "H100 SXM"),
            Slider("chips", "chips", [1, 2, 4, 8], 1),
            Choice("w", "type of weights", TYPES, "bf16"),
            Choice("kv", "type of the cache", TYPES, "bf16"),
        ],
        given={
            "peaks": {chip.name: chip.peak() for chip in chips},
            "bandwidths": {chip.name: chip.bandwidth for chip in chips},
            "capacity": {chip.name: chip.capacity for chip in chips},
            "links": {chip.name: chip.links[0].to_one_peer for chip in chips},
            "size": {kind: DTYPES[kind].bytes for kind in TYPES},
            **shapes(),
        },
        own={"peaks": "peak", "bandwidths": "bandwidth", "capacity": "memory", "links": "link"},
        formulas=FORMULAS,
        numbers=[
            Number("lower", "time per token, at least", "s"),
            Number("rate", "tokens per second, at most"),
            Number("fitting", "sequences that fit"),
            Number("caches", "caches, of the bytes moved", "%"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
            Number("upper", "upper bound", "s"),
            Number("held", "held by a chip", "B"),
            Number("memory", "its HBM", "B"),
        ],
        says=(
            "A step of {model} on {chips} × {chip}, with a batch of {B} and {S} positions in each: "
            "a chip computes for {t_math}, moves bytes from and to HBM for {t_comms} and sends "
            "for {t_link}, so {binding} binds. {bounds} At best {rate} tokens come out per second. "
            "{room}{fits}"
        ),
        draw=draw,
    )


def shapes() -> dict[str, dict[str, int]]:
    """What the formulas need of each model, by its name."""
    columns: dict[str, Callable[[Model], int]] = {
        "layers": lambda m: m.layers,
        "across": lambda m: m.D,
        "queries": lambda m: m.N,
        "keys": lambda m: m.K,
        "head": lambda m: m.H,
        "vocabulary": lambda m: m.vocabulary,
        "split": lambda m: m.split_weights,
    }
    return {name: {m.name: column(m) for m in models()} for name, column in columns.items()}


def draw(figure: Chart) -> alt.LayerChart:
    x = alt.X("x", **log_axis("tokens per second", *RATES, ticks=[1, 100, 1e4, 1e6]))
    y = alt.Y("y", **log_axis("time per token", *TIMES, unit="s"))
    time = inlined("lower", figure.formulas, B="datum.B")

    def along(rows: alt.Chart) -> alt.Chart:
        """The same rows, of batches B, with their places in the chart."""
        placed: alt.Chart = rows.transform_calculate(as_="y", calculate=time)
        return placed.transform_calculate(as_="x", calculate="datum.B / datum.y")

    batches = sampled(LOW, HIGH, 90, "B")
    fits = batches.transform_filter("fitting > 0").transform_calculate(
        as_="B", calculate="min(datum.B, fitting)"
    )
    beyond = batches.transform_calculate(as_="B", calculate="max(datum.B, fitting)")
    full = along(single(B="fitting").transform_filter("fitting > 0"))
    here = single(x="rate", y="lower")
    layers = [
        along(rows)
        .mark_line(color=series(0), strokeDash=dashes, strokeWidth=2, clip=True)
        .encode(x=x, y=y, order="B:Q")
        for rows, dashes in ((fits, DASHES[0]), (beyond, DASHES[2]))
    ]
    ring = full.mark_point(size=120, color=themed(INK), strokeWidth=2, clip=True)
    point = here.mark_point(filled=True, size=110, color=series(1), opacity=1, clip=True)
    words = "'B = ' + format(B, ',')"
    layers += [
        ring.encode(x=x, y=y),
        note(full, x, y, "fitting_text + ' fit'", dx=-10, dy=-10, align="right"),
        point.encode(x=x, y=y),
        note(here, x, y, words, dx=8, dy=16, align="left", fontWeight="bold"),
    ]
    return finished(layers)
