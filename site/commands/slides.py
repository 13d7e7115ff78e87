"""Build the slides into ``_build/html/slides``, and print them with their notes.

``python site slides [folder]`` prints each deck of a built book into ``_build`` and the paths;
``--language zh_CN`` prints those in another language, which lie in ``_build/html/zh/slides``.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from book_extension.languages import Language

from commands.press import READY, ROOT, check_font, main, press

THEME = ROOT / "site/slides_extension/static"
NAME = "slides"  # the folder of the decks, of their pages in a site and of their catalogs
WIDTH, HEIGHT = 1280, 720
# Static files that the slides use; other themes of reveal.js would load fonts from other hosts.
USED = (
    "slides.css",
    "revealjs/LICENSE*",
    "revealjs/dist/reveal.css",
    "revealjs/dist/reveal.js",
    "revealjs/dist/theme/white.css",
    "revealjs/dist/theme/fonts/source-sans-pro/*",
    "revealjs/plugin/notes/notes.js",
)
NONE: Mapping[str, object] = MappingProxyType({})


def settings(book: Path, cache: Path) -> dict[str, Any]:
    """Return Sphinx's configuration for a book's slides, which have no conf.py."""
    from myst_nb.core.render import base_render_priority  # import late, as Sphinx

    return {
        "project": "The roofline",
        "extensions": ["myst_nb", "sphinx_revealjs", "slides_extension"],
        "root_doc": f"{NAME}/roofline",
        "include_patterns": [f"{NAME}/*.md"],
        "exclude_patterns": [path.name for path in book.iterdir() if path.name != NAME],
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
        "revealjs_css_files": ["palette.css", "figures.css", "slides.css"],
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
            srcdir=book,
            confdir=None,
            outdir=made / "html",
            doctreedir=made / "doctrees",
            buildername=builder,
            confoverrides=settings(book, cache) | dict(more),
            status=None,
            warning=sys.stderr,
            # Read all decks again: cells are cached, and reading and writing take a second. Without
            # `force_all`, which compiles all catalogs again: then each page would be outdated.
            freshenv=True,
            warningiserror=True,
            keep_going=True,
        )
        app.build()
    return app.statuscode == 0


def build(book: Path, output: Path, cache: Path, more: Mapping[str, object]) -> bool:
    """Build the decks of a book into the site in `output`; return whether that succeeded.

    more: settings of Sphinx for the site's language.
    """
    # Don't build in the site's folder: MyST-NB puts executed notebooks next to what it builds.
    made, site = output / NAME, output / "html"
    if not any((book / NAME).glob("*.md")):
        return True
    shutil.rmtree(made / "html", ignore_errors=True)  # drop deleted decks
    if not make(book, made, cache, more=more):
        return False
    shutil.rmtree(site / NAME, ignore_errors=True)
    shutil.copytree(made / "html" / NAME, site / NAME)
    for source in (path for used in USED for path in (made / "html" / "_static").glob(used)):
        target = site / source.relative_to(made / "html")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
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
