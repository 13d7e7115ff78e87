"""Python in the page: a reader edits and runs a cell, and the prose follows.

A page loads a small script with its buttons. The rest is fetched when a button is pressed, or in
advance in a tab that has run Python before: the scripts, Pyodide (Python in WebAssembly, obtained
by site/browser/pyodide/files.py), the course's packages, and the page's steps, a JSON file next to
the page.
"""

import hashlib
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from book_extension import contents, exercise_pages
from book_extension.languages import catalogs, is_translation
from book_extension.pages import PageError
from book_extension.values import is_hidden, is_values_cell, values_in
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.osutil import ensuredir

from browser.pyodide import files as pyodide_files
from roofkit.words import compile_catalogs

HERE = Path(__file__).parent
EDITOR = HERE / "codemirror" / "codemirror.min.js"
BOOK_EXTENSION = HERE.parents[1] / "book_extension"
# The folder of Pyodide's files, set by build.py; if empty or not set, pages get no buttons.
FILES = "ROOFLINE_PYODIDE"
FOLDER = "python"  # below _static
PACKAGES = "course.zip"
# Archive with a translation's words for the pages' Python; only translated pages fetch it.
WORDS = "words-{}.zip"
BUTTONS = "run-buttons.js"  # what pages load; a press fetches the other scripts
STYLE = "page-python.css"
EXERCISE = re.compile(r"exercises/(?P<name>[\w-]+)")
LIVE = '<figure class="live"'
# Modules of this folder that the browser's Python imports, besides the course's packages.
PYTHON_FILES = ("notebook_stubs", "page", "whole_numbers")
RUNNER = {
    "browser/python": [HERE / f"{name}.py" for name in PYTHON_FILES],
    "book_extension": [BOOK_EXTENSION / "themed_svg.py"],
}
PACKED = (".py", ".toml", ".json")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", mark_first_input)
    app.connect("html-page-context", offer_python)
    app.connect("builder-inited", serve_python)


def files() -> Path | None:
    """Return the folder of Pyodide's files; None for a site without them."""
    folder = os.environ.get(FILES)
    return Path(folder) if folder else None


