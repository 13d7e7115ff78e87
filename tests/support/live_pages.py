"""A page that has only live figures, for tests in a browser."""

from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import BrowserContext, Locator, Page
from repository import ROOT

import rooflib as rl
from roofkit.figures import Figure
from roofkit.figures.engine.own_chip import OWN, QUANTITIES

SVG = "{http://www.w3.org/2000/svg}"
# The function `phrase` of course.js, but without translations.
PHRASE = """const phrase = (english, values = {}) =>
  english.replace(/\\{(\\w+)\\}/g, (_, name) => String(values[name]));
"""
ADDRESS = "http://figures.test/"
# Counts how often screen readers announce the text of an element.
LISTEN = """(element) => {
  window.announced = 0;
  new MutationObserver((all) => { window.announced += all.length; })
    .observe(element, { childList: true });
}"""
ENGINE = ROOT / "kit" / "roofkit" / "figures" / "engine"


def script() -> str:
    """Return the script that makes figures interactive."""
    engine = (_read(ENGINE / name) for name in ("expressions.js", "scene.js", "live.js"))
    return "".join((PHRASE, *engine))


def html(*figures: Figure) -> str:
    """Return an HTML page of these figures, with its script and style inside."""
    style = _read(ENGINE / "live.css")
    body = "".join(figure.html() for figure in figures)
    return (
        f"<!doctype html><html lang='en'><title>figures</title><style>{style}</style>"
        f"<body>{body}<script>(() => {{{script()}}})();</script>"
    )


def opened(context: BrowserContext, *figures: Figure) -> Page:
    """Open a page with these figures and wait until they follow their controls."""
    content = html(*figures)
    kind = "text/html; charset=utf-8"
    context.route(f"{ADDRESS}**", lambda route: route.fulfill(body=content, content_type=kind))
    page = context.new_page()
    page.goto(ADDRESS)
    for figure in figures:
        settled(page, figure.name)
    return page


def settled(page: Page, name: str) -> Locator:
    """Return the figure once its text reflects the last change of its controls."""
    page.locator(f'figure[data-figure="{name}"][data-state="live"]').wait_for()
    return page.locator(f'figure[data-figure="{name}"]')


def drawn(picture: str, mark: str) -> list[dict[str, str]]:
    """Return the attributes of each shape in a mark's group, with its text as "text"."""
    root = ElementTree.fromstring(picture)
    groups = [g for g in root.iter(f"{SVG}g") if g.get("data-mark") == mark]
    return [dict(one.attrib) | {"text": one.text or ""} for group in groups for one in group]


def chip_of(name: str) -> rl.Chip:
    """Return a chip of the catalog, or the reader's own with its defaults."""
    if name != OWN:
        return rl.chip(name)
    given = {quantity: q.start * q.factor for quantity, q in QUANTITIES.items()}
    link = rl.Link("my link", given["link"], topology="switch")
    return rl.Chip(OWN, {"bf16": given["peak"]}, given["bandwidth"], given["memory"], links=(link,))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
