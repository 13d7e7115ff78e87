"""Published measurements of single operations, with their sources."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any, NamedTuple

from rooflib import catalog
from rooflib.catalog import Source, read_catalog
from rooflib.hardware import Link
from rooflib.operations import all_reduce, matmul, spared
from rooflib.quantities import Quantity, to_base
from rooflib.work import Work


class PublishedRun(NamedTuple):
    """A published measurement of one operation, a multiplication or an all-reduce.

    `work` is that of one chip, named with its sizes; `link` is the link that it uses. `software` is
    what ran, and `published` the day on which the number first appeared, where the source tells.
    """

    chip: str
    work: Work
    seconds: Quantity
    source: Source
    link: Link | None = None
    software: str = ""
    published: datetime.date | None = None


@cache
def published_runs() -> tuple[PublishedRun, ...]:
    """Return published measurements of single operations, with their sources."""
    content = read_catalog("published_runs.toml")
    matmuls = [_matmul(**entry) for entry in content["matmul"]]
    return (*matmuls, *(_all_reduce(**entry) for entry in content["all_reduce"]))


def _matmul(
    chip: str, B: int, D: int, F: int, x: str, source: Source, groups: int = 1, **more: Any
) -> PublishedRun:
    done = groups * matmul(B, D, F, x, out=more["out"])
    name = f"{groups} × " * (groups > 1) + f"{x}[{B}, {D}] · {x}[{D}, {F}]"
    rate = to_base(more["printed"], more["unit"])
    seconds = Quantity(done.flops / rate, "s")
    told = {what: more[what] for what in ("software", "published") if what in more}
    return PublishedRun(chip, done.named(name), seconds, source, **told)


def _all_reduce(
    chip: str, chips: int, size: int, printed: float, unit: str, source: Source
) -> PublishedRun:
    """Make a run from a bus bandwidth, which counts the bytes of a ring."""
    ring, less, name = all_reduce(size, chips), spared(size, chips), f"all-reduce among {chips}"
    done = Work(name, held=0, sent=ring, spared=less, chips=chips)
    seconds = Quantity(ring / to_base(printed, unit), "s")
    return PublishedRun(chip, done, seconds, source, catalog.chip(chip).link())
