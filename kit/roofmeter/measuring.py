"""How a machine is measured: samples of every workload, until they agree or time is up."""

from __future__ import annotations

import datetime
import os
import platform
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rooflib as rl
from rooflib.checks import size
from rooflib.quantities import text
from roofmeter import workloads
from roofmeter.figures import MIN_SAMPLES, Figure, Sample
from roofmeter.run import Host, Run
from roofmeter.workloads import Threads, Work

SAMPLE_SECONDS = 0.08
"""A sample takes at least this long."""
MAX_ROOF_SECONDS, MAX_OPERATION_SECONDS = 8.0, 2.0
"""How long to wait for samples that agree, of a roof and of an operation."""
ROOFS = ("peak fp32", "peak fp64", "read", "update")
"""What every run needs."""


class TooBusyError(RuntimeError):
    """Something else keeps the machine too busy for a measurement."""


def measure(seconds: float = 60.0) -> Run:
    """Measure this machine with numpy: its roofs, and operations of the course.

    This takes about a minute on two idle cores, and 2 GB of memory. What doesn't fit into `seconds`
    is listed in `Run.left_out`; the four roofs are measured in any case. Samples of an operation
    that spread too far are named in `Run.warnings`; those of a roof raise a TooBusyError, which is
    a RuntimeError. A limit that is not above zero raises a ValueError.

    The peak is the best that numpy's matmul reaches, not the best that the processor could reach.
    The bandwidths are those of reading and of an update in place, which cause no hidden loads.
    Source of the streams: McCalpin, "Memory bandwidth and machine balance in current high
    performance computers", 1995.
    """
    size("seconds", seconds)
    host, start = this_host(), time.perf_counter()
    figures: dict[str, Figure] = {}
    left_out = []
    with Threads(host.granted) as threads:
        for figure, work in workloads.all_of(threads):
            is_roof, spent = figure.key in ROOFS, time.perf_counter() - start
            if spent > seconds and not is_roof:
                left_out.append(figure.key)
                continue
            show(min(spent / seconds, 1), figure.what)
            new = sampled(figure, work, MAX_ROOF_SECONDS if is_roof else MAX_OPERATION_SECONDS)
            if is_roof and not new.settled:
                raise TooBusyError(
                    f"this machine is too busy to be measured: samples of {figure.key} spread by "
                    f"{text(new.spread, '%')}"
                )
            figures[figure.key] = new
    show(1, "done\n")
    return Run(
        host=host,
        date=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        seconds=round(time.perf_counter() - start, 1),
        figures=figures,
        libraries=libraries(),
        left_out=left_out,
    )


def sampled(figure: Figure, work: Work, most: float) -> Figure:
    """Return the figure with samples, taken until the fastest agree or for `most` seconds."""
    until = time.perf_counter() + most
    repeats = choose_repeats(work)
    while True:
        new = Sample(seconds_of(work, repeats), repeats)
        figure = replace(figure, samples=(*figure.samples, new))
        is_over = figure.settled or time.perf_counter() > until
        if is_over and len(figure.samples) > MIN_SAMPLES:
            return figure


def choose_repeats(work: Work) -> int:
    """Return how many passes a sample needs; this warms up caches and pages, too."""
    repeats = 1
    while (took := seconds_of(work, repeats)) < SAMPLE_SECONDS:
        # Grow at most twelvefold: the first pass is slower than the rest.
        repeats = max(repeats + 1, int(repeats * min(12, 1.2 * SAMPLE_SECONDS / took)))
    return repeats


def seconds_of(work: Work, repeats: int) -> float:
    start = time.perf_counter()
    work(repeats)
    return time.perf_counter() - start


def show(share: float, what: str) -> None:
    """Write a line of progress over the one before."""
    print(f"\r{share:4.0%} {what:<60}", end="", file=sys.stderr, flush=True)


def this_host() -> Host:
    """Describe this machine."""
    # Only the numbers of the kernel's release: its suffix may name who built it.
    release = re.match(r"[\d.]*\d", platform.release())
    memory = 4 * 2.0**30  # where the system doesn't tell
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        memory = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return Host(
        cpu=processor(),
        present=os.cpu_count() or 1,
        granted=len(workloads.cores()),
        memory=memory,
        system=f"{platform.system()} {release[0] if release else ''}, {platform.machine()}",
    )


def processor() -> str:
    """Return the model name that the processor reports."""
    listed = Path("/proc/cpuinfo")
    text = listed.read_text(encoding="utf-8") if listed.exists() else ""
    model = re.search(r"^(?:model name|Hardware)\s*: (.+)", text, re.M)
    return model[1].strip() if model else platform.processor() or "unknown processor"


def libraries() -> dict[str, str]:
    """Return the versions of what a measurement depends on."""
    built: Any = np.show_config(mode="dicts")
    blas = built.get("Build Dependencies", {}).get("blas", {})
    return {
        "rooflib": rl.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": " ".join(blas.get(name, "") for name in ("name", "version")),
    }
