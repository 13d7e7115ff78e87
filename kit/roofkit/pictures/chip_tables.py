"""What the catalogue knows of a chip's links and of the memories on it, as tables of numbers."""

from __future__ import annotations

from collections.abc import Mapping

from roofkit.figure.options import with_bf16
from rooflib.hardware import TOPOLOGIES

LINKS = max(len(chip.links) for chip in with_bf16())
MEMORIES = max(len(chip.on_chip) for chip in with_bf16())
TORUS, SWITCH = TOPOLOGIES.index("torus"), TOPOLOGIES.index("switch")
ONE_PEER = len(TOPOLOGIES)
"""What the reader's own chip has: a link of which only the way to one peer is known."""
LINK_NAMES = [*dict.fromkeys(link.name for chip in with_bf16() for link in chip.links), "link"]
MEMORY_NAMES = [*dict.fromkeys(name for chip in with_bf16() for name in chip.on_chip)]

Entry = dict[str, float | str]


def links() -> dict[str, Entry]:
    """By chip, for its links 0, 1, …: "lane_0" is the bytes/s of one link, one way; "lanes_0" how
    many there are; "kind_0" the place of the topology and "name_0" that of the name in its list.

    Links that a chip lacks have no bandwidth.
    """
    found = {}
    for chip in with_bf16():
        known: Entry = {}
        for j, way in enumerate(chip.links):
            kind, name = TOPOLOGIES.index(way.topology), LINK_NAMES.index(way.name)
            known |= _slot(j, way.bandwidth, way.links_per_axis * way.axes, kind, name)
        found[chip.name] = _slots(known)
    return found


def own_links() -> Entry:
    """The same for the reader's own chip, with the name of the quantity that they type."""
    return _slots(_slot(0, "link", 1, ONE_PEER, LINK_NAMES.index("link")))


def on_chip() -> dict[str, Entry]:
    """By chip: "size_0" is the bytes of a memory on the chip, "name_0" the place of its name."""
    found = {}
    for chip in with_bf16():
        known = no_memory()
        for j, (name, size) in enumerate(chip.on_chip.items()):
            known |= {f"size_{j}": size, f"name_{j}": MEMORY_NAMES.index(name)}
        found[chip.name] = known
    return found


def no_memory() -> Entry:
    """The entry of a chip of which no memory on the chip is known."""
    return {f"{what}_{j}": 0 for j in range(MEMORIES) for what in ("size", "name")}


def _slot(j: int, lane: float | str, lanes: int, kind: int, name: int) -> Entry:
    return {f"lane_{j}": lane, f"lanes_{j}": lanes, f"kind_{j}": kind, f"name_{j}": name}


def _slots(known: Mapping[str, float | str]) -> Entry:
    empty: Entry = {}
    for j in range(LINKS):
        empty |= _slot(j, 0, 0, 0, 0)
    return {**empty, **known}
