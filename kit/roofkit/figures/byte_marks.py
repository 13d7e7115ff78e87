"""Marks of the byte figure: stations, moving bytes, and a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roofkit.figures.engine.expressions import Formula
from roofkit.figures.engine.scene import Mark
from roofkit.figures.engine.sentences import quoted, said
from roofkit.figures.engine.shapes import (
    FAINT,
    INKED,
    LINE,
    SERIES_COLORS,
    TINTS,
    box,
    dot,
    label,
    line,
    steps_of,
)
from roofkit.words import _


def unit_name(unit: str) -> str:
    """Return the name of a compute unit in the reader's language."""
    known = {"matrix": _("matrix unit"), "vector": _("vector unit")}
    return known.get(unit) or _("{kind} unit").format(kind=unit)


def at_rest() -> tuple[str, ...]:
    """Return the sentences about the byte between its moves."""
    return (
        _("The byte lies in HBM."),
        _("The byte is on the chip."),
        _("The byte has been used."),
        _("The chips’ sums are added up."),
        _("The result is in HBM."),
    )


def moves() -> dict[str, str]:
    """Return the sentences about the byte on its way."""
    return {
        "early": _("It waits for the road."),
        "load": _("It travels to the chip: {time}"),
        "here": _("It waits on the chip for its turn."),
        "used": _("It is used: {count} of {all}"),
        "math": _("The {unit} works with it: {time}"),
        "times": _("It was used {times}."),
        "idle": _("Its work is done: the {unit} waits."),
        "link": _("Its sum goes over the link: {time}"),
        "store": _("Its result goes back: {time}"),
        "sum": _("Its sum waits on the chip."),
        "home": _("Its result is in HBM."),
    }


# Pixels. The byte goes along TOP to the units, and its result goes back along BOTTOM.
BOX_TOP, TOP, BOTTOM, BOX_BOTTOM = 28, 78, 98, 112
PEER_TOP, PEER_BOTTOM, AT_PEER = 142, 180, 168
LANES, ROW, LEFT, RIGHT = 16, 38, 8, 30
PLACES = {"hbm": "(0.12 * wide)", "chip": "(0.52 * wide)", "unit": "(0.85 * wide)"}
"""Middles of the stations."""
HALVES = {"hbm": "(0.1 * wide)", "chip": "(0.12 * wide)", "unit": "(0.14 * wide)"}
COLORS = dict(zip(("load", "store", "math", "link"), SERIES_COLORS, strict=False))
# For a byte after `p` rounds: its current round, and the elapsed fraction of that round.
WHERE = {"stage": "max(0, min(rounds - 1, floor(p)))", "part": "p - stage"}
BYTE = {"p": "step", **WHERE}


def height(linked: bool) -> float:
    return _lanes(linked) + ROW * (2 + linked) + 42


def _lanes(linked: bool) -> float:
    return (PEER_BOTTOM if linked else BOX_BOTTOM) + LANES


def marks(linked: bool, unit: str) -> Sequence[Mark]:
    """Draw the picture; `linked` adds another chip.

    `unit` is "matrix" or "vector".
    """
    unit = unit_name(unit)
    rows = [
        (_("{who}: waits {share}").replace("{who}", who), *parts)
        for who, *parts in (
            (_("road to HBM"), "road_waits", "store", "load"),
            (unit, "waits", "math"),
            *([(_("link"), "link_waits", "link")] if linked else []),
        )
    ]
    lanes = [_lanes(linked) + ROW * row for row in range(len(rows))]
    return [
        label(LEFT, 16, _happens(linked, unit), where=BYTE, name="happens", font_weight="'bold'"),
        *(
            mark
            for i, (place, name) in enumerate(
                zip(PLACES, ("HBM", _("on the chip"), unit), strict=True)
            )
            for mark in _station(place, name, BOX_TOP, BOX_BOTTOM, i)
        ),
        *_roads(),
        *(_peer() if linked else []),
        *_bytes(linked),
        *(mark for y, row in zip(lanes, rows, strict=True) for mark in _lane(y, *row)),
        *_axis(lanes[-1] + ROW),
    ]


def _happens(linked: bool, unit: str) -> str:
    """Return the formula of the sentence about the followed byte at `step`."""
    words = {name: sentence.replace("{unit}", unit) for name, sentence in moves().items()}
    say = {name: quoted(sentence) for name, sentence in words.items()}
    timed = {name: said(words[name], time=f"text(t_{name}, 's')") for name in COLORS}
    count = said(words["used"], count="text(floor(uses * part / math))", all="text(uses)")
    idle = f"either(uses > 0, {said(words['times'], times='times')}, {say['idle']})"
    loads = f"either(part < store + load, {timed['load']}, {say['here']})"
    stages = [
        f"either(part < store, {say['early']}, {loads})",
        f"either(part < math, either(uses > 1, {count}, {timed['math']}), {idle})",
        *([f"either(part < link, {timed['link']}, {say['sum']})"] if linked else []),
        f"either(part < store, {timed['store']}, {say['home']})",
    ]
    rest = [sentence for i, sentence in enumerate(at_rest()) if linked or i != 3]
    return (
        f"either(step == floor(step), {steps_of(rest, 'step')}, at([{', '.join(stages)}], stage))"
    )


def _station(place: str, name: str, top: float, bottom: float, tint: int) -> list[Mark]:
    x, half = PLACES[place], HALVES[place]
    return [
        box(f"{x} - {half}", top, f"2 * {half}", bottom - top, TINTS[tint], rx=5, name="station"),
        label(x, top + 16, quoted(name), text_anchor="'middle'", name="names"),
    ]


