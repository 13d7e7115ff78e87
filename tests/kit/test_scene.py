"""Scenes: Python and JavaScript draw the same pictures, and format numbers alike."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from byte_figures import made_bytes
from live_pages import ENGINE
from playwright.sync_api import Browser, Page
from series import in_part

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine.expressions import FUNCTIONS, Formula
from roofkit.figures.engine.scene import Mark, drawn

SCRIPT = "".join(
    (ENGINE / name).read_text(encoding="utf-8") for name in ("expressions.js", "scene.js")
)
UNITS = ("", "s", "FLOP/s", "OP/s", "B/s", "B", "FLOP", "OP", "FLOP/byte", "tokens", "°")
PICTURES = [getattr(figures, name) for name in figures.__all__ if name.islower()]
BYTES = [
    pytest.param(lambda made=made: made, id=f"byte, {name}") for name, made in made_bytes().items()
]
AWKWARD = [
    *[0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 2.5, 7.0, -7.77, 1e3, 999.4, -1234.567, 1e15, 123456789.0],
    *[0.125, 0.375, -0.625, 0.875, 12312.5, 12313.5],
    *[1e-3, -1e-3, 4e-3, -4e-3, 6e-3, 1e-9, -1e-20, 5e-324, 1e-18, 1e-12],
    *[1e20, 1e21, -1e21, 3e25, -2e300, 1.7e308, math.inf, -math.inf, math.nan],
]

# Script that draws a scene in a box of this width, and parses Python's SVG.
DRAW_BOTH = """
([data, wide, python]) => {
  const place = document.createElement("div");
  place.style.width = `${wide}px`;
  document.body.append(place);
  const view = scene(place, data);
  view.show();
  const read = new DOMParser().parseFromString(python, "text/html").querySelector("svg");
  place.remove();
  const plain = (svg) => [
    ...["width", "height", "viewBox"].map((name) => svg.getAttribute(name)),
    ...[...svg.children].map((child) => child.outerHTML),
  ];
  return [plain(view.svg), plain(read)];
}
"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Return an empty page in which the functions of scene.js are loaded."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_script_tag(content=SCRIPT)
    yield page
    page.close()


def alike(page: Page, data: dict[str, Any], wide: float, python: str) -> list[str]:
    """Check that Python and JavaScript draw a scene alike; return the drawing."""
    browsers, pythons = page.evaluate(DRAW_BOTH, [data, wide, python])
    for ours, theirs in zip(pythons, browsers, strict=True):
        assert ours == theirs
    return list(pythons)


def assert_alike(
    page: Page, marks: Sequence[Mark], wide: float = 400, high: float = 300, **known: Any
) -> None:
    data = {
        "marks": [mark.as_json() for mark in marks],
        "height": high,
        "given": known,
        "formulas": {},
        "units": {},
    }
    common = alike(page, data, wide, drawn(marks, known, wide, high))
    assert common[:3] == [str(wide), str(high), f"0 0 {wide} {high}"]


LINE: Mapping[str, Formula] = {"x1": 3, "y1": "i * 4", "x2": "wide / 3", "y2": "n", "stroke": "ink"}
SHAPES = [
    Mark("rect", {"x": 1, "y": "n / 3", "width": "wide - n", "height": "i", "fill": "ink"}, each=3),
    Mark("circle", {"cx": "wide / 7", "cy": 2.25, "r": "n", "opacity": "n < 3"}, name="round"),
    Mark("line", {**LINE, "stroke-dasharray": "'4 2'"}, each="n", shown="mod(i, 2)"),
    Mark("arrow", LINE, each=4),
    Mark("arrow", {"x1": 3, "y1": 3, "x2": "3 + i", "y2": "3 - i"}, each=3),  # of length zero
    Mark("arrow", {**LINE, "opacity": 0.4, "stroke-width": 2}, name="pale"),
    Mark("path", {"d": "'M0 ' + text(n) + 'L10 10Z'", "fill": "'none'"}),
    Mark("text", {"x": "a", "y": "b", "text": "words"}, where={"a": "n + 1", "b": "2 * a + i"}),
    Mark("text", {"x": 1, "y": 1, "text": "n", "font-size": 12}),
    Mark("text", {"x": 1, "y": 1, "text": "'' + words", "data-says": "words"}, shown="n > 2"),
    Mark("rect", {"x": "n"}, where={"n": "n * i", "i": "n"}, each=2),  # names that shadow
    Mark("curve", {"x": "i * n", "y": "3 - i", "stroke": "ink"}, each=5, name="through"),
    Mark(
        "curve",
        {"x": "a", "y": "a / n", "opacity": "i / 4"},
        each=6,
        where={"a": "i * i"},
        shown="i > 1",
    ),
    Mark("curve", {"x": "i", "y": "i"}, each=3, shown=0, name="never"),
    Mark("circle", {"cx": "wide", "cy": "i", "r": 3}, each=2, clip=(1.5, "n", "wide / 3", 20)),
    Mark("curve", {"x": "i / n", "y": 1}, each=2, clip=(0, 0, "wide", "n + 9"), name="cut"),
    Mark("rect", {"x": 1}, shown=0, name="never"),
    Mark("rect", {"x": 1}, each=0, name="never"),
]


