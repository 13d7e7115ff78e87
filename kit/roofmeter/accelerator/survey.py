"""The survey of an accelerator: burst and sustained peaks, streams, operations."""

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
from roofmeter.accelerator.workloads import CPU_SIZES, DTYPES, Sizes, plan
from roofmeter.clocks import Clock, read_clocks
from roofmeter.figures import Figure
from roofmeter.host import Host, this_host
from roofmeter.kernels import Probe
from roofmeter.load_monitor import (
    MAX_SAMPLES,
    MIN_SAMPLE_SECONDS,
    MIN_SAMPLES,
    TARGET_SAMPLES,
    LoadMonitor,
    Sample,
    TooBusyError,
    Work,
)
from roofmeter.protocol import Progress, make_figure, progress_reporter
from roofmeter.run import STREAMS, Run
from roofmeter.store import script_hash
from roofmeter.threads import ThreadPool

MAX_IDLE_UTILIZATION = 0.1
"""Maximum utilization of an idle device; more means that others are using it."""
MAX_ROOF_GAP = 0.15
"""Maximum gap between the best and the median of a roof; more means that it was disturbed."""


@dataclass(frozen=True)
class Windows:
    """Durations of the parts of the measurement, in seconds.

    Attributes
    ----------
    block
        Minimum of a sample.
    rest, burst
        Pause before a burst, and the burst itself, in which the clock is still high.
    settling, sustained
        Continuous work: until the clock has settled, and in total.
    dot
        Maximum of an operation.
    """

    block: float = MIN_SAMPLE_SECONDS
    rest: float = 2.0
    burst: float = 0.3
    settling: float = 2.0
    sustained: float = 4.0
    dot: float = 2.0


WINDOWS = Windows()


@dataclass(frozen=True, kw_only=True)
class DeviceMonitor(LoadMonitor):
    """A `LoadMonitor` that uses the clock and the sensors of a device."""

    backend: Backend
    threads: int
    """Threads of the CPU, if that is the device."""

    def time_block(
        self, work: Work, repeats: int, threads: int = 1, keeps_busy: bool = False
    ) -> Sample:
        """Time one sample; an accelerator counts as disturbed if it throttles."""
        before = self.clock()
        seconds, sensors = self.backend.time_work(work, repeats, self.backend.sensors)
        sample = self._make_sample(before, self.clock(), repeats, self.threads, False)
        # Load on the CPU doesn't disturb an accelerator; its own throttling does.
        why = sample.disturbed if self.backend.device.kind == "cpu" else sensors.throttled
        return replace(sample, seconds=max(seconds, 1e-9), disturbed=why, device=sensors)

    def measure(
        self, probe: Probe, windows: Windows, rest: Callable[[float], object]
    ) -> dict[str, list[Sample]]:
        """Take the samples of a probe, by figure key; its arrays are freed afterwards."""
        work = probe.make()
        if probe.key.startswith("peak"):
            burst = self.bursts(work, windows, rest)
            return {
                probe.key.replace("peak", "burst"): burst,
                probe.key: self.sustained(work, windows),
            }
        deadline = self.clock().wall + windows.dot
        return {
            probe.key: self.take_samples(work, until=deadline if probe.operation else float("inf"))
        }

    def bursts(self, work: Work, windows: Windows, rest: Callable[[float], object]) -> list[Sample]:
        """Take samples of short bursts, each after a rest."""
        repeats = self.choose_repeats(work)
        each = self.time_block(work, repeats).per_pass
        repeats = max(1, round(windows.burst / each))
        taken = []
        for _ in range(MIN_SAMPLES):
            rest(windows.rest)
            taken.append(self.time_block(work, repeats))
        return taken

    def sustained(self, work: Work, windows: Windows) -> list[Sample]:
        """Take samples of continuous work; those before the clock settles are invalid."""
        repeats, start = self.choose_repeats(work), self.clock().wall
        taken: list[Sample] = []
        good = 0
        while True:
            at = self.clock().wall - start
            if at >= windows.sustained and (good >= MIN_SAMPLES or len(taken) >= MAX_SAMPLES):
                return taken
            sample = self.time_block(work, repeats)
            if at < windows.settling and not sample.disturbed:
                sample = replace(sample, disturbed="the clock had not settled yet")
            good += not sample.disturbed
            taken.append(sample)


