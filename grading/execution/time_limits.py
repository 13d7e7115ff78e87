"""What a cell and a call may take, and how much of it they have taken."""

import sys
import time
from dataclasses import dataclass
from typing import Literal

Clock = Literal["cpu", "wall"]


@dataclass(frozen=True)
class TimeLimits:
    """Seconds that a cell, and one call of an asked function, may take.

    `cell` and `call` are CPU time, which other processes on the machine take nothing from. The
    wall-clock limits behind them are for code that waits: whoever exceeds one gets a second try.
    """

    cell: float = 30
    call: float = 5
    cell_wall: float = 120
    call_wall: float = 30


TIME_LIMITS = TimeLimits()


class Stopwatch:
    """Counts from now on: the CPU time of a process (None: of no process), and the wall clock.

    The system is asked, not the process, which might say anything.
    """

    def __init__(self, process: int | None) -> None:
        self._process = process
        self._cpu, self._wall = self._cpu_seconds(), time.monotonic()

    def late(self, cpu: float, wall: float) -> Clock | None:
        """Which of the two limits is exceeded; the one in CPU time if both are."""
        if self._cpu_seconds() - self._cpu > cpu:
            return "cpu"
        return "wall" if time.monotonic() - self._wall > wall else None

    def _cpu_seconds(self) -> float:
        if self._process is None or sys.platform != "linux":
            return 0.0
        try:
            # Linux's name for another process's CPU clock: see clock_getcpuclockid(3).
            return time.clock_gettime((~self._process << 3) | 2)
        except OSError:
            return 0.0  # it has ended, as whoever runs it will be told
