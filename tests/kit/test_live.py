"""Figures in a browser: controls work, and all numbers match rooflib."""

import bisect
import dataclasses
import functools
import itertools
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import live_pages
import pytest
import site_browser
from live_pages import chip_of
from playwright.sync_api import Browser, BrowserContext, Page
from repository import ROOT
from series import in_part
from site_server import Server

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine.colors import LAB_STYLE
from roofkit.figures.engine.controls import Slider
from roofkit.figures.engine.own_chip import OWN
from rooflib.sharding import sharded_matmul

FIGURES = ("time", "intensity", "roofline", "matmul", "chips", "attention")
# For tests of the page rather than of a figure: all figures in long tests, else only one.
SOME = [
    pytest.param(name, marks=[] if name == "roofline" else pytest.mark.long) for name in FIGURES
]

Settings = dict[str, Any]


# Expected values, computed with rooflib instead of the figures' formulas.


def of_time(flops: float, bytes: float, chip: str) -> Settings:
    b = rl.bound(rl.operation(flops=flops, bytes=bytes), chip_of(chip))
    return {
        "t_math": b.times["compute"],
        "t_comms": b.times["HBM"],
        "lower": b.lower,
        "upper": b.upper,
        "idle": b.idle,
        "binding": b.binding,
        "fits": b.fits,
    }


def of_intensity(n: float, chip: str) -> Settings:
    at = chip_of(chip)
    operations = {
        "dot": rl.dot(n),
        "add": rl.elementwise(n, inputs=2),
        "matmul": rl.matmul(n, n, n),
    }
    numbers = {name: op.intensity for name, op in operations.items()}
    shares = {f"{name}_share": rl.bound(op, at).fraction_of_peak for name, op in operations.items()}
    side = "right of it" if rl.bound(operations["matmul"], at).binding == "compute" else "left of"
    enough = 3 * at.ridge()
    assert math.isclose(rl.matmul(enough, enough, enough).intensity, at.ridge())
    fits = all(rl.bound(op, at).fits for op in operations.values())
    return numbers | shares | {"ridge": at.ridge(), "enough": enough, "side": side, "fits": fits}


def of_roofline(intensity: float, second: float, chip: str) -> Settings:
    own = chip_of(chip)
    other = dataclasses.replace(own, bandwidth=second)
    reached = [rl.attainable(intensity, c) for c in (own, other)]
    bound = sum(height < own.peak() for height in reached)
    return {
        "bandwidth": own.bandwidth,
        "ridge": own.ridge(),
        "second_ridge": other.ridge(),
        "reached": reached[0],
        "second_reached": reached[1],
        "share": reached[0] / own.peak(),
        "second_share": reached[1] / own.peak(),
        "zone": ("is compute-bound", "bound at the lower bandwidth", "bound at both")[bound],
    }


def of_matmul(B: float, D: float, F: float, x: str, w: str, out: str, chip: str) -> Settings:
    at = chip_of(chip)
    try:
        op = rl.matmul(B, D, F, x=x, w=w, out=out)
        b = rl.bound(op, at)
    except ValueError as error:
        return {"problem": "both are equally wide" if "wide" in str(error) else "peak"}
    return {
        "flops": op.flops,
        "bytes": op.bytes,
        "intensity": op.intensity,
        "ridge": at.ridge(op.compute),
        "t_math": b.times["compute"],
        "t_comms": b.times["HBM"],
        "lower": b.lower,
        "upper": b.upper,
        "share": b.fraction_of_peak,
        "critical": rl.critical_batch(at, D, F, x=x, w=w, out=out),
        "first": rl.first_whole_above(rl.critical_batch(at, D, F, x=x, w=w, out=out)),
        "limit": rl.critical_batch_limit(at, x=x, w=w),
        "memory": b.capacity,
        "fits": b.fits,
        "binding": b.binding,
        "unit": "OP" if op.compute.name.startswith("int") else "FLOP",
    }


