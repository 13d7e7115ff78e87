"""Checks of pages in a browser: requests, errors, axe rules and overflow.

Accessible names are checked too.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files

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
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


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

# Without preload: axe would refetch style sheets and resolve their imports against a wrong address.
RUN_AXE = """async ([options, known, within]) => {
  const samples = known && window.samples(known, within);
  if (samples && !samples.size) return [[], []];
  const place = samples ? { include: [...samples.values()] } : within ?? document;
  const { violations } = await axe.run(place, {
    preload: false, resultTypes: ["violations"], ...options,
  });
  return [samples ? [...samples.keys()] : [], violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.target.flat().join(" ")}: ${
      [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ")
    }`))];
}"""
# Rules about legible text and distinguishable links, whose results depend on the theme.
COLORS = ("color-contrast", "link-in-text-block")

# Finds one element for each combination of what contrast depends on: the text's color and size, and
# what its ancestors paint. axe spends most of its time finding the background of each text. For
# links, the combination includes their own style and that of the text around them.
SAMPLES = """void (window.samples = (known, within) => {
  const painted = new Map([[null, ""]]);
  const behind = (element) => {
    if (!painted.has(element)) {
      const style = getComputedStyle(element);
      painted.set(element, [
        behind(element.parentElement), style.backgroundColor, style.backgroundImage,
        style.opacity, style.filter, style.mixBlendMode, style.position,
      ].filter((value) => !["rgba(0, 0, 0, 0)", "none", "1", "normal", "static"].includes(value))
        .join(" "));
    }
    return painted.get(element);
  };
  const block = (element) => {
    const above = element.parentElement;
    return getComputedStyle(above).display.startsWith("inline") ? block(above) : above;
  };
  const around = (link) => {
    const text = block(link).cloneNode(true);
    text.querySelectorAll("a").forEach((other) => other.remove());
    const own = getComputedStyle(link);
    const other = getComputedStyle(link.parentElement);
    return [
      Boolean(text.textContent.trim()), own.display, own.textDecorationLine, own.borderBottom,
      own.fontStyle, own.fontFamily, other.color, other.textDecorationLine, other.borderBottom,
      other.fontStyle, other.fontWeight, other.fontSize, other.fontFamily,
      behind(link.parentElement),
    ].join();
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const elements = [...document.querySelectorAll("a[href]")];
  const links = new Set(elements);
  elements.push(...document.querySelectorAll("input, select, textarea, button"));
  for (let node; (node = walker.nextNode()); ) {
    if (node.data.trim()) elements.push(node.parentElement);
  }
  for (const element of elements) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (within && !element.closest(within)) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    const disabled = Boolean(element.closest(":disabled, [aria-disabled=true]"));
    const style = [color, fontSize, fontWeight, textShadow, disabled, behind(element)].join();
    const place = links.has(element) ? around(element) : "";
    const key = style + place;
    if (!known.includes(key) && !found.has(key)) found.set(key, element);
  }
  return found;
})"""

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

# Live figures too tall for a screen of this height to show controls and numbers together.
TALL_FIGURES = """(screen) => [...document.querySelectorAll("figure.live")].flatMap((figure) => {
  figure.querySelectorAll("details").forEach((own) => { own.open = false; });
  const edge = (part, side) => figure.querySelector(part).getBoundingClientRect()[side];
  const high = edge(".live-numbers", "bottom") - edge(".live-control", "top");
  return high > screen ? [`${figure.dataset.figure}: ${high}`] : [];
})"""

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

# Figures without a label or caption. A caption names its figure, although Chromium's
# accessibility tree only relates the two.
BARE_FIGURES = """() => [...document.querySelectorAll("figure")]
  .filter((f) => !(f.getAttribute("aria-label") ?? "").trim())
  .filter((f) => !document.getElementById(f.getAttribute("aria-labelledby"))?.textContent.trim())
  .filter((f) => !f.querySelector("figcaption")?.textContent.trim())
  .map((f) => `figure ${f.id || f.outerHTML.slice(0, 80)}`)"""
PICTURES = ("image", "img", "graphics-document", "SvgRoot")


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


def axe(page: Page, within: str | None = None) -> list[str]:
    """Return violations of axe-core's rules, each with rule, node and reason.

    Rules about color are checked on one element per style.

    within: a CSS selector of the parts to check, on a page whose rest another test checks.
    """
    return [*structure(page, within), *contrast(page, within=within)]


def structure(page: Page, within: str | None = None) -> list[str]:
    """Return axe-core's violations of rules other than color.

    They hold for every theme.
    """
    return _run_axe(page, {"rules": {rule: {"enabled": False} for rule in COLORS}}, within=within)


def contrast(page: Page, known: set[str] | None = None, within: str | None = None) -> list[str]:
    """Return low-contrast text and links that look like text, one element per style.

    Styles in `known` have been tested on another page; new ones are added to it.
    """
    if not page.evaluate("'samples' in window"):
        page.evaluate(SAMPLES)
    known = set() if known is None else known
    return _run_axe(page, {"runOnly": list(COLORS)}, known, within)


def _run_axe(
    page: Page,
    options: dict[str, object],
    known: set[str] | None = None,
    within: str | None = None,
) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    if within:
        assert page.locator(within).count()
    asked = None if known is None else sorted(known)
    styles, violations = page.evaluate(RUN_AXE, [options, asked, within])
    if known is not None:
        known.update(styles)
    return list(violations)


def unnamed_pictures(page: Page) -> list[str]:
    """Return images without an accessible name, and figures without label or caption."""
    session = page.context.new_cdp_session(page)
    top = session.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    # Query by role in the browser: transferring the whole accessibility tree takes seconds.
    nodes = [
        node
        for role in PICTURES
        for node in session.send("Accessibility.queryAXTree", {"nodeId": top, "role": role})[
            "nodes"
        ]
    ]
    session.detach()
    roles = [
        node["role"]["value"]
        for node in nodes
        if not node["ignored"] and not str(node.get("name", {}).get("value", "")).strip()
    ]
    return roles + list(page.evaluate(BARE_FIGURES))
