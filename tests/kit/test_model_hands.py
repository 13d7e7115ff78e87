"""Tests of the model figure: mouse, keyboard, phone, and a file in a widget."""

import html
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import live_pages
import pytest
import site_browser
from broken_configs import BROKEN, BROKEN_FILES, DEEPSEEK, GEMMA, LLAMA, QWEN
from live_pages import settled
from playwright.sync_api import Browser, Page

from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine import config_form
from roofkit.figures.model_rows import answer

FIGURE = figures.model()
OPTIONS = {control.name: control.options for control in FIGURE.controls}
IN_SIGHT = """(part) => {
  const box = document.querySelector(part).getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight;
}"""

SIZES = """([mark, size]) => [...document.querySelectorAll(`[data-mark="${mark}"] > [${size}]`)]
  .map((shape) => Number(shape.getAttribute(size)))"""


@pytest.fixture(params=["desk", pytest.param("phone", marks=pytest.mark.long)])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    phone = request.param == "phone"
    view = site_browser.PHONE if phone else site_browser.DESK
    context = browser.new_context(viewport=view, has_touch=phone)
    yield live_pages.opened(context, FIGURE)
    context.close()


def says(page: Page) -> str:
    return settled(page, "model").locator(".live-says").text_content() or ""


def test_plot_and_numbers_follow_a_dragged_slider(page: Page) -> None:
    """Check this while the slider is held, not after the drag."""
    at = page.locator('[name="B"]').bounding_box()
    assert at is not None
    up, start = at["y"] + at["height"] / 2, OPTIONS["B"].index(16) / (len(OPTIONS["B"]) - 1)
    page.mouse.move(at["x"] + 8 + start * (at["width"] - 16), up)
    page.mouse.down()
    seen = set()
    for part in (0.5, 0.6, 0.7, 0.8, 0.9):
        page.mouse.move(at["x"] + part * at["width"], up)
        B = OPTIONS["B"][int(page.locator('[name="B"]').input_value())]
        expected = FIGURE.texts(B=B)
        for number in FIGURE.numbers:
            shown = page.locator(f'[data-name="{number.name}"]').text_content()
            assert shown == expected[number.name], (number.name, B)
        wide = float(page.locator(".live-picture svg").first.get_attribute("width") or 0)
        picture = FIGURE.svg(width=wide, B=B)
        for mark, size in (("dots", "r"), ("bars", "width")):
            found = page.evaluate(SIZES, [mark, size])
            expected_sizes = [float(one[size]) for one in live_pages.drawn(picture, mark)]
            assert found == pytest.approx(expected_sizes, abs=0.011)
        seen.add(B)
    page.mouse.up()
    assert len(seen) == 5
    assert says(page) == FIGURE.texts(B=B)["says"]


def test_every_control_works_by_keyboard(page: Page) -> None:
    """Go through all controls by Tab; Enter unfolds the section that hides some."""
    page.locator('[name="model"]').focus()
    chosen: dict[str, Any] = {}
    visited = ["model"]
    keys = {"phase": "p", "x": "f", "experts": "w", "read": "4"}
    for _ in range(30):
        page.keyboard.press("Tab")
        held = page.evaluate(
            "[document.activeElement.name ?? '', document.activeElement.localName,"
            " document.activeElement.parentElement.className]"
        )
        if held[1] == "summary" and held[2] == "live-folded":
            assert not page.locator('[name="replicas"]').is_visible()
            page.keyboard.press("Enter")
            assert page.locator('[name="replicas"]').is_visible()
        if not held[0]:
            continue
        visited.append(held[0])
        if held[0] in ("B", "S", "chips", "replicas"):
            page.keyboard.press("ArrowRight")
            control = page.locator(f'[name="{held[0]}"]')
            chosen[held[0]] = OPTIONS[held[0]][int(control.input_value())]
            assert chosen[held[0]] != FIGURE.settings[held[0]]
        elif held[0] in keys:
            page.keyboard.press(keys[held[0]])
            chosen[held[0]] = page.locator(f'[name="{held[0]}"]').input_value()
            assert chosen[held[0]] != FIGURE.settings[held[0]]
        assert says(page) == FIGURE.texts(**chosen)["says"]
        if held[0] == list(OPTIONS)[-1]:
            break
    assert visited == list(OPTIONS)
    assert chosen["experts"] == "whole on a chip"
    assert "replicas" in says(page)


def test_controls_plot_and_numbers_are_visible_together_on_a_phone(browser: Browser) -> None:
    context = browser.new_context(viewport=site_browser.PHONE, has_touch=True)
    page = live_pages.opened(context, FIGURE)
    assert page.evaluate(site_browser.TALL_FIGURES, site_browser.PHONE["height"]) == []
    page.locator(".live-control").first.evaluate("(first) => first.scrollIntoView()")
    for part in ('[name="model"]', '[name="B"]', ".live-picture svg", ".live-numbers"):
        assert page.evaluate(IN_SIGHT, part), part
    context.close()


