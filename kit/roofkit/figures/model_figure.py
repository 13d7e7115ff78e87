"""Model figure: a step by kind of operation, and what would help."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from roofkit.figures import model_changes
from roofkit.figures.bounds import bounds, fits
from roofkit.figures.engine.controls import Choice, Number, Slider
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import one_of, quoted
from roofkit.figures.model_marks import FORMULAS as PLACES
from roofkit.figures.model_marks import HEIGHT, marks, titles
from roofkit.figures.model_rows import (
    ACTIVATIONS,
    CHIPS,
    COUNTS,
    HOLDERS,
    REPLICAS,
    answer,
    in_bf16,
    row,
)
from roofkit.figures.options import OWN, own_names, sizes
from roofkit.words import _
from rooflib.catalog import chips as cataloged
from rooflib.dtypes import DTYPES, common_type
from rooflib.hardware import Chip, Link
from rooflib.llm import Model, model_from_config, models
from rooflib.llm.steps import ROWS
from rooflib.quantities import text

START, STORED = "Qwen3 30B-A3B", "as stored"
WIDTHS, CACHES = ("bf16", "fp8", "int8", "fp4", "int4"), ("bf16", "fp8")
COMPUTED = ("bf16", "fp8", "int8")
"""Types of the arithmetic of any choice of types."""
SPLIT, WHOLE = "split over chips", "whole on a chip"
AT_ONCE = "whole prompt"
CHUNKS = {f"{text(tokens)} tokens": tokens for tokens in (256, 512, 1024, 2048, 4096, 8192, 16384)}


def shown_names() -> dict[str, str]:
    """Return choice → its name in the reader's language."""
    several = _("{count} tokens")
    return {
        STORED: _("as stored"),
        SPLIT: _("split over chips"),
        WHOLE: _("whole on a chip"),
        AT_ONCE: _("whole prompt"),
        "decode": _("decode"),
        "prefill": _("prefill"),
        **{name: several.format(count=text(tokens)) for name, tokens in CHUNKS.items()},
    }


def steps() -> tuple[str, ...]:
    """Return the sentences for a step: decode, prefill, and the same with replicas."""
    return (
        _(
            "A decode step of {model} on {chips} × {chip}, with a batch of {B} and {S} positions in"
            " each: a chip computes for {t_math} in {compute}, moves bytes from and to HBM for"
            " {t_comms} and sends for {t_link}, so {binding} binds."
        ),
        _(
            "A prefill of {model} on {chips} × {chip}, with a batch of {B} and prompts of {S}"
            " tokens: a chip computes for {t_math} in {compute}, moves bytes from and to HBM for"
            " {t_comms} and sends for {t_link}, so {binding} binds."
        ),
        _(
            "A decode step of {model} on {replicas} replicas, each on {chips} × {chip}, with a"
            " batch of {B} in all and {S} positions in each: a chip computes for {t_math} in"
            " {compute}, moves bytes from and to HBM for {t_comms} and sends for {t_link}, so"
            " {binding} binds."
        ),
        _(
            "A prefill of {model} on {replicas} replicas, each on {chips} × {chip}, with a batch of"
            " {B} in all and prompts of {S} tokens: a chip computes for {t_math} in {compute},"
            " moves bytes from and to HBM for {t_comms} and sends for {t_link}, so {binding} binds."
        ),
    )


def _problem() -> str:
    """Return a formula for a setting's first problem, with the remedy."""
    no_experts = _("{model} has no routed experts: choose experts that are {split}.").replace(
        "{split}", _("split over chips")
    )
    unshared = _(
        "{replicas} replicas cannot share {B} sequences equally: choose a multiple of {replicas} as"
        " the batch, or fewer replicas."
    )
    no_link = _(
        "{chip} has no link to other chips in the catalog: choose 1 as the number of chips."
    )
    no_link_between = _(
        "{chip} has no link to other chips in the catalog: choose experts that are {split}."
    ).replace("{split}", _("split over chips"))
    no_type = _(
        "Activations in {x} and these weights have no common type to compute in: choose activations"
        " in bf16, or another type of weights."
    )
    no_peak = _(
        "{chip} has no peak in {compute} here: choose activations and weights that are computed in"
        " {offered}."
    )
    problems = {
        "spread * (1 - m['routed'])": quoted(no_experts),
        "1 * (refusal != '')": "refusal",
        "mod(B, replicas) > 0": quoted(unshared),
        "1 * (refusal_spread != '')": "refusal_spread",
        "(chips > 1) * (links[chip] == 0)": quoted(no_link),
        "sends * (links[chip] == 0)": quoted(no_link_between),
        "1 * (common == '')": quoted(no_type),
        "1 * (peaks[chip][compute] == 0)": quoted(no_peak),
    }
    found = "''"
    for condition, words in reversed(problems.items()):
        found = f"either({condition}, {words}, {found})"
    return found


