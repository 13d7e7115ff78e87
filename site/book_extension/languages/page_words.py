"""Translated words of the pages' scripts, as a script that sets them before the others run.

In the original, scripts use the English words that stand in their code, and load nothing.
"""

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from . import catalogs, code_words

SCRIPT = "words.js"


def write_words(app: Sphinx) -> None:
    """Write the words of scripts into a translated site, and load them on each page."""
    folder = catalogs.folder(Path(app.srcdir), app.config.language)
    if app.builder.format != "html" or not folder.is_dir():
        return
    found = of_scripts(Path(app.srcdir), folder / f"{catalogs.CODE}.po")
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    data = json.dumps(found, ensure_ascii=False, indent=0)
    (static / SCRIPT).write_text(f"window.courseWords = {data};\n", encoding="utf-8")
    attributes: dict[str, Any] = {"loading_method": "defer", "priority": 100}
    app.add_js_file(SCRIPT, **attributes)


def of_scripts(book: Path, catalog: Path) -> dict[str, str]:
    """Return English → translation of the messages in JavaScript, as far as there is one."""
    found = filter(catalogs.is_current, catalogs.messages(catalogs.read(catalog)))
    known = {str(message.id): str(message.string) for message in found}
    scripts = code_words.of_javascript(book)
    return {english: known[english] for english in scripts if english in known}
