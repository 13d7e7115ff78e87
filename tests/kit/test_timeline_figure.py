"""The timeline figure matches an event-by-event simulation of double buffering."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import NamedTuple

import pytest

import rooflib as rl
from roofkit.figures import Figure, timeline
from roofkit.figures.engine.own_chip import OWN

NEAR = 0.02  # px; positions are rounded to a hundredth
ROWS = (("64", "4096", "16384"), ("256", "4096", "16384"), ("4096", "256", "16384"))
JOBS = [f"B = {B}, D = {D}, F = {F}" for B, D, F in ROWS]

Kind = str  # "load", "math" or "store"
Task = tuple[Kind, int]
Times = dict[Task, tuple[float, float]]


class Setting(NamedTuple):
    slices: int
    job: str
    chip: str
    own: tuple[float, float] = (1e14, 1e12)  # FLOP/s and bytes/s of the reader's own chip

    @property
    def figure(self) -> Figure:
        peak, bandwidth = self.own
        return timeline().with_own(peak=peak, bandwidth=bandwidth)

    @property
    def chosen(self) -> dict[str, float | str]:
        return {"slices": self.slices, "job": self.job, "chip": self.chip}

    @property
    def on(self) -> rl.Chip:
        peak, bandwidth = self.own
        own = rl.Chip("mine", peaks={"bf16": peak}, bandwidth=bandwidth, capacity=1e12)
        return own if self.chip == OWN else rl.chip(self.chip)

    @property
    def op(self) -> rl.Operation:
        B, D, F = map(int, re.findall(r"\d+", self.job))
        return rl.matmul(B, D, F)

    @property
    def pieces(self) -> dict[Kind, float]:
        """Return the seconds of one slice, by kind of task."""
        amounts = {
            "load": self.op.loaded / self.on.bandwidth,
            "math": self.op.flops / self.on.peak(),
            "store": self.op.written / self.on.bandwidth,
        }
        return {kind: float(amount) / self.slices for kind, amount in amounts.items()}


SETTINGS = [
    Setting(1, JOBS[0], "TPU v5e"),
    Setting(1, JOBS[1], "H100 SXM"),
    Setting(2, JOBS[0], "TPU v5e"),
    Setting(2, JOBS[1], "TPU v5e"),
    Setting(2, JOBS[2], OWN),
    Setting(4, JOBS[1], "H100 SXM"),
    Setting(4, JOBS[2], "TPU v5p"),
    Setting(8, JOBS[1], "TPU v6e"),
    Setting(8, JOBS[2], "TPU v5e"),
    Setting(16, JOBS[1], OWN),
    Setting(32, JOBS[1], "TPU v5e"),
    # HBM is the bottleneck: a slice's arithmetic is shorter than its load and than its store.
    Setting(4, JOBS[1], OWN, (1e16, 1e12)),
    Setting(1, JOBS[2], OWN, (1e16, 1e12)),
    # The arithmetic is longer than the load, and shorter than load and store together.
    Setting(8, JOBS[2], OWN, (2.5e14, 1e12)),
    Setting(16, JOBS[0], OWN, (1e12, 3e12)),
]


def loads_before_stores(n: int) -> list[Task]:
    """Return the order of loads and stores that the figure's text states."""
    between = [task for k in range(1, n - 1) for task in (("store", k - 1), ("load", k + 1))]
    early = [("load", 0), ("load", 1)][:n]
    return [*early, *between, *[("store", k) for k in range(max(0, n - 2), n)]]


def simulated(pieces: dict[Kind, float], n: int, road: Sequence[Task]) -> Times | None:
    """Return start and end of each task, or None if this order deadlocks.

    There are two input and two output buffers: a slice's load waits until the slice two before it
    has been computed, and its arithmetic until the result two before it has been stored.
    """
    lanes = {"road": list(road), "compute": [("math", k) for k in range(n)]}
    running: dict[str, Task] = {}
    times: Times = {}
    done: set[Task] = set()
    now = 0.0
    while len(done) < 3 * n:
        for lane, queue in lanes.items():
            if lane in running or not queue:
                continue
            kind, k = queue[0]
            needed = {
                "load": [("math", k - 2)],
                "math": [("load", k), ("store", k - 2)],
                "store": [("math", k)],
            }[kind]
            if all(task in done for task in needed if task[1] >= 0):
                running[lane] = queue.pop(0)
                times[kind, k] = (now, now + pieces[kind])
        if not running:
            return None
        now = min(times[task][1] for task in running.values())
        for lane, task in list(running.items()):
            if times[task][1] == now:
                done.add(running.pop(lane))
    return times


