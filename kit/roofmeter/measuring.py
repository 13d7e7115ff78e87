"""How a machine is measured: samples of every workload, until they agree or time is up."""

from __future__ import annotations

import datetime
import hashlib
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

import rooflib as rl
from rooflib.checks import size
from rooflib.quantities import text
from roofmeter import workloads
from roofmeter.figures import MIN_SAMPLES, Figure, Sample
from roofmeter.machine import (
    ThreadPool,
    Work,
    blas,
    blas_info,
    random_floats,
    store_of_floats,
    this_host,
)
from roofmeter.run import ROOFS, Run

SAMPLE_SECONDS = 0.08
"""A sample takes at least this long."""
MAX_SAMPLES = 16
MAX_ROOF_SECONDS, MAX_OPERATION_SECONDS = 8.0, 2.0
"""How long to wait for samples that agree, of a roof and of an operation."""
MIN_SHARE, IDLE_SECONDS = 0.9, 3.0
"""Share of its core that a busy thread must get, and how long to wait for it at the start."""
PROTOCOL = {
    "timer": "clock of the host",
    "data": "uniform",
    "block": SAMPLE_SECONDS,
    "roof": MAX_ROOF_SECONDS,
    "dot": MAX_OPERATION_SECONDS,
}
"""What is stored with a run of how its samples were taken."""

Progress = Callable[[float, str], object]
"""A callback that gets the share of the time used and a description of the next workload."""


class TooBusyError(RuntimeError):
    """Something else keeps the machine too busy for a measurement."""


def measure(seconds: float = 60.0, progress: Progress | bool = True) -> Run:
    """Measure this machine with numpy: its roofs, and operations of the course.

    This takes about a minute on two idle cores. What doesn't fit into `seconds` is left out and
    listed in `Run.left_out`. Samples of an operation that spread too far are named in
    `Run.warnings`.

    The peak is the best that numpy's matmul reaches, not the best that the processor could reach.
    The bandwidths are those of reading and of an update in place, which cause no hidden loads.
    Source of the streams: McCalpin, "Memory bandwidth and machine balance in current high
    performance computers", 1995.

    Parameters
    ----------
    seconds
        Time limit, above zero; the four roofs are measured in any case.
    progress
        True draws a progress bar; False draws nothing; a function is called with the share of the
        time used and a description of the next workload.

    Raises
    ------
    TooBusyError
        If something else has the cores at the start, or the samples of a roof spread too far. A
        subclass of RuntimeError.
    ValueError
        If `seconds` is not above zero and finite.
    """
    size("seconds", seconds)
    report = progress if callable(progress) else draw if progress else lambda share, what: None
    host, start = this_host(), time.perf_counter()
    figures: dict[str, Figure] = {}
    left_out: dict[str, str] = {}
    with blas().limit(limits=host.granted), ThreadPool(host.granted) as pool:
        require_idle_cores(pool)
        store = store_of_floats(host.memory)
        roofs, others = workloads.roofs(store, pool), workloads.others(store, pool)
        for figure, work in chain(roofs, others):
            roof, spent = figure.key in ROOFS, time.perf_counter() - start
            if not roof and spent > seconds:
                left_out[figure.key] = "out of time"
                continue
            report(min(spent / seconds, 1.0), figure.what)
            most = MAX_ROOF_SECONDS if roof else MAX_OPERATION_SECONDS
            new = replace(figure, samples=take_samples(work, figure.threads, most))
            if roof and not new.settled:
                raise TooBusyError(
                    f"this machine is too busy to be measured: samples of {figure.key} spread by "
                    f"{text(new.spread, '%')}"
                )
            old = figures.get(figure.key)
            if not old or (new.median < old.median) == (new.unit == "s"):
                figures[figure.key] = new
    report(1.0, "done")
    return Run(
        host=host,
        date=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        seconds=round(time.perf_counter() - start, 1),
        threads=host.granted,
        figures=figures,
        libraries=libraries(),
        left_out=left_out,
        protocol=PROTOCOL,
    )


def require_idle_cores(pool: ThreadPool) -> None:
    """Raise a `TooBusyError` unless threads that compute all the time get their cores."""
    parts = [(random_floats(2**20),) for _ in range(pool.threads)]  # long arrays: the GIL is free
    work = pool.work(lambda a: np.negative(a, a), parts)
    until = time.perf_counter() + IDLE_SECONDS
    repeats = choose_repeats(work)
    while (share := sample(work, repeats, pool.threads).own) < MIN_SHARE:
        if time.perf_counter() > until:
            raise TooBusyError(
                "this machine is too busy to be measured: threads that compute all the time had a "
                f"core for only {share:.0%} of it"
            )


def take_samples(work: Work, threads: int, most: float) -> tuple[Sample, ...]:
    """Take samples until the three fastest agree, or after `most` seconds."""
    until = time.perf_counter() + most
    repeats = choose_repeats(work)
    taken: list[Sample] = []
    while len(taken) < MAX_SAMPLES:
        taken.append(sample(work, repeats, threads))
        agree = Figure("", "", "s", 1, threads, tuple(taken)).settled
        if len(taken) > MIN_SAMPLES and (agree or time.perf_counter() > until):
            break
    return tuple(taken)


def choose_repeats(work: Work) -> int:
    """Return how many passes a sample needs; this warms up caches and pages, too."""
    repeats = 1
    while True:
        took = sample(work, repeats, 1).seconds
        if took >= SAMPLE_SECONDS:
            return repeats
        # Grow at most twelvefold: the first pass is slower than the rest.
        repeats = max(repeats + 1, int(repeats * min(12, 1.2 * SAMPLE_SECONDS / took)))


def sample(work: Work, repeats: int, threads: int) -> Sample:
    """Time `repeats` passes of `work`, which keeps at most `threads` threads busy."""
    start, own = time.perf_counter(), time.process_time()
    work(repeats)
    took, used = time.perf_counter() - start, time.process_time() - own
    return Sample(took, repeats, round(used / (took * threads), 4))


def libraries() -> dict[str, str]:
    """Return the versions, and the hash of this code: equal hashes mean the same method."""
    script = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        script.update(path.read_bytes())
    versions = {"rooflib": rl.__version__, "python": platform.python_version()}
    return versions | {"numpy": np.__version__, **blas_info(), "script": script.hexdigest()}


def draw(share: float, what: str) -> None:
    """Redraw a one-line progress bar on stderr."""
    full = round(share * 24)
    line = f"\r{'█' * full}{'░' * (24 - full)} {what[:50]:<50}"
    sys.stderr.write(line + ("\n" if share >= 1 else ""))
