"""Tests of the page's measurement: kernels, counts, samples, refusals, display."""

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
    """Return the total of 48 sums after `times` steps of s = s * m + c.

    The arithmetic is in double precision.
    """
    s = np.arange(48, dtype=np.float64)
    for _ in range(times):
        s = s * np.float64(np.float32(-0.9999)) + 1
    return float(s.sum())


@pytest.mark.parametrize("times", [1, 2, 7, 1000])
def test_multiply_add_runs_the_given_number_of_times(kernels: Module, times: int) -> None:
    assert kernels.multiply_add(times) == pytest.approx(chains(times), rel=1e-5)


@pytest.mark.parametrize(("start", "size", "times"), [(0, 32, 1), (64, 4096, 1), (0, 96, 5)])
def test_read_sums_an_array_the_given_number_of_times(
    kernels: Module, start: int, size: int, times: int
) -> None:
    kernels.numbers[:] = np.nan
    kernels.numbers[start : start + size] = random(size)
    expected = times * np.float64(random(size)).sum()
    found = kernels.read(4 * start, 4 * size, times)
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_update_negates_only_the_given_array(kernels: Module, times: int) -> None:
    before = random(len(kernels.numbers))
    kernels.numbers[:] = before
    kernels.update(256, 4 * 320, times)
    before[64:384] *= (-1) ** times
    np.testing.assert_array_equal(kernels.numbers, before)


def test_copy_writes_only_the_target_array(kernels: Module) -> None:
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
def test_multiply_is_a_matmul(kernels: Module, rows: int, depth: int, columns: int) -> None:
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


