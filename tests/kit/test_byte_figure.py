"""Tests of the byte figure: rooflib's times, a picture to scale, one playback."""

import re
from collections.abc import Iterator
from typing import Any

import live_pages
import numpy as np
import pytest
import site_browser
from byte_figures import made_bytes
from live_pages import drawn as shapes_of
from playwright.sync_api import Browser, Page

import rooflib as rl
from roofkit.figures import Figure, byte
from roofkit.figures.engine.scene import drawn

WIDE = 500
LAYER = rl.matmul(128, 4096, 16384)
SOME_SEND = {"one chip": LAYER, "two chips": rl.sharded_matmul(1024, 4096, 32768, N=2)}
FIGURES = made_bytes() | {"default": byte(), "some send": byte(SOME_SEND, link="ICI")}


def jobs(figure: Figure) -> list[dict[str, Any]]:
    """Return the settings that choose each operation of a figure."""
    return [{c.name: o} for c in figure.controls[:-1] for o in c.options] or [{}]


CASES = [
    pytest.param(figure, job, id=f"{name} {job}")
    for name, figure in FIGURES.items()
    for job in jobs(figure)
]


def at(figure: Figure, job: dict[str, Any], step: float, wide: float = WIDE) -> str:
    """Draw the figure at a step, which may be between two steps."""
    start = {c.name: c.start for c in figure.controls} | job
    known = {**figure.tables, **start, **figure.values(**job), "step": step}
    return drawn(figure.scene, known, wide, 300)


def place(figure: Figure, job: dict[str, Any], step: float) -> tuple[float, float]:
    (dot,) = shapes_of(at(figure, job, step), "byte")
    return float(dot["cx"]), float(dot["cy"])


@pytest.mark.parametrize(
    ("figure", "op", "chip", "unit", "job"),
    [
        (byte(), LAYER, "TPU v5e", "matrix", {}),
        (FIGURES["vector unit"], rl.dot(10**9, compute="fp32"), "TPU v5p", "vector", {}),
        (
            FIGURES["batches"],
            rl.matmul(256, 4096, 16384),
            "TPU v5e",
            "matrix",
            {"job": "B = 256"},
        ),
        (
            FIGURES["two chips"],
            rl.sharded_matmul(1024, 4096, 32768, N=2),
            "TPU v5e",
            "matrix",
            {"job": "D = 4,096"},
        ),
        (
            FIGURES["attention"],
            rl.attention(1, 8192, 8192, N=32, K=8, H=128),
            "H100 SXM",
            "matrix",
            {"job": "prefill"},
        ),
    ],
    ids=str,
)
def test_times_and_numbers_match_rooflib(
    figure: Figure, op: rl.Operation, chip: str, unit: str, job: dict[str, str]
) -> None:
    b = rl.bound(op, chip, "ICI" if op.sent else None, unit)
    values, on = figure.values(**job), rl.chip(chip)
    expected = {
        "t_load": op.loaded / on.bandwidth,
        "t_store": op.written / on.bandwidth,
        "t_math": b.times["compute"],
        "t_link": b.times.get("ICI", 0),
        "lower": b.lower,
        "waits": b.idle,
        "intensity": op.intensity,
        "reached": b.attainable,
    }
    for name, true in expected.items():
        assert values[name] == pytest.approx(float(true), rel=1e-12, abs=1e-15), name
    if op.sent:
        assert values["each_sent"] == pytest.approx(op.flops / sum(op.sent.values()))
    binds = {"compute": "Compute binds", "HBM": "HBM binds", "ICI": "The link binds"}[
        str(b.binding)
    ]
    assert binds in figure.texts(**job)["says"]