LAST = len(ROWS) - 1
TIMES = ", ".join(
    [f"max(all_flops[{i}] / peak, all_bytes[{i}] / bandwidth)" for i in range(LAST)] + ["t_link"]
)


def formulas() -> dict[str, str]:
    chunked = _(" Each prompt is read in {passes} chunks, each of which loads the weights again.")
    routed = _(" The step loads as many experts as are expected under uniform routing.")
    chunks_routed = _(" Each chunk loads as many experts as are expected under uniform routing.")
    return {
        "m": "shapes[model]",
        "spread": f"1 * (experts == {quoted(WHOLE)})",
        "count": f"indexof({list(COUNTS)}, chips)",
        "holders": f"indexof({list(HOLDERS)}, chips * replicas)",
        "sends": "1 * (chips * either(spread, replicas, 1) > 1)",
        "refusal": "at(either(spread, m['refusals_whole'], m['refusals']), count)",
        "refusal_spread": "either(spread, at(m['refusals_spread'], holders), '')",
        "prefill": "1 * (phase == 'prefill')",
        "chunk": f"either(read == {quoted(AT_ONCE)}, S, chunks[read])",
        "sizes": f"either(w == '{STORED}', at(m['stored'], count), widths[w])",
        "sizes_of_twice": f"either(w == '{STORED}', at(m['stored'], count + 1), widths[w])",
        "bits": f"either(w == '{STORED}', m['bits'], width_bits[w])",
        "common": f"either(w == '{STORED}', m['computes'], computes[w])[x]",
        "offered": "offers[chip]",
        "compute": "either(common == '', 'bf16', common)",
        "cache": "size[kv]",
        "now": model_changes.setting(),
        "peak": "max(1, peaks[chip][compute])",
        "bandwidth": "bandwidths[chip]",
        "to_one_peer": "max(1, rl.to_group(links[chip], lanes[chip], chips * replicas))",
        "memory": "capacity[chip]",
        "problem": _problem(),
        "all_flops": "rl.step_flops(m, now)",
        "all_bytes": "rl.step_bytes(m, now)",
        "flops": "sum(all_flops)",
        "bytes": "sum(all_bytes)",
        "sent": "rl.step_sent(m, now)",
        "held": "rl.step_held(m, now)",
        **fits("held", "memory"),
        **bounds(link=True),
        "rate": "replicas * rl.step_tokens(now) / lower",
        # The longer of compute and memory time of each kind of operation, then the link's time,
        # as in the column "share" of rooflib.Times.parts.
        "spent": f"[{TIMES}]",
        "whole": "sum(spent)",
        "step": one_of(steps(), "prefill + 2 * (replicas > 1)"),
        "passes": "text(rl.step_passes(now))",
        "chunked": f"either(rl.step_passes(now) > 1, {quoted(chunked)}, '')",
        "routing": f"either(rl.step_passes(now) > 1, {quoted(chunks_routed)}, {quoted(routed)})",
        "routed": "either(m['routed'], routing, '')",
        "unit": "either(compute == 'int8', 'OP', 'FLOP')",
        **model_changes.formulas(),
        "titles": f"[{', '.join(quoted(titles()[name]) for name in ROWS)}]",
        **PLACES,
        "largest": "at(titles, indexof(spent, longest))",
        "largest_share": "percent(longest / whole)",
    }


