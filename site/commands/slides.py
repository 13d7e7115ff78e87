"""Build the slides into ``_build/html/slides``, and print them with their notes.

``python site slides [folder]`` prints each deck of a built book into ``_build`` and the paths;
``--language zh_CN`` prints those in another language, which lie in ``_build/html/zh/slides``.
"""

import shutil
import sys
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Any

from book_extension.languages import ORIGINAL, Language, catalogs

from commands.press import READY, ROOT, check_font, main, press

THEME = ROOT / "site/slides_extension/static"
NAME = "slides"  # the folder of the decks, of their pages in a site and of their catalogs
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
NONE: Mapping[str, object] = MappingProxyType({})


class NotExtracted(Exception):
    """Raised if Sphinx could not read the decks; it has printed why."""


def settings(cache: Path) -> dict[str, Any]:
    """Return Sphinx's configuration for the slides, which have no conf.py."""
    from myst_nb.core.render import base_render_priority  # import late, as Sphinx

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
        # Without this, MyST-NB has no output priorities for this builder and drops all outputs;
        # for gettext it drops pictures, whose alternative texts are messages.
        "nb_mime_priority_overrides": [
            (builder, mime, at)
            for builder in ("revealjs", "gettext")
            for mime, at in base_render_priority()["html"].items()
        ],
        "revealjs_html_theme": "revealjs-simple",
        "revealjs_style_theme": "white",
        "revealjs_static_path": [str(THEME)],
        "revealjs_css_files": [
            "../../_static/palette.css",
            "../../_static/figures.css",
            "slides.css",
        ],
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
    }


def make(
    book: Path,
    made: Path,
    cache: Path,
    builder: str = "revealjs",
    more: Mapping[str, object] = NONE,
) -> bool:
    """Run Sphinx on a book's decks; return whether that succeeded.

    made: the folder for the output, `html` in it, and for what Sphinx keeps. more: settings.
    """
    # Import late: the check for changes is much faster than this import.
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            srcdir=book / NAME,
            confdir=None,
            outdir=made / "html",
            doctreedir=made / "doctrees",
            buildername=builder,
            confoverrides=settings(cache) | dict(more),
            status=None,
            # Read all decks again: cells are cached, and reading and writing take a second.
            freshenv=True,
            warningiserror=True,
            keep_going=True,
        )
        app.build(force_all=True)
    return app.statuscode == 0


def templates(book: Path, cache: Path) -> Path:
    """Extract the messages of a book's decks; return the folder of their .pot files."""
    made = book / "_build" / "gettext" / NAME
    shutil.rmtree(made, ignore_errors=True)
    if not make(book, made, cache, "gettext"):
        raise NotExtracted
    return made / "html"


def translation(source: Path, made: Path, language: Language) -> dict[str, object]:
    """Copy the decks' catalogs; return the settings of Sphinx for a language."""
    compiled = catalogs.folder(made, language.code)
    catalogs.copy_for_sphinx(source, compiled, language.code, NAME)
    return {
        "language": language.code,
        "locale_dirs": [str(compiled.parents[1])],
    }


def build(book: Path, cache: Path, language: Language = ORIGINAL) -> bool:
    """Build the decks of a book into its site; return whether that succeeded."""
    # Don't build in the site's folder: MyST-NB puts executed notebooks next to what it builds.
    output = book / "_build" / ("" if language is ORIGINAL else language.code)
    made, target = output / NAME, output / "html" / NAME
    if not any((book / NAME).glob("*.md")):
        return True
    more: Mapping[str, object] = NONE
    if language is not ORIGINAL:
        more = translation(catalogs.folder(book, language.code), made, language)
    shutil.rmtree(made / "html", ignore_errors=True)  # drop deleted decks
    succeeded = make(book, made, cache, more=more)
    for left in ("_sphinx_design_static", "objects.inv", "search.html", "searchindex.js"):
        path = made / "html" / left
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if not succeeded:
        return False
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(made / "html", target, ignore=shutil.ignore_patterns(".buildinfo*"))
    reveal = target / "_static" / "revealjs"
    for path in [path for path in reveal.rglob("*") if path.is_file()]:
        if not any(fnmatch(path.relative_to(reveal).as_posix(), used) for used in USED):
            path.unlink()
    return True


def handouts(book: Path, language: Language) -> list[Path]:
    """Print each deck in a language, with a page of notes after each slide."""
    made = []
    check_font(language)
    decks = book / "_build" / "html" / language.folder / NAME
    with press() as browser:
        for deck in sorted(decks.glob("*.html")):
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(f"{deck.resolve().as_uri()}?print-pdf&showNotes=separate-page")
            page.wait_for_selector(".pdf-page")
            page.evaluate(READY)
            target = book / "_build" / f"{deck.stem}-slides{language.suffix}.pdf"
            page.pdf(path=target, prefer_css_page_size=True, print_background=True)
            made.append(target)
    return made


if __name__ == "__main__":
    sys.exit(main(__doc__, handouts))