def _roads() -> list[Mark]:
    found = []
    for a, b in (("hbm", "chip"), ("chip", "unit")):
        left, right = f"{PLACES[a]} + {HALVES[a]} + 2", f"{PLACES[b]} - {HALVES[b]} - 2"
        found.append(line(left, TOP, right, TOP, COLORS["load"], head=True))
        found.append(line(right, BOTTOM, left, BOTTOM, COLORS["store"], head=True))
    middle = "(0.31 * wide)"
    places = {"load": (middle, TOP - 8), "store": (middle, BOTTOM + 18)}
    places["math"] = (PLACES["unit"], BOX_TOP + 31)
    for name, (x, y) in places.items():
        found.append(label(x, y, f"text(t_{name}, 's')", text_anchor="'middle'", name="times"))
    return found


def _peer() -> list[Mark]:
    """Draw the other chip, and the link to it and back."""
    x = PLACES["unit"]
    look: dict[str, Any] = {"stroke": COLORS["link"], "head": True}
    words = said(_("link {time}"), time="text(t_link, 's')")
    left, right, ends = f"{x} - 14", f"{x} + 14", (BOX_BOTTOM + 2, PEER_TOP - 2)
    return [
        *_station("unit", _("other chip"), PEER_TOP, PEER_BOTTOM, 3),
        line(left, ends[0], left, ends[1], **look),
        line(right, ends[1], right, ends[0], **look),
        label(f"{left} - 8", BOX_BOTTOM + 20, words, text_anchor="'end'", name="times"),
    ]


def _bytes(linked: bool) -> list[Mark]:
    """Draw the followed byte and, smaller, those up to three rounds before and after."""
    hbm, chip, unit = PLACES.values()
    # The byte enters the unit in the first quarter of the arithmetic, so that readers see it move.
    enters = "min(1, 4 * part / math)"
    x = [
        f"{hbm} + ({chip} - {hbm}) * max(0, min(1, (part - store) / load))",
        f"{chip} + ({unit} - {chip}) * {enters}",
        unit,
        f"{unit} + ({hbm} - {unit}) * min(1, part / store)",
    ]
    works = "max(0, min(1, (4 * part / math - 1) / 3))"
    crosses = "(1 - abs(2 * min(1, part / link) - 1))"
    y = [
        f"{TOP}",
        f"{TOP} + {BOTTOM - TOP} * {works}",
        f"{BOTTOM} + {AT_PEER - BOTTOM} * {crosses}",
        f"{BOTTOM}",
    ]
    if not linked:
        del x[2], y[2]
    result = "(stage > 1) + (stage == 1) * (part >= math) > 0"
    place = (f"at([{', '.join(x)}], stage)", f"at([{', '.join(y)}], stage)")
    fill = f"either({result}, {COLORS['store']}, {COLORS['load']})"
    others = {"p": "step - at([-3, -2, -1, 1, 2, 3], i)", **WHERE}
    on_its_way = "(p > 0) * (p < rounds)"
    return [
        dot(*place, fill, 4.5, opacity=0.5, each=6, where=others, shown=on_its_way, name="others"),
        dot(*place, fill, 7, stroke=INKED, stroke_width=1.5, where=BYTE, name="byte"),
    ]


def _x(rounds: str) -> str:
    return f"({LEFT} + (wide - {LEFT + RIGHT}) * ({rounds}) / rounds)"


def _lane(y: float, sentence: str, waits: str, *parts: str) -> list[Mark]:
    """Draw a lane of the timeline: its label, and busy and idle times in each round.

    The busy times of the followed byte are darker.
    """
    own = {"load": "0", "math": "1", "link": "2", "store": "rounds - 1"}
    look: dict[str, Formula] = {"rx": 0, "stroke_width": 0, "each": "rounds"}
    words = said(sentence, share=f"percent({waits})")
    long = f"(wide - {LEFT + RIGHT}) / rounds"
    found, start = [label(LEFT, y + 10, words, name="lane")], "i"
    for part in parts:
        width, fade = f"max(0.7, {part} * {long} - 1)", f"either(i == {own[part]}, 0.9, 0.35)"
        look |= {"fill_opacity": fade, "shown": f"t_{part} > 0", "name": part}
        found.append(box(_x(start), y + 15, width, 16, COLORS[part], **look))
        start += f" + {part}"
    idle, now = f"max(0, {_x('i + 1')} - {_x(start)} - 1)", _x("step")
    look |= {"fill_opacity": 1, "shown": f"{waits} > 0", "name": "waits"}
    found.append(box(_x(start), y + 18, idle, 10, LINE, **look))
    return [*found, line(now, y + 13, now, y + 33, INKED, stroke_width=2, name="now")]


def _axis(y: float) -> list[Mark]:
    place, each = _x("i"), {"each": "rounds + 1"}
    # The first tick's label starts at its tick; the others are centered on theirs.
    tick = {"text_anchor": "either(i == 0, 'start', 'middle')", "name": "ticks", **each}
    scale = said(
        _("Full color: this byte. 1 s of play is {time}"), time="text(lower / seconds, 's')"
    )
    return [
        line(_x("0"), y, f"{_x('rounds')} + 12", y, FAINT, head=True),
        line(place, y, place, y + 5, FAINT, **each),
        label(place, y + 19, "text(i * lower, 's')", **tick),
        label(LEFT, y + 37, scale, name="scale"),
    ]
