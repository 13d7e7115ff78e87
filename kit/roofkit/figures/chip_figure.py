"""The chip figure: compute units, memories, and bandwidths as widths."""

from __future__ import annotations

from roofkit.figures import chip_marks, chip_tables
from roofkit.figures.chip_tables import LINKS, MEMORIES, ONE_PEER, SWITCH
from roofkit.figures.engine.base_figure import Handle
from roofkit.figures.engine.controls import Choice, Number
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import one_of, quoted
from roofkit.figures.options import OWN, bandwidths, names, own_names, peaks, with_bf16
from roofkit.words import _


@in_languages
def chip() -> Figure:
    """Draw a chip's bandwidths on one scale, with the FLOPs each byte must feed.

    Control: chip. Peaks are dense bf16 FLOP/s; link bandwidths are one-way bytes/s. A ridge
    (FLOP/byte) is peak ÷ bandwidth; for a link, the bandwidth to one peer.
    """
    widest = max(bandwidths().values())
    return Figure(
        name="chip",
        title=_("How wide are the roads to the compute units of a chip?"),
        controls=[Choice("chip", _("chip"), [*names(), OWN], "H100 SXM", own_names())],
        given={
            "peak": peaks(),
            "hbm": bandwidths(),
            "memory": {chip.name: chip.memory for chip in with_bf16()},
            "links": chip_tables.links(),
            "on_chip": chip_tables.on_chip(),
            "link_names": chip_tables.link_names(),
            "memory_names": chip_tables.memory_names(),
            "widest": widest,
            "strongest": max(peaks().values()),
        },
        own={
            "peak": "peak",
            "hbm": "bandwidth",
            "memory": "memory",
            "links": chip_tables.own_links(),
            "on_chip": chip_tables.no_memory(),
        },
        formulas=_formulas(),
        numbers=[
            Number("ceiling", _("compute units, dense bf16"), "FLOP/s"),
            Number("capacity", "HBM", "B"),
            Number("bandwidth", _("road from HBM"), "B/s"),
            Number("ridge", _("ridge, HBM"), "FLOP/byte"),
            Number("rate_0", _("road to one peer, one way"), "B/s"),
            Number("ridge_0", _("ridge, one peer"), "FLOP/byte"),
            Number("total_0", _("all roads to peers, one way"), "B/s"),
            Number("ratio", _("road from HBM ÷ road to one peer")),
        ],
        says=_(
            "On {chip}, the road from HBM carries {bandwidth}: {wider} To keep the compute units "
            "busy at their peak of {ceiling}, every byte from HBM has to feed {each}, and every "
            "byte from one peer {each_0}.{memories}"
        ),
        height=chip_marks.HIGH,
        marks=chip_marks.marks,
        handles=[
            Handle(
                _("the width of the road from HBM"),
                f"{chip_marks.LEFT} + {chip_marks.ROAD}",
                (chip_marks.HBM_BOTTOM + chip_marks.CHIP_TOP) / 2,
                {
                    # Clamp to the widest chip: otherwise the scale changes while the reader drags.
                    "bandwidth": "min(widest, max(widest / 200, "
                    f"(to_x - {chip_marks.LEFT}) / {chip_marks.SCALE}))",
                    "peak": "ceiling",
                    "memory": "capacity",
                    "link": "rate_0",
                },
                "bandwidth",
                "widest / 200",
                "widest",
                "text(bandwidth, 'B/s')",
            )
        ],
    )


def _flops(number: str) -> str:
    one, several = quoted(_("FLOP")), quoted(_("FLOPs"))
    return f"text({number}, either(text({number}) == '1', {one}, {several}))"


def _formulas() -> dict[str, str]:
    found = {
        "ceiling": "peak[chip]",
        "bandwidth": "hbm[chip]",
        "capacity": "memory[chip]",
        "ridge": "rl.ridge(ceiling, bandwidth)",
    }
    for j in range(LINKS):
        found |= {f"{what}_{j}": f"links[chip]['{what}_{j}']" for what in ("lane", "lanes", "kind")}
        found |= {
            f"total_{j}": f"lane_{j} * lanes_{j}",
            # All links of a switch lead to each peer; in a torus, one link leads to each neighbor.
            f"rate_{j}": f"either(kind_{j} == {SWITCH}, total_{j}, lane_{j})",
            f"ridge_{j}": f"rl.ridge(ceiling, rate_{j})",
        }
    own_link = quoted(_("its link"))
    as_much = _("as much as {link} carries to one peer, one way ({rate_0}).")
    more = _("{times} times what {link} carries to one peer, one way ({rate_0}).")
    one = _(" The memory on the chip holds {all_held}, {held_share} of what HBM holds.")
    several = _(
        " The memories on the chip hold {all_held} together, {held_share} of what HBM holds."
    )
    for j in range(MEMORIES):
        found[f"size_{j}"] = f"on_chip[chip]['size_{j}']"
    return found | {
        "held": " + ".join(f"size_{j}" for j in range(MEMORIES)),
        "all_held": "text(held, 'B')",
        "held_share": "percent(held / capacity)",
        "ratio": "bandwidth / rate_0",
        "link": f"either(kind_0 == {ONE_PEER}, {own_link}, at(link_names, links[chip]['name_0']))",
        "times": "text(ratio)",
        "each": _flops("ridge"),
        "each_0": _flops("ridge_0"),
        "wider": f"either(text(ratio) == '1', {quoted(as_much)}, {quoted(more)})",
        # Without on-chip memories no text, with one memory `one`, with more `several`.
        "memories": one_of(
            ("", one, several),
            f"min(2, {' + '.join(f'1 * (size_{j} > 0)' for j in range(MEMORIES))})",
        ),
    }