@pytest.mark.parametrize(("figure", "job"), CASES)
def test_the_followed_byte_moves_in_proportion_to_load_and_store_times(
    figure: Figure, job: dict[str, Any]
) -> None:
    values = figure.values(**job)
    lower, rounds = values["lower"], int(values["rounds"])
    home, chip, unit = (0.12 * WIDE, 0.52 * WIDE, 0.85 * WIDE)
    load, store = values["t_load"] / lower, values["t_store"] / lower
    for tick in range(20 * rounds + 1):
        step = tick / 20
        stage, part = min(int(step), rounds - 1), step - min(int(step), rounds - 1)
        x, y = place(figure, job, step)
        if stage == 0:
            way = 1 if load < 1e-9 else min(1, max(0, (part - store) / load))
            if part - store > 0 or part == 0:
                assert x == pytest.approx(home + (chip - home) * way, abs=0.02)
        elif stage == rounds - 1:
            way = 1 if store < 1e-9 else min(1, part / store)
            if part:
                assert x == pytest.approx(unit + (home - unit) * way, abs=0.02)
        elif part > values["t_math" if stage == 1 else "t_link"] / lower:
            assert (x, y) == pytest.approx((unit, 98), abs=0.02)
    assert place(figure, job, rounds)[0] == pytest.approx(home, abs=0.02)


@pytest.mark.parametrize(("figure", "job"), CASES)
def test_bars_are_as_long_as_their_times(figure: Figure, job: dict[str, Any]) -> None:
    values, picture = figure.values(**job), at(figure, job, 0)
    rounds = int(values["rounds"])
    ticks = [float(t["x"]) for t in shapes_of(picture, "ticks")]
    pixels = (ticks[-1] - ticks[0]) / rounds / values["lower"]
    for name in ("load", "store", "math", "link"):
        bars = shapes_of(picture, name)
        assert len(bars) == (rounds if values[f"t_{name}"] > 0 else 0)
        for bar in bars:
            # Bars leave a gap of one pixel between rounds, but are at least 0.7 pixels long.
            true = max(0.7, values[f"t_{name}"] * pixels - 1)
            assert float(bar["width"]) == pytest.approx(true, abs=0.02)
        # One bar of each kind is more opaque: that of the followed byte.
        assert sorted(float(bar["fill-opacity"]) for bar in bars)[-2:] == [0.35, 0.9][: len(bars)]
    assert [t["text"] for t in shapes_of(picture, "ticks")] == [
        rl.text(i * values["lower"], "s") for i in range(rounds + 1)
    ]


def test_the_figure_states_how_often_the_followed_byte_is_used() -> None:
    figure, job = FIGURES["batches"], {"job": "B = 4,096"}  # compute-bound
    (words,) = shapes_of(at(figure, job, 1.25), "happens")
    assert words["text"] == "It is used: 1,024 of 4,096"
    assert "is used once." in figure.texts(job="B = 1")["says"]
    assert "is used 64 times." in figure.texts(job="B = 64")["says"]


def test_an_operation_that_does_not_fit_into_memory_is_reported() -> None:
    says = FIGURES["limits"].texts(job="too large")["says"]
    assert "It does not fit: the chip must hold 1\N{NO-BREAK SPACE}TB" in says
    assert "fit" not in FIGURES["limits"].texts(job="no FLOPs")["says"]


def test_numpy_sizes_are_accepted() -> None:
    D = np.array([4096, 16384])
    ops = {f"D = {d:,}": rl.sharded_matmul(1024, d, 32768, N=2) for d in D}
    html = byte(ops, "TPU v5e", "each_sent", link="ICI", uses=dict.fromkeys(ops, D[0])).html()
    assert "D = 16,384" in html


def test_byte_refuses_an_unknown_value_of_shows() -> None:
    with pytest.raises(ValueError, match=r"^shows must be one of waits, .*; got 'wait'"):
        byte(shows="wait")


# Tests of playback, which control the browser's clock.

ROUND = 2000  # ms
HOURS = iter(range(1, 100))


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=site_browser.DESK)
    context.clock.install(time=0)
    content = live_pages.html(byte()).replace("<body>", "<body><p style='height: 2000px'>Above</p>")
    kind = "text/html; charset=utf-8"
    context.route("**", lambda route: route.fulfill(body=content, content_type=kind))
    page = context.new_page()
    page.goto(live_pages.ADDRESS)
    yield page
    context.close()


