"""What is read from clocks and from the system. A test puts made-up ones in their place."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Moment:
    """All clocks at one moment, in seconds since some beginning; None where there is no such one.

    Attributes
    ----------
    wall
        Time that passed.
    own
        Time that the threads of this process were on a core, added up.
    waited
        Time that they could have run and waited for a core, added up.
    busy, stolen
        Time that the cores of the whole machine worked, for anybody, and time that a hypervisor
        gave to other machines, added up.
    """

    wall: float
    own: float
    waited: float | None = None
    busy: float | None = None
    stolen: float | None = None


Readings = Callable[[], Moment]
"""Reads every clock, once."""

HOT = 0x8 | 0x20 | 0x40 | 0x80
"""Reasons to slow down that are no power limit: of the hardware, or for heat (NVML's masks)."""


@dataclass(frozen=True)
class Reading:
    """What a device told about itself while it worked; None for what it does not tell.

    Attributes
    ----------
    clock, memory_clock
        Hz of its arithmetic and of its memory.
    power
        W that it draws.
    temperature
        Degrees Celsius.
    reasons
        Why its clock is not higher, as the driver's bits: 4 is the limit of power.
    """

    clock: float | None = None
    memory_clock: float | None = None
    power: float | None = None
    temperature: float | None = None
    reasons: int | None = None

    @property
    def slowed(self) -> str:
        """By what the device was slowed down, if not by its usual limit of power."""
        bits = (self.reasons or 0) & HOT
        return f"the device slowed itself down (reasons {bits:#x})" if bits else ""


def now() -> Moment:
    """Read the clocks of this machine; those of `/proc` where the system has it."""
    busy, stolen = _machine()
    # Wall clock last: what reading the others takes is then in the interval before it.
    waited, own = _waited(), time.process_time()
    return Moment(time.perf_counter(), own, waited, busy, stolen)


def _waited(proc: Path = PROC) -> float | None:
    """Seconds that all threads of this process waited on a run queue; fields as in the kernel's
    documentation, "Scheduler Statistics"."""
    total = 0
    try:
        for task in os.scandir(proc / "self/task"):
            try:
                total += int(Path(task.path, "schedstat").read_text().split()[1])
            except (FileNotFoundError, ProcessLookupError):  # A thread that ended meanwhile.
                continue
    except (OSError, IndexError, ValueError):
        return None
    return total * 1e-9


def _machine(proc: Path = PROC) -> tuple[float | None, float | None]:
    """Busy and stolen seconds of all cores; fields as in the manual page proc_stat(5)."""
    try:
        with (proc / "stat").open() as file:
            ticks = [int(field) for field in file.readline().split()[1:9]]
        user, nice, system, _, _, interrupts, soft, stolen = ticks
        second = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return _busy_by_psutil() if proc == PROC else None, None
    return (user + nice + system + interrupts + soft) / second, stolen / second


def _busy_by_psutil() -> float | None:
    """Busy seconds of all cores on a system without /proc, where psutil is installed."""
    try:
        times = importlib.import_module("psutil").cpu_times()
    except ImportError:
        return None
    return float(sum(getattr(times, kind, 0.0) for kind in ("user", "nice", "system")))
