"""Timed samples, and detection of other load on the machine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from roofmeter.clocks import Clock, ClockTimes

MIN_SAMPLE_SECONDS = 0.08
"""Shorter samples are too short to measure shares of CPU time."""
TARGET_SAMPLES, MAX_SAMPLES = 5, 16
"""Undisturbed samples to aim for, and the most samples to take."""
SAMPLES_BETWEEN_SLOW_REFERENCES = 2
"""Samples between two reference runs if waiting for idle threads takes longer than a sample."""
MIN_SAMPLES = 3
"""A figure needs at least this many undisturbed samples."""
SETTLED_TOLERANCE = 0.05
"""A figure has settled if its third-best sample is within this share of its best."""
MIN_OWN_SHARE, MAX_WAIT_SHARE, MAX_OTHER_SHARE, MAX_STEAL_SHARE = 0.9, 0.05, 0.1, 0.02
"""A sample outside these limits on shares of CPU time counts as disturbed."""
TICK_SECONDS = 0.01
"""Resolution of the system's CPU time counters; an interval may be off by two ticks."""
MIN_REFERENCE_SECONDS = 0.008
"""Minimum duration of a reference workload; two of them take a fifth of a sample's time."""
POLL_SECONDS, MAX_IDLE_WAIT_SECONDS = 0.004, 0.3
"""How often to check whether this process is idle, and when to stop waiting for it."""
MAX_SLOWDOWN = 1.2
"""Longest time of a reference workload next to a valid sample, relative to its usual time."""

Work = Callable[[int], object]
"""A function that repeats its work as often as its argument says."""


class TooBusyError(RuntimeError):
    """Other load keeps the machine too busy for a valid measurement."""


@dataclass(frozen=True)
class Sample:
    """One timing: `repeats` passes in `seconds`, with shares of CPU time.

    `own` and `waited` are shares of the working threads' time: on a core, and waiting for one.
    `others` and `stolen` are shares of the time of all cores: used by other processes, and taken by
    the hypervisor. They are None if the system does not report them. `pace` holds the seconds of
    each reference workload run next to the sample, the slower of before and after. `disturbed` is
    the reason why the sample does not count; empty if it does.
    """

    seconds: float
    repeats: int
    own: float
    waited: float | None = None
    others: float | None = None
    stolen: float | None = None
    pace: tuple[float, ...] = ()
    disturbed: str = ""

    @property
    def per_pass(self) -> float:
        """Seconds per pass."""
        return self.seconds / self.repeats


