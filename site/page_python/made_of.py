"""What Python in the pages and its editor are made of: a table, and the texts of the licences.

The table stands where a page says `{page-python-parts}`. A package's licence has the words of the
package's own metadata; what is no package is listed in pyodide.toml.
"""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyodide_files
from book_extension import licences
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from . import codemirror

PINNED = pyodide_files.HERE / "pyodide.toml"
EDITOR = "CodeMirror, with Lezer"
HEAD = "| part | licence | version |\n|:--|:--|:--|\n"


@dataclass(frozen=True)
class Part:
    """One row of the table; source is an address, "" for what the texts hold whole."""

    name: str
    version: str
    licence: str
    source: str = ""


def parts() -> list[Part]:
    """What Pyodide's files are made of, and the packages beside them."""
    pinned = pyodide_files.pinned()
    told: list[dict[str, str]] = pinned["part"]  # type: ignore[assignment]
    words: dict[str, str] = pinned["licences"]  # type: ignore[assignment]
    found = [Part(one["name"], one["version"], one["licence"], one["source"]) for one in told]
    return found + [Part(name, each["version"], words[name]) for name, each in packages().items()]


def packages() -> dict[str, dict[str, str]]:
    """Name → entry of the release's list, for each package of the pages' Python."""
    found: dict[str, dict[str, str]] = _lock()["packages"]
    return found


def release() -> dict[str, str]:
    """What the release says of itself: its version, its Python and its platform."""
    found: dict[str, str] = _lock()["info"]
    return found


def _lock() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pyodide_files.LOCK.read_text(encoding="utf-8"))
    return found


def editor() -> list[Part]:
    """The packages of the editor."""
    listed = [Part(name, version, kind) for name, version, kind, _ in codemirror.listed()]
    return listed + [
        Part(name, "as in JupyterLab", "MIT", source)
        for name, (_, source) in codemirror.unlisted(codemirror.STATIC).items()
    ]


def table() -> str:
    """All of it as a table in Markdown; the editor's packages, of one licence, in one row."""
    its_own = editor()
    licence = ", ".join(sorted({part.licence for part in its_own}))
    (version,) = {part.version for part in its_own if part.name == "@codemirror/view"}
    rows = [*parts(), Part(EDITOR, version, licence)]
    return HEAD + "".join(
        f"| {f'[{row.name}]({row.source})' if row.source else row.name} | {row.licence} "
        f"| {row.version} |\n"
        for row in rows
    )


class PagePythonParts(SphinxDirective):
    """``{page-python-parts}``: the table."""

    def run(self) -> list[nodes.Node]:
        for path in (PINNED, pyodide_files.LOCK, codemirror.STATIC / codemirror.LISTED):
            self.env.note_dependency(str(path))
        found = nodes.Element()
        lines = StringList(table().splitlines(), source=str(PINNED))
        self.state.nested_parse(lines, self.content_offset, found)
        return list(found.children)


def texts(runtime: Path) -> str:
    """The licences of all parts, where the files of packages lie in a folder.

    A file that is empty, as in tests, has no text.
    """
    told = [licences.entry(f"{p.name}, {p.version}", outside(p)) for p in parts() if p.source]
    for package in packages().values():
        path = runtime / package["file_name"]
        if path.stat().st_size:
            title = f"{package['name']} {package['version']}, in the pages’ Python"
            told.append(licences.of_files(title, members(path)))
    told.append(licences.entry(EDITOR, codemirror.licences(codemirror.STATIC)))
    return "\n".join(told)


def outside(part: Part) -> str:
    return f"Licence: {part.licence}\nSources, and the text of the licence: {part.source}"


def members(wheel: Path) -> dict[str, zipfile.Path]:
    """The files in a wheel, by their path there."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    return {name: zipfile.Path(wheel, name) for name in names if not name.endswith("/")}