def measure_accelerator(
    device: str = "cuda", seconds: float = 300.0, progress: Progress | bool = True
) -> Run:
    """Measure an accelerator through torch or jax: its roofs, and operations.

    The peaks are those of matmuls in each supported data type: sustained over seconds of continuous
    work ("peak bf16"), and in a burst after a rest ("burst bf16"), when the clock is still high.
    The bandwidths are those of reading and of an update in place. Operands are random numbers, no
    set of them is reused while it may still be cached, and each result is checked against fp64 on
    some rows. Clocks, power and temperature are stored with each sample if the driver reports them.
    Probes that don't fit into `seconds` or aren't supported are left out and listed in
    `Run.left_out`.

    Parameters
    ----------
    device
        "cuda" for the first CUDA device, through torch or, without torch, through jax; "torch" or
        "jax" for the best device that the library finds; "torch:cpu" or "jax:cpu" for the CPU.
    seconds
        Time limit, above zero; the roofs are measured even if they take longer.
    progress
        As for `measure`.

    Raises
    ------
    TooBusyError
        If others use the device, at the start or during a roof. A subclass of RuntimeError.
    RuntimeError
        If the library fails at a roof, or the result of a roof is wrong.
    ImportError
        If the library is not installed; it says what to install.
    ValueError
        For an unknown or absent device, or if `seconds` is not above zero and finite.
    """
    positive("seconds", seconds)
    report, host, backend = progress_reporter(progress), this_host(), load(device)
    sizes = CPU_SIZES if backend.device.kind == "cpu" else Sizes()
    try:
        run = survey(backend, host, sizes, WINDOWS, seconds, report, read_clocks, time.sleep)
    finally:
        backend.close()
    report(1.0, "done")
    return run


def survey(
    backend: Backend,
    host: Host,
    sizes: Sizes,
    windows: Windows,
    seconds: float,
    report: Progress,
    clock: Clock,
    rest: Callable[[float], object],
) -> Run:
    """Measure every probe of the plan, after checking that the device is idle."""
    device, start = backend.device, clock().wall
    monitor = DeviceMonitor(
        clock, host.present, windows.block, backend=backend, threads=host.granted
    )
    _require_idle(monitor, host, rest)
    lacking = {kind: backend.unsupported(kind) for kind in DTYPES}
    left_out = {f"peak {kind}": why for kind, why in lacking.items() if why}
    kinds = [kind for kind, why in lacking.items() if not why]
    figures: dict[str, Figure] = {}
    for probe in plan(backend, sizes, kinds):
        spent = clock().wall - start
        is_roof = not probe.operation
        if spent > seconds and not is_roof:
            left_out[probe.key] = "out of time"
            continue
        report(min(spent / seconds, 1.0), probe.what)
        try:
            taken = monitor.measure(probe, windows, rest)
        except RuntimeError as error:  # covers out of memory, library errors, and wrong results
            left_out[probe.key] = _first_line(error)
            continue
        for key, samples in taken.items():
            figure = make_figure(replace(probe, key=key), tuple(samples))
            why = figure.rejection or (
                _roof_gap(figure) if is_roof and device.kind != "cpu" else ""
            )
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
        seconds=round(clock().wall - start, 1),
        threads=host.granted,
        figures=figures,
        libraries=_libraries(backend),
        left_out=left_out,
        device=device,
        protocol=_protocol(backend, sizes, windows),
    )


def _require_idle(monitor: DeviceMonitor, host: Host, rest: Callable[[float], object]) -> None:
    if monitor.backend.device.kind == "cpu":
        with ThreadPool(host.granted) as pool:
            quiet = LoadMonitor(monitor.clock, monitor.cores, monitor.min_seconds)
            quiet.require_idle(kernels.spin(pool), host.granted)
        return
    # The first reading still includes load from before the run, so try again.
    for _ in range(MIN_SAMPLES):
        busy = monitor.backend.sensors.utilization() or 0.0
        if busy <= MAX_IDLE_UTILIZATION:
            return
        rest(1.0)
    raise TooBusyError(
        f"this device is too busy to be measured: others use it {busy:.0%} of the time"
    )


def _roof_gap(figure: Figure) -> str:
    away = abs(figure.median / figure.best - 1)
    return f"its typical sample is {away:.0%} away from its best" if away > MAX_ROOF_GAP else ""


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
        "rotated": sizes.min_operand_bytes,
        "enough": TARGET_SAMPLES,
        **{name: getattr(windows, name) for name in windows.__dataclass_fields__},
    }
