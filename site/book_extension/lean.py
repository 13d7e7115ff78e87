"""Style sheets and scripts without their comments, which readers would load on every page."""

import re
from pathlib import Path

from sphinx.application import Sphinx

# What this repository wrote. A comment in a script has lines of its own.
OURS = (
    *("course.css", "guesses.css", "live.css", "page-links.css", "page-python.css"),
    *("answer-button.js", "course.js", "guesses.js", "live.js", "page-links.js", "parts-done.js"),
    *("run-buttons.js", "search-excerpts.js", "term-notes.js"),
)
IN_STYLES = re.compile(r"/\*.*?\*/\s*|^[ ]+|\n(?=\n)", re.DOTALL | re.MULTILINE)
IN_SCRIPTS = re.compile(r"^[ ]*//.*\n", re.MULTILINE)


def without_comments(text: str, kind: str) -> str:
    """A style sheet (kind ".css") or a script (".js") that does the same."""
    return (IN_STYLES if kind == ".css" else IN_SCRIPTS).sub("", text)


def leave_out_comments(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        for name in OURS:
            path = Path(app.outdir) / "_static" / name
            if path.exists():
                full = path.read_text(encoding="utf-8")
                path.write_text(without_comments(full, path.suffix), encoding="utf-8")
