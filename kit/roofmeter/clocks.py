"""System clocks and counters. Tests replace them with fake ones."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class ClockTimes:
    """All clocks read at one moment, in seconds; None for a missing clock.

    Attributes
    ----------
    wall
        Elapsed time.
    own
        CPU time of all threads of this process, summed.
    waited
        Time those threads were runnable but waited for a core, summed.
    busy, stolen
        Time that all cores were busy for any process, and time that the hypervisor gave to other
        virtual machines (steal time), summed over cores.
    """

    wall: float
    own: float
    waited: float | None = None
    busy: float | None = None
    stolen: float | None = None


Clock = Callable[[], ClockTimes]
"""A function that reads every clock once."""


def read_clocks() -> ClockTimes:
    """Read the clocks of this machine, using `/proc` where the system has it."""
    busy, stolen = _machine()
    # Read the wall clock last, so that the interval that ends here includes the other readings.
    waited, own = _waited(), time.process_time()
    return ClockTimes(time.perf_counter(), own, waited, busy, stolen)


def _waited(proc: Path = PROC) -> float | None:
    """Return the seconds that all threads of this process waited on a run queue.

    Fields as in the kernel's documentation, "Scheduler Statistics".
    """
    total = 0
    try:
        for task in os.scandir(proc / "self/task"):
            try:
                total += int(Path(task.path, "schedstat").read_text().split()[1])
            except (FileNotFoundError, ProcessLookupError):  # The thread has ended.
                continue
    except (OSError, IndexError, ValueError):
        return None
    return total * 1e-9


def _machine(proc: Path = PROC) -> tuple[float | None, float | None]:
    """Return busy and stolen seconds of all cores; fields as in proc_stat(5)."""
    try:
        with (proc / "stat").open() as file:
            ticks = [int(field) for field in file.readline().split()[1:9]]
        user, nice, system, _, _, interrupts, soft, stolen = ticks
        second = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return _busy_by_psutil(), None
    return (user + nice + system + interrupts + soft) / second, stolen / second


def _busy_by_psutil() -> float | None:
    """Return busy seconds of all cores from psutil, if it is installed."""
    try:
        times = importlib.import_module("psutil").cpu_times()
    except ImportError:
        return None
    return float(sum(getattr(times, kind, 0.0) for kind in ("user", "nice", "system")))
