"""Python in the page: a reader changes a cell and runs it, and the prose follows.

A page brings a small script with its buttons. All else is fetched when one of them is pressed: the
workbench (scripts), Pyodide (Python in WebAssembly, got by site/pyodide_files.py), the course's
packages and the page's steps, a file of JSON beside the page.
"""

import ast
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
import pyodide_files
import pyodide_library
from book_extension import licences
from book_extension.values import is_hidden
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from . import codemirror, made_of

HERE = Path(__file__).parent
BOOK_EXTENSION = HERE.parent / "book_extension"
# Where build.py says that Pyodide's files lie; empty or not there: pages get no buttons.
FILES = "ROOFLINE_PYODIDE"
FOLDER = "python"  # below _static
PACKAGES = "course.zip"
SCRIPTS = (
    "answers.js",
    "check_queue.js",
    "closing.js",
    "editor.js",
    "engine.js",
    "exercise_python.js",
    "kept_answers.js",
    "kept_start.js",
    "notebook_words.js",
    "outputs.js",
    "own_cells.js",
    "panel.js",
    "released.js",
    "watch.js",
    "workbench.js",
    "worker.js",
)
BUTTONS, ANSWER, DONE = "run-buttons.js", "answer-button.js", "parts-done.js"
STYLE = "page-python.css"
OVERVIEW = "chapters/learners"  # where all exercises' progress is listed
EXERCISE = re.compile(r"exercises/(?P<name>[\w-]+)/(?P=name)")
LIVE = '<figure class="live"'
# What the browser's Python imports beside the course's packages.
PYTHON_FILES = (
    "call_times",
    "cell_names",
    "markdown_html",
    "page_runner",
    "stand_ins",
    "whole_numbers",
)
RUNNER = {
    "page_python": [HERE / f"{name}.py" for name in PYTHON_FILES],
    "book_extension": [BOOK_EXTENSION / f"{name}.py" for name in ("themed_svg", "table_widths")],
}
PACKED = (".py", ".toml", ".csv")


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("html-page-context", offer_python)
    app.add_directive("page-python-parts", made_of.PagePythonParts)
    app.connect("builder-inited", serve_python)
    # After the texts of the other packages have been written (500).
    app.connect("builder-inited", add_licences, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def files() -> Path | None:
    """The folder of Pyodide's files, if the site has Python in its pages."""
    folder = os.environ.get(FILES)
    return Path(folder) if folder else None


def offer_python(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Write a page's steps beside it and give it buttons, if it has a cell or parts to answer."""
    if files() is None or doctree is None or app.builder.format != "html":
        return
    if exercise := EXERCISE.fullmatch(page):
        add_script(app, context, ANSWER, {"data-exercise": exercise["name"]})
    if exercise or page == OVERVIEW:
        add_script(app, context, DONE, {"data-overview": "1" if page == OVERVIEW else ""})
    executed = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    if not any(is_shown(cell) for cell in cells(doctree)) or not executed.exists():
        return
    notebook = nbformat.read(executed, as_version=4)
    target = Path(app.outdir) / f"{page}.steps.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(compact(steps_of(notebook, doctree)), encoding="utf-8")
    add_script(app, context, BUTTONS, {"data-steps": target.name})


def add_script(app: Sphinx, context: dict[str, Any], name: str, told: dict[str, str]) -> None:
    """Give a page one of the small scripts, and tell that where the others are."""
    app.add_css_file(STYLE)
    attributes: dict[str, Any] = {"data-python": scripts_address(app, context), **told}
    app.add_js_file(name, loading_method="defer", **attributes)


def scripts_address(app: Sphinx, context: Mapping[str, Any]) -> str:
    """Where a page finds the scripts that a press fetches."""
    folder = f"_static/{FOLDER}/{scripts_digest(Path(app.srcdir))}/"
    return str(context["pathto"](folder, resource=True))


def cells(doctree: nodes.document) -> Iterator[nodes.container]:
    """The code cells that a page shows, or whose outputs it shows, in its order."""
    for container in doctree.findall(nodes.container):
        if container.get("nb_element") == "cell_code":
            yield container


def is_shown(cell: nodes.container) -> bool:
    """Is the cell's code on the page?"""
    return any("cell_input" in part.get("classes", ()) for part in cell.findall(nodes.container))


def is_live(cell: nodes.container) -> bool:
    """A figure with controls follows them by itself, and is not drawn anew."""
    return any(LIVE in raw.astext() for raw in cell.findall(nodes.raw))


def steps_of(notebook: NotebookNode, doctree: nodes.document) -> dict[str, Any]:
    """What the page's Python does from top to bottom, and where on the page it is shown.

    steps: {"code", "cell", "alt"}, cell being the place among the page's cells or null; or
    {"values": [expression, ...]}, in which "names" has what the page's words call a chip or a model
    that the cell above has chosen. spans: for each value on the page, in its order, its
    expression's place in `expressions`.
    """
    shown = list(cells(doctree))
    place = {cell["cell_index"]: number for number, cell in enumerate(shown)}
    live = {cell["cell_index"] for cell in shown if is_live(cell)}
    steps: list[dict[str, Any]] = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or index in live:
            continue
        if cell.source.startswith("_page_values("):
            steps.append({"values": arguments(cell.source)})
        elif not is_hidden(cell):
            alt = ((cell.metadata.get("mystnb") or {}).get("image") or {}).get("alt", "")
            steps.append({"code": cell.source, "cell": place.get(index), "alt": alt.strip()})
            if names := chosen(cell.source):
                steps.append({"values": list(names), "names": names})
    prose = [step for step in steps if "names" not in step]
    expressions = list(dict.fromkeys(e for step in prose for e in step.get("values", ())))
    number = {expression: place for place, expression in enumerate(expressions)}
    spans = [
        number[span["expression"]]
        for span in doctree.findall(nodes.inline)
        if "computed" in span["classes"]
    ]
    return {"steps": steps, "expressions": expressions, "spans": spans}


def chosen(source: str) -> dict[str, str]:
    """Expression → name of each chip and model that a cell chooses by a name in it, and keeps."""
    tree = ast.parse(source)
    stored = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        (target,) = node.targets if len(node.targets) == 1 else (None,)
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for kept, value in pairs:
            match kept, value:
                case (
                    ast.Name(id=variable),
                    ast.Call(
                        func=ast.Attribute(value=ast.Name(id="rl"), attr="chip" | "model"),
                        args=[ast.Constant(value=str(name))],
                    ),
                ) if stored.count(variable) == 1:
                    found[f"{variable}.name"] = name
    return found


def arguments(source: str) -> list[str]:
    """The expressions of a hidden cell that computes values."""
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    return [ast.literal_eval(argument) for argument in call.args]


def compact(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def serve_python(app: Sphinx) -> None:
    """Put Pyodide, the course's packages and the scripts into the site, or take them out."""
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
    # Folders named after what is in them: what a browser keeps of one is never of another build.
    scripts = target / scripts_digest(Path(app.srcdir))
    runtime = target / runtime_name(pyodide)
    for old in set(target.glob("*")) - {scripts, runtime}:
        shutil.rmtree(old)
    for folder in (scripts, runtime):
        folder.mkdir(parents=True, exist_ok=True)
    for name in pyodide_files.SERVED:
        link(pyodide / name, runtime / name)
    shutil.copyfile(pyodide_files.LOCK, runtime / pyodide_files.LOCK.name)
    for name in SCRIPTS:
        shutil.copyfile(HERE / name, scripts / name)
    (scripts / codemirror.SCRIPT).write_text(codemirror.script(), encoding="utf-8")
    pack(Path(app.srcdir), scripts / PACKAGES)
    # Of which two scripts are fetched without being counted.
    counted = [path for path in runtime.iterdir() if path.suffix != ".js"]
    total = sum(path.stat().st_size for path in [*counted, scripts / PACKAGES])
    # What a page fetches of it that goes on from a start that the browser has kept.
    archives = (runtime / pyodide_library.PACKAGES, scripts / PACKAGES)
    again = total - sum(path.stat().st_size for path in archives)
    told = {"bytes": total, "again": again, "pyodide": f"../{runtime.name}/"}
    (scripts / "files.json").write_text(compact(told), encoding="utf-8")
    for name in (BUTTONS, ANSWER, DONE, STYLE):
        shutil.copyfile(HERE / name, static / name)


def add_licences(app: Sphinx) -> None:
    """Put the licences of all this into the file that has the others."""
    told, pyodide = Path(app.outdir) / licences.FILE, files()
    if pyodide is not None and app.builder.format == "html" and told.is_file():
        with told.open("a", encoding="utf-8") as file:
            file.write(f"\n{made_of.texts(pyodide)}")


def link(source: Path, target: Path) -> None:
    """The same file at another place, without a copy where the disk allows that."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


@cache
def scripts_digest(book: Path) -> str:
    """Changes with all that is in the folder of the scripts."""
    contents = [(HERE / name).read_bytes() for name in SCRIPTS]
    contents.append(codemirror.script().encode())
    contents += [part for name, file in packed(book).items() for part in (name.encode(), file)]
    contents.append(runtime_name(files() or book).encode())
    return short(b"\0".join(contents))


@cache
def runtime_name(pyodide: Path) -> str:
    """The folder of Pyodide's files, named after what is in them."""
    found = "".join(pyodide_files.sha256(pyodide / name) for name in pyodide_files.SERVED)
    return f"pyodide-{short(found.encode())}"


def short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def packed(book: Path) -> Mapping[str, bytes]:
    """The files that the page's Python imports, by their path: no solution, no hidden case."""
    found = {f"{package}/__init__.py": b"" for package in RUNNER}
    for package, paths in RUNNER.items():
        found |= {f"{package}/{path.name}": path.read_bytes() for path in paths}
    for folder in (book / "rooflib", book / "kit" / "roofkit", book / "kit" / "roofmeter"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in PACKED and "validate" not in path.parts:
                found[path.relative_to(book).as_posix()] = path.read_bytes()
    for path in sorted((book / "exercises").glob("*/*.ipynb")):
        found[path.relative_to(book).as_posix()] = facts_of(path)
    return found


def facts_of(notebook: Path) -> bytes:
    """Of an exercise what its page says beforehand: its title, and the facts of its metadata."""
    source = json.loads(notebook.read_text(encoding="utf-8"))
    title = "".join(source["cells"][0]["source"]).splitlines()[0]
    facts = {"exercise": source["metadata"].get("exercise", {})}
    return compact({"cells": [{"source": title}], "metadata": facts}).encode()


def pack(book: Path, target: Path) -> None:
    """The same files make the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in packed(book).items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
