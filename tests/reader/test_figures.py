"""A reader moves the controls of the figures: drawing, numbers and words follow, and agree."""

import random
import re
from typing import Any

import pytest
from figure_claims import false_claims
from figure_engine import OWN_NUMBERS, WIDTHS, options, shows
from figure_faults import drawn_setting, faults, untrue
from figure_oracles import ORACLES, OWN, number, settings
from playwright.sync_api import Browser, Locator, expect
from reader import Reader
from site_browser import PHONE, put_width, ready
from site_server import Server

import rooflib as rl
from roofkit import figures


@pytest.mark.parametrize("name", ORACLES)
def test_numbers_words_and_marks_of_a_figure_are_right_at_any_setting(name: str) -> None:
    """Outside of a page, where a setting takes milliseconds."""
    draw, count = random.Random(name), options(name)
    each = [{one: at} for one, places in count.items() for at in draw.sample(range(places), 2)]
    wrong = []
    for at in [{}, *each, *(drawn_setting(draw, count) for _ in range(25))]:
        found = shows(name, at, draw.choice(WIDTHS))
        wrong += [f"{found['chosen']}: {one}" for one in faults(name, found, "en")]
        if len(at) != 1:
            wrong += faults(name, shows(name, at, language="zh_CN"), "zh")
    assert not wrong, "\n".join(wrong[:20])


def test_a_step_of_every_model_and_on_every_chip_takes_what_rooflib_says() -> None:
    draw, seen, places = random.Random(1), [], options("model")
    given = [{"model": model} for model in range(places["model"])]
    given += [{"chip": one, "chips": N} for one in range(places["chip"]) for N in (1, 2)]
    for at in given:
        # Most layouts fit only some models: often try the one that fits all.
        alone = {"chips": 0, "replicas": 0, "experts": 0, "x": 0} if draw.random() < 0.6 else {}
        seen.append(shows("model", drawn_setting(draw, places) | alone | at))
    wrong = [one for found in seen for one in faults("model", found, "en")]
    assert not wrong, "\n".join(wrong[:20])
    possible = [found for found in seen if found["numbers"]["lower"][0]]
    assert len(possible) > len(seen) / 3


# A word of a label → what the name of its number or control has.
CALLED = {
    "T_math": "math", "T_HBM|T_comms": "comms", "T_link": "link", "upper": "upper",
    "^lower|time, lower|time.*at least|step, at least": "lower", "second band": "second",
    "vector unit": "vector", "matrix unit": "matrix", "dot product$": "dot", "addition$": "add",
    "^ridge": "ridge", "^operations": "flops", "^bytes": "bytes", "its HBM": "memory",
    "held by": "held", "^x[, ]": "x_", "^w[, ]": "w_", "^out,": "out_", "of x$": "^x$",
    "activations in": "^x$", "of (w|weights)$|^weights": "^w$", "of the output": "^out$",
    "cache$|^cache in": "^kv$", "split dim": "split", "^chips$": "chips", "^model$": "model",
    "exact": "critical$", "limit$": "limit", "in all steps": "total$", "reached": "reached",
    "peer, one way": "rate", "road from HBM$|HBM band": "bandwidth", "tokens per|tokens/s": "rate",
}  # fmt: skip


@pytest.mark.parametrize("name", ORACLES)
def test_a_label_is_that_of_its_number_and_of_its_control(name: str) -> None:
    found = shows(name, {})
    labels = [*zip(found["numbers"], found["words"][1:], strict=False), *found["labels"].items()]
    assert labels
    assert [
        (label, one)
        for one, label in labels
        for words, has in CALLED.items()
        if re.search(words, label) and not re.search(has, one)
    ] == []


WAITS = {"waits": "math", "road_waits": "road", "link_waits": "link"}
LAYER, SPLIT = rl.matmul(128, 4096, 16384), rl.split("D", 4, 512, 4096, 16384)
BYTES: list[tuple[str, rl.Work, dict[str, Any]]] = [
    ("waits", rl.matmul(4096, 4096, 16384), {}),
    ("intensity", rl.dot(2**24, compute="vector fp32"), {}),
    ("reached", LAYER, {}),
    ("uses", LAYER, {"uses": {"work": 128}, "follows": "weight"}),
    ("each_sent", SPLIT, {"link": "ICI"}),
]


