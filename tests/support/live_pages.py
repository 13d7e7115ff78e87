"""A page with live figures and nothing else, as the site would bring them to life."""

from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import BrowserContext, Locator, Page
from repository import ROOT

import rooflib as rl
from roofkit.figure.live_figure import LiveFigure
from roofkit.figure.own_chip import OWN, QUANTITIES

SVG = "{http://www.w3.org/2000/svg}"
ADDRESS = "http://figures.test/"
SCRIPTS = ROOT / "site" / "live_figures"


def script() -> str:
    """What brings figures to life."""
    return "".join(_read(SCRIPTS / name) for name in ("scene.js", "live.js"))


def html(*figures: LiveFigure) -> str:
    """The page; its scripts stand in it, and charts find no bundle."""
    style = _read(SCRIPTS / "live.css")
    body = "".join(figure.html() for figure in figures)
    return (
        f"<!doctype html><html lang='en'><title>figures</title><style>{style}</style>"
        f"<body>{body}<script data-bundle='charts.js'>(() => {{{script()}}})();</script>"
    )


def opened(context: BrowserContext, *figures: LiveFigure) -> Page:
    """The page with these figures, once they follow their controls."""
    content = html(*figures)
    kind = "text/html; charset=utf-8"
    context.route(f"{ADDRESS}**", lambda route: route.fulfill(body=content, content_type=kind))
    page = context.new_page()
    page.goto(ADDRESS)
    for figure in figures:
        settled(page, figure.name)
    return page


def settled(page: Page, name: str) -> Locator:
    """The figure, once its words have followed the last move."""
    page.locator(f'figure[data-figure="{name}"][data-state="live"]').wait_for()
    return page.locator(f'figure[data-figure="{name}"]')


def drawn(picture: str, mark: str) -> list[dict[str, str]]:
    """What stands in a picture under a mark's name: the attributes of its shapes, and "text"."""
    root = ElementTree.fromstring(picture)
    groups = [g for g in root.iter(f"{SVG}g") if g.get("data-mark") == mark]
    return [dict(one.attrib) | {"text": one.text or ""} for group in groups for one in group]


def chip_of(name: str) -> rl.Chip:
    """A chip of the catalogue, or the reader's own before they type its numbers."""
    if name != OWN:
        return rl.chip(name)
    given = {quantity: q.start * q.factor for quantity, q in QUANTITIES.items()}
    link = rl.Link("my link", given["link"], topology="switch")
    return rl.Chip(OWN, {"bf16": given["peak"]}, given["bandwidth"], given["memory"], links=(link,))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
