"""Python starts while the reader reads, in a tab that has run Python before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from classroom import functions
from native_python import serving_native
from page_reader import EDITOR, SLOW, a_run, answer_here, bar, checked, first_run
from playwright.sync_api import Browser, BrowserContext, Page
from site_browser import DESK, ready
from site_server import Server

# Counts workers, and resolves `window.started` when the first one is ready.
WATCH_WORKERS = """
window.workers = 0;
window.started = new Promise((resolve) => {
  window.Worker = class extends Worker {
    constructor(...all) {
      super(...all);
      workers += 1;
      this.addEventListener("message", ({ data }) => data.ready && resolve(true));
    }
  };
});
"""
HIDDEN = "Object.defineProperty(document, 'hidden', { get: () => window.isHidden ?? true });"
LOADING = "Object.defineProperty(document, 'readyState', { get: () => 'interactive' });"
CONNECTION = "Object.defineProperty(navigator, 'connection', { value: %s, configurable: true });"
SAVE_DATA, NO_SAVER = (CONNECTION % value for value in ("{ saveData: true }", "undefined"))
IDLE_TWICE = "new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve)))"
LITTLE_MEMORY = (
    "Object.defineProperty(navigator, 'deviceMemory', { value: 2, configurable: true });"
)
ENOUGH_MEMORY = (
    "Object.defineProperty(navigator, 'deviceMemory', { value: 4, configurable: true });"
)
# Marks each file in the browser's cache for Python, and adds one of an earlier edition.
MARK_CACHE = """async () => {
  const cache = await caches.open("roofline-python");
  for (const request of await cache.keys()) {
    const { headers, body } = await cache.match(request);
    await cache.put(request, new Response(body, { headers: [...headers, ["marked", "yes"]] }));
  }
  await cache.put("earlier-edition/course.zip", new Response(""));
}"""
# Resolves to the marks of all files in the cache.
MARKS = """async () => {
  const cache = await caches.open("roofline-python");
  const files = await Promise.all((await cache.keys()).map((request) => cache.match(request)));
  return files.map(({ headers }) => headers.get("marked"));
}"""
AS_BUILT = "Done. All values in the text are as they were built."
RAN, NEXT = "chapters/machine", "chapters/introduction"  # chapters with few cells
EXERCISE = "int8-matmul"
PART = next(iter(functions(EXERCISE)))


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving_native(site, below) as server:
        yield server


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(SLOW)
    context.add_init_script(ENOUGH_MEMORY + WATCH_WORKERS)
    yield context
    context.close()


@pytest.fixture(scope="module")
def storage(browser: Browser, server: Server) -> dict[str, str]:
    """Return what a tab's session storage holds after a run of a chapter."""
    with browser.new_context(viewport=DESK) as context:
        context.set_default_timeout(SLOW)
        page = context.new_page()
        first_run(page, f"{server.origin}/{RAN}.html")
        return dict(page.evaluate("({ ...sessionStorage })"))


@pytest.fixture
def tab(context: BrowserContext, storage: dict[str, str]) -> Page:
    """Open a tab with the session storage of one in which a chapter was run."""
    page = context.new_page()
    page.add_init_script(
        f"for (const item of Object.entries({json.dumps(storage)})) sessionStorage.setItem(...item)"
    )
    return page


def go_on(page: Page, server: Server, script: str = "") -> None:
    """Open the next chapter in the same tab."""
    if script:
        page.add_init_script(script)
    ready(page, f"{server.origin}/{NEXT}.html")


def test_the_next_page_opened_in_a_tab_starts_python_and_a_click_uses_it(
    context: BrowserContext, server: Server
) -> None:
    tab = context.new_page()
    first_run(tab, f"{server.origin}/{RAN}.html")
    tab.evaluate(MARK_CACHE)
    # Another tab fetches nothing before a click.
    server.sent.clear()
    other = context.new_page()
    go_on(other, server)
    other.wait_for_load_state("networkidle")
    assert other.evaluate("workers") == 0
    assert [sent.path for sent in server.sent if "/_static/python/" in sent.path] == []
    # Python doesn't start either with a data saver or little memory, or while the page is loading
    # or in the background.
    warm_up = f"import('{module(other)}').then(({{ warmUp }}) => warmUp())"
    for script in (SAVE_DATA, NO_SAVER + LITTLE_MEMORY):
        other.evaluate(f"() => {{ {script} }}")
        assert other.evaluate(warm_up) is False
    other.evaluate(f"() => {{ {ENOUGH_MEMORY} {HIDDEN} {LOADING} void {warm_up}; }}")
    other.evaluate(IDLE_TWICE)
    assert other.evaluate("workers") == 0
    other.evaluate("dispatchEvent(new Event('load'))")
    other.evaluate(IDLE_TWICE)
    assert other.evaluate("workers") == 0
    other.evaluate("isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
    assert other.evaluate("started")
    other.close()
    go_on(tab, server)
    assert tab.evaluate("started")
    # The cache keeps this edition's files; those of earlier editions are deleted.
    marks = tab.evaluate(MARKS)
    assert len(marks) > 2
    assert set(marks) == {"yes"}
    # The page doesn't show the warm start.
    assert tab.locator(".python-panel").count() == 0
    with a_run(tab):
        tab.locator(".run-cell").first.click()
    assert bar(tab) == AS_BUILT
    assert tab.evaluate("workers") == 1


@pytest.mark.long
def test_a_click_waits_for_python_that_is_already_starting(tab: Page, server: Server) -> None:
    go_on(tab, server)
    tab.wait_for_function("workers === 1")
    with a_run(tab):
        tab.locator(".run-cell").first.click()
    assert bar(tab) == AS_BUILT
    assert tab.evaluate("workers") == 1


@pytest.mark.long
def test_a_click_before_the_idle_callback_starts_the_only_worker(tab: Page, server: Server) -> None:
    go_on(tab, server, "window.requestIdleCallback = (callback) => (window.whenIdle = callback);")
    tab.wait_for_function("Boolean(window.whenIdle)")
    assert tab.evaluate("workers") == 0
    with a_run(tab):
        tab.locator(".run-cell").first.click()
    tab.evaluate("whenIdle()")
    with a_run(tab):
        tab.locator(EDITOR).first.press("Control+Enter")
    assert tab.evaluate("workers") == 1


@pytest.mark.long
def test_browsers_without_idle_callbacks_start_python_early_too(tab: Page, server: Server) -> None:
    go_on(
        tab,
        server,
        "delete window.requestIdleCallback; delete Window.prototype.requestIdleCallback;",
    )
    assert tab.evaluate("typeof requestIdleCallback") == "undefined"
    assert tab.evaluate("started")


@pytest.mark.long
def test_an_exercise_starts_python_early_and_shows_no_progress(tab: Page, server: Server) -> None:
    answer_here(tab, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    assert tab.evaluate("started")
    assert bar(tab) == ""
    assert tab.locator(".python-panel progress").is_hidden()
    assert checked(tab, PART)
    assert tab.evaluate("workers") == 1


def module(page: Page) -> str:
    """Return the address of warm_start.js."""
    folder = page.locator("script[data-python]").first.get_attribute("data-python")
    return str(
        page.evaluate("(path) => new URL(path, document.baseURI).href", f"{folder}warm_start.js")
    )
