"""Samples, and whether somebody else had the machine while they were taken."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from roofmeter.readings import Moment, Reading, Readings

BLOCK = 0.08
"""Seconds that a sample takes at least: shorter ones say nothing about shares of CPU."""
ENOUGH, AT_MOST = 5, 16
"""Undisturbed samples that will do, and samples after which it ends."""
TOGETHER = 2
"""Samples between two gauges where a gauge waits longer than a sample takes."""
FEWEST = 3
"""Fewer undisturbed samples than these are no figure."""
CLOSE = 0.05
"""A figure has settled if its third-best sample is this near to its best."""
OWN, WAITED, OTHERS, STOLEN = 0.9, 0.05, 0.1, 0.02
"""Least share of CPU of threads that are kept busy; largest shares of the rest."""
TICK = 0.01
"""Seconds to which systems count what the cores do: two of them are an error of reading."""
GAUGE = 0.008
"""Seconds that a gauge takes at least, so that the gauges are a fifth of the whole."""
NAP, PATIENCE = 0.004, 0.3
"""Seconds between looks whether this process rests, and for how long it may go on."""
SLOWER = 1.2
"""A sample counts if the gauges beside it took at most so many times what they usually take."""

Work = Callable[[int], object]
"""Does its work so many times over."""


class TooBusyError(RuntimeError):
    """Somebody else has the machine; what would be measured now is not the machine."""


@dataclass(frozen=True)
class Sample:
    """One timing: `repeats` passes in `seconds`, and shares of the CPU time that there was.

    `own` and `waited` are shares of the time of the threads that work, `others` and `stolen` of
    all cores; None where the system does not say. `pace` is how long each gauge took beside it, the
    slower of before and after. `disturbed` is empty, or says by what. `device` is what an
    accelerator told about itself meanwhile.
    """

    seconds: float
    repeats: int
    own: float
    waited: float | None = None
    others: float | None = None
    stolen: float | None = None
    pace: tuple[float, ...] = ()
    disturbed: str = ""
    device: Reading | None = None

    @property
    def each(self) -> float:
        """Seconds of one pass."""
        return self.seconds / self.repeats


@dataclass(frozen=True)
class Watch:
    """Times work, and watches whose the cores are meanwhile: all that the machine has.

    What no clock of a virtual machine shows (neighbors on the same memory, or a clock that was
    lowered), the gauges do: the same small works by name, timed before and after every sample.
    """

    readings: Readings
    cores: int
    least: float = BLOCK
    """Seconds that a sample takes at least."""
    gauges: Mapping[str, Work] = field(default_factory=dict)
    paces: list[tuple[float, ...]] = field(default_factory=list)
    """What the gauges took, all along."""
    passes: dict[str, int] = field(default_factory=dict)
    """How often each gauge is passed to be long enough."""
    waits: list[float] = field(default_factory=list)
    """Seconds for which each gauge waited until this process was at rest."""

    def block(self, work: Work, repeats: int, threads: int = 1, keeps_busy: bool = False) -> Sample:
        """Time `repeats` passes of `work`, which keeps `threads` threads busy or fewer."""
        before = self.readings()
        work(repeats)
        return self._judged(before, self.readings(), repeats, threads, keeps_busy)

    def samples(
        self,
        work: Work,
        threads: int = 1,
        keeps_busy: bool = False,
        until: float = float("inf"),
        enough: int = ENOUGH,
        telling: Collection[str] | None = None,
    ) -> list[Sample]:
        """Take samples until enough of them are undisturbed and agree, or until it is `until`.

        `telling` names the gauges that judge them, None for all. The first pass is not counted: it
        meets cold caches and pages that nobody touched.
        """
        repeats = self.repeats(work, until)
        taken: list[Sample] = []
        before = self._gauge()
        while len(taken) < AT_MOST:
            together = TOGETHER if self.waits and self.waits[-1] > self.least else 1
            fresh = [self.block(work, repeats, threads) for _ in range(together)]
            after = self._gauge()
            slower = tuple(max(pair) for pair in zip(before, after, strict=True))
            taken += [replace(sample, pace=slower) for sample in fresh]
            before = after
            if keeps_busy and taken[-1].waited is None:
                taken = _short_of_cpu(taken)
            good = [sample.each for sample in self.judged(taken, telling) if not sample.disturbed]
            if len(good) >= enough and settled(good):
                break
            if self.readings().wall >= until:
                break
        return taken

    def judged(
        self, samples: Iterable[Sample], telling: Collection[str] | None = None
    ) -> tuple[Sample, ...]:
        """The same, with those disturbed beside which a gauge was slower than usual in this run.

        Usual is what one in ten of all the gauges reaches: not the very best, which a processor
        may show for a moment. `telling` names the gauges that judge, None for all.
        """
        usual = zip(self.gauges, self._usual(), strict=False)
        judges = [(i, *one) for i, one in enumerate(usual) if telling is None or one[0] in telling]
        return tuple(_at_usual_pace(sample, judges) for sample in samples)

    def usual(self) -> dict[str, float]:
        """Seconds of a pass of each gauge, as is usual in this run."""
        named = zip(self.gauges, self._usual(), strict=False)
        return {name: took / self.passes[name] for name, took in named}

    def _usual(self) -> list[float]:
        tenth = math.ceil(len(self.paces) / 10)
        return [sorted(times)[tenth - 1] for times in zip(*self.paces, strict=True)]

    def _gauge(self) -> tuple[float, ...]:
        took = []
        if self.gauges:
            start = self.readings().wall
            self.rest()
            self.waits.append(self.readings().wall - start)
        for name, work in self.gauges.items():
            if name not in self.passes:
                self.passes[name] = self.repeats(work, least=GAUGE)
            before = self.readings().wall
            work(self.passes[name])
            took.append(self.readings().wall - before)
        if took:
            self.paces.append(tuple(took))
        return tuple(took)

    def rest(self) -> None:
        """Wait until threads of this process are off their cores.

        Those of OpenBLAS look out for the next matmul for some hundredths of a second.
        """
        for _ in range(round(PATIENCE / NAP)):
            before = self.readings()
            time.sleep(NAP)
            after = self.readings()
            if after.own - before.own < (after.wall - before.wall) / 10:
                return

    def insist_on_quiet(self, work: Work, threads: int, seconds: float = 3.0) -> None:
        """Raise a `TooBusyError` unless a few samples in a row are undisturbed within `seconds`."""
        start = self.readings().wall
        repeats, in_a_row = self.repeats(work, start + seconds), 0
        while in_a_row < FEWEST:
            why = self.block(work, repeats, threads, keeps_busy=True).disturbed
            in_a_row = 0 if why else in_a_row + 1
            if why and self.readings().wall - start > seconds:
                raise TooBusyError(f"this machine is too busy to be measured: {why}")

    def repeats(self, work: Work, until: float = float("inf"), least: float | None = None) -> int:
        """So many passes that a sample is long enough."""
        least = self.least if least is None else least
        repeats = 1
        while True:
            took = self.block(work, repeats).seconds
            if took >= least or self.readings().wall >= until:
                return repeats
            # Never by more than ten at once: the first pass is slower than the rest.
            wanted = 1.2 * least / max(took, 1e-9)
            repeats = max(repeats + 1, int(repeats * min(wanted, 10)))

    def _judged(
        self, before: Moment, after: Moment, repeats: int, threads: int, keeps_busy: bool
    ) -> Sample:
        wall = max(after.wall - before.wall, 1e-9)
        own = after.own - before.own
        waited = _between(before.waited, after.waited, wall * threads)
        stolen = _between(before.stolen, after.stolen, wall * self.cores)
        others = None
        if before.busy is not None and after.busy is not None:
            beside = after.busy - before.busy - own - 2 * TICK
            others = max(0.0, beside) / (wall * self.cores)
        share = own / (wall * threads)
        why = ""
        if waited is not None and waited > WAITED:
            why = f"its threads waited {waited:.0%} of their time for a core"
        elif stolen is not None and stolen > STOLEN:
            why = f"the hypervisor gave {stolen:.0%} of the cores to other machines"
        elif others is not None and others > OTHERS:
            why = f"other processes had {others:.0%} of the cores"
        elif keeps_busy and share < OWN:
            why = _LESS.format(share)
        return Sample(wall, repeats, share, waited, others, stolen, disturbed=why)


def _at_usual_pace(sample: Sample, judges: Iterable[tuple[int, str, float]]) -> Sample:
    for place, name, usual in judges:
        took = sample.pace[place] if sample.pace else 0.0
        if took > SLOWER * usual and not sample.disturbed:
            return replace(sample, disturbed=_PACE.format(name, usual / took))
    return sample


def settled(times: list[float]) -> bool:
    """Whether the third-shortest of these times is near the shortest."""
    return len(times) >= FEWEST and sorted(times)[FEWEST - 1] <= (1 + CLOSE) * min(times)


def _short_of_cpu(taken: list[Sample]) -> list[Sample]:
    """Where waiting is not told: disturbed is what had less CPU than the best of these samples.

    Not less than all of it: the threads of a processor with fast and slow cores are not ready at
    the same time, and some libraries compute on units of their own.
    """
    most = max(sample.own for sample in taken)
    return [
        replace(s, disturbed=_LESS.format(s.own)) if not s.disturbed and s.own < OWN * most else s
        for s in taken
    ]


_LESS = "its threads were on a core for only {:.0%} of the time"
_PACE = "its {} ran at {:.0%} of its usual pace, by a neighbor or a lower clock"


def _between(before: float | None, after: float | None, whole: float) -> float | None:
    return None if before is None or after is None else min(max(0.0, after - before) / whole, 1.0)
