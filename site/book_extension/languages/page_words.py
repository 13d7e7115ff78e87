"""Files of a translated site only: the words of scripts, and a style sheet.

A script sets the words before the others run. In the original they use those in their code.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from . import catalogs, code_words

SCRIPT = "words.js"
STYLE = Path(__file__).parent / "chinese.css"


def write_words(app: Sphinx) -> None:
    """Write words and style into a translated site, and load them on each page."""
    folder = catalogs.folder(Path(app.srcdir), app.config.language)
    if app.builder.format != "html" or not folder.is_dir():
        return
    found = of_scripts(Path(app.srcdir), folder)
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    data = json.dumps(found, ensure_ascii=False, indent=0)
    (static / SCRIPT).write_text(f"window.courseWords = {data};\n", encoding="utf-8")
    attributes: dict[str, Any] = {"loading_method": "defer", "priority": 100}
    app.add_js_file(SCRIPT, **attributes)
    shutil.copyfile(STYLE, static / STYLE.name)
    app.add_css_file(STYLE.name, priority=950)


def of_scripts(book: Path, folder: Path) -> dict[str, str]:
    """Return English → translation of the messages in JavaScript, as far as there is one."""
    found = catalogs.messages(catalogs.of_code(folder, folder.parent.name))
    known = {str(message.id): str(message.string) for message in found}
    scripts = code_words.of_javascript(book)
    return {english: known[english] for english in scripts if english in known}
