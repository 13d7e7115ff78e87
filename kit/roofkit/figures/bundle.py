"""The figures' modules and their catalog as scripts.

Pages that are opened from disk can't import modules, so each module becomes a function of a script:
one script has what all figures share, `lib` and the catalog, and each figure has one of its own,
which a page loads when it shows the figure.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

from roofkit.figures.catalog import catalog
from rooflib.catalog import read_toml

FOLDER = Path(__file__).parent
LIBRARY = ("units", "svg", "words", "formulas", "figure", "lab", "page")
"""The modules of `lib`, each after those that it imports."""
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(?:lib/)?(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)


def names() -> list[str]:
    """Return the names of the figures, each a module."""
    return sorted(path.stem for path in FOLDER.glob("*.js"))


def module(path: Path) -> str:
    """Return a module as an expression: the object of what it exports."""

    def taken(found: re.Match[str]) -> str:
        return f"const {{{found[1].replace(' as ', ': ')}}} = LIB.{found[2]};\n"

    source = IMPORT.sub(taken, COMMENT.sub("", path.read_text(encoding="utf-8")))
    given = ", ".join(EXPORT.findall(source))
    return f"(() => {{\n{EXPORT.sub('', source)}return {{ {given} }};\n}})()"


def figure(name: str) -> str:
    """Return a statement that adds the function of a figure to `FIGURES`."""
    return f"FIGURES.{name} = {module(FOLDER / f'{name}.js')}.{name};\n"


def shared() -> str:
    """Return `LIB`, the modules that figures share; `CATALOG`; and `FIGURES`, still empty."""
    known = json.dumps(catalog(), ensure_ascii=False, separators=(",", ":"))
    library = (f"LIB.{name} = {module(FOLDER / 'lib' / f'{name}.js')};\n" for name in LIBRARY)
    return f"const LIB = {{}}, FIGURES = {{}}, CATALOG = {known};\n{''.join(library)}"


@functools.cache
def script() -> str:
    """Return the script with all figures."""
    return shared() + "".join(map(figure, names()))


def for_pages() -> dict[str, str]:
    """Return the scripts of pages by their path: `figures.js` loads those of the figures."""
    start = "LIB.page.start(FIGURES, CATALOG);\nreturn { LIB, FIGURES };"
    return {
        "figures.js": f"const liveFigures = (() => {{\n{shared()}{start}\n}})();\n",
        **{
            f"figures/{n}.js": f"(({{ LIB, FIGURES }}) => {{\n{figure(n)}}})(liveFigures);\n"
            for n in names()
        },
    }


def for_build() -> str:
    """Return an expression: the function that gives what is inside a figure before scripts run."""
    return f"(() => {{\n{script()}return LIB.page.still(FIGURES, CATALOG);\n}})()"


def for_notebooks() -> str:
    """Return the module of a widget."""
    return f"{script()}export default {{ render: LIB.lab.render(FIGURES, CATALOG) }};\n"


def style() -> str:
    """Return the style sheet of a widget, with the palette, which pages have already."""
    palette = read_toml("palette.toml")
    light, dark = (
        "".join(f"--{name}:{pair[i]};" for name, pair in palette.items()) for i in (0, 1)
    )
    colors = f'figure.live{{{light}}}\n[data-jp-theme-light="false"] figure.live{{{dark}}}\n'
    return colors + (FOLDER / "figures.css").read_text(encoding="utf-8")