def of_chips(N: float, D: float, split: str, over: str, B: float, F: float) -> Settings:
    name, link = over.split(", ") if over != OWN else (OWN, "my link")
    at = chip_of(name)
    b = rl.bound(sharded_matmul(B, D, F, N, split=split), at, link)
    return {
        "t_math": b.times["compute"],
        "t_comms": b.times["HBM"],
        "t_link": b.times[link],
        "lower": b.lower,
        "upper": b.upper,
        "busy": b.fraction_of_peak,
        "first": rl.first_whole_from(rl.critical_depth(at, link, N, split=split)),
        "held": b.held,
        "memory": b.capacity,
        "fits": b.fits,
        "binding": "the link" if b.binding == link else b.binding,
    }


def of_attention(B: int, S: int, model: str, chip: str, chips: int, w: str, kv: str) -> Settings:
    at = chip_of(chip)
    step = functools.partial(rl.model(model).decode, S=int(S), chips=int(chips), w=w, kv=kv)
    b = rl.bound(step(B=int(B)), at, at.links[0])
    cache = rl.model(model).kv_bytes_per_token(kv) * B * S

    def too_many(batch: int) -> bool:
        return not rl.bound(step(B=batch), at, at.links[0]).fits

    return {
        "t_math": b.times["compute"],
        "t_comms": b.times["HBM"],
        "t_link": b.times[at.links[0].name],
        "lower": b.lower,
        "upper": b.upper,
        "rate": B / b.lower,
        "caches": cache / chips / step(B=int(B)).bytes,
        "fitting": bisect.bisect(range(1, 10**7), False, key=too_many),
        "held": b.held,
        "memory": b.capacity,
        "fits": b.fits,
        "binding": "the link" if b.binding == at.links[0].name else b.binding,
    }


ORACLES = {
    "time": of_time,
    "intensity": of_intensity,
    "roofline": of_roofline,
    "matmul": of_matmul,
    "chips": of_chips,
    "attention": of_attention,
}


def walk(figure: Figure, steps: int) -> Iterator[Settings]:
    """Yield settings until `steps` differ, first the ends and start of each control."""
    draw = random.Random(figure.name)
    at = {control.name: control.start for control in figure.controls}
    seen = set()
    ends = [
        (control, value)
        for control in figure.controls
        for value in (control.options[0], control.options[-1], control.start)
    ]
    while len(seen) < steps:
        control, value = ends.pop(0) if ends else (draw.choice(figure.controls), None)
        value = draw.choice(control.options) if value is None else value
        at = at | {control.name: value}
        seen.add(tuple(at.values()))
        yield at


def agree(figure: Figure, settings: Settings, values: Settings, texts: Settings) -> None:
    """Check that values and texts, by name, match rooflib's at these settings."""
    expected = ORACLES[figure.name](**settings)
    for number in figure.numbers:
        if "problem" in expected:
            assert texts[number.name] == "–", settings
            continue
        true = float(expected[number.name])
        assert values[number.name] == pytest.approx(true, rel=1e-12, abs=1e-15), (
            number.name,
            settings,
        )
        unit = number.unit
        if unit.endswith("_tokens"):
            unit = "token" if rl.text(true) == "1" else "tokens"
        elif unit.startswith("@"):
            unit = str(expected["unit"])
        # The last bit decides how a near tie such as 3.125 ms is rounded.
        near = (true * (1 - 1e-9), true, true * (1 + 1e-9))
        shown = [rl.percent(v) if unit == "%" else rl.text(v, unit) for v in near]
        assert texts[number.name] in shown, (number.name, settings)


def speaks_of(figure: Figure, settings: Settings, says: str) -> None:
    expected = ORACLES[figure.name](**settings)
    if "problem" in expected:
        assert "choose" in says
        return
    verdicts = {"binding": f"{expected.get('binding')} binds"}
    verdicts |= {name: str(expected.get(name)) for name in ("side", "zone")}
    for name, words in verdicts.items():
        if name in expected:
            assert words in says, settings
    if "fits" in expected:
        assert ("not fit" in says) is not expected["fits"], settings