def takes(times: Times) -> float:
    return max(end for _, end in times.values())


def expected(setting: Setting) -> Times:
    times = simulated(setting.pieces, setting.slices, loads_before_stores(setting.slices))
    assert times is not None
    return times


class Drawing:
    """The marks of a picture, and its scale from seconds to pixels."""

    def __init__(self, setting: Setting, width: float) -> None:
        svg = ET.fromstring(setting.figure.svg(width=width, **setting.chosen))
        self.groups: dict[str, list[ET.Element]] = {}
        for group in svg:
            self.groups.setdefault(group.get("data-mark", ""), []).extend(group)
        self.texts = [e.text or "" for e in svg.iter() if e.tag.endswith("text")]
        arrow = self.of("takes")[0]
        self.start, self.upper = float(arrow.attrib["x1"]), self.line("upper")
        self.seconds_per_pixel = float(rl.bound(setting.op, setting.on).upper) / (
            self.upper - self.start
        )

    def of(self, name: str) -> list[ET.Element]:
        return self.groups.get(name, [])

    def line(self, name: str) -> float:
        (line,) = self.of(name)
        assert line.attrib["x1"] == line.attrib["x2"]
        return float(line.attrib["x1"])

    def at(self, seconds: float) -> float:
        """Return the x position of a time, in pixels."""
        return self.start + seconds / self.seconds_per_pixel

    def bars(self, name: str) -> list[tuple[float, float]]:
        """Return the left and right edges of a mark's bars, from left to right."""
        places = [(float(e.attrib["x"]), float(e.attrib["width"])) for e in self.of(name)]
        return sorted((x, x + width) for x, width in places)


settings = pytest.mark.parametrize("setting", SETTINGS, ids=str)


