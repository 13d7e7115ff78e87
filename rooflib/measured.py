"""Published measurements of single operations, with their sources."""

from __future__ import annotations

import datetime
from functools import cache
from typing import NamedTuple

from rooflib import catalog
from rooflib.catalog import Source, read_catalog
from rooflib.hardware import Link
from rooflib.operations import all_reduce, matmul, spared
from rooflib.quantities import Quantity, to_base
from rooflib.work import Work


class PublishedRun(NamedTuple):
    """A published measurement of one operation, a multiplication or an all-reduce."""

    chip: str
    work: Work  # of one chip, named with its sizes
    seconds: Quantity
    source: Source
    link: Link | None = None
    software: str = ""
    published: datetime.date | None = None  # when the number first appeared, if the source tells


@cache
def published_runs() -> tuple[PublishedRun, ...]:
    """Return published measurements of single operations, with their sources."""
    content, runs = read_catalog("published_runs.toml"), []
    for of in content["matmul"]:
        B, D, F, x, groups = of["B"], of["D"], of["F"], of["x"], of.get("groups", 1)
        name = f"{groups} × " * (groups > 1) + f"{x}[{B}, {D}] · {x}[{D}, {F}]"
        done = (groups * matmul(B, D, F, x, out=of["out"])).named(name)
        seconds = Quantity(done.flops / to_base(of["printed"], of["unit"]), "s")
        told = (of.get("software", ""), of.get("published"))
        runs.append(PublishedRun(of["chip"], done, seconds, of["source"], None, *told))
    for of in content["all_reduce"]:
        size, chips, link = of["size"], of["chips"], catalog.chip(of["chip"]).link()
        ring, less, name = all_reduce(size, chips), spared(size, chips), f"all-reduce among {chips}"
        done = Work(name, held=0, sent=ring, spared=less, chips=chips)
        # A bus bandwidth counts the bytes of a ring.
        seconds = Quantity(ring / to_base(of["printed"], of["unit"]), "s")
        runs.append(PublishedRun(of["chip"], done, seconds, of["source"], link))
    return tuple(runs)