# The first settings are the ends and the start of each control; the others are random.
@pytest.mark.parametrize("steps", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", FIGURES)
def test_formulas_and_texts_match_rooflib(name: str, steps: int) -> None:
    figure = getattr(figures, name)()
    for settings in walk(figure, steps):
        texts = figure.texts(**settings)
        agree(figure, settings, figure.values(**settings), texts)
        speaks_of(figure, settings, texts["says"])


@pytest.mark.parametrize(
    ("figure", "settings", "memory"),
    [
        # Each of the two chips holds half of the columns of x, half of the rows of w, and all of
        # the output.
        (
            figures.chips,
            {"N": 2, "B": 512, "D": 4096, "F": 4096, "over": OWN},
            2 * (512 * 2048 + 2048 * 4096 + 512 * 4096),
        ),
        (
            figures.matmul,
            {"B": 1, "D": 64, "F": 96, "x": "int8", "chip": OWN},
            64 + 2 * 64 * 96 + 2 * 96,
        ),
    ],
)
def test_figures_say_that_data_do_not_fit_if_memory_is_one_byte_too_small(
    figure: Callable[[], Figure], settings: Settings, memory: int
) -> None:
    exact = figure().with_own(memory=memory)
    assert "not fit" not in exact.texts(**settings)["says"]
    less = figure().with_own(memory=memory - 1)
    assert "not fit" in less.texts(**settings)["says"]
    assert less.texts(**settings)["memory"] == rl.text(memory - 1, "B")


@pytest.mark.parametrize(
    "made", [figures.time, figures.timeline, figures.intensity, figures.matmul_blocks]
)
def test_figures_with_bounds_report_arrays_that_do_not_fit_into_memory(
    made: Callable[[], Figure],
) -> None:
    """The starting settings need less than a gigabyte and more than a kilobyte."""
    chosen = {"chip": OWN} | ({"bytes": 1e8} if made is figures.time else {})
    assert "not fit" not in made().with_own(memory=1e9).texts(**chosen)["says"]
    assert "not fit" in made().with_own(memory=1e3).texts(**chosen)["says"]


def test_bounds_are_called_nearly_equal_if_within_one_percent() -> None:
    for settings in walk(figures.time(), 400):
        values, says = figures.time().values(**settings), figures.time().texts(**settings)["says"]
        nearly_equal = values["upper"] < 1.01 * values["lower"]
        assert ("nearly equal" in says) is nearly_equal
        assert ("takes between" in says) is not nearly_equal


# Tick labels: numbers with an optional unit, unlike labels that contain words.
TICK = re.compile(r">([\d.,]+(?:\N{NO-BREAK SPACE}\S+)?)</text>")
AXES = {
    "time": ({"bytes": 1e9, "flops": 1e12}, {"0 s", "500 µs"}),
    "intensity": ({}, {"0.1", "1", "1,000", "10,000", "16,384"}),
    "matmul": ({}, {"1", "100", "1,000", "100,000", "1 T", "100 T", "1 P"}),
    "chips": ({}, {"512", "8,192", "131,072", "1 ms", "10 ms"}),
    "attention": ({}, {"300", "1,000", "3,000", "5 ms", "10 ms", "20 ms", "50 ms"}),
}


@pytest.mark.parametrize("name", AXES)
def test_axis_numbers_use_common_units_and_prefixes(name: str) -> None:
    settings, expected = AXES[name]
    picture = getattr(figures, name)().svg(**settings)
    labels = {label.replace("\N{NO-BREAK SPACE}", " ") for label in TICK.findall(picture)}
    assert expected <= labels
    # A space separates prefix and number; numbers with commas have no prefix.
    assert not re.search(r">\d[\d.]*[a-zA-Zµ]</text>", picture)
    assert all(re.fullmatch(r"[\d.,]+( ([GTP]|[nµm]?s))?", label) for label in labels), labels


@pytest.mark.parametrize("steps", [40, pytest.param(120, marks=pytest.mark.long)])
@pytest.mark.parametrize("width", [320, 650])
def test_the_attention_curve_fills_its_plot(width: int, steps: int) -> None:
    """Check that the attention curve takes a large part of the plot.

    At all settings, both axes have numbers, too.
    """
    left, right, top, bottom = 56, width - 30, 28, (280 if width < 480 else 350) - 42
    for settings in walk(figures.attention(), steps):
        picture = figures.attention().svg(width=width, **settings)
        groups: dict[str | None, list[ElementTree.Element]] = {}
        for group in ElementTree.fromstring(picture).iter(f"{live_pages.SVG}g"):
            groups.setdefault(group.get("data-mark"), []).extend(group.iter())
        points = [
            (float(x), float(y))
            for curve in groups.get("fits", []) + groups["beyond"]
            for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", curve.get("d", ""))
        ]
        seen = [(x, y) for x, y in points if left <= x <= right and top <= y <= bottom]
        across, up = (max(at) - min(at) for at in zip(*seen, strict=True))
        assert across > 0.08 * (right - left), settings
        assert up > 0.5 * (bottom - top), settings
        here = next(shape for shape in groups["here"] if shape.get("cx"))
        assert left <= float(here.attrib["cx"]) <= right, settings
        assert top <= float(here.attrib["cy"]) <= bottom, settings
        labels = [shape for shape in groups[None] if shape.text]
        assert len([one for one in labels if one.get("text-anchor") == "end"]) >= 2, settings
        ticks = [float(one.attrib["x"]) for one in labels if one.get("y") == f"{bottom + 16}"]
        assert len(ticks) >= 2, settings
        assert all(b - a > 50 for a, b in itertools.pairwise(ticks)), settings


def test_short_times_have_a_suitable_unit_on_the_axis() -> None:
    picture = figures.chips().svg(N=256, B=512, F=512)
    assert "100\N{NO-BREAK SPACE}ns</text>" in picture
    assert "10\N{NO-BREAK SPACE}µs</text>" in picture


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the control must be one of flops, bytes, chip; got"):
        figures.time().values(chips="H100 SXM")
    with pytest.raises(ValueError, match=r"^split must be one of B, D, F; got 'N'"):
        figures.chips().values(split="N")


def test_figures_are_widgets_in_jupyterlab_and_python_can_read_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(figures.PAGE, raising=False)
    figure = figures.matmul()
    bundle = figure._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    *_, folded, picture = figure.widget.children
    inputs = {widget.description: widget for widget in figure.widget.children[1:-2]}
    assert list(inputs) == [control.label for control in figure.controls]

    before = picture.value
    inputs["B (tokens)"].value = 512
    inputs["chip"].value = "H100 SXM"
    assert figure.settings["B"] == 512
    assert figure.settings["chip"] == "H100 SXM"
    true = of_matmul(**figure.settings)
    assert figure.values()["t_math"] == true["t_math"]
    assert rl.text(true["t_math"], "s") in picture.value
    assert before.count("<svg aria-hidden") == picture.value.count("<svg aria-hidden") == 1
    drawn = [html[html.index("<svg") : html.index("</svg>")] for html in (before, picture.value)]
    assert drawn[0] != drawn[1]
    assert folded.titles == (OWN.capitalize(),)


def test_jupyterlab_and_the_site_share_one_dark_palette() -> None:
    color = re.compile(r"--c-([0-9a-f]{6}): (#[0-9a-f]{6});")
    site = dict(
        color.findall((ROOT / "site/book_extension/static/course.css").read_text(encoding="utf-8"))
    )
    lab = dict(color.findall(LAB_STYLE))
    assert lab
    assert lab.items() <= site.items()


# Browser tests on the built site: each figure is tested on the page of its chapter.


@pytest.fixture(scope="module")
def origin(server: Server) -> str:
    return server.origin


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=site_browser.DESK)
    yield context
    context.close()