@pytest.mark.parametrize(("shown", "op", "more"), BYTES)
def test_a_byte_waits_as_long_as_rooflib_says(
    shown: str, op: rl.Work, more: dict[str, Any]
) -> None:
    chip = rl.chip("TPU v5p")
    given = figures.byte({"work": op}, chip, shown, **more).given
    times = op.on(chip, more.get("link")).times
    values: dict[str, Any] = {"load": op.loaded / chip["HBM"], "store": op.written / chip["HBM"]}
    values |= {"link": times.get("ICI", 0), "road": times["HBM"], "lower": max(times.values())}
    values["math"] = max(time for roof, time in times.items() if roof not in ("HBM", "ICI"))
    values |= {name: 1 - values[of] / values["lower"] for name, of in WAITS.items()}
    values |= {"intensity": op.intensity, "reached": op.flops / values["lower"], "uses": 128}
    values |= {"each_sent": op.flops / op.sent if op.sent else 0}
    rounds = options("byte", given)["step"] - 1
    values["marked"] = [values[name] for name in ("load", "store", "math")]
    values["marked"] += [step * values["lower"] for step in range(rounds + 1)]
    for quarter in range(4 * rounds + 1):
        found = shows("byte", {"step": quarter / 4}, WIDTHS[quarter % 2], given)
        assert [*faults("byte", found, "en")] == []
        found["chosen"]["chip"] = chip.name
        values["second"] = values["lower"] / found["seconds"]["step"]
        values["used"] = 128 * (quarter / 4 % 1) * values["lower"] // values["math"]
        assert [*false_claims("byte", {}, values, found)] == []
        units = {*re.findall("(vector|matrix) unit", str(found))}
        assert units == {"vector" if "vector fp32" in op.types else "matrix"}
        assert float(found["numbers"][shown][0]) == pytest.approx(float(values[shown]))


# ---- hands

PLAYED = 3_000  # milliseconds

# Key → whether it moves a point to the right.
KEYS = {"ArrowLeft": False, "ArrowRight": True, "Home": False, "End": True, "PageDown": False}
KEYS |= {"PageUp": True}
HANDLES = [
    ("index", "one_roof"),
    ("chapters/roofline", "roofline"),
    ("chapters/introduction", "chip"),
]


def handle_of(figure: Locator) -> Locator:
    return figure.get_by_role("slider").and_(figure.locator("[aria-label]:not(input)")).first


@pytest.mark.parametrize(("page", "name"), HANDLES)
def test_a_handle_follows_the_pointer_and_the_keys(reader: Reader, page: str, name: str) -> None:
    reader.open(page)
    figure = reader.figure(name)
    figure.scroll_into_view_if_needed()
    handle = handle_of(figure)
    seen = [reader.shows(name)]

    def changed(what: str) -> None:
        seen.append(reader.shows(name))
        # On a ceiling the numbers stay.
        assert seen[-1]["says"] != seen[-2]["says"], what
        assert seen[-1]["picture"] != seen[-2]["picture"], what
        assert [*faults(name, seen[-1], "en")] == []

    # Else a finger that drags it scrolls the page of a phone.
    assert handle.evaluate("(e) => getComputedStyle(e).touchAction") == "none"
    box, before = handle.bounding_box(), handle.get_attribute("aria-valuetext")
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    reader.page.mouse.move(x, y)
    reader.page.mouse.down()
    reader.page.mouse.move(x + 60, y, steps=3)
    reader.page.mouse.up()
    changed("drag")
    moved = handle.bounding_box()
    assert moved is not None
    assert moved["x"] > box["x"] + 30
    assert handle.get_attribute("aria-valuetext") != before
    at = moved["x"]
    for key, right in KEYS.items():
        handle.press(key)
        changed(key)
        box = handle.bounding_box()
        assert box is not None
        assert (box["x"] > at) == right, key
        at = box["x"]
        least, now, most = (
            float(handle.get_attribute(f"aria-value{a}") or "nan") for a in ("min", "now", "max")
        )
        assert least <= now <= most
    # The narrowest phones shrink the picture, and with it the way of the handle.
    put_width(reader.page, {"width": 320, "height": 640})
    figure.scroll_into_view_if_needed()
    seen.append(reader.shows(name))
    assert seen[-1]["out"] == []
    box = handle.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    to = x + (60 if x < 160 else -60)
    reader.page.mouse.move(x, y)
    reader.page.mouse.down()
    reader.page.mouse.move(to, y, steps=3)
    reader.page.mouse.up()
    changed("drag on a narrow phone")
    box = handle.bounding_box()
    assert box is not None
    assert abs(box["x"] + box["width"] / 2 - to) < 15
    reader.desk()


