"""Parts of Python in the pages and of its editor, with their licenses.

The directive `{page-python-parts}` shows them in a table. The license of a package is quoted from
its metadata; parts that aren't packages are listed in pyodide.toml.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from browser.pyodide import files as pyodide_files

PINNED = pyodide_files.HERE / "pyodide.toml"
EDITOR = "CodeMirror, with Lezer"
BUNDLE = Path(__file__).parent / "codemirror" / "codemirror.min.js"
BUNDLED = BUNDLE.with_name("packages.json")  # the bundle's hash, and each package in it
HEAD = "| part | license | version |\n|:--|:--|:--|\n"


@dataclass(frozen=True)
class Part:
    """Row of the table of all parts.

    `source` is an address, or "" if `site/licenses.txt` has the license.
    """

    name: str
    version: str
    license: str
    source: str = ""


def parts() -> list[Part]:
    """Return the parts of Pyodide's own files, and the packages served with them."""
    pinned = pyodide_files.pinned()
    listed: list[dict[str, str]] = pinned["part"]  # type: ignore[assignment]
    names: dict[str, str] = pinned["licenses"]  # type: ignore[assignment]
    found = [Part(one["name"], one["version"], one["license"], one["source"]) for one in listed]
    packages = lock()["packages"].items()
    return found + [Part(name, each["version"], names[name]) for name, each in packages]


def lock() -> dict[str, Any]:
    """Return Pyodide's lock: "packages" by name, and "info" with the version of Python."""
    found: dict[str, Any] = json.loads(pyodide_files.LOCK.read_text(encoding="utf-8"))
    return found


def table() -> str:
    """Return all parts as a Markdown table, with the editor's packages in one row."""
    bundled = json.loads(BUNDLED.read_text(encoding="utf-8"))["packages"]
    license = ", ".join(sorted({one["license"] for one in bundled}))
    (version,) = (one["version"] for one in bundled if one["name"] == "@codemirror/view")
    rows = [*parts(), Part(EDITOR, version, license)]
    return HEAD + "".join(
        f"| {f'[{row.name}]({row.source})' if row.source else row.name} | {row.license} "
        f"| {row.version} |\n"
        for row in rows
    )


class PagePythonParts(SphinxDirective):
    """Directive ``{page-python-parts}``: a table of the software that runs in pages."""

    def run(self) -> list[nodes.Node]:
        """Parse the table into the page."""
        for path in (PINNED, pyodide_files.LOCK, BUNDLED):
            self.env.note_dependency(str(path))
        found = nodes.Element()
        lines = StringList(table().splitlines(), source=str(PINNED))
        self.state.nested_parse(lines, self.content_offset, found)
        for made in found.children:
            made["made"] = True  # its numbers are no mistake
        return list(found.children)
