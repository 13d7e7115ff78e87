"""What a page does about calls that take too long: its Python has no timers and no threads.

The page's thread is told when a call begins and how long it may take. It ends Python when that is
over, and has the check run again in a new one, which counts that call as too late. There is no CPU
clock in a browser either, and the grading machine is another one. So a loop of known length says
how much slower this Python is, and a call that ends in time but comes near the limit is not
counted as right: grading might stop it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

LOOP = 100_000
LOOP_SECONDS = 0.005  # on a grading machine of medium speed
SAMPLES = 5
MARGIN = 2  # a grading machine may be slower than that, and slow down other code more than a loop

Tell = Callable[[int, float], object]


class CallTimes:
    """Times the calls of a check; `call_limit.Host` for the checks of a page.

    clock: seconds. tell: called with the number of a call and its limit in seconds when it begins,
    and with 0, 0 when it has ended.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.tell: Tell = lambda number, seconds: None
        self.limit_seconds = 0.0
        self.begin()
        self.sample = float("inf")  # the fastest loop so far

    def begin(self, late: int = 0) -> None:
        """Start a cell; `late` is the number of the call that was stopped when it ran before."""
        self.number, self.late, self.longest = 0, late, 0.0

    @contextmanager
    def __call__(self, cpu: float, wall: float, note: Callable[[], None]) -> Iterator[None]:
        self.number += 1
        if self.number == self.late:
            note()
            raise TimeoutError
        self.limit_seconds = cpu
        if self.sample == float("inf"):
            self.measure()
        self.tell(self.number, min(wall, cpu * self.slowdown()))
        begun = self.clock()
        try:
            yield
        finally:
            self.longest = max(self.longest, self.clock() - begun)
            self.tell(0, 0)

    def doubt(self) -> str:
        """A sentence if the longest call since `begin` comes near the limit in grading."""
        took, self.longest = self.longest, 0.0
        if took * MARGIN <= self.limit_seconds:
            return ""  # in time on any device
        self.measure()  # the device may have been busy at the first measurement
        if took * MARGIN <= self.limit_seconds * self.slowdown():
            return ""
        return (
            f"A call took {took:.0f} s here. In grading a call gets {self.limit_seconds:g} s of "
            "computing, and this one may be stopped there. So the part does not count as done. "
            "Does the function count in a loop what a formula could give? If other programs kept "
            "this device busy, check again."
        )

    def slowdown(self) -> float:
        """How many times slower than a grading machine this Python is, at least 1."""
        return max(1.0, self.sample / LOOP_SECONDS)

    def measure(self) -> None:
        for _ in range(SAMPLES):
            begun = self.clock()
            loop(LOOP)
            self.sample = min(self.sample, self.clock() - begun)


def loop(rounds: int) -> int:
    total = 0
    for number in range(rounds):
        total += number & 7
    return total


TIMES = CallTimes()


def put_in(call_limit: ModuleType) -> None:
    """Have the checks' own limit ask this page's."""
    call_limit.host = TIMES  # type: ignore[attr-defined]