@in_languages
def model(own: Model | str | os.PathLike[str] | Mapping[str, Any] | None = None) -> Figure:
    """Draw a model's operations under a chip's roof, with their shares of time.

    Controls: model, phase, B, S, chips, chip, w, kv, x (data types of weights, cache and
    activations), replicas, experts (split over chips, or whole on a chip: expert parallelism), and
    read (the chunk of a prompt that prefill reads at once).

    `own` is a model to choose beside the catalog's: a `Model`, or what `rooflib.model_from_config`
    reads, with its errors. A model in fp16 is drawn as one in bf16, and one in another type raises
    a ValueError. The arithmetic is in the common type of activations and weights, as in rooflib.
    """
    shown = {each.name: each for each in models()}
    if own is not None:
        mine = in_bf16(own if isinstance(own, Model) else model_from_config(own))
        shown = {mine.name: mine, **shown, mine.name: mine}
    chips = [chip for chip in cataloged(hidden=True) if any(kind in chip for kind in COMPUTED)]
    return Figure(
        name="model",
        title=_("Choose a model: which operation takes the time, and what would help?"),
        controls=[
            Choice("model", _("model"), list(shown), START if own is None else next(iter(shown))),
            Choice("phase", _("phase"), ("decode", "prefill"), "decode", shown_names()),
            Slider("B", _("B (sequences)"), sizes(0, 12), 16),
            Slider("S", _("S (positions)"), sizes(7, 17), 8192),
            Slider("chips", _("chips"), CHIPS, 1),
            Choice(
                "chip", _("chip"), [*(chip.name for chip in chips), OWN], "H100 SXM", own_names()
            ),
            Choice("w", _("weights in"), [STORED, *WIDTHS], STORED, shown_names()),
            Choice("kv", _("cache in"), CACHES, "bf16"),
            Choice("x", _("activations in"), ACTIVATIONS, "bf16"),
            Slider("replicas", _("replicas"), REPLICAS, 1),
            Choice("experts", _("experts"), (SPLIT, WHOLE), SPLIT, shown_names()),
            Choice("read", _("prefill reads at once"), [AT_ONCE, *CHUNKS], AT_ONCE, shown_names()),
        ],
        folded=("x", "replicas", "experts", "read"),
        folded_title=_("More: activations, replicas, experts, chunks"),
        given={
            "shapes": {name: row(each) for name, each in shown.items()},
            **_tables(chips),
            "names": [chip.name for chip in chips],
            "size": {kind: DTYPES[kind].bytes for kind in sorted({*CACHES, *ACTIVATIONS})},
            "chunks": {AT_ONCE: 1, **CHUNKS},
            "widths": {STORED: [], **{w: [DTYPES[w].bytes] * len(ROWS) for w in WIDTHS}},
            "width_bits": {STORED: 0, **{w: DTYPES[w].bits for w in WIDTHS}},
            "computes": {
                STORED: dict.fromkeys(ACTIVATIONS, ""),
                **{w: {x: _common(x, w) for x in ACTIVATIONS} for w in WIDTHS},
            },
        },
        own={
            "peaks": {**dict.fromkeys(COMPUTED, 0), "bf16": "peak"},
            "bandwidths": "bandwidth",
            "capacity": "memory",
            "links": "link",
            "lanes": 0,
            "adds": 0,
            "next": dict.fromkeys(COMPUTED, -1),
        },
        formulas=formulas(),
        numbers=[
            Number("lower", _("step, at least"), "s"),
            Number("rate", _("tokens/s, at most")),
            Number("upper", _("upper bound"), "s"),
            Number("t_math", "T_math", "s"),
            Number("t_comms", "T_HBM", "s"),
            Number("t_link", "T_link", "s"),
            Number("held", _("held by a chip"), "B"),
            Number("memory", _("its HBM"), "B"),
            Number("flops", _("arithmetic"), "@unit"),
            Number("bytes", _("bytes moved"), "B"),
        ],
        says=_(
            "{step} {bounds} Of the operations, one after the other, {largest} would take the most:"
            " {largest_share}.{chunked}{routed}{fits}"
        ),
        ranking=model_changes.title(),
        lines=model_changes.LINES,
        reads=("model", "shapes"),
        reader=answer,
        height=HEIGHT,
        marks=marks,
    )


def _tables(chips: list[Chip]) -> dict[str, dict[str, Any]]:
    """Return tables of the chips' numbers, by the name of the chip.

    `next` is the index of the next chip, or -1.
    """
    links = {chip.name: chip.links[0] if chip.links else None for chip in chips}
    return {
        "peaks": {
            chip.name: {kind: chip.rates.get(kind, 0) for kind in COMPUTED} for chip in chips
        },
        "offers": {**{chip.name: _offers(chip) for chip in chips}, OWN: "bf16"},
        "bandwidths": {chip.name: chip["HBM"] for chip in chips},
        "capacity": {chip.name: chip.memory for chip in chips},
        "links": {name: link.to_one_peer if link else 0 for name, link in links.items()},
        "lanes": {name: _lanes(link) if link else 0 for name, link in links.items()},
        "adds": {name: int(link.reduces) if link else 0 for name, link in links.items()},
        "next": {
            chip.name: {kind: _next(chip, chips, kind) for kind in COMPUTED} for chip in chips
        },
    }


def _lanes(link: Link) -> int:
    """Return how many links a chip of a mesh has, or 0 for another topology."""
    return link.links_per_axis * link.axes if link.topology == "mesh" else 0


def _next(chip: Chip, chips: list[Chip], compute: str) -> int:
    """Return the index of the maker's next faster chip that has the type `compute`.

    Faster means a higher bandwidth and no lower peak, as in `Serving`. The index is -1 if there is
    no such chip.
    """
    least = chip.rates.get(compute, 0)
    known = [each for each in chips if each.maker == chip.maker and compute in each]
    faster = [c for c in known if c["HBM"] > chip["HBM"] and c[compute] >= least]
    return chips.index(min(faster, key=lambda each: each["HBM"])) if faster else -1


def _offers(chip: Chip) -> str:
    """Return, as text, the types of arithmetic of this figure that the chip supports."""
    return _(" or ").join(kind for kind in COMPUTED if kind in chip)


def _common(x: str, w: str) -> str:
    """Return the type in which activations and weights are multiplied.

    It is "" if there is none.
    """
    try:
        return common_type(DTYPES[x], DTYPES[w]).name
    except ValueError:
        return ""
