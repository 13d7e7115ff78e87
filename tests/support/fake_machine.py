"""A fake machine with simulated clocks and scripted load from other processes."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from roofmeter.clocks import ClockTimes
from roofmeter.host import Host
from roofmeter.kernels import Probe
from roofmeter.load_monitor import Work
from roofmeter.protocol import measure_plan
from roofmeter.run import Run

DATE = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
HOST = Host("Made-up CPU", present=4, granted=2, memory=8e9, system="Paper 1.0, sheet")


@dataclass
class Load:
    """Load from other processes: slowdown of the work, and shares of CPU time.

    `own` and `waited` are shares of the threads' time, `others` and `stolen` of all cores.
    """

    slower: float = 1.0
    own: float = 1.0
    waited: float = 0.0
    others: float = 0.0
    stolen: float = 0.0


@dataclass
class FakeMachine:
    """A clock, and work that advances it; `load(i)` is the load in work interval i."""

    load: Callable[[int], Load] = field(default=lambda interval: Load())
    cores: int = 4
    without_proc: bool = False  # simulate a system without /proc
    at: ClockTimes = field(default_factory=lambda: ClockTimes(100.0, 5.0, 1.0, 50.0, 2.0))
    intervals: int = 0
    spin_seconds: float = 0.0  # how long idle BLAS threads keep spinning

    def __call__(self) -> ClockTimes:
        return ClockTimes(self.at.wall, self.at.own) if self.without_proc else self.at

    def work(self, seconds: float, threads: int = 2) -> Work:
        """Return work that takes `seconds` per pass on an idle machine."""

        def do(repeats: int) -> None:
            now, at = self.load(self.intervals), self.at
            self.intervals += 1
            wall = repeats * seconds * now.slower
            own = wall * threads * now.own
            self.at = ClockTimes(
                at.wall + wall,
                at.own + own,
                (at.waited or 0) + wall * threads * now.waited,
                (at.busy or 0) + own + wall * self.cores * now.others + 0.02,
                (at.stolen or 0) + wall * self.cores * now.stolen,
            )

        return do

    def sleep(self, seconds: float) -> None:
        """Advance the clock while only spinning threads use CPU time."""
        spun = min(self.spin_seconds, seconds)
        self.spin_seconds -= spun
        self.at = replace(self.at, wall=self.at.wall + seconds, own=self.at.own + spun)

    def probe(self, key: str, unit: str, amount: float, seconds: float, **more: object) -> Probe:
        """Return a probe whose passes take `seconds`."""
        fields = {"what": f"made-up {key}", "threads": 2, "keeps_busy": True, **more}
        return Probe(key, unit=unit, amount=amount, make=lambda: self.work(seconds), **fields)  # type: ignore[arg-type]

    def plan(self) -> list[Probe]:
        """Return made-up probes of two peaks, two bandwidths and the cost of a call.

        Peaks of 100 and 50 GFLOP/s, 20 GB/s read, 30 GB/s updated, and 1 µs per call.
        """
        return [
            self.probe("peak fp32", "FLOP/s", 1e9, 0.01),
            self.probe("peak fp64", "FLOP/s", 1e9, 0.02),
            self.probe("read", "B/s", 1e9, 0.05, footprint=1e9),
            self.probe("update", "B/s", 3e9, 0.1, footprint=1e9),
            self.probe("call", "s", 1, 1e-6, threads=2),
        ]

    def references(self) -> dict[str, Work]:
        """Return reference workloads: 10 ms in a cache, 20 ms of memory reads."""
        return {"cores": self.work(0.01), "memory": self.work(0.02)}

    def run(self, plan: Iterable[Probe] = (), seconds: float = 60.0, **more: Any) -> Run:
        """Measure the roofs and the probes of `plan` on this machine."""
        whole = [*self.plan(), *plan]
        report = lambda share, what: None  # noqa: E731
        return measure_plan(HOST, self.work(0.01), whole, seconds, report, self, DATE, **more)
