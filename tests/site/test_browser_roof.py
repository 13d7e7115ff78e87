"""Tests of the page's measurement: kernels, counts, samples, refusals, display."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import live_pages
import numpy as np
import pytest
import roof_page
import wasmtime
from browser import roof as browser_roof
from playwright.sync_api import Browser, Page, expect
from repository import ROOT
from roof_page import COURSE_SCRIPT, LENIENT, SHORT
from site_browser import AXE, DESK, PHONE, SIDEWAYS, STICKING_OUT, Traffic, put_theme, put_width
from site_links import html_files
from site_server import Server, serving

import rooflib as rl
from roofkit.figures.engine.own_chip import START

Kernel = Callable[..., Any]
HERE = ROOT / "site" / "browser" / "roof"


# ---- the kernels, run natively


class Module:
    """Compiled kernels of one kind, plain or fused.

    Their memory is a numpy array of fp32.
    """

    def __init__(self, text: str, pages: int = 32) -> None:
        config = wasmtime.Config()
        config.wasm_relaxed_simd = True
        self.store = wasmtime.Store(wasmtime.Engine(config))
        limits = wasmtime.MemoryType(wasmtime.Limits(pages, pages))
        self.memory = wasmtime.Memory(self.store, limits)
        module = wasmtime.Module(self.store.engine, text)
        self.exports = wasmtime.Instance(self.store, module, [self.memory]).exports(self.store)
        self.numbers = np.frombuffer(self.memory.get_buffer_ptr(self.store), dtype=np.float32)

    def __getattr__(self, name: str) -> Kernel:
        return lambda *arguments: self.exports[name](self.store, *arguments)

    def value(self, name: str) -> int:
        return int(self.exports[name].value(self.store))


@pytest.fixture(scope="module", params=["plain", "fused"])
def kernels(request: pytest.FixtureRequest) -> Module:
    return Module(browser_roof.texts()[request.param])


def random(size: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(-1, 1, size).astype(np.float32)


def chains(times: int) -> float:
    """Compute 48 chains of `times` steps s = s * m + c; return the total.

    This is the expected result of the multiply-add kernel, in double precision.
    """
    s = np.arange(48, dtype=np.float64)
    for _ in range(times):
        s = s * np.float64(np.float32(-0.9999)) + 1
    return float(s.sum())


@pytest.mark.parametrize("times", [1, 2, 7, 1000])
def test_the_multiply_add_kernel_runs_the_given_number_of_times(
    kernels: Module, times: int
) -> None:
    assert kernels.multiply_add(times) == pytest.approx(chains(times), rel=1e-5)


@pytest.mark.parametrize(("start", "size", "times"), [(0, 32, 1), (64, 4096, 1), (0, 96, 5)])
def test_the_read_kernel_sums_an_array_the_given_number_of_times(
    kernels: Module, start: int, size: int, times: int
) -> None:
    kernels.numbers[:] = np.nan
    kernels.numbers[start : start + size] = random(size)
    expected = times * np.float64(random(size)).sum()
    found = kernels.read(4 * start, 4 * size, times)
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_update_kernel_negates_only_the_given_array(kernels: Module, times: int) -> None:
    before = random(len(kernels.numbers))
    kernels.numbers[:] = before
    kernels.update(256, 4 * 320, times)
    before[64:384] *= (-1) ** times
    np.testing.assert_array_equal(kernels.numbers, before)


def test_the_copy_kernel_writes_only_the_target_array(kernels: Module) -> None:
    before = random(len(kernels.numbers))
    kernels.numbers[:] = before
    kernels.copy(128, 8192, 4 * 640, 2)
    before[2048:2688] = before[32:672]
    np.testing.assert_array_equal(kernels.numbers, before)


def in_panels(w: np.ndarray) -> np.ndarray:
    """Return w[D, F] as consecutive panels of 12 columns, each in row-major order."""
    return np.concatenate([w[:, at : at + 12].ravel() for at in range(0, w.shape[1], 12)])


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 64])
@pytest.mark.parametrize(("depth", "columns"), [(2, 12), (6, 36), (64, 96)])
def test_the_multiply_kernel_computes_a_matmul(
    kernels: Module, rows: int, depth: int, columns: int
) -> None:
    x = random(rows * depth).reshape(rows, depth)
    w = random(2 * depth * columns)[depth * columns :].reshape(depth, columns)
    at_w, at_y = 64 * 64, 2 * 64 * 64 + 64 * 96
    kernels.numbers[:] = np.nan
    kernels.numbers[: x.size] = x.ravel()
    kernels.numbers[at_w : at_w + w.size] = in_panels(w)
    kernels.multiply(0, 4 * at_w, 4 * at_y, rows, 4 * depth, 4 * columns)
    y = kernels.numbers[at_y : at_y + rows * columns].reshape(rows, columns)
    np.testing.assert_allclose(y, np.float64(x) @ np.float64(w), atol=1e-4)
    assert np.isnan(kernels.numbers[at_y + rows * columns :]).all()


def test_plain_and_fused_kernels_have_equally_many_multiply_adds() -> None:
    texts = browser_roof.texts()
    plain = texts["plain"].split("(module")[1].count("f32x4.mul")
    fused = texts["fused"].split("(module")[1]
    assert plain == fused.count("f32x4.relaxed_madd") > 30
    assert "f32x4.mul" not in fused


# ---- the counts


# Pattern of an instruction on 16-byte registers → what it counts: FLOPs, or bytes moved. The
# counter is inserted after the match: the instruction's name, or the whole expression in brackets.
COUNTED = {
    r"f32x4\.(?:mul|add)\b": ("flops", 4),
    r"\(v128\.load(?: offset=\d+)? \(local\.get \$\w+\)\)": ("moved", 16),
    r"\bv128\.store(?: offset=\d+)?$": ("moved", 16),
}


def instrumented() -> str:
    """Return the plain kernels with counters of executed FLOPs and bytes."""
    lines = []
    for line in browser_roof.texts()["plain"].splitlines():
        code = line.split(";;")[0].rstrip()
        for pattern, (name, amount) in COUNTED.items():
            counter = f"(global.set ${name} (i64.add (global.get ${name}) (i64.const {amount})))"
            code = re.sub(pattern, lambda m, counter=counter: f"{m[0]} {counter}", code)
        lines.append(code)
        if "import" in line:
            for name in ("flops", "moved"):
                lines.append(f'(global ${name} (export "{name}") (mut i64) (i64.const 0))')
    return "\n".join(lines)


@pytest.fixture(scope="module")
def executed() -> Callable[..., dict[str, int]]:
    """Return a function that counts the FLOPs and bytes of one kernel iteration.

    Setup and teardown are left out.
    """
    module = Module(instrumented())

    def counts(does: Callable[[int], object]) -> dict[str, int]:
        seen = []
        for times in (0, 1, 3):
            if times:
                does(times)
            seen.append({name: module.value(name) for name in ("flops", "moved")})
        before, once, thrice = seen
        one = {name: once[name] - before[name] for name in once}
        three = {name: thrice[name] - once[name] for name in once}
        return {name: (three[name] - one[name]) // 2 for name in one}

    counts.module = module  # type: ignore[attr-defined]
    return counts


def source(*names: str) -> str:
    expressions = ROOT / "kit" / "roofkit" / "figures" / "engine" / "expressions.js"
    return "".join(
        path.read_text(encoding="utf-8") for path in (expressions, *(HERE / name for name in names))
    )


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """Open an empty page, in which tests evaluate parts of the measurement script."""
    page = browser.new_page()
    page.add_script_tag(path=COURSE_SCRIPT)
    yield page
    page.close()


def computed(page: Page, names: tuple[str, ...], expression: str, given: object = None) -> Any:
    """Evaluate a JavaScript expression that may use the named files and `given`."""
    return page.evaluate(f"async (given) => {{ {source(*names)}; return {expression}; }}", given)


def counted(page: Page, task: dict[str, object]) -> dict[str, float]:
    found: dict[str, float] = computed(page, ("counts.js",), "counted(given)", task)
    return found


@pytest.mark.parametrize("size", [128, 1280, 16_000])
def test_counts_of_streams_match_executed_instructions(
    blank: Page, executed: Any, size: int
) -> None:
    module = executed.module
    runs = {
        "read": lambda times: module.read(0, size, times),
        "update": lambda times: module.update(0, size, times),
        "copy": lambda times: module.copy(0, size, size, times),
    }
    for kernel, does in runs.items():
        found = counted(blank, {"kernel": kernel, "bytes": size})
        assert found == {"flops": executed(does)["flops"], "bytes": executed(does)["moved"]}


def test_counts_of_multiply_adds_match_executed_instructions(blank: Page, executed: Any) -> None:
    found = counted(blank, {"kernel": "multiply_add"})
    assert found == {"flops": executed(executed.module.multiply_add)["flops"], "bytes": 0}


def test_counts_of_thin_matmuls_match_executed_instructions_and_rooflib(
    blank: Page, executed: Any
) -> None:
    sizes, batches = computed(blank, ("counts.js",), "[SIZES, BATCHES]")
    D, F = sizes["depth"], sizes["columns"]
    assert sizes["most"] == max(batches)
    at_y = 4 * sizes["most"] * D
    at_w = at_y + 4 * sizes["most"] * F
    module = executed.module
    for B in batches:
        found = counted(blank, {"kernel": "multiply", "rows": B})
        op = rl.matmul(B, D, F, x="fp32")
        assert found == {"flops": op.flops, "bytes": op.bytes}
        before = module.value("flops")
        module.multiply(0, at_w, at_y, B, 4 * D, 4 * F)
        # With B = 1, the kernel sums each output in two halves, and adds them: F more FLOPs.
        assert module.value("flops") - before == op.flops + F * (B == 1)


# ---- memory


def test_memory_of_the_workers_stays_within_its_limits(blank: Page) -> None:
    given = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 64, 256, None]
    shares = computed(blank, ("counts.js",), "given.map(allocation)", given)
    for cores, share in zip(given, shares, strict=True):
        assert share["workers"] == min(16, cores or 1)
        assert 0 < share["bytes"] == 65_536 * share["pages"] < 64e6
        # A worker's arrays plus 4 MB for itself are within one Wasm page (64 KiB) of its limit.
        assert 0 <= min(64e6, 256e6 / share["workers"]) - 4e6 - share["bytes"] < 65_536
        assert share["workers"] * share["bytes"] < 256e6
        keys = computed(blank, ("counts.js",), f"tasks({share['bytes']})")
        sizes = [item["task"]["bytes"] for item in keys if "bytes" in item["task"]]
        assert sizes[:3] == [share["bytes"], share["bytes"], share["bytes"] / 2]
        # Arrays are multiples of the kernels' blocks, and fit into the memory.
        assert all(size % 128 == 0 and size <= share["bytes"] for size in sizes)
        # Caches are measured with each size in STEPS that is at most half of a worker's memory.
        steps = computed(blank, ("counts.js",), "STEPS")
        rows = [item for item in keys if item["what"] == "read again"]
        fitting = [size for size in steps if 2 * size <= share["bytes"]]
        assert [item["task"]["bytes"] for item in rows] == fitting
        layer = computed(blank, ("counts.js",), "SIZES")
        first = 4 * layer["most"] * (layer["depth"] + layer["columns"])
        assert first + 4 * 4 * layer["depth"] * layer["columns"] <= share["bytes"]


# Runs fake kernels on a fake clock that only their calls advance; returns their arguments, the
# calibrated time, and the recorded points.
CALLS = """(() => {
  let clock = 0;
  const { now: real } = performance;
  performance.now = () => clock;
  const calls = [];
  const called = (name) => (...all) => { calls.push([name, ...all]); clock += all.at(-1) / 100; };
  const names = ["multiply_add", "read", "update", "copy"];
  kernels = Object.fromEntries(names.map((name) => [name, called(name)]));
  run({ kernel: "read", bytes: 64 }, 1);
  run({ kernel: "update", bytes: 64 }, 2);
  run({ kernel: "copy", bytes: 64 }, 3);
  const once = calls.splice(0);
  const task = { kernel: "multiply_add" };
  const took = answers.calibrate({ task, chunk: 7 });
  const begin = now();
  const points = answers.record({ task, end: begin + 20 });
  performance.now = real;
  return { once, took, points: points.map(([at, done]) => [at - begin, done]) };
})()"""


def test_kernels_run_for_about_the_requested_time_between_readings(blank: Page) -> None:
    """Each iteration takes 0.01 ms; the clock should be read about every 7 ms."""
    found = computed(blank, ("roof-worker.js",), CALLS)
    assert found["once"] == [["read", 0, 64, 1], ["update", 0, 64, 2], ["copy", 0, 64, 64, 3]]
    assert found["took"] == pytest.approx(8.4, abs=1e-3)
    assert found["points"] == [pytest.approx([8.4 * i, 840 * i], abs=1e-3) for i in range(4)]


# A clock that steps by 0.25 ms at every fourth reading.
CLOCK_STEPS = """(() => {
  const real = performance.now;
  let readings = 0;
  performance.now = () => Math.floor(readings++ / 4) / 4;
  const steps = answers.clockSteps({ until: now() + 5 });
  performance.now = real;
  return steps;
})()"""


def test_clock_steps_are_recorded_for_the_requested_time(blank: Page) -> None:
    steps = computed(blank, ("roof-worker.js",), CLOCK_STEPS)
    assert steps == pytest.approx([0.25] * 20, abs=1e-3)


# Sends requests to the worker script, and returns its answers.
ANSWERS = """(async () => {
  const sent = [];
  const { postMessage } = self;
  self.postMessage = (message) => sent.push(message);
  for (const request of ["clock", "unknown"]) {
    await self.onmessage({ data: { number: 3, request } });
  }
  Object.assign(self, { postMessage, onmessage: null });
  return sent;
})()"""


def test_workers_answer_with_the_number_of_the_request(blank: Page) -> None:
    clock, unknown = computed(blank, ("roof-worker.js",), ANSWERS)
    assert clock["number"] == unknown["number"] == 3
    assert clock["answer"] > 1e12
    assert unknown["error"].startswith("TypeError: ")


# Runs thin matmuls for two layers more than fit into memory, and returns the addresses passed to
# the kernel.
ADDRESSES = """(async () => {
  const code = Uint8Array.from(given.code);
  const { layers, bytes } = await answers.prepare({ code, pages: given.pages, sizes: SIZES });
  const read = [];
  const numbers = new Float32Array(memory.buffer);
  const written = [...new Set(numbers)].sort((a, b) => a - b);
  const ends = [numbers[0], numbers.at(-1)];
  kernels = { multiply: (x, weights, y, ...sizes) => read.push([x, y, weights, ...sizes]) };
  run({ kernel: "multiply", rows: 64 }, layers + 2);
  return { bytes, read, written, ends };
})()"""


def test_thin_matmuls_read_all_weights_in_memory_before_repeating_any(blank: Page) -> None:
    given = {"code": list(browser_roof.kernels()["plain"]), "pages": 200}
    found = computed(blank, ("counts.js", "roof-worker.js"), ADDRESSES, given)
    sizes = computed(blank, ("counts.js",), "SIZES")
    D, F, most = sizes["depth"], sizes["columns"], sizes["most"]
    layer, x, y = 4 * D * F, 4 * most * D, 4 * most * F
    *once, again, next_again = (weights for _, _, weights, *_ in found["read"])
    assert [again, next_again] == once[:2]
    # In memory, the input, the result and the weights of all layers follow without overlap.
    calls = {(at_x, at_y, *sizes) for at_x, at_y, _, *sizes in found["read"]}
    assert calls == {(0, x, 64, 4 * D, 4 * F)}
    assert once == [x + y + n * layer for n in range(len(once))]
    assert once[-1] + layer <= found["bytes"] < once[-1] + 2 * layer
    # The whole memory was initialized, with numbers between -1 and 1.
    assert found["written"] == [number / 32 for number in range(-30, 31)]
    assert 0 not in found["ends"]


# ---- the pool, with simulated workers


# Starts a pool of fake workers that give the answers in `given`, and returns what the pool did.
POOL = """(async () => {
  const asked = [];
  let ended = 0;
  let validated = 0;
  const { Worker, WebAssembly } = window;
  window.Worker = class {
    postMessage({ number, request, ...what }) {
      asked.push([request, what]);
      const { [request]: answer = 0, error } = given;
      const clock = performance.timeOrigin + performance.now();
      const data = { number, answer: request === "clock" ? clock + answer : answer };
      const send = () => this.onmessage({ data: { ...data, error } });
      if (answer !== null) Promise.resolve().then(send);
    }
    terminate() { ended += 1; }
  };
  window.WebAssembly = { validate: () => (validated += 1) === 2 };
  const stop = new AbortController();
  const found = {};
  try {
    const codes = { fused: btoa("f"), plain: btoa("p") };
    const pool = await startPool(codes, "", 2, stop.signal);
    Object.assign(found, { count: pool.count, fused: pool.fused, code: asked[0][1].code[0] });
    asked.length = 0;
    if (given.stops) {
      const waits = pool.clockSteps(5).catch((error) => error.message);
      stop.abort(new Stopped("stopped"));
      const late = pool.clockSteps(5).catch((error) => error.message);
      const never = new Promise((resolve) => { setTimeout(resolve, 1000); });
      found.stopped = await Promise.race([Promise.all([waits, late]), never]);
    } else {
      const { begin, end, ...record } = await pool.record({}, 1, 50, 5);
      Object.assign(found, { record, took: end - begin, more: asked.at(-1)[1].end - end });
    }
  } catch (error) {
    found.refused = error.message;
  }
  Object.assign(window, { Worker, WebAssembly });
  return { ...found, ended };
})()"""
POOL_PARTS = ("counts.js", "protocol.js", "worker_pool.js")


def in_pool(page: Page, **given: object) -> dict[str, Any]:
    found: dict[str, Any] = computed(page, POOL_PARTS, POOL, given)
    return found


@pytest.mark.parametrize(("calibrated", "length"), [(10, 50), (30, 90)])
def test_samples_are_longer_if_an_iteration_takes_long(
    blank: Page, calibrated: float, length: float
) -> None:
    found = in_pool(blank, calibrate=calibrated, record="points", clock=1)
    assert found["record"] == {"length": length, "records": ["points"] * 2}
    assert found["took"] == pytest.approx(5 * length, abs=1e-3)
    assert found["more"] == pytest.approx(1, abs=1e-3)
    # This browser doesn't support fused multiply-adds, so the plain kernels run.
    assert (found["count"], found["fused"], found["code"]) == (2, False, ord("p"))


def test_failing_workers_end_the_measurement_with_a_reason(blank: Page) -> None:
    for clock in (-10, 10):
        assert "clocks of this browser’s workers disagree" in in_pool(blank, clock=clock)["refused"]
    assert in_pool(blank, error="odd")["refused"] == "A worker of this browser failed: odd."


def test_pending_and_later_requests_of_a_stopped_pool_are_rejected(blank: Page) -> None:
    found = in_pool(blank, stops=True, clockSteps=None)
    assert found == {
        **{"count": 2, "fused": False, "code": ord("p")},
        **{"stopped": ["stopped", "stopped"], "ended": 2},
    }


# ---- samples and refusals, with simulated workers


PARTS = ("counts.js", "samples.js", "protocol.js")
PEAK, READ = 100e9, 20e9

WORKERS = (ROOT / "tests/support/simulated_workers.js").read_text(encoding="utf-8")
MEASURE = """await measure(pool, (what, share) => stages.push([what, share]), given.settings)
  .then((found) => ({ ...found, stages, chunks: [...chunks] }), (error) => {
    if (!(error instanceof Refused)) throw error;
    return { refused: error.message, seconds: (at - 1e12) / 1e3 };
  })"""


def simulated(page: Page, settings: object = None, **machine: float) -> dict[str, Any]:
    code = f"async (given) => {{ {source(*PARTS)} {WORKERS} return {MEASURE}; }}"
    found: dict[str, Any] = page.evaluate(code, {"machine": machine, "settings": settings})
    return found


def test_the_roof_of_a_quiet_machine_is_measured(blank: Page) -> None:
    found = simulated(blank)
    figures = found["figures"]
    expected = {"peak": PEAK, "read": READ, "update": READ, "copy": READ}
    for key, value in expected.items():
        f = figures[key]
        assert f["best"] == pytest.approx(value, rel=1e-3)
        assert f["worst"] <= f["median"] <= f["best"]
        assert f["samples"] == f["taken"] == 8
    for B in (1, 2, 4, 8, 16, 32, 64):
        op = rl.matmul(B, 512, 768, x="fp32")
        bound = min(PEAK, READ * op.flops / op.bytes)
        assert figures[f"thin {B}"]["median"] == pytest.approx(bound, rel=1e-3)
        assert figures[f"thin {B}"]["taken"] == 5
    assert found["drift"] == pytest.approx(0, abs=1e-3)
    assert found["disturbed"] == 0
    # First, 100 ms show whether the machine is quiet; then samples take 50 ms each. After each of
    # the 17 measurements, 20 ms show whether it was disturbed; each also takes 6 ms of overhead.
    samples = 5 * 8 + 12 * 5
    assert found["seconds"] == pytest.approx((100 + 50 * samples + 17 * (20 + 6)) / 1e3, rel=1e-6)
    whats, shares = zip(*found["stages"], strict=True)
    assert all(a <= b for a, b in pairwise(shares))
    assert (shares[0], shares[-1] < 1) == (0, True)
    assert list(dict.fromkeys(whats)) == [
        "looking whether the machine is quiet",
        *("multiply-add", "read", "updated in place", "copied", "read again", "thin matmuls"),
        "multiply-add again",
    ]


@pytest.mark.parametrize(("tick", "chunk"), [(0.05, 1), (2, 20)])
def test_clock_readings_are_at_least_ten_ticks_and_one_millisecond_apart(
    blank: Page, tick: float, chunk: float
) -> None:
    assert simulated(blank, tick=tick)["chunks"] == pytest.approx([chunk])


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        (
            {"tick": 16.7},
            "steps of 16.7\N{NO-BREAK SPACE}ms, and this needs steps of at most "
            "2.5\N{NO-BREAK SPACE}ms.",
        ),
        ({"tick": 100}, "clock is too coarse"),
        ({"jumps": 0.5}, "its workers had to wait for 50% of their time"),
        ({"slices": 3}, "of 24 samples of “multiply-add” 0 were undisturbed, and it takes 3"),
        ({"slices": 8}, "samples of “multiply-add” 0 were undisturbed"),
        ({"slices": 20, "only": "copy"}, "of 24 samples of “copied” 0 were undisturbed"),
        (
            {"slices": 14, "only": "update"},
            "in “updated in place” the typical sample is 22% below the best",
        ),
        ({"slices": 3, "from": 16}, "of 24 samples of “multiply-add” 0 were undisturbed"),
        ({"slices": 3, "only": "multiply"}, "62% of the samples were disturbed"),
        ({"later": 0.5}, "of 24 samples of “multiply-add” 0 were undisturbed"),
        ({"fades": 0.5}, "its peak changed by −50% meanwhile"),
        ({"cached": 1.2}, "its figures contradict each other"),
    ],
)
def test_a_coarse_clock_or_a_busy_machine_is_refused(
    blank: Page, machine: dict[str, float], why: str
) -> None:
    found = simulated(blank, **machine)
    assert why in found["refused"]


@pytest.mark.parametrize(
    "machine",
    [{"tick": 2}, {"late": 40}, {"fades": 0.25}, {"pause": 30}, {"cached": 1.1}],
)
def test_a_machine_with_small_disturbances_is_not_refused(
    blank: Page, machine: dict[str, float]
) -> None:
    found = simulated(blank, **machine)
    assert found["figures"]["peak"]["best"] == pytest.approx(PEAK, rel=0.01)
    assert found["figures"]["read"]["best"] == pytest.approx(READ, rel=0.01)
    assert bool(found["disturbed"]) == ("pause" in machine)


@pytest.mark.parametrize(
    ("settings", "seconds", "taken"),
    [
        # The wait for a quiet machine ends after `quietTimeout`, 3 s by default.
        ({"quietTimeout": 700}, 0.8, 0),
        ({}, 3.1, 0),
        # After `retryTimeout`, 15 s by default, disturbed measurements aren't repeated.
        ({"retryTimeout": 0}, 0.5, 8),
        ({"sample": 1000}, 16, 16),
    ],
)
def test_a_busy_machine_is_refused_after_a_timeout(
    blank: Page, settings: dict[str, float], seconds: float, taken: int
) -> None:
    found = simulated(blank, settings, **({"slices": 3} if taken else {"jumps": 0.5}))
    assert found["seconds"] == pytest.approx(seconds, rel=0.06)
    assert (f"of {taken} samples" in found["refused"]) == bool(taken)


@pytest.mark.parametrize(("pause", "taken"), [(160, 8), (210, 16)])
def test_a_measurement_is_repeated_if_over_half_of_its_samples_are_disturbed(
    blank: Page, pause: float, taken: int
) -> None:
    found = simulated(blank, pause=pause)["figures"]["read"]
    assert found["taken"] == taken


@pytest.mark.parametrize("late", [0, 7, 60, 200])
def test_only_time_in_which_all_workers_run_is_sampled(blank: Page, late: float) -> None:
    """Samples begin once all workers run; their rate is the sum over the workers."""
    rates = (3.0, 5.0)  # rounds per ms
    begin, end, length = 1000.0, 1300.0, 20.0
    starts = (begin - 3, begin - 3 + late)
    records = []
    for rate, start in zip(rates, starts, strict=True):
        at = np.arange(start, end + 5, 0.7)
        records.append([[t, rate * (t - start)] for t in at.tolist()])
    given = [records, begin, end, length]
    samples = computed(blank, ("samples.js",), "samplesOf(...given)", given)
    common = end - max(begin, *starts)
    assert len(samples) == int((common + 1e-9) // length)
    for sample in samples:
        assert sample["rate"] == pytest.approx(1e3 * sum(rates))
        assert sample["own"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("rates", "refused"),
    [
        ([1, 0.99, 0.97], None),
        ([1, 0.99], "disturbed"),
        ([], "disturbed"),
        ([1, 0.9, 0.86, 0.86, 0.86], None),
        ([1, 0.9, 0.84, 0.84, 0.84], "unsteady"),
    ],
)
def test_a_result_needs_enough_samples_that_agree(
    blank: Page, rates: list[float], refused: str | None
) -> None:
    samples = [{"rate": rate, "own": 0.9} for rate in rates] + [{"rate": 9, "own": 0.89}] * 3
    found = computed(blank, PARTS, "resultOf(...given, DEFAULTS)", [samples, 2])
    assert found.get("refused") == refused
    assert found["taken"] == len(samples)
    if not refused:
        values = 2 * np.array(rates)
        assert found["best"] == values.max()
        assert found["median"] == np.median(values)
        assert found["spread"] == pytest.approx(np.ptp(values) / np.median(values))


def test_rounding_errors_do_not_count_as_spread(blank: Page) -> None:
    samples = [{"rate": rate, "own": 1} for rate in (0.1 + 0.2, 0.3, 0.3)]
    assert computed(blank, PARTS, "resultOf(...given, DEFAULTS)", [samples, 1e9])["spread"] == 0


@pytest.mark.parametrize(
    ("steps", "tick", "lost"),
    [
        ([5], None, 1),
        ([1, 1], 1, 0),
        ([1] * 9 + [11], 1, 0.5),
        ([1] * 9 + [2.4], 1, 0),  # the clock's jitter
        ([1] * 9 + [3], 1, 2 / 12),
        ([0.1] * 9 + [0.58], 0.1, 0),
        ([0.1] * 9 + [0.7], 0.1, 0.6 / 1.6),
    ],
)
def test_long_steps_of_the_clock_are_interruptions(
    blank: Page, steps: list[float], tick: float | None, lost: float
) -> None:
    """If only one step was recorded, the tick is infinity, which is null in JSON."""
    found = computed(blank, ("samples.js",), "JSON.stringify(interruptions(given))", steps)
    assert json.loads(found) == {"tick": tick, "lost": pytest.approx(lost)}


def test_the_typical_time_of_an_iteration_is_the_mean_of_the_middle_half(blank: Page) -> None:
    times = [1, 9, 1.2, 0.1, 0.8, 7, 0.2, 1]  # each for two iterations
    points = [[float(sum(times[:i])), 2 * i] for i in range(len(times) + 1)]
    assert computed(blank, ("samples.js",), "typicalTime(given)", points) == pytest.approx(0.5)
    assert computed(blank, ("samples.js",), "typicalTime(given)", points[:2]) == 0.5


# ---- the results


def result(key: str, unit: str, flops: float, bytes: float, **more: object) -> dict[str, object]:
    best = {"worst": 3, "median": 4, "best": 5, "spread": 0.5, "samples": 8, "taken": 9}
    return {"key": key, "unit": unit, "flops": flops, "bytes": bytes, **best, **more}


def results(*more: dict[str, object]) -> dict[str, object]:
    names = ("peak", "read", "update", "copy")
    roofs = [result(name, "B/s", 1, 4, best=best) for best, name in enumerate(names, start=6)]
    figures = {str(one["key"]): one for one in (*roofs, *more)}
    conditions = {"workers": 1, "memory": 64e6, "fused": False, "drift": 0.1, "seconds": 2}
    return {"figures": figures, **conditions}


THIN = [result("thin 1", "FLOP/s", 8, 16), result("thin 2", "FLOP/s", 16, 16)]
STEP = [result("step 16000", "B/s", 1, 4), result("step 80000", "B/s", 1, 4, best=6)]
NOISY = [result(key, "B/s", 1, 4, refused=why) for key, why in
         {"thin 4": "disturbed", "step 400000": "unsteady"}.items()]  # fmt: skip
DRAWN = """(() => {
  const names = {};
  draw({ view: { set: (name, to) => { names[name] = to; } } }, given);
  return names;
})()"""


def test_only_reliable_results_are_passed_to_the_live_figure(blank: Page) -> None:
    names = computed(blank, ("roof-panel.js",), DRAWN, results(*THIN, *STEP, *NOISY))
    assert names == {
        "thin_at": [0.5, 1],
        "thin_count": 2,
        "thin_worst": [3, 3],
        "thin_median": [4, 4],
        "thin_best": [5, 5],
        "thin_name": ["B = 1", "B = 2"],
        # Rates in bytes/s are converted to FLOP/s: multiplied by the intensity.
        "step_at": [0.25, 0.25],
        "step_count": 2,
        "step_worst": [0.75, 0.75],
        "step_median": [1, 1],
        "step_best": [1.25, 1.5],
        "step_name": ["16\N{NO-BREAK SPACE}kB", "80\N{NO-BREAK SPACE}kB"],
        "found": {"peak": 6, "read": 7, "update": 8, "copy": 9, "nearest": 5},
        "told": {
            "seconds": "2\N{NO-BREAK SPACE}s",
            "workers": "one worker",
            "by": "multiplications and additions one by one",
            "memory": "64\N{NO-BREAK SPACE}MB",
        },
        "drift": 0.1,
        "why": "",
        "measured": 1,
    }
    # Without results for smaller arrays, `nearest` is the rate of the whole memory.
    names = computed(blank, ("roof-panel.js",), DRAWN, results() | {"workers": 2, "fused": True})
    assert names["found"]["nearest"] == 7
    assert names["told"]["workers"] == "2 workers"
    assert names["told"]["by"] == "fused multiply-adds"


# Fills the table of a figure twice, and returns its rows and its tabIndex: with 0, keys can
# scroll it.
TABLE = """(() => {
  const figure = document.createElement("div");
  figure.innerHTML = "<p class='live-says'></p>";
  for (let i = 0; i < 2; i += 1) table(figure, given);
  const cells = (row) => [...row.cells].map((cell) => cell.textContent);
  const { tabIndex } = figure.querySelector(".live-samples");
  return { rows: [...figure.querySelectorAll("tr")].map(cells), tabIndex };
})()"""


def test_the_table_says_why_a_result_was_refused(blank: Page) -> None:
    found = computed(blank, ("roof-panel.js",), TABLE, results(*STEP[:1], *NOISY))
    assert found["tabIndex"] == 0
    rows = [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in found["rows"]]
    assert rows[0] == ["", "best", "typical", "spread", "samples"]
    assert rows[1] == ["multiply-add", "6 B/s", "4 B/s", "50%", "8 of 9"]
    assert [row[0] for row in rows[2:5]] == ["read", "update in place", "copy"]
    assert rows[5:] == [
        ["16 kB, again", "5 B/s", "4 B/s", "50%", "8 of 9"],
        ["B = 4", "disturbed", "–", "–", "8 of 9"],
        ["400 kB, again", "unsteady", "–", "–", "8 of 9"],
    ]


# ---- the page


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with roof_page.served(tmp_path_factory.mktemp("roof")) as server:
        yield server


Opened = Callable[..., tuple[Page, Traffic]]


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Opened]:
    contexts = []

    def opened(settings: object = None, before: str = "", address: str = "", **more: Any) -> Any:
        context = browser.new_context(**{"viewport": DESK} | more)
        contexts.append(context)
        traffic = Traffic().listen(context)
        if before:
            context.add_init_script(before)
        address = address or f"{server.origin}/index.html"
        return roof_page.opened(context, address, settings), traffic

    yield opened
    for context in contexts:
        context.close()


def told(page: Page) -> str:
    return page.locator("[role=status][data-part=told]").text_content() or ""


def says(page: Page) -> str:
    return live_pages.settled(page, roof_page.NAME).locator(".live-says").text_content() or ""


def without_workers(page: Page) -> bool:
    """Wait until the page has no workers; return whether that happened."""
    for _ in range(2000):
        if not page.workers:
            return True
        page.evaluate("null")  # lets Playwright process the events of workers
    return False


XML = "(e) => new XMLSerializer().serializeToString(e)"
ONE = {**SHORT, **LENIENT, "cores": 2}
LONG = {**ONE, "sample": 400}  # so long that a test can stop the measurement before it ends


@pytest.fixture(scope="module")
def book(site: Path, below: str) -> Iterator[Server]:
    with serving(site, below) as server:
        yield server


AXE_IN_FIGURE = """async () => {
  const found = await axe.run("figure.live", { preload: false, resultTypes: ["violations"] });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}"""


def test_the_button_measures_draws_and_saves(open_page: Opened, book: Server) -> None:
    page, traffic = open_page(ONE, address=f"{book.origin}/chapters/machine.html")
    # The script isn't fetched before the button is pressed.
    assert not any(roof_page.SCRIPT in url or "blob:" in url for url in traffic.asked)
    before = set(traffic.asked)
    assert says(page).startswith("Not measured here yet.")
    picture = page.locator(".live-picture svg")
    assert live_pages.drawn(picture.evaluate(XML), "thin") == []

    page.locator("[data-part=told]").evaluate(live_pages.LISTEN)
    page.locator("[data-part=bar]").evaluate(SHARES)
    figure = roof_page.measured(page)
    # Screen readers announce two stages before the measurements, four roofs, two series, the last
    # measurement, and the end.
    assert page.evaluate("window.announced") == 10
    shares = page.evaluate("window.shares")
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, pytest.approx(16 / 17))
    assert page.locator("[data-part=bar]").text_content() == "94%"
    assert shown(page) == {"measure", "own"}
    (script,) = {url for url in traffic.asked if not url.startswith("blob:")} - before
    assert script.startswith(f"{book.origin}/_static/{roof_page.SCRIPT}?v=")
    assert traffic.outside(book.origin) == []
    assert traffic.wrong == []
    assert without_workers(page)
    assert "Measured." in told(page)
    assert "the roof of this browser on this machine, not the machine’s" in says(page)
    assert "2 workers with fused multiply-adds" in says(page)

    rows = figure.locator("tbody tr").all_inner_texts()
    names = [row.split("\t")[0].replace("\N{NO-BREAK SPACE}", " ") for row in rows]
    assert names == [
        *("multiply-add", "read", "update in place", "copy"),
        *(f"{size}, again" for size in ("16 kB", "80 kB", "400 kB", "2 MB", "10 MB")),
        *(f"B = {batch}" for batch in (1, 2, 4, 8, 16, 32, 64)),
    ]
    assert figure.get_by_role("region", name="Measured figures", exact=True).count() == 1
    for row in rows:
        _, best, typical, spread, samples = row.split("\t")
        assert re.match(r"[\d.]+\s[kMGT](FLOP|B)/s", best), row
        assert re.match(r"[\d.]+\s[kMGT](FLOP|B)/s", typical), row
        assert re.fullmatch(r"[\d.,]+%", spread), row
        assert re.fullmatch(r"\d+ of \d+", samples), row

    svg = picture.evaluate(XML)
    assert len(live_pages.drawn(svg, "thin")) == 7
    assert len(live_pages.drawn(svg, "step")) == 5
    assert live_pages.drawn(svg, "slope")
    values = page.locator("figure.live data").evaluate_all(
        "all => Object.fromEntries(all.map((one) => [one.dataset.name, Number(one.value)]))"
    )
    assert values["ridge"] == pytest.approx(values["peak"] / values["read"])
    assert values["peak"] > 1e8

    page.evaluate(AXE)
    for width, theme in ((DESK, "light"), (PHONE, "dark")):
        put_width(page, width)
        put_theme(page, theme)
        assert page.evaluate(AXE_IN_FIGURE) == []
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate(STICKING_OUT) == []

    own = page.get_by_role("button", name="Make it my own chip", exact=True)
    expect(own).to_be_focused()
    kept = {"memory": 5e10, "peak": 1.0}
    page.evaluate(
        "(kept) => localStorage.setItem('roofline-my-own-chip', JSON.stringify(kept))", kept
    )
    page.keyboard.press("Enter")
    assert "My own chip now has this peak" in told(page)
    found = page.evaluate("JSON.parse(localStorage.getItem('roofline-my-own-chip'))")
    # The fields that aren't measured stay as the reader typed them.
    assert found == {**kept, "peak": values["peak"], "bandwidth": values["read"]}
    assert set(found) <= set(START)

    # A second measurement replaces the results of the first, and doesn't move the focus.
    page.locator(".live-samples caption").evaluate("(e) => e.remove()")
    page.evaluate(PRESS_AND_LEAVE)
    page.locator(f"{roof_page.MEASURED}:not([data-measured='running'])").wait_for()
    assert page.locator(".live-samples caption").count() == 1
    expect(page.locator(".theme-switch-button").first).to_be_focused()
    assert len([url for url in traffic.asked if roof_page.SCRIPT in url]) == 1
    # A third measurement that is stopped at once shows no results.
    page.evaluate(PRESS_AND_STOP)
    expect(page.locator("[data-part=told]")).to_have_text("Stopped.")
    assert says(page) == "Nothing was measured."
    assert page.locator(".live-samples").count() == 0
    assert shown(page) == {"measure"}
    assert traffic.wrong == []


# Records each value that a progress bar shows.
SHARES = """(bar) => {
  window.shares = [];
  new MutationObserver(() => { if (bar.hasAttribute("value")) window.shares.push(bar.value); })
    .observe(bar, { attributeFilter: ["value"] });
}"""
PRESS_AND_LEAVE = """() => {
  document.querySelector("[data-part=measure]").click();
  document.querySelector(".theme-switch-button").focus();
}"""
PRESS_AND_STOP = """() => {
  for (const part of ["measure", "stop"]) document.querySelector(`[data-part=${part}]`).click();
}"""


def shown(page: Page) -> set[str]:
    """Return the visible ones of the three buttons and the progress bar."""
    parts = ("measure", "stop", "own", "bar")
    return {part for part in parts if page.locator(f"[data-part={part}]").is_visible()}


UNDER_WAY = re.compile("Measuring: (?!the workers|looking)")
BYTES = "typeof memory === 'object' ? memory.buffer.byteLength : 0"


@pytest.mark.long
def test_each_worker_has_its_memory_and_stop_works_from_the_keyboard(open_page: Opened) -> None:
    page, traffic = open_page({**LONG, "cores": 3})
    page.get_by_role("button", name="Measure this browser", exact=True).focus()
    page.keyboard.press("Enter")
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(page.locator("[role=status][data-part=told]")).to_have_text(UNDER_WAY)
    assert [worker.evaluate(BYTES) for worker in page.workers] == [915 * 65_536] * 3
    assert page.get_by_role("progressbar", name="Progress of the measurement").is_visible()
    expect(stop).to_be_focused()
    page.keyboard.press("Enter")
    press = page.get_by_role("button", name="Measure this browser", exact=True)
    expect(press).to_be_focused()
    assert told(page) == "Stopped."
    assert says(page) == "Nothing was measured."
    assert not stop.is_visible()
    assert without_workers(page)
    assert traffic.wrong == []


HIDE = """
Object.defineProperty(document, 'hidden', { get: () => true });
document.dispatchEvent(new Event('visibilitychange'));
"""


LEAVING = {
    "window.dispatchEvent(new PageTransitionEvent('pagehide'))": "The page was left.",
    HIDE: "The page was out of sight.",
}


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("WebAssembly.validate = () => false;", "WebAssembly has no SIMD"),
        ("delete window.WebAssembly;", "has no WebAssembly, or no workers"),
        ("delete window.Worker;", "has no WebAssembly, or no workers"),
        ("window.Worker = class { constructor() { throw new Error('no'); } };", "starts no worker"),
    ],
)
def test_missing_browser_features_are_named(open_page: Opened, before: str, words: str) -> None:
    settings = {**SHORT, **LENIENT}
    page, traffic = open_page(settings, before=before)
    roof_page.measured(page)
    assert words in told(page)
    assert says(page) == "Nothing was measured."
    assert shown(page) == {"measure"}
    assert traffic.wrong == []
    assert without_workers(page)


def test_an_unexpected_error_is_shown_and_reported(open_page: Opened) -> None:
    odd = "WebAssembly.validate = () => { throw new TypeError('odd'); };"
    page, traffic = open_page(ONE, before=odd)
    roof_page.measured(page)
    assert told(page) == "The measurement failed: TypeError: odd."
    assert [line for line in traffic.wrong if "odd" in line]


def test_a_page_whose_policy_forbids_workers_says_so(open_page: Opened, server: Server) -> None:
    text = (server.folder / "index.html").read_text(encoding="utf-8")
    policy = "<meta http-equiv='Content-Security-Policy' content=\"worker-src 'none'\">"
    (server.folder / "strict.html").write_text(text.replace("<title>", f"{policy}<title>"))
    page, _ = open_page(ONE, address=f"{server.origin}/strict.html")
    roof_page.measured(page)
    assert "This browser starts no worker" in told(page)


OLD = """
{
  const whole = WebAssembly.validate;
  let first = true;
  WebAssembly.validate = (code) => (first ? (first = false) : whole(code));
}
navigator.__defineGetter__("hardwareConcurrency", () => undefined);
"""


@pytest.mark.long
def test_measuring_works_from_a_file_url_and_in_an_old_browser(
    open_page: Opened, server: Server
) -> None:
    """An old browser has no relaxed SIMD, and does not report the number of cores."""
    address = (server.folder / "index.html").as_uri()
    page, traffic = open_page({**SHORT, **LENIENT}, before=OLD, address=address)
    roof_page.measured(page)
    assert "the roof of this browser" in says(page)
    assert "by one worker with multiplications and additions one by one" in says(page)
    assert traffic.outside("file://") == []
    assert traffic.wrong == []


def test_a_script_that_failed_to_load_is_requested_again(open_page: Opened) -> None:
    page, traffic = open_page({**LONG, "cores": 1})
    page.route(f"**/{roof_page.SCRIPT}", lambda route: route.abort(), times=1)
    press = page.get_by_role("button", name="Measure this browser", exact=True)
    status = page.locator("[role=status][data-part=told]")
    press.click()
    expect(status).to_contain_text("did not load")
    traffic.clear()
    press.dblclick()
    expect(status).to_have_text(UNDER_WAY)
    assert len([url for url in traffic.asked if roof_page.SCRIPT in url]) == 1
    assert len(page.workers) == 1
    # An unchanged visibility doesn't end a measurement; Stop and the events in LEAVING do.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert shown(page) == {"stop", "bar"}
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_focused()
    page.keyboard.press("Enter")
    expect(press).to_be_focused()
    assert told(page) == "Stopped."
    for event, words in LEAVING.items():
        press.click()
        expect(status).to_have_text(UNDER_WAY)
        page.evaluate(event)
        expect(status).to_have_text(words)
    assert without_workers(page)


def test_no_buttons_are_shown_without_javascript(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.origin}/index.html")
    assert page.locator(".live-picture > svg").is_visible()
    assert not page.get_by_role("button").first.is_visible()
    context.close()


def test_only_the_machine_chapter_has_the_measurement_script(site: Path) -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in html_files(site)}
    assert [name for name, text in pages.items() if roof_page.SCRIPT in text] == ["machine.html"]
    assert 'data-part="measure"' in pages["machine.html"]
    (address,) = re.findall(r'data-measure="([^"?]+)\?v=\w{8}"', pages["machine.html"])
    assert (site / "chapters" / address).is_file()
