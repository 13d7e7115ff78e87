"""Build the slides into ``_build/html/slides``, and print them with their notes.

``python site slides [folder]`` prints each deck of a built book into ``_build`` and the paths.
"""

import argparse
import logging
import os
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from commands.printing.press import ARGUMENTS, READY, NoChromium, chromium

ROOT = Path(__file__).resolve().parents[2]
THEME = ROOT / "site/slides_extension/static"
FAVICON = ROOT / "site/book_extension/static/favicon.svg"
WIDTH, HEIGHT = 1280, 720
# Files of reveal.js that the slides use; other themes would load fonts from other hosts.
USED = (
    "LICENSE*",
    "dist/reveal.css",
    "dist/reveal.js",
    "dist/theme/white.css",
    "dist/theme/fonts/source-sans-pro/*",
    "plugin/notes/notes.js",
)
MIMES = (
    ("text/html", 30),
    ("image/svg+xml", 40),
    ("image/png", 50),
    ("text/markdown", 80),
    ("text/plain", 100),
)


def settings(cache: Path) -> dict[str, Any]:
    """Return Sphinx's configuration, instead of a conf.py."""
    return {
        "project": "The roofline",
        "extensions": ["myst_nb", "sphinx_revealjs", "slides_extension"],
        "root_doc": "roofline",
        "include_patterns": ["*.md"],
        "myst_enable_extensions": ["amsmath", "colon_fence", "deflist", "dollarmath"],
        "nb_execution_mode": "cache",
        "nb_execution_cache_path": str(cache),
        "nb_execution_raise_on_error": True,
        "nb_execution_show_tb": False,
        "nb_execution_timeout": 60,
        "nb_output_stderr": "error",
        "nb_render_markdown_format": "myst",
        "nb_merge_streams": True,
        # Without this, MyST-NB has no output priorities for this builder and drops all outputs.
        "nb_mime_priority_overrides": [("revealjs", mime, at) for mime, at in MIMES],
        "revealjs_html_theme": "revealjs-simple",
        "revealjs_style_theme": "white",
        "revealjs_static_path": [str(THEME)],
        "revealjs_css_files": ["../../_static/live.css", "slides.css"],
        "revealjs_script_plugins": [
            {"src": "revealjs/plugin/notes/notes.js", "name": "RevealNotes"}
        ],
        "revealjs_script_conf": {
            "width": WIDTH,
            "height": HEIGHT,
            "margin": 0,
            "center": False,
            "hash": True,
            "slideNumber": "c/t",
            "navigationMode": "linear",
            "transition": "none",
            "pdfSeparateFragments": False,
            "pdfMaxPagesPerSlide": 1,
        },
        "html_copy_source": False,
        "html_use_index": False,
        "html_favicon": str(FAVICON),
    }


def build(book: Path, cache: Path) -> bool:
    """Build the decks of a book whose site is built; return whether that succeeded."""
    # Import late: the check for changes is much faster than this import.
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    # Don't build in the site's folder: MyST-NB puts executed notebooks next to what it builds.
    source, made = book / "slides", book / "_build" / "slides"
    target = book / "_build" / "html" / "slides"
    if not any(source.glob("*.md")):
        return True
    os.environ["ROOFKIT_LIVE"] = "page"
    logging.getLogger("traitlets").setLevel(logging.WARNING)  # traitlets logs each execution
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            srcdir=source,
            confdir=None,
            outdir=made / "html",
            doctreedir=made / "doctrees",
            buildername="revealjs",
            confoverrides=settings(cache),
            status=None,
            # Read all decks again: cells are cached, and reading and writing take a second.
            freshenv=True,
            warningiserror=True,
            keep_going=True,
        )
        app.build(force_all=True)
    for left in ("_sphinx_design_static", "objects.inv", "search.html", "searchindex.js"):
        path = made / "html" / left
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if app.statuscode != 0:
        return False
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(made / "html", target, ignore=shutil.ignore_patterns(".buildinfo*"))
    reveal = target / "_static" / "revealjs"
    for path in [path for path in reveal.rglob("*") if path.is_file()]:
        if not any(fnmatch(path.relative_to(reveal).as_posix(), used) for used in USED):
            path.unlink()
    return True


def handouts(book: Path) -> list[Path]:
    """Print each deck, with a page of notes after each slide."""
    from playwright.sync_api import sync_playwright

    made = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        try:
            for deck in sorted((book / "_build" / "html" / "slides").glob("*.html")):
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                page.goto(f"{deck.resolve().as_uri()}?print-pdf&showNotes=separate-page")
                page.wait_for_selector(".pdf-page")
                page.evaluate(READY)
                target = book / "_build" / f"{deck.stem}-slides.pdf"
                page.pdf(path=target, prefer_css_page_size=True, print_background=True)
                made.append(target)
        finally:
            browser.close()
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    try:
        for path in handouts(parser.parse_args().book.resolve()):
            print(path)
    except NoChromium as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