# What an instruction on 16-byte registers computes or moves. The counter is inserted after the
# match: the instruction's name, or the whole expression in brackets.
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
    """Return a function that counts one iteration of a kernel.

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
    """An empty page, in which tests evaluate parts of the script."""
    page = browser.new_page()
    page.add_script_tag(path=COURSE_SCRIPT)
    yield page
    page.close()


def computed(page: Page, names: tuple[str, ...], expression: str, given: object = None) -> Any:
    """Evaluate an expression that uses the named parts of the script, and `given`."""
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
    at_y = 4 * sizes["most"] * D
    at_w = at_y + 4 * sizes["most"] * F
    module = executed.module
    for B in batches:
        found = counted(blank, {"kernel": "multiply", "rows": B})
        op = rl.matmul(B, D, F, x="fp32")
        assert found == {"flops": op.flops, "bytes": op.bytes}
        before = module.value("flops")
        module.multiply(0, at_w, at_y, B, 4 * D, 4 * F)
        # A single row is summed in two halves; adding them costs one addition per number.
        assert module.value("flops") - before == op.flops + F * (B == 1)


# ---- memory


def test_memory_stays_within_its_limits(blank: Page) -> None:
    given = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 64, 256, None]
    shares = computed(blank, ("counts.js",), "given.map(allocation)", given)
    for cores, share in zip(given, shares, strict=True):
        assert share["workers"] == min(16, cores or 1)
        assert 0 < share["bytes"] == 65_536 * share["pages"] < 64e6
        assert share["workers"] * share["bytes"] < 256e6
        keys = computed(blank, ("counts.js",), f"tasks({share['bytes']})")
        sizes = [item["task"]["bytes"] for item in keys if "bytes" in item["task"]]
        # Arrays are multiples of the kernels' blocks, and fit into the memory.
        assert all(size % 128 == 0 and size <= share["bytes"] for size in sizes)
        # Cache sizes whose array fits twice.
        steps = computed(blank, ("counts.js",), "STEPS")
        rows = [item for item in keys if item["what"] == "read again"]
        fitting = [size for size in steps if 2 * size <= share["bytes"]]
        assert [item["task"]["bytes"] for item in rows] == fitting
        layer = computed(blank, ("counts.js",), "SIZES")
        first = 4 * layer["most"] * (layer["depth"] + layer["columns"])
        assert first + 4 * 4 * layer["depth"] * layer["columns"] <= share["bytes"]


# Runs two layers more than fit, and returns the addresses at which the kernel reads weights.
ADDRESSES = """(async () => {
  const code = Uint8Array.from(given.code);
  const { layers, bytes } = await answers.prepare({ code, pages: given.pages, sizes: SIZES });
  const read = [];
  kernels = { multiply: (x, weights, y) => read.push([x, y, weights]) };
  run({ kernel: "multiply", rows: 64 }, layers + 2);
  return { bytes, read };
})()"""


def test_thin_matmuls_read_all_of_the_memory_before_they_repeat_weights(blank: Page) -> None:
    given = {"code": list(browser_roof.kernels()["plain"]), "pages": 200}
    found = computed(blank, ("counts.js", "roof-worker.js"), ADDRESSES, given)
    sizes = computed(blank, ("counts.js",), "SIZES")
    D, F, most = sizes["depth"], sizes["columns"], sizes["most"]
    layer, x, y = 4 * D * F, 4 * most * D, 4 * most * F
    *once, again, next_again = (weights for _, _, weights in found["read"])
    assert [again, next_again] == once[:2]
    # The input, the result and the weights of each layer follow each other without overlap.
    assert {(0, x)} == {(at_x, at_y) for at_x, at_y, _ in found["read"]}
    assert once == [x + y + n * layer for n in range(len(once))]
    assert once[-1] + layer <= found["bytes"] < once[-1] + 2 * layer


# ---- samples and refusals, with simulated workers


PARTS = ("counts.js", "samples.js", "protocol.js")
PEAK, READ = 100e9, 20e9

WORKERS = (ROOT / "tests/support/simulated_workers.js").read_text(encoding="utf-8")
MEASURE = """await measure(pool, (what, share) => stages.push(share), given.settings)
  .then((found) => ({ ...found, stages }), (error) => {
    if (!(error instanceof Refused)) throw error;
    return { refused: error.message };
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
        assert f["samples"] == f["taken"] >= 7
    for B in (1, 2, 4, 8, 16, 32, 64):
        op = rl.matmul(B, 512, 768, x="fp32")
        bound = min(PEAK, READ * op.flops / op.bytes)
        assert figures[f"thin {B}"]["median"] == pytest.approx(bound, rel=1e-3)
    assert found["drift"] == pytest.approx(0, abs=1e-3)
    assert found["disturbed"] == 0
    assert found["seconds"] < 10
    assert all(a <= b for a, b in pairwise(found["stages"]))
    assert found["stages"][-1] < 1


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        ({"tick": 16.7}, "clock is too coarse: it goes in steps of 16.7\N{NO-BREAK SPACE}ms"),
        ({"tick": 100}, "clock is too coarse"),
        ({"jumps": 0.5}, "its workers had to wait for 50% of their time"),
        ({"slices": 3}, "samples of “multiply-add” 0 were undisturbed"),
        ({"slices": 8}, "samples of “multiply-add” 0 were undisturbed"),
        ({"fades": 0.5}, "its peak changed by −50% meanwhile"),
        ({"cached": 3}, "its figures contradict each other"),
    ],
)
def test_a_coarse_clock_or_a_busy_machine_is_refused(
    blank: Page, machine: dict[str, float], why: str
) -> None:
    found = simulated(blank, **machine)
    assert why in found["refused"]


@pytest.mark.parametrize(
    "machine", [{"tick": 1}, {"tick": 2}, {"late": 40}, {"fades": 0.1}, {"pause": 30}]
)
def test_small_disturbances_are_not_refused(blank: Page, machine: dict[str, float]) -> None:
    found = simulated(blank, **machine)
    assert found["figures"]["peak"]["best"] == pytest.approx(PEAK, rel=0.01)
    assert found["figures"]["read"]["best"] == pytest.approx(READ, rel=0.01)
    assert bool(found["disturbed"]) == ("pause" in machine)


@pytest.mark.parametrize("late", [0, 7, 60, 200])
def test_only_time_in_which_all_workers_run_is_sampled(blank: Page, late: float) -> None:
    """Samples begin once all workers run, and sum their rates."""
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


