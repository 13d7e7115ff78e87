"""A reader measures the roof of the browser, or is told why it can't be measured."""

from typing import Any

import pytest
from figure_oracles import number
from playwright.sync_api import expect
from reader import SECONDS, Reader

PAGE, FIGURE = "chapters/machine", "browser_roof"
# A quiet machine: what a worker measures first, it measures again each time.
QUIET = """window.workers = [];
window.Worker = class extends Worker {
  first = {};
  constructor(...given) { super(...given); workers.push(this); }
  postMessage(request) { this.bytes = request.bytes; super.postMessage(request); }
  set onmessage(act) {
    const same = ({ answer, error }) => ({ error, answer: this.first[this.bytes] ??= answer });
    super.onmessage = ({ data }) => act({ data: same(data) });
  }
};"""


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


def values(found: dict[str, Any]) -> dict[str, float]:
    return {name: float(value or "nan") for name, (value, _) in found["numbers"].items()}


def test_a_browser_is_measured_and_can_be_ones_own_chip(reader: Reader) -> None:
    reader = opened(reader, QUIET)
    before = reader.shows(FIGURE)
    found = measure(reader)
    assert found["says"] != before["says"]
    assert "apart" in found["says"]
    roof = values(found)
    # A pass multiplies and adds the four numbers of twelve registers, or reads the whole array.
    rates = [
        {int(size): rate for size, rate in one.items() if size.isdigit()}
        for one in reader.page.evaluate("workers.map(({ first }) => first)")
    ]
    size = max(rates[0])
    assert roof["peak"] == pytest.approx(sum(one[0] for one in rates) * 12 * 4 * 2)
    assert roof["read"] == pytest.approx(sum(one[size] for one in rates) * size)
    assert 1e8 < roof["read"] < roof["peak"] * 100 < 1e15
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
