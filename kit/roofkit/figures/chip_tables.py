"""The catalog's links and on-chip memories of each chip, as tables of numbers."""

from __future__ import annotations

from collections.abc import Mapping

from roofkit.figures.options import with_bf16
from roofkit.words import _
from rooflib.hardware import TOPOLOGIES

LINKS = max(len(chip.links) for chip in with_bf16())
MEMORIES = max(len(chip.on_chip) for chip in with_bf16())
MESH, SWITCH = TOPOLOGIES.index("mesh"), TOPOLOGIES.index("switch")
ONE_PEER = len(TOPOLOGIES)
"""Kind of the reader's own link: only its bandwidth to one peer is known."""
LINK_NAMES = [*dict.fromkeys(link.name for chip in with_bf16() for link in chip.links), "link"]
MEMORY_NAMES = [*dict.fromkeys(name for chip in with_bf16() for name in chip.on_chip)]


def link_names() -> list[str]:
    """Return the names of links in the reader's language."""
    return [_("link") if name == "link" else name for name in LINK_NAMES]


def memory_names() -> list[str]:
    """Return the names of on-chip memories in the reader's language."""
    words = {"L1 and shared memory": _("L1 and shared memory")}
    return [words.get(name, name) for name in MEMORY_NAMES]


Entry = dict[str, float | str]


def links() -> dict[str, Entry]:
    """Return a table of the links of each chip, by chip.

    Link 0 of a chip has the entries "lane_0", its one-way bytes/s per link; "lanes_0", the number
    of links; "kind_0", an index into TOPOLOGIES; and "name_0", an index into LINK_NAMES.

    Links that a chip lacks have zero bandwidth.
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
    """Return the links of the reader's own chip as a template for `own_chip.filled`."""
    return _slots(_slot(0, "link", 1, ONE_PEER, LINK_NAMES.index("link")))


def on_chip() -> dict[str, Entry]:
    """Return on-chip memories by chip: bytes "size_0", index of the name "name_0"."""
    found = {}
    for chip in with_bf16():
        known = no_memory()
        for j, (name, size) in enumerate(chip.on_chip.items()):
            known |= {f"size_{j}": size, f"name_{j}": MEMORY_NAMES.index(name)}
        found[chip.name] = known
    return found


def no_memory() -> Entry:
    """Return the entry of a chip without known on-chip memories."""
    return {f"{what}_{j}": 0 for j in range(MEMORIES) for what in ("size", "name")}


def _slot(j: int, lane: float | str, lanes: int, kind: int, name: int) -> Entry:
    return {f"lane_{j}": lane, f"lanes_{j}": lanes, f"kind_{j}": kind, f"name_{j}": name}


def _slots(known: Mapping[str, float | str]) -> Entry:
    empty: Entry = {}
    for j in range(LINKS):
        empty |= _slot(j, 0, 0, 0, 0)
    return {**empty, **known}
