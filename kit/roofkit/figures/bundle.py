"""The figures' modules and their catalog as scripts.

Pages that are opened from disk can't import modules, so each module becomes a function of a script:
one script has what all figures share, `lib` and the catalog, and each figure has one of its own,
which a page loads when it shows the figure.
"""

from __future__ import annotations

import functools
import hashlib
import json
import posixpath
import re
from graphlib import TopologicalSorter
from pathlib import Path

from roofkit.figures import catalog
from rooflib.catalog import read_toml

FOLDER = Path(__file__).parent
SHARED = "figures.js"
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)


def names() -> list[str]:
    """Return the names of the figures, each a module."""
    return sorted(path.stem for path in FOLDER.glob("*.js"))


def module(name: str) -> str:
    """Return a module as a statement that adds what it exports to `modules`."""
    source = COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8"))

    def taken(found: re.Match[str]) -> str:
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), found[2]))
        return f"const {{{found[1].replace(' as ', ': ')}}} = modules[{other!r}];\n"

    body = EXPORT.sub("", IMPORT.sub(taken, source))
    given = f"return {{ {', '.join(EXPORT.findall(source))} }};"
    return f"modules[{name!r}] = (() => {{\n{body}{given}\n}})();\n"


def figure(name: str) -> str:
    """Return a figure's module, and what adds the figure to `FIGURES`."""
    return f"{module(f'{name}.js')}FIGURES[{name!r}] = modules['{name}.js'].{name};\n"


def shared() -> str:
    """Return `modules`, `FIGURES` (name → what makes the figure), still empty, and `CATALOG`."""
    imports = {
        path.name: [
            posixpath.basename(other)
            for _, other in IMPORT.findall(path.read_text(encoding="utf-8"))
        ]
        for path in sorted((FOLDER / "lib").glob("*.js"))
    }
    library = "".join(module(f"lib/{name}") for name in TopologicalSorter(imports).static_order())
    known = json.dumps(catalog.catalog(), ensure_ascii=False, separators=(",", ":"))
    return f"const modules = {{}}, FIGURES = {{}}, CATALOG = {known};\n{library}"


@functools.cache
def script() -> str:
    """Return `modules`, `FIGURES` and `CATALOG` with all figures."""
    return shared() + "".join(map(figure, names()))


def for_pages() -> dict[str, str]:
    """Return the scripts of pages by their path: `figures.js` loads those of the figures."""
    version = hashlib.sha256(script().encode()).hexdigest()[:8]
    start = f"modules['lib/page.js'].start(FIGURES, CATALOG, {version!r});"
    base = f"{shared()}{start}\nreturn {{ modules, FIGURES }};"
    found = {SHARED: f"const liveFigures = (() => {{\n{base}\n}})();\n"}
    for name in names():
        code = f"(({{ modules, FIGURES }}) => {{\n{figure(name)}}})(liveFigures);\n"
        found[f"figures/{name}.js"] = code
    return found


def for_build() -> str:
    """Return an expression: the function that gives what is inside a figure before scripts run."""
    return f"(() => {{\n{script()}return modules['lib/page.js'].still(FIGURES, CATALOG);\n}})()"


def for_notebooks() -> str:
    """Return the module of a widget."""
    return (
        f"{script()}export default {{ render: modules['lib/lab.js'].render(FIGURES, CATALOG) }};\n"
    )


def style() -> str:
    """Return the style sheet of a widget, with the palette, which pages have already."""
    palette = read_toml("palette.toml")
    light, dark = (
        "".join(f"--{name}:{pair[i]};" for name, pair in palette.items()) for i in (0, 1)
    )
    colors = f'figure.live{{{light}}}\n[data-jp-theme-light="false"] figure.live{{{dark}}}\n'
    return colors + (FOLDER / "figures.css").read_text(encoding="utf-8")
