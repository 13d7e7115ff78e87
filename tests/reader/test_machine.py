"""A reader measures the roof of the browser, or is told why it can't be measured."""

from typing import Any

import pytest
from figure_engine import WIDTHS, shows
from figure_faults import faults
from figure_marks import misplaced
from figure_oracles import number
from playwright.sync_api import expect
from reader import SECONDS, Reader

PAGE, FIGURE = "chapters/machine", "browser_roof"


ROOF = {"peak": 4e10, "read": 2e10, "nearest": 9e10}
TOLD = dict.fromkeys(("seconds", "workers", "by", "memory", "spread"), "some")


def test_a_measured_roof_bends_at_its_ridge_and_so_does_the_one_of_the_page() -> None:
    given = {"peak": 1e11, "bandwidth": 1e10}
    values = ROOF | {"ridge": 2, "before": 10, "peak_before": 1e11}
    for wide in WIDTHS:
        measured = {"found": ROOF, "told": TOLD, "why": "", "measured": 1}
        found = shows(FIGURE, measured, wide, given)
        assert {name: values[name] for name in found["numbers"]} == told_values(found)
        assert [*faults(FIGURE, found, "en"), *misplaced(FIGURE, values, found["picture"])] == []


def opened(reader: Reader, before: str = "") -> Reader:
    """Open the page in a tab of its own, whose browser `before` has changed."""
    tab = reader.tab()
    # Two cores: on a machine with many, its own tests would wait for all of them.
    two = "Object.defineProperty(navigator, 'hardwareConcurrency', { value: 2 });"
    tab.page.add_init_script(two + before)
    return tab.open(PAGE)


def measure(reader: Reader) -> dict[str, Any]:
    """Press the button; return what the figure shows at the end."""
    figure = reader.figure(FIGURE)
    figure.get_by_role("button").first.click()
    over = figure.and_(reader.page.locator("[data-measured]:not([data-measured=running])"))
    over.wait_for(timeout=300 * SECONDS)
    return reader.shows(FIGURE)


def told(reader: Reader) -> str:
    return reader.page.locator("[data-part=told]").inner_text()


def told_values(found: dict[str, Any]) -> dict[str, float]:
    return {name: float(value or "nan") for name, (value, _) in found["numbers"].items()}


def test_a_browser_is_measured_or_refused_with_a_reason(reader: Reader) -> None:
    reader = opened(reader)
    found = measure(reader)
    if found["says"] == "Nothing was measured.":  # on a loaded machine
        assert "apart" in told(reader)
        return
    assert "apart" in found["says"]
    roof = told_values(found)
    assert 1e8 < roof["peak"] < 1e13
    assert 1e8 < roof["read"] < 1e13


# In workers the clock goes on by as much at each look: on any machine, repetitions agree.
STEADY = """
const Plain = Blob, clock = "let ticks = 0; performance.now = () => (ticks += 10);";
window.Blob = class extends Plain {
  constructor(parts, options) { super([clock, ...parts], options); }
};"""


def test_a_measured_browser_can_be_ones_own_chip(reader: Reader) -> None:
    reader = opened(reader, STEADY)
    before = reader.shows(FIGURE)
    found = measure(reader)
    roof = told_values(found)
    assert roof["ridge"] == pytest.approx(roof["peak"] / roof["read"])
    for name, (value, text) in found["numbers"].items():
        assert number(text) == pytest.approx(float(value), rel=6e-3), name
    assert found["bad"] == ""
    assert found["drawn"] != before["drawn"]
    # The button that has the focus now makes the result the chip of all figures.
    own = reader.figure(FIGURE).locator("[data-part=own]")
    expect(own).to_be_visible()
    own.click()
    other = reader.tab().open("chapters/time")
    at = other.choices("time", "chip").index("my own chip")
    (seen,) = other.move([{"time": {"chip": at}}])
    bytes_moved = number(seen["time"]["chosen"]["bytes"])
    t_comms = float(seen["time"]["numbers"]["t_comms"][0])
    assert bytes_moved / t_comms == pytest.approx(roof["read"])


@pytest.mark.parametrize(
    "before",
    ["delete window.Worker;", "delete window.WebAssembly;", "WebAssembly.validate = () => false;"],
)
def test_a_browser_that_cannot_be_measured_says_why(reader: Reader, before: str) -> None:
    reader = opened(reader, before)
    found = measure(reader)
    assert all(text == "–" for _, text in found["numbers"].values())
    assert found["says"]
    assert len(told(reader)) > 20
    assert "undefined" not in told(reader) + found["says"]
    assert reader.figure(FIGURE).locator("[data-part=measure]").is_visible()
    assert not reader.figure(FIGURE).locator("[data-part=own]").is_visible()


def test_stop_ends_a_measurement(reader: Reader) -> None:
    reader = opened(reader)
    figure = reader.figure(FIGURE)
    figure.get_by_role("button").first.press("Enter")
    stop = figure.locator("[data-part=stop]")
    expect(stop).to_be_focused()
    reader.page.keyboard.press("Enter")
    expect(stop).to_be_hidden()
    expect(figure.locator("[data-part=measure]")).to_be_focused()
    assert all(text == "–" for _, text in reader.shows(FIGURE)["numbers"].values())
