"""Python in the page: a reader edits and runs a cell, and the prose follows.

A page loads a small script with its buttons. The rest is fetched when a button is pressed, or in
advance in a tab that has run Python before: the scripts, Pyodide (Python in WebAssembly, obtained
by site/browser/pyodide/files.py), the course's packages, and the page's steps, a JSON file next to
the page.
"""

import hashlib
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

from . import made_of

HERE = Path(__file__).parent
BOOK_EXTENSION = HERE.parents[1] / "book_extension"
# The folder of Pyodide's files, set by build.py; if empty or not set, pages get no buttons.
FILES = "ROOFLINE_PYODIDE"
FOLDER = "python"  # below _static
PACKAGES = "course.zip"
# Archive with a translation's words for the pages' Python; only translated pages fetch it.
WORDS = "words-{}.zip"
SCRIPTS = (
    "editor.js",
    "exercise.js",
    "exercise_notebook.js",
    "exercise_runs.js",
    "markdown.js",
    "outputs.js",
    "page.js",
    "panel.js",
    "python.js",
    "python_worker.js",
    "safe_html.js",
    "saved_answers.js",
    "values.js",
)
BUTTONS, ANSWER, DONE = "run-buttons.js", "answer-button.js", "parts-done.js"
STYLE = "page-python.css"
OVERVIEW = "chapters/learners"  # the page that lists the progress of all exercises
EXERCISE = re.compile(r"exercises/(?P<name>[\w-]+)")
LIVE = '<figure class="live"'
# Modules of this folder that the browser's Python imports, besides the course's packages.
PYTHON_FILES = ("notebook_stubs", "page", "whole_numbers")
RUNNER = {
    "browser/python": [HERE / f"{name}.py" for name in PYTHON_FILES],
    "book_extension": [BOOK_EXTENSION / "themed_svg.py"],
}
PACKED = (".py", ".toml", ".csv")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", mark_first_input)
    app.connect("html-page-context", offer_python)
    app.add_directive("page-python-parts", made_of.PagePythonParts)
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
    if files() is None or doctree is None:
        return
    if exercise := EXERCISE.fullmatch(page):
        version = made_of.lock()["info"]["python"].rpartition(".")[0]
        add_script(
            app, context, ANSWER, {"data-exercise": exercise["name"], "data-version": version}
        )
    if exercise or page == OVERVIEW:
        add_script(app, context, DONE, {"data-overview": "1" if page == OVERVIEW else ""})
    executed = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    if not any(is_shown(cell) for cell in cells(doctree)) or not executed.exists():
        return
    notebook = nbformat.read(executed, as_version=4)
    target = Path(app.outdir) / f"{page}.steps.json"
    ensuredir(target.parent)
    target.write_text(compact(steps_of(notebook, doctree)), encoding="utf-8")
    add_script(app, context, BUTTONS, {"data-steps": target.name, "data-page": page})


def add_script(app: Sphinx, context: dict[str, Any], name: str, data: dict[str, str]) -> None:
    """Add one of the small scripts to a page, with the address of the other scripts."""
    app.add_css_file(STYLE)
    attributes: dict[str, Any] = {"data-python": scripts_address(app, context), **data}
    if name in (BUTTONS, ANSWER):
        attributes["data-megabytes"] = megabytes()
    app.add_js_file(name, loading_method="defer", **attributes)


def scripts_address(app: Sphinx, context: Mapping[str, Any]) -> str:
    """Return the address, seen from a page, of the scripts that it fetches later."""
    folder = f"_static/{FOLDER}/{scripts_digest(Path(app.srcdir))}/"
    up = "../" if is_translation(app) else ""  # all languages use the original's Python
    return up + str(context["pathto"](folder, resource=True))


@cache
def megabytes() -> str:
    """Return about how many MB the first click downloads, by Pyodide's files alone."""
    folder = files()
    assert folder is not None
    return f"{sum((folder / name).stat().st_size for name in pyodide_files.SERVED) / 1e6:.0f}"


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
    {"values": [[expression, text], ...]}: the values in a text, in the order in which the page
    shows them. These texts are the cells', which are English; the page's script translates words.
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
            # "original" is what the cells gave, where a translated page shows other words.
            found = [[str(v["expression"]), str(v.get("original", v.astext()))] for v in values]
            # A translation may have the values of a text in another order.
            if sorted(expression for expression, _ in found) != sorted(wanted):
                raise PageError(f"{wanted!r} expected, {found!r} found on the page")
            steps.append({"values": found})
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
    if pyodide is None:
        shutil.rmtree(target, ignore_errors=True)
        for steps in Path(app.outdir).rglob("*.steps.json"):
            steps.unlink()
        return
    for name in (BUTTONS, ANSWER, DONE, STYLE):
        shutil.copyfile(HERE / name, static / name)
    if is_translation(app):
        return
    # Folders named after a hash of their files: browsers never mix cached files of two builds.
    scripts = target / scripts_digest(Path(app.srcdir))
    runtime = target / runtime_name(pyodide)
    for old in set(target.glob("*")) - {scripts, runtime}:
        shutil.rmtree(old)
    for folder in (scripts, runtime):
        ensuredir(folder)
    for name in pyodide_files.SERVED:
        link(pyodide / name, runtime / name)
    shutil.copyfile(pyodide_files.LOCK, runtime / pyodide_files.LOCK.name)
    for name in SCRIPTS:
        shutil.copyfile(HERE / name, scripts / name)
    shutil.copyfile(made_of.BUNDLE, scripts / "codemirror.js")
    pack(packed(Path(app.srcdir)), scripts / PACKAGES)
    for language in contents.languages(Path(app.srcdir)):
        found = {f"kit/roofkit/locale/{language}.mo": words(Path(app.srcdir), language)}
        pack(found, scripts / WORDS.format(language))
    # Don't count Pyodide's two scripts: a page can't see the progress of their download.
    counted = [path for path in runtime.iterdir() if path.suffix != ".js"]
    total = sum(path.stat().st_size for path in [*counted, scripts / PACKAGES])
    files_json = {"bytes": total, "pyodide": f"../{runtime.name}/"}
    (scripts / "files.json").write_text(compact(files_json), encoding="utf-8")


def link(source: Path, target: Path) -> None:
    """Hard-link a file, or copy it where the disk does not allow that."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


@cache
def scripts_digest(book: Path) -> str:
    """Return a hash of everything in the folder of the scripts."""
    parts = [(HERE / name).read_bytes() for name in SCRIPTS]
    parts.append(made_of.BUNDLE.read_bytes())
    parts += [part for name, file in packed(book).items() for part in (name.encode(), file)]
    parts += [words(book, language) for language in contents.languages(book)]
    parts.append(runtime_name(files() or book).encode())
    return short(b"\0".join(parts))


@cache
def runtime_name(pyodide: Path) -> str:
    """Return the name of the folder of Pyodide's files, with a hash of them."""
    found = "".join(pyodide_files.sha256(pyodide / name) for name in pyodide_files.SERVED)
    return f"pyodide-{short(found.encode())}"


def short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


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


@cache
def words(book: Path, language: str) -> bytes:
    """Return a language's compiled catalog for Python code."""
    return compile_catalogs(catalogs.folder(book, language))


def pack(contents: Mapping[str, bytes], target: Path) -> None:
    """Write an archive of path → content; the same contents give the same bytes."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in contents.items():
            # An explicit ZipInfo has a fixed date, so the archive is reproducible.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
