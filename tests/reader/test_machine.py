"""A reader measures the roof of the browser, or is told why it can't be measured."""

import json
from typing import Any

import pytest
from figure_oracles import number
from playwright.sync_api import Page, expect
from reader import SECONDS, Reader

PAGE, FIGURE = "chapters/machine", "browser_roof"
# The page takes these in place of its own: less than a second, accepted on a busy machine. What is
# found is then no roof, but it is counted, drawn and written as one.
QUICK = {"sample": 3, "watch": 1, "samples": 3, "roofSamples": 3, "attempts": 20, "minTicks": 2}
ANY = {"minOwnShare": 0, "maxSpread": 1, "maxDisturbed": 1, "maxTick": 1e9}
ANY |= {"maxAboveRoof": 1e9, "maxDrift": 1e99}
NEVER = ANY | {"minOwnShare": 2, "attempts": 1}


def opened(reader: Reader, settings: dict[str, Any], before: str = "") -> None:
    chosen = json.dumps(settings)
    reader.page.add_init_script(f"window.rooflineRoofSettings = {chosen}; {before}")
    reader.open(PAGE)


def measure(reader: Reader) -> dict[str, Any]:
    """Press the button; return what the figure shows at the end."""
    figure = reader.figure(FIGURE)
    figure.get_by_role("button").first.click()
    over = figure.and_(reader.page.locator("[data-measured]:not([data-measured=running])"))
    over.wait_for(timeout=1000 * SECONDS)
    return reader.shows(FIGURE)


def told(page: Page) -> str:
    return page.locator("[data-part=told]").inner_text()


def values(found: dict[str, Any]) -> dict[str, float]:
    return {name: float(value or "nan") for name, (value, _) in found["numbers"].items()}


def test_a_measured_browser_is_drawn_counted_and_can_be_ones_own_chip(reader: Reader) -> None:
    opened(reader, QUICK | ANY | {"cores": 2})
    before = reader.shows(FIGURE)
    found = measure(reader)
    assert found["says"] != before["says"]
    roof = values(found)
    assert roof["peak"] > 1e8
    assert roof["ridge"] == pytest.approx(roof["peak"] / roof["read"])
    for name, (value, text) in found["numbers"].items():
        assert number(text) == pytest.approx(float(value), rel=6e-3), name
    assert found["bad"] == ""
    figure = reader.figure(FIGURE)
    rows = figure.locator("tbody tr").all_inner_texts()
    assert len(rows) > 8
    assert all("/s" in row for row in rows)
    assert len(found["drawn"]) > len(before["drawn"]) or found["drawn"] != before["drawn"]
    # The button that has the focus now makes the result the chip of all figures.
    own = figure.locator("[data-part=own]")
    expect(own).to_be_visible()
    own.click()
    other = reader.tab().open("chapters/time")
    at = other.choices("time", "chip").index("my own chip")
    (seen,) = other.move([{"time": {"chip": at}}])
    bytes_moved = number(seen["time"]["chosen"]["bytes"])
    t_comms = float(seen["time"]["numbers"]["t_comms"][0])
    assert bytes_moved / t_comms == pytest.approx(roof["read"])


@pytest.mark.parametrize(
    ("settings", "before"),
    [
        (NEVER, ""),
        (ANY, "delete window.Worker;"),
        (ANY, "delete window.WebAssembly;"),
        (ANY, "WebAssembly.validate = () => false;"),
    ],
)
def test_a_browser_that_cannot_be_measured_says_why(
    reader: Reader, settings: dict[str, Any], before: str
) -> None:
    opened(reader, QUICK | settings | {"cores": 2}, before)
    found = measure(reader)
    assert all(text == "–" for _, text in found["numbers"].values())
    assert found["says"]
    assert len(told(reader.page)) > 20
    assert "undefined" not in told(reader.page) + found["says"]
    assert reader.figure(FIGURE).locator("[data-part=measure]").is_visible()
    assert not reader.figure(FIGURE).locator("[data-part=own]").is_visible()


def test_stop_ends_a_measurement(reader: Reader) -> None:
    opened(reader, QUICK | ANY | {"sample": 400, "cores": 2})
    figure = reader.figure(FIGURE)
    figure.get_by_role("button").first.press("Enter")
    stop = figure.locator("[data-part=stop]")
    expect(stop).to_be_focused()
    reader.page.keyboard.press("Enter")
    expect(stop).to_be_hidden()
    expect(figure.locator("[data-part=measure]")).to_be_focused()
    assert all(text == "–" for _, text in reader.shows(FIGURE)["numbers"].values())


@pytest.mark.long
def test_this_machine_is_measured_or_refused_with_a_reason(reader: Reader) -> None:
    reader.open(PAGE)
    found = measure(reader)
    roof = values(found)
    if roof["peak"] > 0:
        assert 1e8 < roof["peak"] < 1e13
        assert 1e8 < roof["read"] < 1e13
    assert told(reader.page) or found["says"]
