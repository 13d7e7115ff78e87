"""Parts of Python in the pages and of its editor, with their licenses.

The directive `{page-python-parts}` shows them in a table. The license of a package is quoted from
its metadata; parts that aren't packages are listed in pyodide.toml.
"""

import json
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


def lock() -> dict[str, Any]:
    """Return Pyodide's lock: "packages" by name, and "info" with the version of Python."""
    found: dict[str, Any] = json.loads(pyodide_files.LOCK.read_text(encoding="utf-8"))
    return found


def table() -> str:
    """Return the parts of Pyodide's own files, the packages served with them, and the editor.

    Parts have a link to their source; `site/licenses.txt` has the licenses of the others.
    """
    pinned: dict[str, Any] = pyodide_files.pinned()
    rows = [(f"[{p['name']}]({p['source']})", p["license"], p["version"]) for p in pinned["part"]]
    for name, package in lock()["packages"].items():
        rows.append((name, pinned["licenses"][name], package["version"]))
    bundled = json.loads(BUNDLED.read_text(encoding="utf-8"))["packages"]
    licenses = ", ".join(sorted({one["license"] for one in bundled}))
    (version,) = (one["version"] for one in bundled if one["name"] == "@codemirror/view")
    rows.append((EDITOR, licenses, version))
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


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