@pytest.mark.parametrize("wide", [300, 311, 720])
def test_python_and_javascript_draw_every_shape_alike(page: Page, wide: int) -> None:
    words = "a < b & \"c\" > 'd' — 5 µs"
    for n in (0.0, 1.0, 4.0, -2.6):
        known: dict[str, Any] = {"n": n, "words": words, "ink": "var(--c-22262b, #22262b)"}
        assert_alike(page, [mark for mark in SHAPES if n >= 0 or mark.each != "n"], wide, **known)


@pytest.mark.parametrize("made", in_part([*PICTURES, *BYTES]), ids=lambda made: made.__name__)
def test_python_and_javascript_draw_every_figure_alike(
    page: Page, made: Callable[[], Figure]
) -> None:
    """Set one control at a time to each of its ends; compare at one of two widths."""
    figure = made()
    start = {control.name: control.start for control in figure.controls}
    narrow, wide = 310, 700
    drawings = [(narrow, start), (wide, start)]
    for control in figure.controls:
        first, last = control.options[0], control.options[-1]
        drawings += [
            (narrow, {**start, control.name: first}),
            (wide, {**start, control.name: last}),
        ]
    for width, chosen in drawings:
        data = figure.for_browser()
        data["given"] = {**figure.tables, **chosen}
        assert alike(page, data, width, figure.svg(width=width, **chosen))[3:]


# A call of every function with an edge-case number x and, if it takes two, a second one, y.
CALLS = {
    "abs": "abs(x)",
    "at": "at([x, 7, -x], mod(i, 3) + 0.9)",
    "ceil": "ceil(x)",
    "cos": "cos(x)",
    "each": "at(each(pow, [1, x], 2), mod(i, 2))",
    "either": "either(x, x, 5) + either(x > y, 1, 2)",
    "exp10": "exp10(x)",
    "floor": "floor(x)",
    "indexof": "indexof(['a', 'b', 'c'], at(['c', 'a'], x < y))",
    "log10": "log10(x)",
    "max": "max(x, y, 3)",
    "min": "min(x, y, 3)",
    "mod": "mod(x, y)",
    "percent": "percent(x)",
    "pi": "x * pi",
    "pow": "pow(x, 0.5) + pow(x, -2)",
    "sin": "sin(x)",
    "sqrt": "sqrt(x)",
    "sum": "sum([x, y, 3]) + sum([])",
    "text": "text(x, 's') + text(y)",
}


def test_python_and_javascript_have_the_same_functions(page: Page) -> None:
    functions = set(page.evaluate("() => Object.keys(FUNCTIONS)"))
    assert functions == set(FUNCTIONS) - {"rl"} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_functions_agree_between_python_and_javascript(page: Page, name: str) -> None:
    """Compare results as coordinates and as text."""
    pairs = [(x, y) for x in AWKWARD for y in (*AWKWARD[2:8], 0.2, math.inf, math.nan)]
    where: dict[str, Formula] = {"x": "at(xs, i)", "y": "at(ys, i)", "made": CALLS[name]}
    words = CALLS[name] if name in ("text", "percent") else "text(made, '', 9)"
    # Skip huge arguments of sine and cosine, which math libraries reduce differently.
    shown = "abs(x) < 1e6" if name in ("sin", "cos") else "1"
    look: dict[str, Formula] = {"y": 4, "text": words}
    if words != CALLS[name]:
        look["x"] = "made"
    mark = Mark("text", look, each=len(pairs), where=where, shown=shown, name=name)
    xs, ys = map(list, zip(*pairs, strict=True))
    assert_alike(page, [mark], xs=xs, ys=ys)


def test_python_and_javascript_format_edge_case_numbers_alike_in_attributes(page: Page) -> None:
    draw = random.Random("attributes")
    numbers = [*AWKWARD, *(draw.uniform(-1, 1) * 10 ** draw.randint(-6, 24) for _ in range(300))]
    mark = Mark("rect", {"x": "at(xs, i)", "width": "-at(xs, i)"}, each=len(numbers))
    assert_alike(page, [mark], xs=numbers)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e300, -1e-9])
def test_every_number_drawn_is_valid_in_svg(number: float) -> None:
    svg = drawn([Mark("rect", {"x": "n"})], {"n": number}, 400, 300)
    written = svg.split('<rect x="')[1].split('"')[0]
    assert abs(float(written)) <= 1e9
    assert "e" not in written
    assert written != "-0"


@pytest.mark.parametrize("unit", [*UNITS, "%"])
def test_text_and_percent_match_rooflib(page: Page, unit: str) -> None:
    draw = random.Random(unit)
    numbers = [*AWKWARD, 0.999, 0.9999, 0.99999, 1.0001, 9.996, 99.96, 999.6, 999_600.0, 9.996e14]
    numbers += [10.0**power for power in range(-21, 29)]
    numbers += [draw.choice((1, -1)) * 10 ** draw.uniform(-24, 30) for _ in range(300)]
    for digits in (2, 3, 5):
        call = "percent(x, digits)" if unit == "%" else "text(x, unit, digits)"
        browsers = page.evaluate(
            f"([xs, unit, digits]) => xs.map((x) => {call})", [numbers, unit, digits]
        )
        for number, shown in zip(numbers, browsers, strict=True):
            ours = rl.percent(number, digits) if unit == "%" else rl.text(number, unit, digits)
            assert shown == ours, (number, digits)
