"""The measurement protocol: order, time limits, and handling of busy machines."""

from __future__ import annotations

import datetime
import hashlib
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rooflib.checks import size
from roofmeter import kernels
from roofmeter.clocks import Clock, read_clocks
from roofmeter.figures import Figure
from roofmeter.host import Host, this_host
from roofmeter.kernels import Probe
from roofmeter.load_monitor import (
    MAX_SLOWDOWN,
    MIN_SAMPLE_SECONDS,
    SETTLED_TOLERANCE,
    TARGET_SAMPLES,
    LoadMonitor,
    Sample,
    TooBusyError,
    Work,
)
from roofmeter.run import PEAKS, ROOFS, Run
from roofmeter.run_files import FIGURE_FIELDS
from roofmeter.threads import (
    ThreadPool,
    array_budget,
    available_memory,
    blas_info,
    blas_threads,
    random_floats,
)
from roofmeter.workloads import workloads

Progress = Callable[[float, str], object]
"""A callback that gets the share of the time used and a description of the next probe."""

_SamplesByProbe: TypeAlias = Mapping[int, tuple[Sample, ...]]
"""The samples of each probe, by its index in the plan."""
MAX_ROOF_SECONDS, MAX_OPERATION_SECONDS = 4.0, 2.0
"""Time limit per attempt of a roof and of an operation."""
OPERATION_TARGET_SAMPLES = 4
"""Undisturbed samples to aim for in probes that are not roofs."""
PROTOCOL = {
    "timer": "clock of the host",
    "data": "uniform",
    "block": MIN_SAMPLE_SECONDS,
    "enough": TARGET_SAMPLES,
    "close": SETTLED_TOLERANCE,
    "slower": MAX_SLOWDOWN,
    "dot_enough": OPERATION_TARGET_SAMPLES,
    "cached": kernels.MAX_CACHED_BYTES,
    "roof": MAX_ROOF_SECONDS,
    "dot": MAX_OPERATION_SECONDS,
}
"""The sampling parameters that are stored with a run."""


