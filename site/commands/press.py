"""Printing with Chromium."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from book_extension.languages import ORIGINAL, Language, chosen

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
)
ARGUMENTS = (
    # Exact letter widths: headless Chromium would round them to whole pixels.
    "--font-render-hinting=none",
    # Block the network: the document needs nothing from other hosts.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
READY = "() => document.fonts.ready"


class CannotPrint(Exception):
    """Raised if this machine lacks what printing needs."""


def check_font(language: Language) -> None:
    """Raise CannotPrint if no font has a language's characters.

    Without one, Chromium would print boxes. A system without fontconfig is not asked.
    """
    if (listing := shutil.which("fc-list")) is None:
        return
    asked = [listing, f":lang={language.tag.lower()}"]
    fonts = subprocess.run(asked, capture_output=True, check=True)
    if not fonts.stdout.strip():
        how = f"sudo apt install {language.font}" if language.font else "install one"
        raise CannotPrint(f"no font has the characters of {language.tag}: {how}")


@contextmanager
def press() -> Iterator[Browser]:
    """Yield a browser that prints."""
    # Import late: `make book` imports this module without Playwright installed.
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise CannotPrint("no Chromium found, which prints the book: sudo apt install chromium")
    with sync_playwright() as playwright:  # closes the browser at the end
        yield playwright.chromium.launch(executable_path=path, args=ARGUMENTS)


def main(described: str, print_all: Callable[[Path, Language], Iterable[Path]]) -> int:
    """Print what a command's arguments name, then the paths; return the command's exit code."""
    parser = argparse.ArgumentParser(description=described)
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--language", type=chosen, default=ORIGINAL, help="such as zh_CN")
    told = parser.parse_args()
    try:
        for path in print_all(told.book.resolve(), told.language):
            print(path)
    except CannotPrint as error:
        print(error, file=sys.stderr)
        return 1
    return 0