LIMITS = {"minOwnShare": 0.9, "maxSpread": 0.15}


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
    samples = [{"rate": rate, "own": 1} for rate in rates] + [{"rate": 9, "own": 0.5}] * 3
    given = [samples, 2, LIMITS]
    found = computed(blank, ("samples.js",), "resultOf(...given)", given)
    assert found.get("refused") == refused
    assert found["taken"] == len(samples)
    if not refused:
        values = 2 * np.array(rates)
        assert found["best"] == values.max()
        assert found["median"] == np.median(values)
        assert found["spread"] == pytest.approx(np.ptp(values) / np.median(values))


def test_rounding_errors_do_not_count_as_spread(blank: Page) -> None:
    samples = [{"rate": rate, "own": 1} for rate in (0.1 + 0.2, 0.3, 0.3)]
    given = [samples, 1e9, LIMITS]
    assert computed(blank, ("samples.js",), "resultOf(...given)", given)["spread"] == 0


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
LONG = {**ONE, "sample": 400}  # so long that the measurement does not end before it is stopped


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

    figure = roof_page.measured(page)
    (script,) = {url for url in traffic.asked if not url.startswith("blob:")} - before
    assert script.startswith(f"{book.origin}/_static/{roof_page.SCRIPT}?v=")
    assert traffic.outside(book.origin) == []
    assert traffic.wrong == []
    assert without_workers(page)
    assert "Measured." in told(page)
    assert "the roof of this browser on this machine, not the machine’s" in says(page)
    assert "2 workers with fused multiply-adds" in says(page)

    rows = figure.locator("tbody tr").all_inner_texts()
    assert len(rows) == 4 + 5 + 7
    for row in rows:
        name, best, typical, spread, samples = row.split("\t")
        assert re.match(r"[\d.]+\s[kMGT](FLOP|B)/s", best), row
        assert re.match(r"[\d.]+\s[kMGT](FLOP|B)/s", typical), row
        assert re.fullmatch(r"[\d.,]+%", spread), row
        assert re.fullmatch(r"\d+ of \d+", samples), row
        assert name

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

    # A second measurement takes the place of the first.
    roof_page.measured(page)
    assert page.locator(".live-samples").count() == 1


UNDER_WAY = re.compile("Measuring: (?!the workers|looking)")
BYTES = "typeof memory === 'object' ? memory.buffer.byteLength : 0"


@pytest.mark.long
def test_workers_keep_their_memory_and_stop_from_the_keyboard(open_page: Opened) -> None:
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("window.dispatchEvent(new PageTransitionEvent('pagehide'))", "The page was left."),
        (HIDE, "The page was out of sight."),
    ],
)
def test_leaving_or_hiding_the_page_terminates_the_workers(
    open_page: Opened, event: str, words: str
) -> None:
    page, _ = open_page(LONG)
    page.get_by_role("button", name="Measure this browser", exact=True).click()
    expect(page.locator("[role=status][data-part=told]")).to_have_text(UNDER_WAY)
    page.evaluate(event)
    expect(page.locator("[role=status][data-part=told]")).to_have_text(words)
    assert without_workers(page)


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
    assert traffic.wrong == []
    assert without_workers(page)


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
def test_the_roof_is_measured_from_disk_and_in_an_old_browser(
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
    page, _ = open_page(LONG)
    page.route(f"**/{roof_page.SCRIPT}", lambda route: route.abort(), times=1)
    press = page.get_by_role("button", name="Measure this browser", exact=True)
    press.click()
    expect(page.locator("[role=status][data-part=told]")).to_contain_text("did not load")
    press.click()
    expect(page.locator("[role=status][data-part=told]")).to_have_text(UNDER_WAY)


def test_no_buttons_are_shown_without_javascript(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.origin}/index.html")
    assert page.locator(".live-picture > svg").is_visible()
    assert not page.get_by_role("button").first.is_visible()
    context.close()


def test_only_the_machine_chapter_measures(site: Path) -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in html_files(site)}
    assert [name for name, text in pages.items() if roof_page.SCRIPT in text] == ["machine.html"]
    assert 'data-part="measure"' in pages["machine.html"]
    (address,) = re.findall(r'data-measure="([^"?]+)\?v=\w{8}"', pages["machine.html"])
    assert (site / "chapters" / address).is_file()