@settings
def test_numbers_match_rooflib_and_the_simulation(setting: Setting) -> None:
    b, values = rl.bound(setting.op, setting.on), setting.figure.values(**setting.chosen)
    whole = takes(expected(setting))
    true = {
        "t_math": b.times["compute"],
        "t_comms": b.times["HBM"],
        "lower": b.lower,
        "upper": b.upper,
        "takes": whole,
        "math_waits": 1 - b.times["compute"] / whole,
        "road_waits": 1 - b.times["HBM"] / whole,
        "above": whole / b.lower - 1,
        "slice": setting.op.loaded / setting.slices,
    }
    assert {number.name for number in setting.figure.numbers} == set(true)
    for name, number in true.items():
        assert values[name] == pytest.approx(float(number), rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("width", [300, 400, 700])
@settings
def test_bars_match_the_simulation(setting: Setting, width: float) -> None:
    drawing, times = Drawing(setting, width), expected(setting)
    for kind in ("load", "math", "store"):
        bars = drawing.bars(kind)
        assert len(bars) == setting.slices
        for k, bar in enumerate(bars):
            ends = tuple(map(drawing.at, times[kind, k]))
            assert bar == pytest.approx(ends, abs=NEAR), (kind, k)


@settings
def test_bars_and_waits_fill_each_lane_without_gaps(setting: Setting) -> None:
    drawing = Drawing(setting, 700)
    arrow = drawing.of("takes")[1].attrib["d"]  # the arrowhead; the second of its points is the tip
    tip = float(arrow.split("L")[1].split()[0])
    assert tip == pytest.approx(drawing.at(takes(expected(setting))), abs=NEAR)
    for names in (("load", "store", "road-waits"), ("math", "math-waits")):
        ends = [drawing.start]
        for left, right in sorted(bar for name in names for bar in drawing.bars(name)):
            # Allow for waits that are too short to be drawn.
            assert left == pytest.approx(ends[-1], abs=2 * NEAR), names
            ends.append(right)
        assert ends[-1] == pytest.approx(tip, abs=2 * NEAR)


@settings
def test_loads_and_stores_share_a_lane_and_compute_has_another(setting: Setting) -> None:
    drawing = Drawing(setting, 400)
    rows = {
        name: {(e.attrib["y"], e.attrib["height"]) for e in drawing.of(name)}
        for name in ("load", "math", "store")
    }
    assert rows["load"] == rows["store"] != rows["math"]
    # The total length of a kind's bars is the time for all of its bytes or FLOPs.
    rounding = 0.01 * setting.slices + NEAR
    bandwidth, peak = setting.on.bandwidth, setting.on.peak()
    for name, seconds in {
        "load": setting.op.loaded / bandwidth,
        "store": setting.op.written / bandwidth,
        "math": setting.op.flops / peak,
    }.items():
        length = sum(right - left for left, right in drawing.bars(name))
        true = float(seconds) / drawing.seconds_per_pixel
        assert length == pytest.approx(true, abs=rounding), name


@pytest.mark.parametrize("width", [300, 700])
@settings
def test_bounds_and_ticks_are_labeled_with_their_times(setting: Setting, width: float) -> None:
    drawing, b = Drawing(setting, width), rl.bound(setting.op, setting.on)
    assert 0 < drawing.start < drawing.upper < width
    assert drawing.line("lower") == pytest.approx(drawing.at(float(b.lower)), abs=NEAR)
    ticks = [e for e in drawing.of("tick") if e.tag.endswith("text")]
    assert 3 <= len(ticks) <= 6
    for tick in ticks:
        seconds = (float(tick.attrib["x"]) - drawing.start) * drawing.seconds_per_pixel
        # Ticks are round numbers, so two digits are exact.
        assert tick.text == rl.text(float(f"{seconds:.2g}") if seconds > 1e-12 else 0, "s")
    for name, seconds in (("lower", float(b.lower)), ("upper", float(b.upper))):
        assert f"{name} bound {rl.text(seconds, 's')}" in drawing.texts
    assert f"takes {rl.text(takes(expected(setting)), 's')}" in drawing.texts


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("chip", ["TPU v5e", "H100 SXM", OWN])
def test_more_slices_approach_the_lower_bound(job: str, chip: str) -> None:
    figure = timeline()
    b = [figure.values(slices=n, job=job, chip=chip) for n in figure.controls[0].options]
    assert b[0]["takes"] == pytest.approx(b[0]["upper"], rel=1e-12)
    for fewer, more in itertools.pairwise(b):
        assert more["lower"] <= more["takes"] < fewer["takes"]
    for fewer, more in itertools.pairwise(b[1:]):
        beyond = [at["takes"] - at["lower"] for at in (fewer, more)]
        assert beyond[1] == pytest.approx(beyond[0] / 2, rel=1e-6)


def orders(n: int) -> list[list[Task]]:
    """Return every interleaving of n loads and n stores."""
    made = []
    for places in itertools.combinations(range(2 * n), n):
        loads, stores = iter(range(n)), iter(range(n))
        made.append(
            [
                ("load", next(loads)) if at in places else ("store", next(stores))
                for at in range(2 * n)
            ]
        )
    return made


def test_no_other_order_of_loads_and_stores_is_faster() -> None:
    lengths = (1.0, 2.0, 3.0, 7.0)
    for n in (1, 2, 3, 4):
        for load, math, store in itertools.product(lengths, repeat=3):
            pieces = {"load": load, "math": math, "store": store}
            ours = simulated(pieces, n, loads_before_stores(n))
            others = [simulated(pieces, n, order) for order in orders(n)]
            assert ours
            assert takes(ours) == min(takes(other) for other in others if other), (n, pieces)


def test_the_text_says_whether_the_time_is_a_bound_or_between_both() -> None:
    def says(setting: Setting) -> str:
        return setting.figure.texts(**setting.chosen)["says"]

    assert "nothing overlaps, so it takes 211\N{NO-BREAK SPACE}µs, which is the upper" in says(
        SETTINGS[0]
    )
    assert "Cut into 4 slices, with two buffers, it takes" in says(SETTINGS[5])
    assert "more than the lower bound" in says(SETTINGS[5])
    assert "which is the lower bound" in says(SETTINGS[11])
