"""Checks of pages in a browser: requests, errors, axe rules, names and overflow."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    ViewportSize,
    sync_playwright,
)

# Prefer the headless shell: it uses a third less CPU time than the whole browser.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MISSING = "no Chromium found: sudo apt install chromium"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Compile WebAssembly once: to compile it again for speed takes longer than what pages compute.
    "--js-flags=--liftoff-only",
    # Keep subpixel glyph widths as on a screen; headless mode rounds them to whole pixels.
    "--font-render-hinting=none",
    # Resolve no host but 127.0.0.1, so that nothing leaves this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


def chromium() -> str | None:
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@contextmanager
def started(path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@dataclass
class Traffic:
    """Requests and errors of a browser context's pages, recorded from `listen` on."""

    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def listen(self, context: BrowserContext) -> "Traffic":
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("requestfailed", self.look_at_failure)
        context.on("response", self.look_at_status)
        context.on("console", self.look_at_line)
        context.on("weberror", lambda error: self.wrong.append(str(error.error)))
        return self

    def clear(self) -> None:
        self.asked.clear()
        self.wrong.clear()

    def look_at_failure(self, request: Request) -> None:
        # A page that sends its reader on at once may be left before all of it has come.
        if not (request.is_navigation_request() and request.failure == "net::ERR_ABORTED"):
            self.wrong.append(f"{request.url}: {request.failure}")

    def look_at_status(self, response: Response) -> None:
        if response.status >= 400:
            self.wrong.append(f"{response.url}: {response.status}")

    def look_at_line(self, line: ConsoleMessage) -> None:
        if line.type == "error":
            self.wrong.append(f"console: {line.text}")

    def outside(self, origin: str) -> list[str]:
        inside = (f"{origin}/", "data:", "blob:")
        return [url for url in self.asked if not url.startswith(inside)]


READY = "() => document.fonts.ready"
ALIVE = "() => !document.querySelector('figure.live:not([data-state=live])')"

UNFOLD = """() => {
  document.querySelectorAll("details").forEach((d) => { d.open = true; });
  document.querySelectorAll("button.toggle-button-hidden").forEach((b) => b.click());
}"""

# Finish animations at once: drawing each frame of colors and panels that fade in takes seconds.
SETTLED = """() => document.getAnimations()
  .filter((a) => a.effect.getComputedTiming().endTime !== Infinity)
  .forEach((a) => a.finish())"""

# Rules about legible text and distinguishable links, whose results depend on the theme.
COLORS = ("color-contrast", "link-in-text-block")

# Text beyond the window's edge or cut off, except in boxes that scroll.
STICKING_OUT = """() => {
  const found = [];
  const edge = document.documentElement.clientWidth;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const say = (node, how) => found.push(`${how}: ${node.data.trim().slice(0, 60)}`);
  text: for (let node; (node = walker.nextNode()); ) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility({ visibilityProperty: true })) continue;
    if (parent.closest(".visually-hidden, noscript")) continue;
    range.selectNodeContents(node);
    // Of signs with a place each, Firefox's range knows only the first place.
    const around = parent.closest("svg") ? parent : range;
    const boxes = [...around.getClientRects()].filter((box) => box.width > 1);
    if (!boxes.length) continue;
    const left = Math.min(...boxes.map((box) => box.left));
    const right = Math.max(...boxes.map((box) => box.right));
    for (let box = parent; box !== document.body; box = box.parentElement) {
      const overflow = getComputedStyle(box).overflowX;
      const { left: from, right: to, width } = box.getBoundingClientRect();
      const line = getComputedStyle(box).display === "inline" && box.tagName !== "svg";
      if (overflow === "visible" || line) continue;
      if (width <= 1) continue text;
      if (overflow === "auto" || overflow === "scroll") {
        if (from < -1 || to > edge + 1) say(node, "in a box beyond the window");
        continue text;
      }
      if (left < from - 1 || right > to + 1) {
        say(node, "cut off");
        continue text;
      }
    }
    if (left < -1 || right > edge + 1) say(node, "beyond the window");
  }
  return [...new Set(found)];
}"""

SIDEWAYS = "() => document.scrollingElement.scrollWidth - window.innerWidth"

# Formulas wider than their box, which scrolls.
WIDE_MATHS = """() => [...document.querySelectorAll("div.math")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.trim())"""

# Formulas that are not rendered: shown as their source, as an error, or without a size.
UNSET_MATHS = """() => {
  const found = [...document.querySelectorAll("merror")].map((e) => `error: ${e.textContent}`);
  for (const e of document.querySelectorAll(".math")) {
    const box = e.querySelector("math")?.getBoundingClientRect();
    if (!(box?.width > 0 && box?.height > 0) && e.checkVisibility()) {
      found.push(`not set: ${e.textContent}`);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const code = node.parentElement.closest("pre, code, kbd, script, style, noscript");
    if (!code && /\\$|\\\\[(\\[]|\\\\(?:frac|text|begin|times)\\b/.test(node.data)) {
      found.push(`source: ${node.data.trim()}`);
    }
  }
  return found;
}"""

# Pictures that say nothing to who can't see them, and figures without label or caption.
UNNAMED = """() => {
  const words = (one) => [
    one.ariaLabel, one.querySelector("figcaption")?.textContent,
    document.getElementById(one.getAttribute("aria-labelledby"))?.textContent,
  ];
  const pictures = "img:not([alt]), [role=img], figure, :is(main, .slides) svg:not([role=img] *)";
  return [...document.querySelectorAll(pictures)]
    .filter((one) => !one.closest("[aria-hidden=true], button, a"))
    .filter((one) => !words(one).some((name) => name?.trim()))
    .map((one) => one.outerHTML.slice(0, 90));
}"""

# Presses Skip on every guess; the page remembers that.
UNCOVER = """() => document.querySelectorAll(".guess-skip button").forEach((b) => b.click())"""


def ready(page: Page, address: str, *, covered: bool = False) -> None:
    """Open an address and wait until fonts are loaded and figures are interactive.

    covered: leave what follows a guess covered.
    """
    page.goto(address)
    if not covered:
        page.evaluate(UNCOVER)
    page.evaluate(READY)
    page.wait_for_function(ALIVE)


def put_width(page: Page, size: ViewportSize) -> None:
    """Set the window's size, and wait until the page has adapted."""
    page.set_viewport_size(size)
    page.wait_for_function("(width) => innerWidth === width", arg=size["width"])
    page.evaluate(SETTLED)


def put_theme(page: Page, theme: str) -> None:
    """Set the system's theme, which the site follows until the reader chooses one."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("(t) => document.documentElement.dataset.theme === t", arg=theme)
    page.evaluate(SETTLED)


def axe(page: Page, within: str | None = None, only: Sequence[str] = ()) -> list[str]:
    """Return violations of axe-core's rules, each with rule, node and reason.

    within: a CSS selector of what to look at. only: some rules, all by default.
    """
    if within:
        assert page.locator(within).count()
    # Without preload: axe would fetch style sheets again, from a wrong address.
    options: dict[str, object] = {"preload": False, "resultTypes": ["violations"]}
    if only:
        options["runOnly"] = list(only)
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in Axe().run(page, within, options).response["violations"]
        for node in rule["nodes"]
    ]
