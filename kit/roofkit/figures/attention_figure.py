"""The attention figure: latency and throughput of a model's decode steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.axes import LogPlot, LogScale
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.expressions import along
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import DASHES, INKED, SERIES_COLORS, dot, label
from roofkit.figures.options import OWN, own_names, sizes, with_bf16
from roofkit.words import _
from rooflib.dtypes import DTYPES
from rooflib.llm import Model, models

TYPES = ("bf16", "int8")
LARGEST = 2**18
"""The batch at which a curve ends."""

# All counts are for one chip, as in rooflib.llm. Data types without a control are bf16.


def _lower_at(batch: str) -> str:
    """Return the formula of a step's lower bound; `batch` is a formula, too."""
    flops = (
        f"rl.decode_flops({batch}, S, layers[model], queries[model], head[model], chips, matrices,"
        " last)"
    )
    moved = (
        f"rl.decode_bytes({batch}, S, across[model], vocabulary[model], chips, weights, size[w],"
        " position)"
    )
    sent = f"rl.decode_sent({batch}, across[model], layers[model], chips, adds[chip])"
    times = (flops, "peak"), (moved, "bandwidth"), (sent, "to_one_peer")
    t_math, t_comms, t_link = (f"({amount}) / {rate}" for amount, rate in times)
    return f"rl.lower({t_math}, {t_comms}, {t_link})"


def formulas() -> dict[str, str]:
    too_large = _("The weights alone are too large for it.")
    room = _("At this length HBM has room for a batch of {fitting}.")
    return {
        "peak": "peaks[chip]",
        "bandwidth": "bandwidths[chip]",
        "to_one_peer": "links[chip]",
        "memory": "capacity[chip]",
        "matrices": "rl.decode_matrices(layers[model], split[model], across[model], keys[model],"
        " head[model], chips)",
        "last": "rl.decode_last(vocabulary[model], across[model], chips)",
        "gains": "rl.decode_gains(layers[model], across[model])",
        "weights": "rl.decode_weights(matrices, last, gains, size[w])",
        "position": "rl.decode_position(layers[model], keys[model], head[model], chips, size[kv])",
        "flops": "rl.decode_flops(B, S, layers[model], queries[model], head[model], chips,"
        " matrices, last)",
        "bytes": "rl.decode_bytes(B, S, across[model], vocabulary[model], chips, weights, size[w],"
        " position)",
        "sent": "rl.decode_sent(B, across[model], layers[model], chips, adds[chip])",
        "resting": "rl.decode_resting(weights, last, size[w])",
        "held": "resting + position * B * S",
        "fitting": "max(0, floor((memory - resting) / (position * S)))",
        **fits("held", "memory"),
        "room": f"[{quoted(too_large)}, {quoted(room)}][1 * (fitting > 0)]",
        **bounds(link=True),
        "rate": "B / lower",
        # Ends of the axes: they show batches up to twice the largest that fits, and the chosen one.
        "top_batch": "max(2 * fitting, B, 8)",
        "shortest": f"{_lower_at('1')} / 2.2",
        "longest": f"max({_lower_at('top_batch')} * 1.3, 20 * shortest)",
        "slowest": "1 / (2.2 * shortest) / 1.3",
        "fastest": f"3 * {LARGEST} / {_lower_at(str(LARGEST))}",
        "caches": "position * B * S / bytes",
    }


HEIGHT = "either(wide < 480, 280, 350)"
X = LogScale("slowest", "fastest", "56", "wide - 30")
Y = LogScale("shortest", "longest", f"({HEIGHT} - 42)", "28")
POINTS = 91
BATCHES = LogScale(1, LARGEST, "", "").step(POINTS)
"""The batch sizes of a curve's points."""


