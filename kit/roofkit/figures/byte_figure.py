"""The byte figure: from HBM to the units and back, and who waits for whom.

A round is as long as the operation's lower bound. In each round the road to HBM brings the next
operation's bytes and takes back the last one's results, and the units work on the bytes that came
in the round before. So one byte is loaded in the first round, used in the second, and its result is
written in the last; if partial sums go to other chips, that takes a round of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from roofkit.figures.bounds import fits
from roofkit.figures.byte_marks import height, marks, unit_name
from roofkit.figures.engine.controls import Choice, Number, Steps
from roofkit.figures.engine.expressions import joined
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import named, quoted, said
from roofkit.figures.engine.sentences import one_of as one_of_sentences
from roofkit.words import _
from rooflib.catalog import as_chip
from rooflib.checks import one_of
from rooflib.hardware import HBM, Chip, Link
from rooflib.operations import matmul
from rooflib.work import Times, Work

SECONDS = 2.0
"""How long a round is played."""

SHOWS = {
    "waits": "%",
    "intensity": "FLOP/byte",
    "reached": "FLOP/s",
    "uses": "",
    "each_sent": "FLOP/byte",
}
"""The unit of the number beside the picture, by the name of its formula."""


def labels() -> dict[str, str]:
    """Return the label of each number of `SHOWS`."""
    return {
        "waits": _("{unit} waits"),
        "intensity": _("FLOPs for each byte of HBM"),
        "reached": _("reached"),
        "uses": _("uses of a {follows}"),
        "each_sent": _("FLOPs for each byte sent"),
    }


def word_names() -> dict[str, str]:
    """Return English → translation for words such as "weight" and "large batch"."""
    return {
        "number": _("number"),
        "weight": _("weight"),
        "key": _("key"),
        "dot product": _("dot product"),
        "small batch": _("small batch"),
        "large batch": _("large batch"),
        "matmul": _("matmul"),
        "attention": _("attention"),
        "element-wise": _("element-wise"),
        "operation": _("operation"),
        "decode": _("decode"),
        "prefill": _("prefill"),
    }


TIMES = ("t_load", "t_store", "t_math", "t_link")


def word(name: str) -> str:
    """Translate a name; in one like "decode, G = 4", only the part before the comma."""
    known = word_names()
    begins, comma, detail = name.partition(", ")
    if name in known or not comma or begins not in known:
        return known.get(name, name)
    return _("{name}, {detail}").format(name=known[begins], detail=detail)


def formulas(jobs: Iterable[str]) -> dict[str, str]:
    once = quoted(_("once"))
    often = said(_("{count} times"), count="text(uses)")
    used = _(" A {follows}, once loaded, is used {times}.")
    over_link = _(" The partial sums take {t_link_text} over the link.")
    verdicts = (
        _(
            "Compute binds: the bytes wait on the chip, and the road to HBM waits {road_waits_text}"
            " of the time."
        ),
        _("HBM binds: the {unit} waits for bytes, {waits_text} of the time."),
        _("The link binds: the {unit} waits for it, {waits_text} of the time."),
    )
    return {
        "work": named("job", {job: word(job) for job in jobs}),
        "t_load": "loads[job]",
        "t_store": "stores[job]",
        "t_math": "maths[job]",
        "t_link": "links[job]",
        "t_hbm": "t_load + t_store",
        "lower": "rl.lower(t_math, t_hbm, t_link)",
        "waits": "rl.idle(t_math, lower)",
        "road_waits": "1 - t_hbm / lower",
        "link_waits": "1 - t_link / lower",
        "intensity": "flops[job] / bytes[job]",
        "reached": "flops[job] / lower",
        "each_sent": "flops[job] / sent[job]",
        "uses": "counts[job]",
        "times": f"either(uses == 1, {once}, {often})",
        "used": f"either(uses > 0, {quoted(used)}, '')",
        "over_link": f"either(t_link > 0, {quoted(over_link)}, '')",
        "verdict": one_of_sentences(
            verdicts, "either(t_link > max(t_math, t_hbm), 2, 1 * (t_hbm > t_math))"
        ),
        **{f"{name}_text": f"text({name}, 's')" for name in (*TIMES, "lower")},
        **{f"{name}_text": f"percent({name})" for name in ("waits", "road_waits")},
        **fits("held[job]", "memory"),
        # Durations as shares of a round, at least 1e-12 because formulas divide by them.
        "load": "max(1e-12, t_load / lower)",
        "store": "max(1e-12, t_store / lower)",
        "math": "max(1e-12, t_math / lower)",
        "link": "max(1e-12, t_link / lower)",
    }


@in_languages
def byte(
    ops: Work | Mapping[str, Work] | None = None,
    chip: str | Chip = "TPU v5e",
    shows: str = "waits",
    *,
    uses: Mapping[str, float] | None = None,
    follows: str = "number",
    link: str | Link | None = None,
) -> Figure:
    """Draw a byte's way from HBM to the units and back, in proportion to its times.

    Plays once when it comes into view. Controls: job (if there are several), step.

    Parameters
    ----------
    ops
        Work, or several by the name to choose them by; by default a layer's matmul.
    shows
        The number beside the picture: "waits" (idle share of the units), "intensity", "reached"
        (FLOP/s), "uses" or "each_sent" (FLOPs for each byte sent to other chips).
    uses, follows
        How often a loaded number is used, by the name of its operation; and what it is.
    chip, link
        As for `rooflib.Work.on`. The time of the units is the longest of all roofs but HBM and
        links.
    """
    if ops is None:
        ops = matmul(128, 4096, 16384)
    jobs = {ops.name: ops} if isinstance(ops, Work) else dict(ops)
    on, counts = as_chip(chip), uses or {}
    measure = SHOWS[one_of("shows", shows, SHOWS)]
    times = {name: op.on(on, link) for name, op in jobs.items()}
    unit = "vector" if all("compute" not in each.times for each in times.values()) else "matrix"
    words = {"unit": unit_name(unit), "follows": word(follows)}
    roads = {
        HBM,
        *(road.name for road in on.links),
        *([link.name] if isinstance(link, Link) else []),
    }
    linked = any(op.hops for op in jobs.values())
    steps = [_("in HBM"), _("on the chip"), _("used"), _("added up"), _("result in HBM")]
    if not linked:
        del steps[3]
    first, *others = jobs
    choice = (
        [Choice("job", _("operation"), list(jobs), first, {job: word(job) for job in jobs})]
        if others
        else []
    )
    return Figure(
        name="byte",
        title=_("Follow one byte: who waits for whom?"),
        controls=[
            *choice,
            Steps(
                "step",
                _("where the byte is"),
                list(range(len(steps))),
                0,
                last="rounds",
                names=steps,
                seconds=SECONDS,
                plays=True,
            ),
        ],
        given={
            **({} if others else {"job": first}),
            **_tables(times, roads),
            "counts": {name: float(counts.get(name, 0)) for name in jobs},
            "memory": on.memory,
            "seconds": SECONDS,
        },
        formulas={
            "chip": quoted(on.name),
            **{name: quoted(word) for name, word in words.items()},
            "rounds": f"{len(steps) - 1} * 1",
            **formulas(jobs),
        },
        numbers=[Number(shows, joined(labels()[shows].format(**words)), measure)],
        says=_(
            "On {chip}, {work}: loading takes {t_load_text}, the {unit} works for {t_math_text}, "
            "and writing back takes {t_store_text}.{over_link} All of it overlaps, so a round takes"
            " {lower_text}. {verdict}{used}{fits}"
        ),
        height=height(linked),
        marks=lambda: marks(linked, unit),
    )


def _tables(jobs: Mapping[str, Times], roads: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the amounts and times of each operation.

    `roads` are the roofs of links and HBM.
    """
    amounts: dict[str, Callable[[Times], Any]] = {
        "loads": lambda t: t.work.loaded / t.chip[HBM],
        "stores": lambda t: t.work.written / t.chip[HBM],
        "maths": lambda t: max(time for roof, time in t.times.items() if roof not in roads),
        "links": lambda t: sum(t.times.get(roof, 0) for roof in roads if roof != HBM),
        "flops": lambda t: t.work.flops,
        "bytes": lambda t: t.work.bytes,
        "sent": lambda t: t.work.sent,
        "held": lambda t: t.work.held,
    }
    return {
        table: {name: float(amount(times)) for name, times in jobs.items()}
        for table, amount in amounts.items()
    }
