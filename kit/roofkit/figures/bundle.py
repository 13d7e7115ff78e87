"""The figures' modules and their catalog as one script.

Pages that are opened from disk can't import modules, so each module becomes a function of that
script.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
from pathlib import Path

from roofkit.figures import catalog

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)


def names() -> list[str]:
    """Return the names of the figures, each a module."""
    return sorted(path.stem for path in FOLDER.glob("*.js"))


@functools.cache
def script() -> str:
    """Return `modules`, `FIGURES` (name → what makes the figure) and `CATALOG`, as JavaScript."""
    bodies: dict[str, str] = {}

    def add(name: str) -> None:
        """Add a module after those that it imports."""
        if name in bodies:
            return
        source = COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8"))
        exported = EXPORT.findall(source)

        def taken(found: re.Match[str]) -> str:
            other = posixpath.normpath(posixpath.join(posixpath.dirname(name), found[2]))
            add(other)
            return f"const {{{found[1].replace(' as ', ': ')}}} = modules[{other!r}];\n"

        body = EXPORT.sub("", IMPORT.sub(taken, source))
        given = f"return {{ {', '.join(exported)} }};"
        bodies[name] = f"modules[{name!r}] = (() => {{\n{body}{given}\n}})();\n"

    for name in (
        *(f"{name}.js" for name in names()),
        "lib/catalog.js",
        "lib/page.js",
        "lib/lab.js",
    ):
        add(name)
    figures = ", ".join(f"{name!r}: modules['{name}.js'].{name}" for name in names())
    known = json.dumps(catalog.catalog(), ensure_ascii=False, separators=(",", ":"))
    return (
        f"const modules = {{}};\n{''.join(bodies.values())}const FIGURES = {{ {figures} }};\n"
        f"const CATALOG = modules['lib/catalog.js'].catalog({known});\n"
    )


def for_pages() -> str:
    """Return the script of a page: it shows its figures, and those that come later."""
    start = "modules['lib/page.js'].start(FIGURES, CATALOG)"
    return f"(() => {{\n{script()}return {start};\n}})();\n"


def for_notebooks() -> str:
    """Return the module of a widget."""
    return (
        f"{script()}export default {{ render: modules['lib/lab.js'].render(FIGURES, CATALOG) }};\n"
    )


def style() -> str:
    return (FOLDER / "figures.css").read_text(encoding="utf-8")