def test_a_layout_that_divides_unevenly_is_explained_until_it_is_changed(page: Page) -> None:
    page.locator(".live-folded summary").click()
    page.locator('[name="replicas"]').fill("3")
    page.locator('[name="B"]').fill("0")
    expected = FIGURE.texts(replicas=8, B=1)
    assert says(page) == expected["says"]
    assert "8 replicas cannot share 1 sequences" in expected["says"]
    lower, ranking = page.locator('[data-name="lower"]'), page.locator(".live-lines > li")
    assert (lower.text_content(), lower.get_attribute("value")) == ("–", "")
    assert ranking.filter(visible=True).count() == 0
    assert set(ranking.all_text_contents()) == {""}
    page.locator('[name="B"]').fill(str(OPTIONS["B"].index(16)))
    expected = FIGURE.texts(replicas=8, B=16)
    assert says(page) == expected["says"]
    lines = [expected[line] for line in FIGURE.lines if expected[line]]
    assert ranking.filter(visible=True).all_text_contents() == lines != []


# In JupyterLab the browser hands a file's content to the widget.


def fields(figure: Figure) -> tuple[Any, Any, Any]:
    """Return the widget's fields for a file and for its text, and the message below."""
    (box,) = [
        child
        for child in figure.widget.children
        if getattr(child, "titles", ()) == (config_form.title(),)
    ]
    assert box.selected_index is None
    file, text, words = box.children[0].children
    return file, text, words


def put(figure: Figure, config: bytes, pasted: bool) -> str:
    """Give the widget a config file or its text; return its message."""
    file, text, words = fields(figure)
    if pasted:
        text.value = config.decode()
    else:
        file.value = [
            {
                "name": "config.json",
                "type": "application/json",
                "size": len(config),
                "content": memoryview(config),
                "last_modified": datetime(2026, 1, 1, tzinfo=UTC),
            }
        ]
    return str(words.value)


@pytest.mark.parametrize("pasted", [False, True], ids=["file", "text"])
@pytest.mark.parametrize(
    "config",
    [LLAMA, *(pytest.param(config, marks=pytest.mark.long) for config in (QWEN, DEEPSEEK, GEMMA))],
    ids=lambda c: c["model_type"],
)
def test_the_widget_draws_the_readers_model(config: dict[str, Any], pasted: bool) -> None:
    figure, named = figures.model(), config | {"_name_or_path": "mine"}
    assert put(figure, json.dumps(named).encode(), pasted) == config_form.lab_hint()
    expected = figures.model(named)
    assert figure.settings["model"] == "mine"
    assert figure.texts() == expected.texts()
    shown = str(figure.widget.children[-1].value)
    assert expected.svg() in shown
    # Other controls and the catalog's models still work, and the reader's model is kept.
    assert figure.values(B=64) == expected.values(B=64)
    assert figure.values(model="Phi-4")["lower"] == FIGURE.values(model="Phi-4")["lower"]
    # A second file of the same name takes the place of the first.
    put(figure, json.dumps(LLAMA | {"_name_or_path": "mine"}).encode(), not pasted)
    assert figure.texts() == figures.model(LLAMA | {"_name_or_path": "mine"}).texts()


def test_two_figures_do_not_share_the_readers_model() -> None:
    figure, other = figures.model(), figures.model()
    put(figure, json.dumps(LLAMA | {"_name_or_path": "mine"}).encode(), False)
    assert "mine" in figure.tables["shapes"]
    assert "mine" not in other.tables["shapes"]
    with pytest.raises(ValueError, match="model must be one of"):
        other.values(model="mine")


@pytest.fixture(scope="module")
def unchanged() -> Figure:
    """Return a figure for tests that do not change it; making one takes long."""
    return figures.model()


@pytest.mark.parametrize("config", BROKEN.values(), ids=BROKEN)
def test_the_widget_says_what_is_wrong_with_a_model_config(
    config: tuple[Any, str], unchanged: Figure
) -> None:
    content = json.dumps(config[0]).encode()
    expected = json.loads(answer(content))["problem"]
    assert expected.startswith(config[1])
    for pasted in (False, True):
        assert html.unescape(put(unchanged, content, pasted)) == expected
    assert unchanged.texts() == FIGURE.texts()


def test_a_valid_model_config_is_read_after_broken_ones() -> None:
    figure = figures.model()
    for config, _ in BROKEN.values():
        for pasted in (False, True):
            put(figure, json.dumps(config).encode(), pasted)
    put(figure, json.dumps(LLAMA | {"_name_or_path": "mine"}).encode(), False)
    assert figure.settings["model"] == "mine"


@pytest.mark.parametrize("file", BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_the_widget_says_what_is_wrong_with_a_model_config_file(
    file: tuple[bytes, str], unchanged: Figure
) -> None:
    said = put(unchanged, file[0], pasted=False)
    assert html.unescape(said) == json.loads(answer(file[0]))["problem"]
    assert file[1] in said
    assert "\n" not in said