def opened(context: BrowserContext, origin: str, name: str) -> Page:
    """Open the chapter and wait until its figure follows its controls."""
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{origin}/chapters/{name}.html")
    page.locator(f'figure[data-figure="{name}"][data-state="live"]').wait_for()
    return page


Chapters = Callable[[str], Page]


@pytest.fixture(scope="module")
def chapter(browser: Browser, origin: str) -> Iterator[Chapters]:
    """Return a function that opens a chapter once; later tests share the page."""
    context = browser.new_context(viewport=site_browser.DESK)
    yield functools.cache(lambda name: opened(context, origin, name))
    context.close()


# Script that applies one setting after another through input events, as a reader would, and reads
# what the figure shows after each update.
MOVE = """
async (figure, settings) => {
  const seen = [];
  for (const setting of settings) {
    for (const [name, at] of Object.entries(setting)) {
      const input = figure.querySelector(`[name="${name}"]`);
      const key = input.type === "range" ? "value" : "selectedIndex";
      if (Number(input[key]) === at) continue;
      input[key] = at;
      const done = new Promise((go) => figure.addEventListener("followed", go, {once: true}));
      input.dispatchEvent(new Event("input", {bubbles: true}));
      await done;
    }
    const numbers = [...figure.querySelectorAll("data")];
    seen.push(Object.fromEntries(numbers.map((n) => [n.dataset.name, [n.value, n.textContent]])));
  }
  return seen;
}
"""


