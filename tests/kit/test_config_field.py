"""The model figure reads a config file in the page, with rooflib's errors."""

import contextlib
import io
import json
from collections.abc import Iterator
from typing import Any

import live_pages
import pytest
from broken_configs import BROKEN, BROKEN_FILES, DEEPSEEK, GEMMA, LLAMA, QWEN, quantized
from live_pages import ADDRESS, settled
from playwright.sync_api import Browser, Page, Route

from roofkit import figures
from roofkit.figures.model_rows import answer

CONFIGS = {
    "dense": LLAMA,
    "experts": QWEN,
    "latent": DEEPSEEK,
    "windows": GEMMA,
    "4 bits": quantized(quant_method="gptq", bits=4, group_size=64),
}
FOLDER = "<script data-python='/python/' data-megabytes='21'></script>"
# Replaces site/browser/python/engine.js: steps run in this process instead of in Pyodide. If
# `window.held` is a promise, a step waits for it; if `window.failure` is a text, the step fails.
ENGINE = """export class Engine {
  async run(from, [step], onStep) {
    const { failure, held } = window;
    const outputs = JSON.parse(await window.runHere(step.code));
    if (held) window.waits = true;
    await held;
    onStep({ outputs: failure ? [...outputs, { kind: "error", text: failure }] : outputs });
  }
}"""
HOLD = """(failure) => {
  const held = new Promise((go) => { window.go = go; });
  Object.assign(window, { failure, held });
}"""


def run_here(code: str) -> str:
    """Run a step's code as the page's Python does; return its output in JSON, in parts."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    text = printed.getvalue()
    parts = text[: len(text) // 2], text[len(text) // 2 :]
    return json.dumps([{"kind": "stdout", "text": part} for part in parts])


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Yield the figure on a page with Python; check requests and errors at the end."""
    context = browser.new_context()
    asked: list[str] = []
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))

    def fulfill(route: Route) -> None:
        asked.append(route.request.url)
        if route.request.url == f"{ADDRESS}python/engine.js":
            route.fulfill(body=ENGINE, content_type="text/javascript")
        else:
            body = live_pages.html(figures.model()).replace("<body>", f"<body>{FOLDER}")
            route.fulfill(body=body, content_type="text/html; charset=utf-8")

    context.route("**", fulfill)
    page = context.new_page()
    page.expose_function("runHere", run_here)
    page.goto(ADDRESS)
    settled(page, "model")
    assert asked == [ADDRESS]
    assert "21 MB. The file" in (page.locator('[data-part="read"]').text_content() or "")
    yield page
    assert errors == []
    assert set(asked) <= {ADDRESS, f"{ADDRESS}python/engine.js"}
    context.close()


def put(page: Page, content: bytes, name: str) -> None:
    field = page.locator('[data-part="config"]')
    field.set_input_files({"name": name, "mimeType": "application/json", "buffer": content})


def choose(page: Page, content: bytes, name: str = "config.json") -> str:
    """Choose a file with this content; return the message once it is read."""
    put(page, content, name)
    told = page.locator('[data-part="read"]')
    page.wait_for_function(
        "(told) => !told.textContent.startsWith('Reading ')", arg=told.element_handle()
    )
    return str(told.text_content())


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_chosen_file_is_drawn_as_in_python(page: Page, config: dict[str, Any]) -> None:
    name = f"mine, {config['model_type']}"
    named = config | {"_name_or_path": name}
    assert "21 MB. The file does not leave your browser." in choose(
        page, json.dumps(named).encode()
    )
    expected = figures.model(named).texts()
    shown = settled(page, "model")
    assert shown.locator('[name="model"]').input_value() == name
    assert shown.locator(".live-says").text_content() == expected["says"]
    lines = [text for text in shown.locator(".live-lines > li").all_text_contents() if text]
    assert lines == [expected[line] for line in figures.model().lines if expected[line]]


def test_the_config_field_folds_with_a_click(page: Page) -> None:
    field = page.locator('[data-part="config"]')
    for shown in (not field.is_visible(), field.is_visible()):
        page.locator(".live-config summary").click()
        assert field.is_visible() == shown