@dataclass(frozen=True)
class LoadMonitor:
    """Time a workload while tracking what else used the CPUs.

    Some slowdowns don't show in any clock of a virtual machine: a neighbor on the same memory, or a
    lower CPU frequency. Reference workloads reveal them: small, fixed, and timed before and after
    every sample.
    """

    clock: Clock
    cores: int
    min_seconds: float = MIN_SAMPLE_SECONDS
    """Minimum duration of a sample."""
    references: Mapping[str, Work] = field(default_factory=dict)
    reference_times: list[tuple[float, ...]] = field(default_factory=list)
    """Seconds of each reference workload, each time it ran."""
    reference_repeats: dict[str, int] = field(default_factory=dict)
    """Passes of each reference workload, by name, chosen so that it lasts long enough."""

    def time_block(
        self, work: Work, repeats: int, threads: int, keeps_busy: bool = False
    ) -> Sample:
        """Time `repeats` passes of `work`, which keeps at most `threads` threads busy."""
        before = self.clock()
        work(repeats)
        return self._make_sample(before, self.clock(), repeats, threads, keeps_busy)

    def take_samples(
        self,
        work: Work,
        threads: int,
        keeps_busy: bool,
        until: float = float("inf"),
        enough: int = TARGET_SAMPLES,
        relevant: Collection[str] | None = None,
    ) -> list[Sample]:
        """Take up to MAX_SAMPLES, until enough undisturbed ones agree or time is up.

        Only the references named in `relevant` can invalidate a sample; None means all of them. A
        warm-up pass is not counted: it meets cold caches and untouched pages.
        """
        repeats = self.choose_repeats(work, until)
        taken: list[Sample] = []
        before, waited = self._time_references()
        while len(taken) < MAX_SAMPLES:
            together = SAMPLES_BETWEEN_SLOW_REFERENCES if waited > self.min_seconds else 1
            fresh = [self.time_block(work, repeats, threads) for _ in range(together)]
            after, waited = self._time_references()
            slower = tuple(max(pair) for pair in zip(before, after, strict=True))
            taken += [replace(sample, pace=slower) for sample in fresh]
            before = after
            if keeps_busy and taken[0].waited is None:
                taken = _mark_low_cpu(taken)
            good = [
                sample.per_pass
                for sample in self.mark_slow(taken, relevant)
                if not sample.disturbed
            ]
            if len(good) >= enough and settled(good):
                break
            if self.clock().wall >= until:
                break
        return taken

    def mark_slow(
        self, samples: Iterable[Sample], relevant: Collection[str] | None = None
    ) -> tuple[Sample, ...]:
        """Return the samples, marking those next to a slow reference as disturbed.

        A reference's usual time is the fastest decile of its times so far, not the minimum, which a
        processor may reach only for a moment. Only the references in `relevant` count; None means
        all of them.
        """
        usual = zip(self.references, self._typical(), strict=False)
        relevant_usual = [
            (i, *one) for i, one in enumerate(usual) if relevant is None or one[0] in relevant
        ]
        return tuple(_mark_slow(sample, relevant_usual) for sample in samples)

    def typical_references(self) -> dict[str, float]:
        """Return the usual seconds per pass of each reference workload in this run."""
        named = zip(self.references, self._typical(), strict=False)
        return {name: took / self.reference_repeats[name] for name, took in named}

    def _typical(self) -> list[float]:
        tenth = math.ceil(len(self.reference_times) / 10)
        return [sorted(times)[tenth - 1] for times in zip(*self.reference_times, strict=True)]

    def _time_references(self) -> tuple[tuple[float, ...], float]:
        """Return each reference's seconds, and those of the wait for idle threads."""
        if not self.references:
            return (), 0.0
        start = self.clock().wall
        self.wait_until_idle()
        waited, took = self.clock().wall - start, []
        for name, work in self.references.items():
            if name not in self.reference_repeats:
                self.reference_repeats[name] = self.choose_repeats(
                    work, min_seconds=MIN_REFERENCE_SECONDS
                )
            took.append(self._seconds(work, self.reference_repeats[name]))
        self.reference_times.append(tuple(took))
        return tuple(took), waited

    def _seconds(self, work: Work, repeats: int) -> float:
        before = self.clock().wall
        work(repeats)
        return self.clock().wall - before

    def wait_until_idle(self) -> None:
        """Wait until this process uses almost no CPU time, for at most 0.3 s.

        OpenBLAS threads spin for some 10 ms after a matmul, waiting for the next one.
        """
        for _ in range(round(MAX_IDLE_WAIT_SECONDS / POLL_SECONDS)):
            before = self.clock()
            time.sleep(POLL_SECONDS)
            after = self.clock()
            if after.own - before.own < (after.wall - before.wall) / 10:
                return

    def require_idle(self, work: Work, threads: int, seconds: float = 3.0) -> None:
        """Raise a `TooBusyError` unless a few consecutive samples are undisturbed.

        After each disturbed sample the count starts again, for up to `seconds`.
        """
        start = self.clock().wall
        repeats, in_a_row = self.choose_repeats(work), 0
        while in_a_row < MIN_SAMPLES:
            why = self.time_block(work, repeats, threads, keeps_busy=True).disturbed
            in_a_row = 0 if why else in_a_row + 1
            if why and self.clock().wall - start > seconds:
                raise TooBusyError(f"this machine is too busy to be measured: {why}")

    def choose_repeats(
        self, work: Work, until: float = float("inf"), min_seconds: float | None = None
    ) -> int:
        """Return the number of passes that makes a sample long enough."""
        min_seconds = self.min_seconds if min_seconds is None else min_seconds
        repeats = 1
        while True:
            took = self._seconds(work, repeats)
            if took >= min_seconds or self.clock().wall >= until:
                return repeats
            # Grow at most twelvefold per step: the first pass is slower than the rest.
            wanted = 1.2 * min_seconds / max(took, min_seconds / 10)
            repeats = max(repeats + 1, int(repeats * wanted))

    def _make_sample(
        self, before: ClockTimes, after: ClockTimes, repeats: int, threads: int, keeps_busy: bool
    ) -> Sample:
        wall = after.wall - before.wall
        own = after.own - before.own
        waited = _share_of(before.waited, after.waited, wall * threads)
        stolen = _share_of(before.stolen, after.stolen, wall * self.cores)
        beside = own + 2 * TICK_SECONDS
        others = _share_of(before.busy, after.busy, wall * self.cores, beside)
        share = own / (wall * threads)
        why = ""
        if waited is not None and waited > MAX_WAIT_SHARE:
            why = f"its threads waited {waited:.0%} of their time for a core"
        elif stolen is not None and stolen > MAX_STEAL_SHARE:
            why = f"the hypervisor gave {stolen:.0%} of the cores to other machines"
        elif others is not None and others > MAX_OTHER_SHARE:
            why = f"other processes had {others:.0%} of the cores"
        elif keeps_busy and share < MIN_OWN_SHARE:
            why = _LOW_CPU.format(share)
        return Sample(wall, repeats, share, waited, others, stolen, disturbed=why)


def _mark_slow(sample: Sample, relevant_usual: Iterable[tuple[int, str, float]]) -> Sample:
    for place, name, usual in relevant_usual:
        took = sample.pace[place]
        if took > MAX_SLOWDOWN * usual and not sample.disturbed:
            return replace(sample, disturbed=_SLOW.format(name, usual / took))
    return sample


def settled(times: list[float]) -> bool:
    """Return whether the third-shortest time is close to the shortest."""
    return len(times) >= MIN_SAMPLES and sorted(times)[MIN_SAMPLES - 1] <= (
        1 + SETTLED_TOLERANCE
    ) * min(times)


def _mark_low_cpu(taken: list[Sample]) -> list[Sample]:
    """Mark samples with much less CPU time than the best one as disturbed.

    The best sample is the baseline, not 100%: with fast and slow cores, threads finish at different
    times, and some libraries compute on separate units.
    """
    most = max(sample.own for sample in taken)
    return [
        replace(s, disturbed=_LOW_CPU.format(s.own))
        if not s.disturbed and s.own < MIN_OWN_SHARE * most
        else s
        for s in taken
    ]


_LOW_CPU = "its threads were on a core for only {:.0%} of the time"
_SLOW = "the {} ran at {:.0%} of the usual pace: a busy neighbor or a lower clock"


def _share_of(
    before: float | None, after: float | None, whole: float, without: float = 0.0
) -> float | None:
    """Return a counter's rise, less `without`, as a share of `whole`; None if unread."""
    if before is None or after is None:
        return None
    return min(max(0.0, after - before - without) / whole, 1.0)
