"""Printing with Chromium."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
)
FONTS = {"zh-CN": "sudo apt install fonts-wqy-microhei"}
MISSING = "no Chromium found, which prints the book: sudo apt install chromium"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Exact letter widths: headless Chromium would round them to whole pixels.
    "--font-render-hinting=none",
    # Block the network: the document needs nothing from other hosts.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
READY = "() => document.fonts.ready"


class CannotPrint(Exception):
    """Raised if this machine lacks what printing needs."""


def chromium() -> str:
    """Return the path of the system's Chromium."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise CannotPrint(MISSING)
    return found


def check_font(tag: str) -> None:
    """Raise CannotPrint if no font has a language's characters.

    Without one, Chromium would print boxes. `tag` is as in HTML, such as zh-CN. A system without
    fontconfig is not asked.
    """
    if (listing := shutil.which("fc-list")) is None:
        return
    fonts = subprocess.run([listing, f":lang={tag.lower()}"], capture_output=True, check=True)
    if not fonts.stdout.strip():
        raise CannotPrint(f"no font has the characters of {tag}: {FONTS.get(tag, 'install one')}")


@contextmanager
def press() -> Iterator[Browser]:
    """Yield a browser that prints."""
    # Import late: `make book` imports this module without Playwright installed.
    from playwright.sync_api import sync_playwright

    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()
