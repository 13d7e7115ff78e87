"""What a cell and a call may take, and how much of it they have taken."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Clock = Literal["cpu", "wall"]


@dataclass(frozen=True)
class TimeLimits:
    """Seconds that a cell, and one call of an asked function, may take.

    `cell` and `call` are CPU time, which other processes on the machine take nothing from. The
    wall-clock limits behind them are for code that waits: whoever exceeds one gets a second try.
    What a process has waited for a core, since others had them, is not its own waiting, and does
    not count. `tries`: seconds on the clock that a notebook may spend, in all, on calls that are
    too late by the clock; after that no call gets another try. `notebook`: seconds on the clock
    for all of it, cells, calls and second tries.
    """

    cell: float = 30
    call: float = 5
    cell_wall: float = 120
    call_wall: float = 30
    tries: float = 240
    notebook: float = 600


TIME_LIMITS = TimeLimits()


class Stopwatch:
    """Counts from now on: the CPU time of a process (None: of no process), and the wall clock.

    The system is asked, not the process, which might say anything.
    """

    def __init__(self, process: int | None) -> None:
        self._process = process
        self._cpu, self._wall = self._cpu_seconds(), self._wall_seconds()

    def late(self, cpu: float, wall: float) -> Clock | None:
        """Which of the two limits is exceeded; the one in CPU time if both are."""
        if self._cpu_seconds() - self._cpu > cpu:
            return "cpu"
        return "wall" if self._wall_seconds() - self._wall > wall else None

    def _wall_seconds(self) -> float:
        """The clock, which stands still while the process waits for a core."""
        starved = starved_seconds(self._process) if self._process is not None else 0
        return time.monotonic() - starved

    def _cpu_seconds(self) -> float:
        if self._process is None or sys.platform != "linux":
            return 0.0
        try:
            # Linux's name for another process's CPU clock: see clock_getcpuclockid(3).
            return time.clock_gettime((~self._process << 3) | 2)
        except OSError:
            return 0.0  # it has ended, as whoever runs it will be told


def starved_seconds(process: int) -> float:
    """How long this process has been ready to run while others had the cores.

    0 where the system does not tell: see sched-stats in Linux's documentation.
    """
    try:
        text = Path(f"/proc/{process}/schedstat").read_text(encoding="ascii")
        return int(text.split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
