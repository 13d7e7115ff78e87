"""In which order an accelerator is measured: peaks at once and over seconds, streams, and dots."""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rooflib._arguments import positive
from roofmeter import kernels
from roofmeter.accelerator.backend import Backend, load
from roofmeter.accelerator.workloads import KINDS, SMALLER, Sizes, plan
from roofmeter.figures import Figure
from roofmeter.host import Host, this_host
from roofmeter.kernels import Probe
from roofmeter.protocol import Progress, figure_of, teller
from roofmeter.readings import Readings, now
from roofmeter.run import STREAMS, Run
from roofmeter.store import script_hash
from roofmeter.team import Team
from roofmeter.watch import (
    AT_MOST,
    BLOCK,
    ENOUGH,
    FEWEST,
    Sample,
    TooBusyError,
    Watch,
    Work,
)

IDLE = 0.1
"""A device that works for a larger share of the time before anything was started is not ours."""
APART = 0.15
"""A roof whose typical sample is slower than its best by more was disturbed by somebody."""


@dataclass(frozen=True)
class Windows:
    """Seconds of each part of the measurement.

    Attributes
    ----------
    block
        Of a sample, at least.
    rest, burst
        Before a burst, without work, and of the burst itself: the clock is still high.
    settling, sustained
        Of work without a pause: until the clock has settled, and all of it.
    dot
        Of a dot, at most.
    """

    block: float = BLOCK
    rest: float = 2.0
    burst: float = 0.3
    settling: float = 2.0
    sustained: float = 4.0
    dot: float = 2.0


WINDOWS = Windows()


@dataclass(frozen=True, kw_only=True)
class DeviceWatch(Watch):
    """Times what a device does, by its own clock where it has one, and asks its sensors."""

    backend: Backend
    threads: int
    """Of the processor, where that is the device."""

    def block(self, work: Work, repeats: int, threads: int = 1, keeps_busy: bool = False) -> Sample:
        """As of a `Watch`; an accelerator is disturbed if it slows itself down."""
        before = self.readings()
        seconds, told = self.backend.timed(work, repeats, self.backend.sensors)
        sample = self._judged(before, self.readings(), repeats, self.threads, False)
        # What the processor does beside it is no matter to an accelerator: it was told before.
        why = sample.disturbed if self.backend.device.kind == "cpu" else told.slowed
        return replace(sample, seconds=max(seconds, 1e-9), disturbed=why, device=told)

    def taken(
        self, probe: Probe, windows: Windows, rest: Callable[[float], object]
    ) -> dict[str, list[Sample]]:
        """Samples of the probe by the key of their figure; its arrays are let go of afterwards."""
        work = probe.make()
        if probe.key.startswith("peak"):
            burst = self.bursts(work, windows, rest)
            return {
                probe.key.replace("peak", "burst"): burst,
                probe.key: self.sustained(work, windows),
            }
        dot = self.readings().wall + windows.dot
        return {probe.key: self.samples(work, until=dot if probe.operation else float("inf"))}

    def bursts(self, work: Work, windows: Windows, rest: Callable[[float], object]) -> list[Sample]:
        """Work for a moment, each time after a rest."""
        repeats = self.repeats(work)
        each = self.block(work, repeats).each
        repeats = max(1, round(windows.burst / each))
        taken = []
        for _ in range(FEWEST):
            rest(windows.rest)
            taken.append(self.block(work, repeats))
        return taken

    def sustained(self, work: Work, windows: Windows) -> list[Sample]:
        """Work without a pause; samples before the clock has settled do not count."""
        repeats, start = self.repeats(work), self.readings().wall
        taken: list[Sample] = []
        good = 0
        while True:
            at = self.readings().wall - start
            if at >= windows.sustained and (good >= FEWEST or len(taken) >= AT_MOST):
                return taken
            sample = self.block(work, repeats)
            if at < windows.settling and not sample.disturbed:
                sample = replace(sample, disturbed="the clock had not settled yet")
            good += not sample.disturbed
            taken.append(sample)


