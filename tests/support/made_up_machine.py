"""A machine whose clocks go as a test wants: nothing is timed, and others come and go on cue."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from roofmeter.host import Host
from roofmeter.kernels import Probe
from roofmeter.protocol import take
from roofmeter.readings import Moment
from roofmeter.run import Run
from roofmeter.watch import Work

DATE = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
HOST = Host("Made-up CPU", present=4, granted=2, memory=8e9, system="Paper 1.0, sheet")


@dataclass
class Weather:
    """What others do: how many times as long work takes, and shares of time as a watch sees them.

    `own` and `waited` are shares of the time of the threads, `others` and `stolen` of all cores.
    """

    slower: float = 1.0
    own: float = 1.0
    waited: float = 0.0
    others: float = 0.0
    stolen: float = 0.0


@dataclass
class Machine:
    """Clocks, and work that moves them. `weather` is asked for each stretch of work, by number."""

    weather: Callable[[int], Weather] = field(default=lambda stretch: Weather())
    cores: int = 4
    blind: bool = False  # a system that has no /proc
    at: Moment = field(default_factory=lambda: Moment(100.0, 5.0, 1.0, 50.0, 2.0))
    stretches: int = 0
    spinning: float = 0.0  # seconds for which threads of this process look out for work

    def __call__(self) -> Moment:
        return Moment(self.at.wall, self.at.own) if self.blind else self.at

    def work(self, seconds: float, threads: int = 2) -> Work:
        """Work that takes so long a pass on a machine that nobody else uses."""

        def do(repeats: int) -> None:
            now, at = self.weather(self.stretches), self.at
            self.stretches += 1
            wall = repeats * seconds * now.slower
            own = wall * threads * now.own
            self.at = Moment(
                at.wall + wall,
                at.own + own,
                (at.waited or 0) + wall * threads * now.waited,
                (at.busy or 0) + own + wall * self.cores * now.others + 0.02,
                (at.stolen or 0) + wall * self.cores * now.stolen,
            )

        return do

    def nap(self, seconds: float) -> None:
        """Time in which only threads that spin are on a core."""
        spun = min(self.spinning, seconds)
        self.spinning -= spun
        self.at = replace(self.at, wall=self.at.wall + seconds, own=self.at.own + spun)

    def probe(self, key: str, unit: str, amount: float, seconds: float, **more: object) -> Probe:
        made = {"what": f"made-up {key}", "threads": 2, "keeps_busy": True, **more}
        return Probe(key, unit=unit, amount=amount, make=lambda: self.work(seconds), **made)  # type: ignore[arg-type]

    def plan(self) -> list[Probe]:
        """The four roofs and a call: 100 and 50 GFLOP/s, 20 GB/s read and 30 updated, 1 µs."""
        return [
            self.probe("peak fp32", "FLOP/s", 1e9, 0.01),
            self.probe("peak fp64", "FLOP/s", 1e9, 0.02),
            self.probe("read", "B/s", 1e9, 0.05, footprint=1e9),
            self.probe("update", "B/s", 3e9, 0.1, footprint=1e9),
            self.probe("call", "s", 1, 1e-6, threads=2),
        ]

    def gauges(self) -> dict[str, Work]:
        """Ten milliseconds of work in a cache, and twenty of reading."""
        return {"cores": self.work(0.01), "memory": self.work(0.02)}

    def run(self, plan: Iterable[Probe] = (), seconds: float = 60.0, **more: Any) -> Run:
        whole = [*self.plan(), *plan]
        tell = lambda share, what: None  # noqa: E731
        return take(HOST, self.work(0.01), whole, seconds, tell, self, DATE, **more)
