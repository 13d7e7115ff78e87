"""Translated words for scripts, and a language's style sheet; not in the original.

A script sets the words before the others run. In the original they use those in their code.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util.osutil import ensuredir

from roofkit.words import ORIGINAL

from . import code_words

_ = get_translation("sphinx")
SCRIPT = "words.js"
STYLE = "language.css"  # a copy of the language's own style.css


def write_words(app: Sphinx) -> None:
    """Add a style sheet and the translations for scripts to a translated site."""
    if app.builder.format != "html" or app.config.language == ORIGINAL:
        return
    found = {"courseWords": translated(code_words.of_javascript(Path(app.srcdir)))}
    static = Path(app.outdir) / "_static"
    ensuredir(static)
    (static / SCRIPT).write_text(f"Object.assign(window, {json.dumps(found)});\n", encoding="utf-8")
    attributes: dict[str, Any] = {"loading_method": "defer", "priority": 100}
    app.add_js_file(SCRIPT, **attributes)
    style = Path(app.srcdir, "locale", app.config.language, "style.css")
    if style.is_file():
        shutil.copyfile(style, static / STYLE)
        app.add_css_file(STYLE, priority=950)


def translated(messages: Iterable[str]) -> dict[str, str]:
    """Return English → translation for the messages that have one."""
    return {english: said for english in messages if (said := str(_(english))) != english}
