"""Time limits of cells and calls, and the clocks that measure them."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Clock = Literal["cpu", "wall"]


@dataclass(frozen=True)
class TimeLimits:
    """Limits in seconds for a cell, and for one call of a learner's function.

    `cell` and `call` limit CPU time, which does not depend on other load. The wall-clock limits
    `cell_wall` and `call_wall` catch code that sleeps or blocks. For a cell, time spent waiting for
    a core does not count; a call that exceeds its wall-clock limit is retried. `tries`: wall-clock
    seconds per notebook for calls that exceeded that limit; once spent, nothing is retried.
    `notebook`: wall-clock seconds for the whole notebook: cells, calls and retries.
    """

    cell: float = 30
    call: float = 5
    cell_wall: float = 120
    call_wall: float = 30
    tries: float = 240
    notebook: float = 600


TIME_LIMITS = TimeLimits()


class Stopwatch:
    """A timer, started when created, of a process's CPU time and of the wall clock.

    Without a process, it measures only the wall clock. The times come from the kernel, because the
    process itself can't be trusted.
    """

    def __init__(self, process: int | None) -> None:
        self._process = process
        self._cpu, self._wall = self._cpu_seconds(), self._wall_seconds()

    def late(self, cpu: float, wall: float) -> Clock | None:
        """Return the clock whose limit is exceeded, if any; "cpu" if both are."""
        if self._cpu_seconds() - self._cpu > cpu:
            return "cpu"
        return "wall" if self._wall_seconds() - self._wall > wall else None

    def _wall_seconds(self) -> float:
        """Return the wall-clock time minus the time that the process waited for a core."""
        starved = starved_seconds(self._process) if self._process is not None else 0
        return time.monotonic() - starved

    def _cpu_seconds(self) -> float:
        if self._process is None or sys.platform != "linux":
            return 0.0
        try:
            # The clock id of another process's CPU clock on Linux: see clock_getcpuclockid(3).
            return time.clock_gettime((~self._process << 3) | 2)
        except OSError:
            return 0.0  # the process has ended, which its parent notices


def starved_seconds(process: int) -> float:
    """Return how long this process was runnable but waited for a core.

    0 where the system does not report it: see sched-stats in the Linux documentation.
    """
    try:
        text = Path(f"/proc/{process}/schedstat").read_text(encoding="ascii")
        return int(text.split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
