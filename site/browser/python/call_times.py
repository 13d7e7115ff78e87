"""Time limits for checked calls in a page.

A page's Python has no timers and no threads. It reports to the page when a call begins and how long
it may take. After that time the page terminates Python, and runs the check again in a new worker,
which counts that call as timed out. A browser has no CPU clock either, and is not the grading
machine. So a loop of known length measures how much slower this Python is, and a call that ends in
time but close to the limit does not count as right: grading might stop it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

LOOP = 100_000
LOOP_SECONDS = 0.005  # time of the loop on a grading machine of medium speed
SAMPLES = 5
# A grading machine may be slower than a medium one, and slower still for other code than the loop.
MARGIN = 2

Report = Callable[[int, float], object]


class CallTimes:
    """A timer of a check's calls; the `call_limit.Host` for checks in a page.

    clock: seconds. report: called with the number of a call and its limit in seconds when it
    begins, and with 0, 0 when it has ended.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.report: Report = lambda number, seconds: None
        self.limit_seconds = 0.0
        self.begin()
        self.fastest_loop = float("inf")  # seconds

    def begin(self, late: int = 0) -> None:
        """Reset for a cell. Its call number `late`, if any, timed out in an earlier run."""
        self.number, self.late, self.longest = 0, late, 0.0

    @contextmanager
    def __call__(self, cpu: float, wall: float, note: Callable[[], None]) -> Iterator[None]:
        self.number += 1
        if self.number == self.late:
            note()
            raise TimeoutError
        self.limit_seconds = cpu
        if self.fastest_loop == float("inf"):
            self.measure()
        self.report(self.number, min(wall, cpu * self.slowdown()))
        begun = self.clock()
        try:
            yield
        finally:
            self.longest = max(self.longest, self.clock() - begun)
            self.report(0, 0)

    def doubt(self) -> str:
        """Return a warning if the longest call since `begin` is close to grading's limit."""
        took, self.longest = self.longest, 0.0
        if took * MARGIN <= self.limit_seconds:
            return ""  # far below the limit even if the device is fast
        self.measure()  # the device may have been busy during the first measurement
        if took * MARGIN <= self.limit_seconds * self.slowdown():
            return ""
        _ = import_module("roofkit.words")._
        return str(
            _(
                "A call took {took} s here. In grading a call gets {limit} s of computing, and "
                "this one may be stopped there. So the part does not count as done. Does the "
                "function count in a loop what a formula could give? If other programs kept this "
                "device busy, check again."
            )
        ).format(took=f"{took:.0f}", limit=f"{self.limit_seconds:g}")

    def slowdown(self) -> float:
        """Return how many times slower than a grading machine this Python is, at least 1."""
        return max(1.0, self.fastest_loop / LOOP_SECONDS)

    def measure(self) -> None:
        """Time the loop of known length several times, and keep the fastest time."""
        for _ in range(SAMPLES):
            begun = self.clock()
            loop(LOOP)
            self.fastest_loop = min(self.fastest_loop, self.clock() - begun)


def loop(rounds: int) -> int:
    """Run a loop of known length."""
    total = 0
    for number in range(rounds):
        total += number & 7
    return total


TIMES = CallTimes()


def install_host(call_limit: ModuleType) -> None:
    """Let roofkit's checks limit the time of their calls with TIMES."""
    call_limit.host = TIMES  # type: ignore[attr-defined]