@in_languages
def attention() -> Figure:
    """Draw time per token against tokens per second, for batches of all sizes.

    Controls: B, S, model, chip, chips, w, kv (data types of weights and cache).
    """
    chips = with_bf16()
    return Figure(
        name="attention",
        title=_("Move the batch: how long does each token take, and how many come out?"),
        controls=[
            Slider("B", _("B (sequences)"), sizes(0, 12), 16),
            Slider("S", _("S (positions)"), sizes(7, 17), 8192),
            Choice("model", _("model"), [model.name for model in plain()], "Llama 3 8B"),
            Choice(
                "chip", _("chip"), [*(chip.name for chip in chips), OWN], "H100 SXM", own_names()
            ),
            Slider("chips", _("chips"), [1, 2, 4, 8], 1),
            Choice("w", _("type of weights"), TYPES, "bf16"),
            Choice("kv", _("type of the cache"), TYPES, "bf16"),
        ],
        given={
            "peaks": {chip.name: chip["bf16"] for chip in chips},
            "bandwidths": {chip.name: chip["HBM"] for chip in chips},
            "capacity": {chip.name: chip.memory for chip in chips},
            "links": {chip.name: chip.link().to_one_peer for chip in chips},
            "adds": {chip.name: int(chip.link().reduces) for chip in chips},
            "size": {kind: DTYPES[kind].bytes for kind in TYPES},
            **shapes(),
        },
        own={
            "peaks": "peak",
            "bandwidths": "bandwidth",
            "capacity": "memory",
            "links": "link",
            "adds": 0,
        },
        formulas=formulas(),
        numbers=[
            Number("lower", _("time per token, at least"), "s"),
            Number("rate", _("tokens per second, at most")),
            Number("fitting", _("sequences that fit")),
            Number("caches", _("caches, of the bytes moved"), "%"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
            Number("upper", _("upper bound"), "s"),
            Number("held", _("held by a chip"), "B"),
            Number("memory", _("its HBM"), "B"),
        ],
        says=_(
            "A step of {model} on {chips} × {chip}, with a batch of {B} and {S} positions in each: "
            "a chip computes for {t_math}, moves bytes from and to HBM for {t_comms} and sends "
            "for {t_link}, so {binding} binds. {bounds} At best {rate} tokens come out per second. "
            "{room}{fits}"
        ),
        height=HEIGHT,
        marks=marks,
    )


def plain() -> list[Model]:
    """Return the dense models whose layers are all alike, as the formulas assume."""
    return [model for model in models() if model.name.startswith("Llama") and not model.tied]


def split_weights(model: Model) -> int:
    """Return the number of weights per layer that chips split evenly.

    These are the query and output projections and the MLP.
    """
    matrices = 3 if model.gated else 2
    return 2 * model.D * model.N * model.H + matrices * model.D * model.F


def shapes() -> dict[str, dict[str, int]]:
    """Return the model dimensions that the formulas need, as tables by model name."""
    columns: dict[str, Callable[[Model], int]] = {
        "layers": lambda m: m.layers,
        "across": lambda m: m.D,
        "queries": lambda m: m.N,
        "keys": lambda m: m.K,
        "head": lambda m: m.H,
        "vocabulary": lambda m: m.vocabulary,
        "split": split_weights,
    }
    return {name: {m.name: column(m) for m in plain()} for name, column in columns.items()}


def plot() -> LogPlot:
    titles = (_("tokens per second"), _("time per token"))
    return LogPlot(X, Y, titles=titles, units=("", "s"), tick_room=54)


def marks() -> Sequence[Mark]:
    return [
        *plot().axes(),
        # A solid curve for batches that fit, and a dotted one for those that don't.
        _curve(f"min(fitting, {BATCHES})", DASHES[0], "fits", shown="fitting > 0"),
        _curve(f"max(fitting, {BATCHES})", DASHES[2], "beyond"),
        *_largest_batch(),
        *_chosen_batch(),
    ]


def _curve(batch: str, dashes: str, name: str, **look: str) -> Mark:
    """Draw time per token against tokens per second; `batch` is a formula of `i`."""
    where = along(formulas(), "rate", "lower", B=batch)
    look |= {"stroke_dasharray": dashes, "name": name}
    return plot().curve("rate", "lower", SERIES_COLORS[0], POINTS, where=where, **look)


def _largest_batch() -> list[Mark]:
    """Draw a ring at the largest batch that fits, if there is one."""
    common = {
        "where": along(formulas(), "rate", "lower", B="fitting"),
        "shown": "fitting > 0",
        "clip": plot().clip,
    }
    x, y = X.at("rate"), Y.at("lower")
    words = {"text_anchor": "'end'", "name": "names"}
    ring = {"stroke": INKED, "stroke_width": 2, "name": "largest"}
    return [
        dot(x, y, "'none'", 6.2, **ring, **common),
        label(
            f"{x} - 10",
            f"{y} - 6",
            said(_("{count} fit"), count="text(fitting)"),
            **words,
            **common,
        ),
    ]


def _chosen_batch() -> list[Mark]:
    x, y = X.at("rate"), Y.at("lower")
    return [
        dot(x, y, SERIES_COLORS[1], 5.9, clip=plot().clip, name="here"),
        label(
            f"{x} + 8",
            f"{y} + 20",
            "'B = ' + text(B)",
            font_weight="'bold'",
            name="names",
        ),
    ]
