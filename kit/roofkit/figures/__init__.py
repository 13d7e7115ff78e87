"""Interactive figures: drawing, numbers and a sentence follow the reader's controls.

    >>> from roofkit import figures
    >>> figures.matmul()
    <figure matmul>

As the last expression of a cell, a figure shows itself: in JupyterLab as a widget, and on a page as
an element that the page's script fills. Each figure is a module, `<name>.js`, on the small library
in `lib`, which has rooflib's formulas. Those that take something from a cell have a function here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from roofkit.figures import bundle
from roofkit.figures.figure import PAGE, Figure
from rooflib.catalog import chip as chip_of
from rooflib.hardware import HBM, Chip, Link
from rooflib.work import Times, Work

__all__ = ["PAGE", "Figure", "browser_roof", "byte"]


def browser_roof(chip: Chip | None = None) -> Figure:
    """Draw the measured roof of a browser, in front of the roofs of a measured chip."""
    stored = {"peak": float(chip["fp32"]), "bandwidth": float(chip[HBM])} if chip else {}
    return Figure("browser_roof", stored)


def byte(
    ops: Work | Mapping[str, Work],
    chip: str | Chip = "TPU v5e",
    shows: str = "waits",
    *,
    uses: Mapping[str, float] | None = None,
    follows: str = "number",
    link: str | Link | None = None,
) -> Figure:
    """Draw a byte's way from HBM to the units and back, in proportion to its times.

    Parameters
    ----------
    ops
        Work, or several by the name to choose them by.
    shows
        The number beside the picture: "waits" (idle share of the units), "intensity", "reached"
        (FLOP/s), "uses" or "each_sent" (FLOPs for each byte sent to other chips).
    uses, follows
        How often a loaded number is used, by the name of its operation; and what it is.
    chip, link
        As for `rooflib.Work.on`.
    """
    on, counts = chip_of(chip), uses or {}
    jobs = {ops.name: ops} if isinstance(ops, Work) else ops
    times = {name: op.on(on, link) for name, op in jobs.items()}
    given = {
        "chip": on.name,
        "memory": float(on.memory),
        "unit": "matrix" if any("compute" in each.times for each in times.values()) else "vector",
        "shows": shows,
        "follows": follows,
        "jobs": {
            name: {**_amounts(each), "uses": float(counts.get(name, 0))}
            for name, each in times.items()
        },
    }
    return Figure("byte", given)


def _amounts(bound: Times) -> dict[str, float]:
    """Return the amounts and seconds of an operation."""
    work, bandwidth, units = bound.work, bound.chip[HBM], ("compute", "vector")
    found: dict[str, Any] = {
        "load": work.loaded / bandwidth,
        "store": work.written / bandwidth,
        "math": max(bound.times.get(roof, 0) for roof in units),
        "link": sum(time for roof, time in bound.times.items() if roof not in (*units, HBM)),
        "flops": work.flops,
        "bytes": work.bytes,
        "sent": work.sent,
        "held": work.held,
    }
    return {name: float(amount) for name, amount in found.items()}


def __getattr__(name: str) -> Callable[[], Figure]:
    """Return the function of a figure that takes nothing from a cell: its module is enough."""
    known = bundle.names()  # none in a page's Python: the site has the modules there
    if name.startswith("_") or (known and name not in known):
        raise AttributeError(f"there is no figure {name!r}; there are {', '.join(known)}")
    return partial(Figure, name)