def test_a_finger_sets_a_slider_unless_it_scrolls(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    ready(page, f"{server.origin}/index.html")
    slider = page.locator("figure.live input[type=range]").first
    box = slider.bounding_box()
    assert box
    touches = context.new_cdp_session(page)
    for right, down in ((15, 0), (0, -20)):
        before = slider.input_value()
        x, y = box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2
        for step in range(7):
            points = [{"x": x + right * step, "y": y + down * step}]
            kind = "touchMove" if step else "touchStart"
            touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        if right:
            expect(slider).not_to_have_value(before)
    page.wait_for_function("scrollY > 0")
    expect(slider).to_have_value(before)
    context.close()


def test_a_chip_of_ones_own_is_in_all_figures_and_kept(reader: Reader) -> None:
    """Numbers outside the limits change nothing, and say what is allowed."""
    reader.open("chapters/time")
    figure = reader.page.locator("figure.live").filter(has_text="My own chip")
    figure.get_by_text("My own chip", exact=True).click()
    typed = OWN_NUMBERS
    for name, value in typed.items():
        field = figure.locator(f"[data-own={name}]")
        unit = field.locator("xpath=ancestor::label").inner_text().split()[-1]
        field.fill(f"{value / number(f'1 {unit}'):g}")
    reader.figure("time").locator("select[name=chip]").select_option(OWN)
    found = reader.shows("time")
    assert found["chosen"]["chip"] == OWN
    chosen = settings(found["chosen"])
    chip = rl.Chip("mine", {"bf16": typed["peak"], "HBM": typed["bandwidth"]}, 1e12)
    bound = rl.work("work", chosen["flops"], loaded=chosen["bytes"]).on(chip)
    for name, expected in (("t_math", bound.times["compute"]), ("t_comms", bound.times["HBM"])):
        assert float(found["numbers"][name][0]) == pytest.approx(expected)
    field = figure.locator("[data-own=bandwidth]")
    other = reader.tab().open("chapters/intensity")
    said = figure.locator("[role=status]:not(:empty)")
    low, high = (float(field.get_attribute(name) or "nan") for name in ("min", "max"))
    for nonsense in ("", "0", "-3", "1e30"):
        field.fill(nonsense)
        assert reader.shows("time")["numbers"] == found["numbers"]
        assert field.get_attribute("aria-invalid") == "true"
        told = [number(text) for text in re.findall(r"\d(?:[\d.,]*\d)?", said.first.inner_text())]
        assert told == pytest.approx([low, high, float(typed["bandwidth"] / 1e9)])
    (at,) = [at for at, one in enumerate(other.choices("intensity", "chip")) if one == OWN]
    (seen,) = other.move([{"intensity": {"chip": at}}])
    ridge = float(seen["intensity"]["numbers"]["ridge"][0])
    assert ridge == pytest.approx(typed["peak"] / typed["bandwidth"])
    step = reader.tab().open("chapters/step")
    at = step.choices("attention", "chip").index(OWN)
    (found,) = step.move([{"attention": {"chip": at, "chips": 1}}])
    expected = ORACLES["attention"](**settings(found["attention"]["chosen"]))
    assert [*untrue(expected, {}, found["attention"]["numbers"])] == []
    # Another open tab follows, and what was said about nonsense goes.
    field.fill("4000")
    assert said.count() == 0
    assert field.get_attribute("aria-invalid") == "false"
    other.figure("intensity").locator("data[data-name=ridge]").and_(
        other.page.locator(f"[value='{typed['peak'] / 4000e9:g}']")
    ).wait_for()
    # The corner of its roof goes where a key points: up to another peak, aside to another ridge.
    figure = other.open("chapters/roofline").figure("roofline")
    figure.locator("select[name=chip]").select_option(OWN)
    corner = figure.get_by_role("slider", name="the roof's corner")
    for what, keys in (("text", ("ArrowUp", "ArrowDown")), ("now", ("ArrowRight", "ArrowLeft"))):
        seen = [number(corner.get_attribute(f"aria-value{what}") or "")]
        for key in keys:
            corner.press(key)
            seen.append(number(corner.get_attribute(f"aria-value{what}") or ""))
        assert seen[0] < seen[1] > seen[2], keys


def test_a_figure_of_steps_plays_to_its_end_and_steps_back(reader: Reader) -> None:
    clock = reader.page.clock
    clock.install()
    reader.open("chapters/chips")
    figure = reader.figure("ring")
    player = figure.locator(".live-control").filter(has=reader.page.locator("[data-does]"))
    back, play, after = (player.locator(f"[data-does={does}]") for does in ("back", "play", "next"))
    slider, step = player.get_by_role("slider"), lambda: int(slider.input_value())
    start = step()
    after.click()
    assert step() == start + 1
    back.click()
    assert step() == start
    slider.press("End")
    last = step()
    after.click()
    assert step() == last
    slider.press("Home")
    fewest = figure.locator("[name=N]")
    chips = fewest.input_value()
    fewest.press("Home")
    assert slider.get_attribute("max") == "2"  # steps of two chips
    fewest.fill(chips)
    play.click()
    clock.run_for(PLAYED)
    expect(slider).not_to_have_value(str(start))
    play.click()
    stopped = step()
    clock.run_for(PLAYED)
    assert step() == stopped < last
    play.click()
    clock.run_for(PLAYED * 20)
    expect(slider).to_have_value(str(last))
    expect(play).to_have_attribute("aria-pressed", "false")
    play.click()  # from the end it starts again
    assert step() < last
    clock.resume()  # the clock is that of other pages, too
