"""Translated words for scripts, and a language's style sheet; not in the original.

A script sets the words before the others run. In the original they use those in their code.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from babel.messages.mofile import read_mo
from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

from . import catalogs, code_words

SCRIPT = "words.js"
STYLE = "language.css"  # a copy of the language's own style.css


def write_words(app: Sphinx) -> None:
    """Add a style sheet and the translations for scripts to a translated site."""
    folder = Path(app.config.locale_dirs[0], app.config.language, "LC_MESSAGES")
    compiled = folder / f"{catalogs.SPHINX}.mo"
    if app.builder.format != "html" or not compiled.is_file():
        return
    found = {"courseWords": translated(compiled, code_words.of_javascript(Path(app.srcdir)))}
    static = Path(app.outdir) / "_static"
    ensuredir(static)
    (static / SCRIPT).write_text(f"Object.assign(window, {json.dumps(found)});\n", encoding="utf-8")
    attributes: dict[str, Any] = {"loading_method": "defer", "priority": 100}
    app.add_js_file(SCRIPT, **attributes)
    style = Path(app.srcdir, "locale", app.config.language, "style.css")
    if style.is_file():
        shutil.copyfile(style, static / STYLE)
        app.add_css_file(STYLE, priority=950)


def translated(compiled: Path, messages: Iterable[str]) -> dict[str, str]:
    """Return English → translation for the messages that have one."""
    with compiled.open("rb") as file:
        found = list(catalogs.messages(read_mo(file)))
    known = {str(message.id): str(message.string) for message in found}
    return {english: known[english] for english in messages if english in known}
