"""In which order a machine is measured, how long, and what happens when it is too busy."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from rooflib._arguments import positive
from roofmeter import kernels
from roofmeter.dots import dots
from roofmeter.figures import Figure
from roofmeter.host import Host, this_host
from roofmeter.kernels import Probe
from roofmeter.readings import Readings, now
from roofmeter.run import PEAKS, ROOFS, Run
from roofmeter.store import script_hash
from roofmeter.team import Team, available_memory, blas, blas_threads, numbers, room
from roofmeter.watch import (
    BLOCK,
    CLOSE,
    ENOUGH,
    SLOWER,
    Sample,
    TooBusyError,
    Watch,
    Work,
)

Progress = Callable[[float, str], object]
"""Is told the share of the time that is over, and what is measured next."""

_Taken: TypeAlias = Mapping[int, tuple[Sample, ...]]
"""The samples of a probe, by its number in the plan."""
ROOF_TIME, DOT_TIME = 4.0, 2.0
"""Seconds that a roof and a dot get at most."""
DOT_ENOUGH = 4
"""Undisturbed samples that will do for what is no roof."""
PROTOCOL = {"timer": "clock of the host", "data": "uniform", "block": BLOCK, "enough": ENOUGH}
PROTOCOL |= {
    "close": CLOSE,
    "slower": SLOWER,
    "dot_enough": DOT_ENOUGH,
    "cached": kernels.CACHED,
    "roof": ROOF_TIME,
    "dot": DOT_TIME,
}
"""How samples are taken, for the run."""


def measure(seconds: float = 60.0, progress: Progress | bool = True) -> Run:
    """Measure the roofs of this machine with numpy, and the course's operations under them.

    About a minute on two cores if nobody else wants them, and never more than `seconds` for what is
    measured. A sample in which somebody else took the cores is dropped and repeated, at once and
    again at the end. What is not reached in time is left out, and the run says so. Give it more
    seconds on a machine that others use now and then.

    The peak is the best that numpy's matmul does, not the best that the processor could. Bandwidth
    is that of reading, and of an update in place, which load nothing in secret; copying is a dot.
    Source of the streams: McCalpin, "Memory bandwidth and machine balance in current high
    performance computers", 1995.

    Parameters
    ----------
    seconds
        Time that it may take, above zero.
    progress
        True draws a bar; False draws nothing; a function is called with the share of the time that
        is over, and with what comes next.

    Raises
    ------
    TooBusyError
        If others have the machine, at the start or during one of the four roofs. Nothing is
        concluded then. It is a RuntimeError.
    ValueError
        If `seconds` is not above zero and finite.
    """
    positive("seconds", seconds)
    host, readings = this_host(), now
    tell = teller(progress)
    with blas_threads(host.granted), Team(host.granted) as team:
        store = numbers(room(available_memory(host.memory)) // 4)
        plan, gauges = _plan(store, team), kernels.gauges(store, team)
        run = take(host, kernels.spin(team), plan, seconds, tell, readings, gauges=gauges)
    tell(1.0, "done")
    return run


def take(
    host: Host,
    spin: Work,
    plan: Iterable[Probe],
    seconds: float,
    tell: Progress,
    readings: Readings,
    date: datetime.datetime | None = None,
    gauges: Mapping[str, Work] | None = None,
) -> Run:
    """Measure the probes of `plan` in their order, if `spin` finds all granted cores free.

    Several probes of one key are tries: the best of them is the figure. The roofs come first, until
    each has a figure; what else was disturbed is tried again at the end, as long as there is time.
    """
    watch, start = Watch(readings, host.present, gauges=gauges or {}), readings().wall
    watch.insist_on_quiet(spin, host.granted)
    taken: dict[int, tuple[Sample, ...]] = {}
    probes = list(plan)
    while waiting := _waiting(probes, taken, watch):
        # The roofs until all are there: without one of them the rest is worth nothing.
        first = _roofs_missing(probes, waiting)
        for number in first or waiting:
            probe = probes[number]
            spent = readings().wall - start
            if spent > seconds and (probe.key not in ROOFS or number in taken):
                continue
            tell(min(spent / seconds, 1.0), probe.what)
            work = probe.make()
            most, enough = (ROOF_TIME, ENOUGH) if probe.key in ROOFS else (DOT_TIME, DOT_ENOUGH)
            until = readings().wall + most
            telling = kernels.telling(probe.footprint)
            new = watch.samples(work, probe.threads, probe.keeps_busy, until, enough, telling)
            taken[number] = taken.get(number, ()) + tuple(new)
            # The machine may just have shown that it was slower when a roof was measured.
            if not first and _roofs_missing(probes, _waiting(probes, taken, watch)):
                break
        if readings().wall - start > seconds:
            break
    figures, left_out = _figures(_tried(probes, taken, watch))
    for key in ROOFS:
        if key not in figures:
            why = left_out.get(key, "not measured")
            raise TooBusyError(f"this machine is too busy to be measured: {key}, {why}")
    return Run(
        host=host,
        date=date or datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        seconds=round(readings().wall - start, 1),
        threads=host.granted,
        figures=figures,
        libraries=_libraries(),
        left_out=left_out,
        protocol=PROTOCOL,
        paces=watch.usual(),
    )


def _waiting(probes: Sequence[Probe], taken: _Taken, watch: Watch) -> list[int]:
    """Which are still to be measured: all, and then those whose samples were disturbed.

    What was disturbed keeps its undisturbed samples, and what was good may no longer be when the
    machine has shown what its usual pace is.
    """
    return [n for n, figure in enumerate(_tried(probes, taken, watch)) if figure.refused]


def _roofs_missing(probes: Sequence[Probe], waiting: Sequence[int]) -> list[int]:
    """Which of those that wait are roofs of which no try has a figure."""
    found = {probe.key for n, probe in enumerate(probes) if n not in waiting}
    return [n for n in waiting if probes[n].key in ROOFS and probes[n].key not in found]


def _tried(probes: Sequence[Probe], taken: _Taken, watch: Watch) -> list[Figure]:
    """The figure of each probe, refused or not, by what the watch knows now."""
    return [
        figure_of(probe, watch.judged(taken.get(n, ()), kernels.telling(probe.footprint)))
        for n, probe in enumerate(probes)
    ]


def _figures(tried: Sequence[Figure]) -> tuple[dict[str, Figure], dict[str, str]]:
    """The figure of each key, and why others are left out."""
    figures: dict[str, Figure] = {}
    for figure in tried:
        key = figure.key
        if not figure.refused and (key not in figures or better(figure, figures[key])):
            figures[key] = figure
    left_out: dict[str, str] = {}
    for figure in tried:
        if figure.refused:
            # A try that is missing matters too: the figure may be less than the best of all.
            missing = f"{figure.key}, {figure.what}" if figure.key in figures else figure.key
            left_out.setdefault(missing, figure.refused if figure.samples else "the time was out")
    return figures, left_out


_KEPT = ("key", "what", "unit", "amount", "threads", "footprint", "operation", "sizes", "roof")


def figure_of(probe: Probe, samples: tuple[Sample, ...]) -> Figure:
    """What a probe and its samples make."""
    return Figure(samples=samples, **{name: getattr(probe, name) for name in _KEPT})


def better(one: Figure, other: Figure) -> bool:
    """Whether the one is typically faster than the other."""
    return one.median < other.median if one.unit == "s" else one.median > other.median


def _plan(store: Any, team: Team) -> Iterable[Probe]:
    for kind in PEAKS:
        for side in kernels.sides(team.threads):
            yield kernels.peak(kind, side, team.threads)
    yield kernels.read(store, team)
    yield kernels.update(store, team)
    yield kernels.call(team)
    yield from kernels.staircase(store, team)
    yield from dots(store, team)
    again = kernels.peak("fp32", kernels.SIDES[0], team.threads)
    yield replace(again, key="peak again")


def _libraries() -> dict[str, str]:
    import rooflib as rl

    versions = {"rooflib": rl.__version__, "python": platform.python_version()}
    return versions | {"numpy": np.__version__, **blas(), "script": script_hash()}


def teller(progress: Progress | bool) -> Progress:
    """What is told of the progress: a function, a bar, or nobody."""
    if callable(progress):
        return progress
    if not progress:
        return lambda share, what: None
    from roofmeter.bar import draw

    return draw