def test_only_the_last_chosen_file_is_shown(page: Page) -> None:
    contents = {
        name: json.dumps(LLAMA | {"_name_or_path": name}).encode() for name in ("slow", "fast")
    }
    for failure in ("", "MemoryError"):
        page.evaluate(HOLD, failure)
        put(page, contents["slow"], "slow.json")
        told = page.locator('[data-part="read"]')
        assert told.text_content() == "Reading slow.json …"
        page.wait_for_function("window.waits")
        page.evaluate("Object.assign(window, { failure: '', held: undefined, waits: false })")
        said = choose(page, contents["fast"], "fast.json")
        page.evaluate("window.go()")
        assert told.text_content() == said
        assert page.locator("[name=model]").input_value() == "fast"


def test_a_failure_is_shown_and_the_file_can_be_chosen_again(page: Page) -> None:
    content = json.dumps(LLAMA | {"_name_or_path": "mine"}).encode()
    page.evaluate("window.failure = 'MemoryError: no room'")
    said = choose(page, content, "mine.json")
    page.evaluate("window.failure = ''")
    assert said == "mine.json could not be read (MemoryError: no room). Choose it again."
    assert "The file does not leave" in choose(page, content, "mine.json")
    assert page.locator("[name=model]").input_value() == "mine"


DRAG = """(figure, type) => {
  const dataTransfer = new DataTransfer();
  return !figure.dispatchEvent(new DragEvent(type, { cancelable: true, dataTransfer }));
}"""


def test_a_file_can_be_dropped_on_the_figure(page: Page) -> None:
    folded = page.locator("details", has=page.locator('[data-part="config"]'))
    folded.evaluate("(details) => { details.open = false; }")
    # The figure prevents the default, or the browser would open what is dropped. Here no file is
    # dropped, so nothing else happens.
    assert page.locator("figure").evaluate(DRAG, "dragover")
    assert page.locator("figure").evaluate(DRAG, "drop")
    assert folded.get_attribute("open") is None
    content = json.dumps(QWEN | {"_name_or_path": "dropped"})
    dropped = page.evaluate_handle(
        """(content) => {
          const data = new DataTransfer();
          data.items.add(new File([content], "config.json"));
          return data;
        }""",
        content,
    )
    page.locator("figure").dispatch_event("drop", {"dataTransfer": dropped})
    page.wait_for_function("document.querySelector('[name=model]').value === 'dropped'")
    assert page.locator('[data-part="read"]').is_visible()
    says = settled(page, "model").locator(".live-says").text_content()
    assert says == figures.model(json.loads(content)).texts()["says"]


def test_reading_a_file_again_replaces_its_model(page: Page) -> None:
    for layers in (2, 3):
        config = LLAMA | {"_name_or_path": "twice", "num_hidden_layers": layers}
        choose(page, json.dumps(config).encode())
        says = settled(page, "model").locator(".live-says").text_content()
        assert says == figures.model(config).texts()["says"]
    options = page.locator('[name="model"] option').all_text_contents()
    assert options.count("twice") == 1


# Some of the broken configs are enough here: the next test checks the error of each.
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_broken_files_change_nothing_and_show_rooflibs_error(page: Page, every: int) -> None:
    before = page.locator(".live-says").text_content()
    contents = [
        config if isinstance(config, bytes) else json.dumps(config).encode()
        for config, _ in (*[*BROKEN.values()][::every], *BROKEN_FILES.values())
    ]
    for content in contents:
        expected = json.loads(answer(content))["problem"]
        assert "\n" not in expected
        assert choose(page, content) == f"Not read: {expected}"
    assert settled(page, "model").locator(".live-says").text_content() == before


@pytest.mark.parametrize("config", BROKEN.values(), ids=BROKEN)
def test_each_broken_config_gives_its_expected_error(config: tuple[Any, str]) -> None:
    found = json.loads(answer(json.dumps(config[0]).encode()))
    assert found["problem"].startswith(config[1])


@pytest.mark.parametrize("file", BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_errors_name_the_file_without_its_folder(file: tuple[bytes, str]) -> None:
    content, expected = file
    problem = json.loads(answer(content))["problem"]
    assert problem.startswith((f"config.json {expected}", f"content of config.json {expected}"))


def test_without_python_in_the_page_no_config_field_is_shown(browser: Browser) -> None:
    context = browser.new_context()
    page = live_pages.opened(context, figures.model())
    assert not page.locator('[data-part="config"]').is_visible()
    context.close()
