"""Options of controls: the catalog's chips, and values for sliders."""

from __future__ import annotations

from roofkit.figures.engine.own_chip import OWN
from roofkit.figures.engine.own_chip import names as own_names
from rooflib.catalog import chips
from rooflib.hardware import Chip

__all__ = [
    "OWN",
    "bandwidths",
    "capacities",
    "decades",
    "names",
    "own_names",
    "peaks",
    "sizes",
    "with_bf16",
]

STEPS = (1, 1.5, 2, 3, 4, 5, 7)


def with_bf16() -> list[Chip]:
    """Return the chips that have a bf16 peak."""
    return [chip for chip in chips() if "bf16" in chip]


def names() -> list[str]:
    return [chip.name for chip in with_bf16()]


def peaks() -> dict[str, float]:
    """Return dense bf16 FLOP/s by chip."""
    return {chip.name: chip["bf16"] for chip in with_bf16()}


def bandwidths() -> dict[str, float]:
    """Return HBM bytes/s by chip."""
    return {chip.name: chip["HBM"] for chip in with_bf16()}


def capacities() -> dict[str, float]:
    """Return bytes of HBM by chip."""
    return {chip.name: chip.memory for chip in with_bf16()}


def decades(first: int, last: int) -> list[float]:
    """Return round numbers from 10**first to 10**last, seven per decade."""
    numbers = [float(f"{s}e{d}") for d in range(first, last) for s in STEPS]
    return [*numbers, float(f"1e{last}")]


def sizes(first: int, last: int) -> list[float]:
    """Return powers of two from 2**first to 2**last, and the midpoints between them."""
    steps = [step for e in range(first, last) for step in (2**e, 3 * 2**e // 2)]
    return [*dict.fromkeys(steps), 2**last]