def measure_accelerator(
    device: str = "cuda", seconds: float = 300.0, progress: Progress | bool = True
) -> Run:
    """Measure the roofs of an accelerator through torch or jax, and operations under them.

    Its peaks are those of matmuls in each data type that it has: sustained, over seconds of work
    without a pause ("peak bf16"), and of a burst after a rest ("burst bf16"), which a high clock
    makes faster. Its bandwidths are those of reading and of an update in place. Operands are random
    numbers, no set of them comes again before the cache has forgotten it, and each result is
    checked against fp64 on some rows. Clocks, power and temperature are kept with each sample,
    where the driver tells them. What is not reached in time, and what the device or the library
    does not have, is left out, and the run says so.

    Parameters
    ----------
    device
        "cuda" for the first CUDA device through torch, or through jax without it; "torch" or
        "jax" for the best device that it finds; "torch:cpu" and "jax:cpu" for the processor.
    seconds
        Time that it may take, above zero; the roofs take what they need.
    progress
        As for `measure`.

    Raises
    ------
    TooBusyError
        If others have the device, at the start or during one of the roofs. It is a RuntimeError.
    RuntimeError
        If the library fails at a roof, or the result of a roof is wrong.
    ImportError
        If the library is not installed; it says what to install.
    ValueError
        For a device that is none or not there, and `seconds` not above zero and finite.
    """
    positive("seconds", seconds)
    tell, host, backend = teller(progress), this_host(), load(device)
    sizes = SMALLER if backend.device.kind == "cpu" else Sizes()
    try:
        run = survey(backend, host, sizes, WINDOWS, seconds, tell, now, time.sleep)
    finally:
        backend.close()
    tell(1.0, "done")
    return run


def survey(
    backend: Backend,
    host: Host,
    sizes: Sizes,
    windows: Windows,
    seconds: float,
    tell: Progress,
    readings: Readings,
    rest: Callable[[float], object],
) -> Run:
    """Measure every probe of the plan, if the device is free."""
    device, start = backend.device, readings().wall
    watch = DeviceWatch(
        readings, host.present, windows.block, backend=backend, threads=host.granted
    )
    _insist_on_quiet(watch, host, rest)
    lacking = {kind: backend.lacks(kind) for kind in KINDS}
    left_out = {f"peak {kind}": why for kind, why in lacking.items() if why}
    kinds = [kind for kind, why in lacking.items() if not why]
    figures: dict[str, Figure] = {}
    for probe in plan(backend, sizes, kinds):
        spent = readings().wall - start
        is_roof = not probe.operation
        if spent > seconds and not is_roof:
            left_out[probe.key] = "the time was out"
            continue
        tell(min(spent / seconds, 1.0), probe.what)
        try:
            taken = watch.taken(probe, windows, rest)
        except RuntimeError as error:  # Of memory, of a library, or a wrong result.
            left_out[probe.key] = _first_line(error)
            continue
        for key, samples in taken.items():
            figure = figure_of(replace(probe, key=key), tuple(samples))
            why = figure.refused or (_apart(figure) if is_roof and device.kind != "cpu" else "")
            if why and key == probe.key and is_roof:
                raise TooBusyError(f"this device is too busy to be measured: {key}, {why}")
            if why:
                left_out[key] = why
            elif figure.operation and f"peak {figure.counted.compute.name}" not in figures:
                left_out[key] = f"there is no peak in {figure.counted.compute.name}"
            else:
                figures[key] = figure
    for key in STREAMS:
        if key not in figures:
            raise RuntimeError(f"{device.name} has no roof: {key}, {left_out[key]}")
    return Run(
        host=host,
        date=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        seconds=round(readings().wall - start, 1),
        threads=host.granted,
        figures=figures,
        libraries=_libraries(backend),
        left_out=left_out,
        device=device,
        protocol=_protocol(backend, sizes, windows),
    )


def _insist_on_quiet(watch: DeviceWatch, host: Host, rest: Callable[[float], object]) -> None:
    if watch.backend.device.kind == "cpu":
        with Team(host.granted) as team:
            quiet = Watch(watch.readings, watch.cores, watch.least)
            quiet.insist_on_quiet(kernels.spin(team), host.granted)
        return
    # What ran here a moment ago is still in the first reading.
    for _ in range(FEWEST):
        busy = watch.backend.sensors.busy() or 0.0
        if busy <= IDLE:
            return
        rest(1.0)
    raise TooBusyError(
        f"this device is too busy to be measured: others use it {busy:.0%} of the time"
    )


def _apart(figure: Figure) -> str:
    away = abs(figure.median / figure.best - 1)
    return f"its typical sample is {away:.0%} away from its best" if away > APART else ""


def _first_line(error: RuntimeError) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _libraries(backend: Backend) -> dict[str, str]:
    import rooflib as rl

    versions = {"rooflib": rl.__version__, "python": platform.python_version()}
    versions |= {"numpy": np.__version__, **backend.libraries}
    return versions | {"script": script_hash("*.py", "accelerator/*.py")}


def _protocol(backend: Backend, sizes: Sizes, windows: Windows) -> dict[str, object]:
    return {
        **backend.protocol,
        "sensors": backend.sensors.name,
        "data": "standard normal",
        "rotated": sizes.rotated,
        "enough": ENOUGH,
        **{name: getattr(windows, name) for name in windows.__dataclass_fields__},
    }