@pytest.fixture
def page(tab: Page) -> Page:
    """Return the page, with a paused clock and the figure below the visible part."""
    tab.emulate_media(reduced_motion="no-preference")
    tab.clock.resume()
    tab.goto("about:blank")
    tab.goto(live_pages.ADDRESS)
    live_pages.settled(tab, "byte")
    tab.clock.pause_at(3_600_000 * next(HOURS))
    return tab


def see(page: Page) -> None:
    """Scroll to the figure and wait until its observer has run."""
    page.locator(".live-picture").scroll_into_view_if_needed()
    page.evaluate(
        """() => new Promise((done) => new IntersectionObserver((_, me) => {
            me.disconnect();
            done();
        }).observe(document.querySelector(".live-picture")))"""
    )


def step(page: Page) -> int:
    return int(page.locator("input[name=step]").input_value())


def plays(page: Page) -> bool:
    play = page.locator("[data-does=play]")
    named = play.get_attribute("aria-label")
    assert named in ("Play", "Pause")
    assert play.get_attribute("aria-pressed") in (None, str(named == "Pause").lower())
    return named == "Pause"


def picture(page: Page) -> str:
    return str(page.locator(".live-picture svg").inner_html())


def test_the_figure_plays_once_when_it_comes_into_view(page: Page) -> None:
    page.clock.run_for(ROUND)
    assert (step(page), plays(page)) == (0, False)
    see(page)
    assert plays(page)
    before = picture(page)
    page.locator(".live-says").evaluate(live_pages.LISTEN)
    page.clock.run_for(ROUND // 2)
    assert picture(page) != before
    wide = float(page.locator(".live-picture svg").get_attribute("width") or 0)
    (dot,) = shapes_of(at(byte(), {}, 0.5, wide), "byte")
    across = page.locator("[data-mark=byte] circle").get_attribute("cx")
    assert float(across or 0) == pytest.approx(float(dot["cx"]), abs=0.03 * wide)
    for _ in range(3):
        page.clock.run_for(ROUND)
    assert (step(page), plays(page)) == (3, False)
    page.evaluate("scrollTo(0, 0)")
    see(page)
    page.clock.run_for(ROUND)
    assert (step(page), plays(page)) == (3, False)
    # The description does not depend on the step, so nothing is read aloud while it plays.
    assert page.locator(".live-says").text_content() == byte().texts()["says"]
    assert page.evaluate("window.announced") == 0


def test_the_figure_does_not_autoplay_with_reduced_motion(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    see(page)
    page.clock.run_for(2 * ROUND)
    assert (step(page), plays(page)) == (0, False)
    page.locator("[data-does=next]").click()
    assert step(page) == 1


def test_the_figure_does_not_autoplay_after_a_click_on_a_step_button(page: Page) -> None:
    page.locator("[data-does=next]").dispatch_event("click")
    page.locator("[data-does=back]").dispatch_event("click")
    see(page)
    page.clock.run_for(ROUND)
    assert (step(page), plays(page)) == (0, False)


def test_pause_stops_the_picture_and_play_resumes(page: Page) -> None:
    see(page)
    page.clock.run_for(ROUND + ROUND // 2)
    page.locator("[data-does=play]").click()
    held = picture(page)
    page.clock.run_for(3 * ROUND)
    assert (step(page), plays(page), picture(page)) == (1, False, held)
    page.locator("[data-does=play]").click()
    page.clock.run_for(ROUND // 2 + 100)
    assert (step(page), plays(page)) == (2, True)
    page.locator("[data-does=back]").click()
    assert (step(page), plays(page)) == (1, False)
    assert picture(page) == re.sub(r"^<svg[^>]*>|</svg>$", "", at_width(page, 1))


def at_width(page: Page, step: int) -> str:
    box = page.locator(".live-picture svg").bounding_box()
    assert box is not None
    svg = byte().svg(width=box["width"], step=step)
    return str(
        page.evaluate(
            "(svg) => new DOMParser().parseFromString(svg, 'text/html')"
            ".querySelector('svg').outerHTML",
            svg,
        )
    )