def measure(seconds: float = 60.0, progress: Progress | bool = True) -> Run:
    """Measure this machine with numpy: its roofs, and operations of the course.

    This takes about a minute on two idle cores. Samples disturbed by other load are dropped and
    repeated, immediately and again at the end. Probes that don't fit into `seconds` are left out
    and listed in `Run.left_out`; allow more time on a machine that others use as well.

    The peak is the best that numpy's matmul reaches, not the best that the processor could reach.
    The bandwidths are those of reading and of an update in place, which cause no hidden loads.
    Source of the streams: McCalpin, "Memory bandwidth and machine balance in current high
    performance computers", 1995.

    Parameters
    ----------
    seconds
        Time limit, above zero.
    progress
        True draws a progress bar; False draws nothing; a function is called with the share of the
        time used and a description of the next probe.

    Raises
    ------
    TooBusyError
        If other load keeps the machine busy, at the start or during one of the four roofs. A
        subclass of RuntimeError.
    ValueError
        If `seconds` is not above zero and finite.
    """
    size("seconds", seconds)
    host = this_host()
    report = progress_reporter(progress)
    with blas_threads(host.granted), ThreadPool(host.granted) as pool:
        store = random_floats(array_budget(available_memory(host.memory)) // 4)
        plan, references = _plan(store, pool), kernels.references(store, pool)
        run = measure_plan(
            host, kernels.spin(pool), plan, seconds, report, read_clocks, references=references
        )
    report(1.0, "done")
    return run


def measure_plan(
    host: Host,
    spin: Work,
    plan: Iterable[Probe],
    seconds: float,
    report: Progress,
    clock: Clock,
    date: datetime.datetime | None = None,
    references: Mapping[str, Work] | None = None,
) -> Run:
    """Measure the probes of `plan` in order, once samples of `spin` show idle cores.

    Probes with the same key are alternatives: the best one becomes the figure. Roofs come first and
    are repeated until each has a figure. Other disturbed probes are repeated at the end, as time
    allows.
    """
    monitor, start = LoadMonitor(clock, host.present, references=references or {}), clock().wall
    monitor.require_idle(spin, host.granted)
    taken: dict[int, tuple[Sample, ...]] = {}
    probes = list(plan)
    while waiting := _pending(probes, taken, monitor):
        # Measure the roofs until all have figures: no other figure is useful without them.
        first = _pending_roofs(probes, waiting)
        for number in first or waiting:
            probe = probes[number]
            spent = clock().wall - start
            if spent > seconds and (probe.key not in ROOFS or number in taken):
                continue
            report(min(spent / seconds, 1.0), probe.what)
            work = probe.make()
            most, enough = (
                (MAX_ROOF_SECONDS, TARGET_SAMPLES)
                if probe.key in ROOFS
                else (MAX_OPERATION_SECONDS, OPERATION_TARGET_SAMPLES)
            )
            until = clock().wall + most
            relevant = kernels.relevant_references(probe.footprint)
            new = monitor.take_samples(
                work, probe.threads, probe.keeps_busy, until, enough, relevant
            )
            taken[number] = taken.get(number, ()) + tuple(new)
            # New reference times may have invalidated the samples of a roof.
            if not first and _pending_roofs(probes, _pending(probes, taken, monitor)):
                break
        if clock().wall - start > seconds:
            break
    figures, left_out = _select_figures(_figures_so_far(probes, taken, monitor))
    for key in ROOFS:
        if key not in figures:
            why = left_out.get(key, "not measured")
            raise TooBusyError(f"this machine is too busy to be measured: {key}, {why}")
    return Run(
        host=host,
        date=date or datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        seconds=round(clock().wall - start, 1),
        threads=host.granted,
        figures=figures,
        libraries=_libraries(),
        left_out=left_out,
        protocol=PROTOCOL,
        reference_times=monitor.typical_references(),
    )


def _pending(probes: Sequence[Probe], taken: _SamplesByProbe, monitor: LoadMonitor) -> list[int]:
    """Return the indices of probes without a valid figure.

    Disturbed probes keep their undisturbed samples. Samples that looked valid may become disturbed
    once later reference times show the usual speed of the machine.
    """
    return [
        n for n, figure in enumerate(_figures_so_far(probes, taken, monitor)) if figure.rejection
    ]


def _pending_roofs(probes: Sequence[Probe], waiting: Sequence[int]) -> list[int]:
    """Return the pending probes of roofs that have no valid figure from any attempt."""
    found = {probe.key for n, probe in enumerate(probes) if n not in waiting}
    return [n for n in waiting if probes[n].key in ROOFS and probes[n].key not in found]


def _figures_so_far(
    probes: Sequence[Probe], taken: _SamplesByProbe, monitor: LoadMonitor
) -> list[Figure]:
    """Return each probe's figure, valid or not, judged by all reference times so far."""
    return [
        make_figure(
            probe, monitor.mark_slow(taken.get(n, ()), kernels.relevant_references(probe.footprint))
        )
        for n, probe in enumerate(probes)
    ]


def _select_figures(tried: Sequence[Figure]) -> tuple[dict[str, Figure], dict[str, str]]:
    """Return the best figure of each key, and the reason for each missing one."""
    figures: dict[str, Figure] = {}
    for figure in tried:
        key = figure.key
        if not figure.rejection and (key not in figures or is_faster(figure, figures[key])):
            figures[key] = figure
    left_out: dict[str, str] = {}
    for figure in tried:
        if figure.rejection:
            # List a rejected variant even if its key has another figure: it might have been better.
            missing = f"{figure.key}, {figure.what}" if figure.key in figures else figure.key
            left_out.setdefault(missing, figure.rejection if figure.samples else "out of time")
    return figures, left_out


def make_figure(probe: Probe, samples: tuple[Sample, ...]) -> Figure:
    """Return the figure of a probe from its samples."""
    return Figure(samples=samples, **{name: getattr(probe, name) for name in FIGURE_FIELDS})


def is_faster(one: Figure, other: Figure) -> bool:
    """Return whether the median of `one` is faster than that of `other`."""
    return one.median < other.median if one.unit == "s" else one.median > other.median


def _plan(store: Any, pool: ThreadPool) -> Iterable[Probe]:
    for kind in PEAKS:
        for side in kernels.peak_sides(pool.threads):
            yield kernels.peak(kind, side, pool.threads)
    yield kernels.read(store, pool)
    yield kernels.update(store, pool)
    yield kernels.call(pool)
    yield from kernels.staircase(store, pool)
    yield from workloads(store, pool)
    again = kernels.peak("fp32", kernels.PEAK_SIDES[0], pool.threads)
    yield replace(again, key="peak again")


def _libraries() -> dict[str, str]:
    import rooflib as rl

    versions = {"rooflib": rl.__version__, "python": platform.python_version()}
    return versions | {"numpy": np.__version__, **blas_info(), "script": script_hash()}


def progress_reporter(progress: Progress | bool) -> Progress:
    """Return the progress callback: the given function, a progress bar, or a no-op."""
    if callable(progress):
        return progress
    if not progress:
        return lambda share, what: None
    from roofmeter.progress_bar import draw

    return draw


def script_hash() -> str:
    """Return the SHA-256 of the measuring code: equal hashes mean the same method."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