@pytest.mark.parametrize("steps", [6, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", in_part(FIGURES))
def test_all_numbers_in_the_browser_match_rooflib(chapter: Chapters, name: str, steps: int) -> None:
    page, figure = chapter(name), getattr(figures, name)()
    element = page.locator(f'figure[data-figure="{name}"]')
    says = element.locator(".live-says")
    settings = list(walk(figure, steps))
    # Read in batches, because the description is only updated after a pause.
    for start in range(0, len(settings), 15):
        part = settings[start : start + 15]
        positions = [
            {c.name: c.options.index(setting[c.name]) for c in figure.controls} for setting in part
        ]
        seen = element.evaluate(MOVE, positions)
        for setting, numbers in zip(part, seen, strict=True):
            values = {n: float(value or "nan") for n, (value, _) in numbers.items()}
            texts = {n: text for n, (_, text) in numbers.items()}
            agree(figure, setting, values, texts)
        page.locator(f'figure[data-figure="{name}"][data-state="live"]').wait_for()
        expected = figure.texts(**part[-1])
        words = expected["says"]
        for number in figure.numbers:
            words = words.replace(expected[number.name], texts[number.name])
        assert says.text_content() == words
        speaks_of(figure, part[-1], words)


def test_only_pages_with_figures_load_their_script(site: Path) -> None:
    for name in FIGURES:
        html = (site / "chapters" / f"{name}.html").read_text(encoding="utf-8")
        assert "live.js" in html
        assert "html-manager" not in html
        assert "widget-view" not in html
    assert "live" not in (site / "chapters" / "glossary.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SOME)
def test_controls_have_accessible_names_and_keyboard_support(chapter: Chapters, name: str) -> None:
    page, figure = chapter(name), getattr(figures, name)()
    element = page.locator(f'figure[data-figure="{name}"]')
    # Only the SVG has the role of an image; the handles are outside it.
    picture = element.get_by_role("img", name=figure.title, exact=True)
    assert picture.evaluate("(e) => e.localName") == "svg"
    assert element.locator(".live-picture").get_attribute("aria-label") is None
    position = "(e => Number(e.selectedIndex ?? e.value))(document.activeElement)"
    element.get_by_label(figure.controls[0].label, exact=True).focus()
    for control in figure.controls:
        assert page.evaluate("document.activeElement.name") == control.name
        role = "slider" if isinstance(control, Slider) else "combobox"
        named = element.get_by_role(role, name=control.label, exact=True)
        assert named.evaluate("(e) => e === document.activeElement")
        at = page.evaluate(position)
        forward = at + 1 < len(control.options)
        # ArrowDown selects a list's next entry; ArrowUp increases a slider.
        down = forward is not isinstance(control, Slider)
        page.keyboard.press("ArrowDown" if down else "ArrowUp")
        moved = at + 1 if forward else at - 1
        assert page.evaluate(position) == moved
        if isinstance(control, Slider):
            told = page.evaluate("document.activeElement.ariaValueText")
            assert told == control.texts[moved]
            assert element.locator(".live-value").get_by_text(told, exact=True).count()
        page.keyboard.press("Tab")
    page.locator(f'figure[data-figure="{name}"][data-state="live"]').wait_for()
    assert element.locator(".live-says").get_attribute("aria-live") == "polite"


@pytest.mark.long
def test_sliders_respond_to_touch(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport=site_browser.PHONE, has_touch=True)
    page = opened(context, origin, "time")
    slider = page.locator('figure[data-figure="time"] input[name="flops"]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    assert box["height"] >= 24
    slider.tap(position={"x": box["width"] - 2, "y": box["height"] / 2})
    page.locator('figure[data-figure="time"][data-state="live"]').wait_for()
    last = figures.time().controls[0].options[-1]
    assert (
        figures.time().texts(flops=last)["says"]
        == page.locator('figure[data-figure="time"] .live-says').text_content()
    )
    context.close()


@pytest.mark.parametrize("name", SOME)
def test_picture_and_text_are_visible_without_javascript(
    browser: Browser, origin: str, name: str
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=site_browser.PHONE)
    page = context.new_page()
    page.goto(f"{origin}/chapters/{name}.html")
    element = page.locator(f'figure[data-figure="{name}"]')
    assert element.locator(".live-picture > svg").is_visible()
    assert element.locator(".live-says").text_content() == getattr(figures, name)().texts()["says"]
    assert not element.locator("input, select").first.is_visible()
    context.close()


FITS = """([name, width]) => {
  const figure = document.querySelector(`figure[data-figure="${name}"]`);
  const [place, picture] = [".live-picture", ".live-picture svg"].map(
    (part) => figure.querySelector(part).getBoundingClientRect().width);
  return innerWidth === width && 0.9 * place <= picture && picture <= place + 1;
}"""
LETTERS = """(figure) => [
    ...figure.querySelectorAll("label span, option, dt, dd, sub, p, text"),
  ].filter((part) => part.checkVisibility() && part.textContent.trim())
  .map((part) => parseFloat(getComputedStyle(part).fontSize))"""


@pytest.mark.parametrize("name", SOME)
def test_figures_fill_the_width_of_their_container(chapter: Chapters, name: str) -> None:
    page = chapter(name)
    figure = page.locator(f'figure[data-figure="{name}"]')
    widths = []
    for width in (640, 390, 340, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        # The picture follows the width of its container.
        page.wait_for_function(FITS, arg=[name, width])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert min(figure.evaluate(LETTERS)) >= (12 if width == 390 else 11)
        box = figure.locator(".live-picture svg").first.bounding_box()
        assert box is not None
        widths.append(box["width"])
    assert widths[3] > widths[0] > widths[1] > widths[2]


def test_colors_follow_the_page_theme(chapter: Chapters) -> None:
    ink = """(theme) => {
      const html = document.documentElement, before = html.dataset.theme;
      html.dataset.theme = theme;
      const label = document.querySelector("figure.live .live-picture svg text");
      const { fill } = getComputedStyle(label);
      html.dataset.theme = before;
      return fill;
    }"""
    light, dark = (
        {chapter(name).evaluate(ink, theme) for name in FIGURES} for theme in ("light", "dark")
    )
    assert len(light) == len(dark) == 1
    assert light != dark


# Text that must not be interpreted as markup.

NASTY = '</script><script>document.title = "owned"</script><!--<script> & "quoted" <b>'


def test_markup_in_figure_texts_is_escaped(context: BrowserContext) -> None:
    figure = dataclasses.replace(figures.time(), title=NASTY, says=f"{NASTY} {{lower}}")
    html = figure.html()
    page = context.new_page()
    page.set_content(f"<!doctype html><title>mine</title>{html}<p id='end'>The end</p>")
    assert page.title() == "mine"
    # The rest of the page is intact, and the script's data is complete.
    assert page.locator("body > #end").count() == 1
    data = page.locator('figure.live script[type="application/json"]')
    assert data.count() == page.locator("script").count() == 1
    assert json.loads(data.text_content() or "")["says"] == figure.says
    assert page.locator("figure.live").get_attribute("aria-label") == NASTY
    assert page.locator("figure.live legend").text_content() == NASTY
    assert page.locator(".live-says").text_content() == figure.texts()["says"]