def mark_first_input(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Mark the page's first code cell, below which CSS leaves room for a note."""
    for part in doctree.findall(nodes.container):
        if "cell_input" in part.get("classes", ()):
            part["classes"].append("first-input")
            return


def offer_python(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add buttons to a page with cells or an exercise; write the page's .steps.json."""
    pyodide = files()
    if pyodide is None or doctree is None:
        return
    data: dict[str, Any] = {}
    exercise = EXERCISE.fullmatch(page)
    if exercise:
        data = {"data-exercise": exercise["name"]}
    elif any(is_shown(cell) for cell in cells(doctree)):
        executed = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
        target = Path(app.outdir) / f"{page}.steps.json"
        ensuredir(target.parent)
        steps = steps_of(nbformat.read(executed, as_version=4), doctree)
        target.write_text(compact(steps), encoding="utf-8")
        data = {"data-steps": target.name, "data-page": page}
    if data:
        app.add_css_file(STYLE)
        folder = f"_static/{FOLDER}/{digest(fetched(Path(app.srcdir), pyodide))}/"
        up = "../" if is_translation(app) else ""  # all languages use the original's Python
        data["data-python"] = up + str(context["pathto"](folder, resource=True))
        data["data-megabytes"] = f"{sum(sizes(pyodide).values()) / 1e6:.0f}"
        app.add_js_file(BUTTONS, loading_method="defer", **data)


def cells(doctree: nodes.document) -> Iterator[nodes.container]:
    """Yield the code cells whose code or outputs a page shows, in order."""
    for container in doctree.findall(nodes.container):
        if container.get("nb_element") == "cell_code":
            yield container


def is_shown(cell: nodes.container) -> bool:
    """Return whether the page shows the cell's code."""
    return any("cell_input" in part.get("classes", ()) for part in cell.findall(nodes.container))


def is_live(cell: nodes.container) -> bool:
    """Return whether the cell shows a figure with controls, which updates itself."""
    return any(LIVE in raw.astext() for raw in cell.findall(nodes.raw))


def steps_of(notebook: NotebookNode, doctree: nodes.document) -> list[dict[str, Any]]:
    """Return the steps that run a page from top to bottom.

    A step is {"code", "cell", "alt"}, where cell is the index among the page's cells or null, or
    {"values": [[expression, power], ...]}: the values in a text, in the order in which the page
    shows them, and the power of ten that `languages.value_words` found after each, 0 without one.
    """
    shown = list(cells(doctree))
    place = {cell["cell_index"]: number for number, cell in enumerate(shown)}
    live = {cell["cell_index"] for cell in shown if is_live(cell)}
    steps: list[dict[str, Any]] = []
    on_page = [node for node in doctree.findall(nodes.inline) if "computed" in node["classes"]]
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or index in live:
            continue
        if is_values_cell(cell):
            wanted = values_in(cell)
            values, on_page = on_page[: len(wanted)], on_page[len(wanted) :]
            found = [v["expression"] for v in values]
            # A translation may have the values of a text in another order.
            if sorted(found) != sorted(wanted):
                raise PageError(f"{wanted!r} expected, {found!r} found on the page")
            steps.append({"values": [[v["expression"], v.get("power", 0)] for v in values]})
        elif not is_hidden(cell):
            alt = ((cell.metadata.get("mystnb") or {}).get("image") or {}).get("alt", "")
            steps.append({"code": cell.source, "cell": place.get(index), "alt": alt.strip()})
    if on_page:
        raise PageError(f"{on_page[0].astext()!r} is a value of no text")
    return steps


def compact(data: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def serve_python(app: Sphinx) -> None:
    """Put Pyodide, packages and scripts into the site; without Pyodide, remove them."""
    if app.builder.format != "html":
        return
    pyodide = files()
    static = Path(app.outdir) / "_static"
    target = static / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    if pyodide is None:
        return
    for name in (BUTTONS, STYLE):
        shutil.copyfile(HERE / name, static / name)
    if is_translation(app):
        return
    scripts = fetched(Path(app.srcdir), pyodide)
    # Folders named after a hash of their files: browsers never mix cached files of two builds.
    folder, runtime = target / digest(scripts), target / runtime_name(pyodide)
    for one in (folder, runtime):
        ensuredir(one)
    for name, content in scripts.items():
        (folder / name).write_bytes(content)
    for path in (*(pyodide / name for name in pyodide_files.SERVED), pyodide_files.LOCK):
        shutil.copyfile(path, runtime / path.name)


@cache
def fetched(book: Path, pyodide: Path) -> dict[str, bytes]:
    """Return name → content of what pages fetch after a press, besides Pyodide's own files."""
    scripts = [path for path in sorted(HERE.glob("*.js")) if path.name != BUTTONS]
    found = {path.name: path.read_bytes() for path in scripts}
    found["codemirror.js"] = EDITOR.read_bytes()
    found[PACKAGES] = archive(packed(book))
    for language in contents.languages(book):
        words = compile_catalogs(catalogs.folder(book, language))
        path = f"kit/roofkit/locale/{language}.mo"
        found[WORDS.format(language)] = archive({path: words})
    # Don't count Pyodide's two scripts: a page can't see the progress of their download.
    total = sum(size for name, size in sizes(pyodide).items() if not name.endswith(".js"))
    total += pyodide_files.LOCK.stat().st_size + len(found[PACKAGES])
    files_json = {"bytes": total, "pyodide": f"../{runtime_name(pyodide)}/"}
    return {**found, "files.json": compact(files_json).encode()}


def sizes(pyodide: Path) -> dict[str, int]:
    """Return name → bytes of Pyodide's files."""
    return {name: (pyodide / name).stat().st_size for name in pyodide_files.SERVED}


def digest(named: Mapping[str, bytes]) -> str:
    """Return a short hash of files' names and contents."""
    parts = (part for name, content in named.items() for part in (name.encode(), content))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]


def runtime_name(pyodide: Path) -> str:
    """Return the name of the folder of Pyodide's files, with a hash of what they are made from."""
    return f"pyodide-{pyodide_files.how_made(pyodide)[:8]}"


def packed(book: Path) -> Mapping[str, bytes]:
    """Return path → content of the files that the page's Python imports.

    These files contain no solutions and no hidden cases.
    """
    found = {f"{package}/__init__.py": b"" for package in RUNNER}
    for package, paths in RUNNER.items():
        found |= {f"{package}/{path.name}": path.read_bytes() for path in paths}
    for folder in (book / "rooflib", book / "kit" / "roofkit", book / "kit" / "roofmeter"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in PACKED and "validate" not in path.parts:
                found[path.relative_to(book).as_posix()] = path.read_bytes()
    for path in exercise_pages.files(book):
        found[path.relative_to(book).as_posix()] = exercise_pages.top(path).encode()
    return found


def archive(contents: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive of path → content; the same contents give the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, content in contents.items():
            # An explicit ZipInfo has a fixed date, so the archive is reproducible.
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()
