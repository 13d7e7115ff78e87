"""What a build writes for Python in the pages: files, scripts' attributes, steps."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import nbformat
import pytest
from book_extension import licenses, values
from book_extension.pages import PageError
from browser import figures, python
from browser.pyodide import files as pyodide_files
from docutils import nodes
from docutils.utils import new_document
from repository import HEADER

NOTEBOOK = {
    "cells": [{"source": ["# Exercise\n", "A text"]}, {"source": "solution"}],
    "metadata": {"exercise": {"minutes": 5}, "kernelspec": "python3"},
}
CATALOG = 'msgid "a"\nmsgstr "一"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a small book, Pyodide's files and an empty site."""
    book = tmp_path / "book"
    for name, text in {
        "rooflib/__init__.py": "SIZE = 7",
        "rooflib/data.toml": "",
        "rooflib/notes.md": "",
        "kit/roofkit/following.py": "",
        "kit/roofkit/validate/server.py": "",
        "kit/roofmeter/run.csv": "",
        "kit/setup.py": "",
        "exercises/one/one.ipynb": json.dumps(NOTEBOOK),
        "locale/zh_CN/LC_MESSAGES/checks.po": CATALOG,
    }.items():
        (book / name).parent.mkdir(parents=True, exist_ok=True)
        (book / name).write_text(text, encoding="utf-8")
    (tmp_path / "pyodide").mkdir()
    for name in pyodide_files.SERVED:
        (tmp_path / "pyodide" / name).write_text("x" * 400_000)
    (tmp_path / "html").mkdir()
    monkeypatch.setenv(python.FILES, str(tmp_path / "pyodide"))
    yield tmp_path
    forget()


def forget() -> None:
    """Clear the caches of values that a build computes only once."""
    for cached in (python.megabytes, python.scripts_digest, python.runtime_name, python.words):
        cached.cache_clear()


def build(folder: Path, builder: str = "html") -> Any:
    forget()
    return Mock(
        srcdir=folder / "book",
        outdir=folder / "html",
        builder=Mock(format=builder),
        config=Mock(language="en"),
    )


def served(folder: Path) -> tuple[Path, Path]:
    """Return the folders of the scripts and of Pyodide."""
    found = sorted((folder / "html/_static/python").iterdir(), key=lambda path: "-" in path.name)
    scripts, runtime = found
    return scripts, runtime


@pytest.mark.parametrize("linked", [True, False])
def test_the_site_has_all_files_that_pressing_run_fetches(
    folder: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    def refused(*_: object) -> None:
        raise OSError("another disk")

    if not linked:
        monkeypatch.setattr(python.os, "link", refused)
    old = folder / "html/_static/python/old"
    old.mkdir(parents=True)
    for _ in range(2):
        python.serve_python(build(folder))
    assert not old.exists()
    scripts, runtime = served(folder)
    lock = pyodide_files.LOCK.name
    assert {path.name for path in runtime.iterdir()} == {*pyodide_files.SERVED, lock}
    assert all((runtime / name).stat().st_size == 400_000 for name in pyodide_files.SERVED)
    both = [place / pyodide_files.SERVED[0] for place in (runtime, folder / "pyodide")]
    assert both[0].samefile(both[1]) == linked
    made = {"codemirror.js", python.PACKAGES, "words-zh_CN.zip", "files.json"}
    assert {path.name for path in scripts.iterdir()} == {*python.SCRIPTS, *made}
    told = json.loads((scripts / "files.json").read_text())
    assert (scripts / told["pyodide"]).resolve() == runtime.resolve()
    # The total for the progress bar leaves out scripts.
    fetched = [*runtime.iterdir(), scripts / python.PACKAGES]
    assert told["bytes"] == sum(p.stat().st_size for p in fetched if p.suffix != ".js")
    static = {path.name for path in (folder / "html/_static").iterdir()} - {"python"}
    assert static == {"run-buttons.js", "answer-button.js", "parts-done.js", "page-python.css"}
    for path in [*scripts.glob("*.js"), folder / "html/_static/run-buttons.js"]:
        if path.name != "codemirror.js":
            assert path.read_bytes() == (python.HERE / path.name).read_bytes()


def test_pages_import_our_packages_without_solutions(folder: Path) -> None:
    python.serve_python(build(folder))
    scripts, _ = served(folder)
    with zipfile.ZipFile(scripts / python.PACKAGES) as archive:
        names = set(archive.namelist())
        facts = json.loads(archive.read("exercises/one/one.ipynb"))
        assert archive.read("rooflib/__init__.py") == b"SIZE = 7"
        assert archive.read("browser/python/__init__.py") == b""
        assert b"class Page" in archive.read("browser/python/page_runner.py")
    assert {name for name in names if not name.startswith(("browser/", "book_extension/"))} == {
        "rooflib/__init__.py",
        "rooflib/data.toml",
        "kit/roofkit/following.py",
        "kit/roofmeter/run.csv",
        "exercises/one/one.ipynb",
    }
    assert facts == {
        "cells": [{"source": "# Exercise"}],
        "metadata": {"exercise": {"minutes": 5}},
    }
    with zipfile.ZipFile(scripts / "words-zh_CN.zip") as archive:
        assert archive.namelist() == ["kit/roofkit/locale/zh_CN.mo"]
        assert "一".encode() in archive.read("kit/roofkit/locale/zh_CN.mo")


@pytest.mark.parametrize(
    "changed",
    [
        "book/rooflib/__init__.py",
        "book/exercises/one/one.ipynb",
        "book/locale/zh_CN/LC_MESSAGES/checks.po",
        f"pyodide/{pyodide_files.SERVED[-1]}",
    ],
)
def test_a_changed_input_changes_the_address_of_the_served_files(
    folder: Path, changed: str
) -> None:
    python.serve_python(build(folder))
    before = served(folder)
    text = (folder / changed).read_text(encoding="utf-8")
    (folder / changed).unlink()  # don't write through a hard link to the site's file
    (folder / changed).write_text(text.replace("x", "y").replace("7", "8").replace("一", "二")
                                  .replace("Exercise", "Task"), encoding="utf-8")  # fmt: skip
    python.serve_python(build(folder))
    after = served(folder)
    assert before[0] != after[0]
    assert (before[1] != after[1]) == changed.startswith("pyodide")


def test_the_digest_in_the_address_depends_on_the_scripts_and_the_editor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, found = folder / "book", set()
    others = {"editor": (python.editor_bundle, "BUNDLE", folder / "book/rooflib/data.toml")}
    others["scripts"] = (python, "SCRIPTS", python.SCRIPTS[1:])
    for of, name, value in (*others.values(), (python, "FOLDER", "python")):
        with monkeypatch.context() as patch:
            patch.setattr(of, name, value)
            forget()
            found.add(python.scripts_digest(book))
    assert len(found) == 3


def test_a_build_without_pyodide_removes_the_files_of_an_earlier_one(
    folder: Path, monkeypatch: Any
) -> None:
    python.serve_python(build(folder))
    steps = folder / "html/chapters/page.steps.json"
    steps.parent.mkdir()
    steps.touch()
    monkeypatch.setenv(python.FILES, "")
    for _ in range(2):
        python.serve_python(build(folder))
        assert not (folder / "html/_static/python").exists()
        assert not steps.exists()


def test_only_html_builds_serve_python(folder: Path) -> None:
    python.serve_python(build(folder, "gettext"))
    assert list((folder / "html").iterdir()) == []


@pytest.mark.parametrize(
    ("builder", "has_python", "there", "added"),
    [
        ("html", True, True, True),
        ("html", True, False, False),
        ("html", False, True, False),
        ("gettext", True, True, False),
    ],
)
def test_licenses_of_the_pages_python_are_added_to_the_license_texts(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    builder: str,
    has_python: bool,
    there: bool,
    added: bool,
) -> None:
    monkeypatch.setattr(python.made_of, "texts", lambda runtime: f"licenses of {runtime.name}")
    monkeypatch.setenv(python.FILES, str(folder / "pyodide") if has_python else "")
    if there:
        (folder / "html" / licenses.FILE).write_text("others\n")
    python.add_licenses(build(folder, builder))
    text = (folder / "html" / licenses.FILE).read_text() if there else None
    assert text == ("others\n\nlicenses of pyodide" if added else "others\n" if there else None)


# What each page loads.


def cell(index: int, *parts: str, live: bool = False) -> nodes.container:
    made = nodes.container(nb_element="cell_code", cell_index=index)
    made += [nodes.container(classes=[part]) for part in parts]
    figure = '<figure class="live">' if live else "<svg>"
    made += nodes.raw("", figure, format="html")
    return made


@pytest.mark.parametrize(
    ("page", "cells", "ran", "scripts"),
    [
        ("chapters/time", [cell(0, "cell_output"), cell(1, "cell_input", "cell_output")], True,
         {"run-buttons.js": {"data-steps": "time.steps.json", "data-page": "chapters/time"}}),
        ("chapters/time", [cell(0, "cell_output")], True, {}),
        ("chapters/time", [], True, {}),
        ("chapters/time", [cell(0, "cell_input")], False, {}),
        ("exercises/one/one", [], True,
         {"answer-button.js": {"data-exercise": "one"}, "parts-done.js": {"data-overview": ""}}),
        ("exercises/one/two", [], True, {}),
        ("chapters/learners", [], True, {"parts-done.js": {"data-overview": "1"}}),
    ],
)  # fmt: skip
def test_pages_load_only_the_scripts_that_their_content_needs(
    folder: Path, page: str, cells: list[nodes.container], ran: bool, scripts: dict[str, Any]
) -> None:
    document = new_document(page)
    document += [made.deepcopy() for made in cells]
    notebook = folder / "jupyter_execute" / f"{page}.ipynb"
    if ran:
        notebook.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(), notebook)
    app = build(folder)
    context = {"pathto": lambda name, resource: f"../{name}" if resource else "a page"}
    python.offer_python(app, page, "page.html", context, document)
    loaded = {call.args[0]: call.kwargs for call in app.add_js_file.call_args_list}
    assert loaded.keys() == scripts.keys()
    assert app.add_css_file.called == bool(scripts)
    address = f"../_static/python/{python.scripts_digest(folder / 'book')}/"
    for name, attributes in scripts.items():
        shared = {"loading_method": "defer", "data-python": address}
        if name != "parts-done.js":
            shared["data-megabytes"] = "2"  # five files of 400 kB
        assert loaded[name] == shared | attributes
    steps = folder / "html" / f"{page}.steps.json"
    assert steps.exists() == ("run-buttons.js" in scripts)


@pytest.mark.parametrize("missing", ["python", "page"])
def test_no_scripts_are_added_without_pyodide_or_a_document(
    folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "python":
        monkeypatch.delenv(python.FILES)
    app = build(folder)
    document = None if missing == "page" else new_document("page")
    python.offer_python(app, "exercises/one/one", "page.html", {"pathto": Mock()}, document)
    assert not app.add_js_file.called


def test_only_the_first_code_cell_of_a_page_is_marked() -> None:
    document = new_document("page")
    document += [cell(0, "cell_output"), cell(1, "cell_input"), cell(2, "cell_input")]
    python.mark_first_input(Mock(), document, "page")
    marked = [part["classes"] for part in document.findall(nodes.container) if part["classes"]]
    assert marked == [["cell_output"], ["cell_input", "first-input"], ["cell_input"]]


# Tests of a page's steps: the cells and blocks that its Python runs in order.

PAGE = f"""{HEADER}
# {{eval}}`n` first

```{{code-cell}} ipython3
---
mystnb:
  image: {{alt: " A plot. "}}
  figure: {{caption: "Now {{eval}}`m`"}}
---
n = m = 2
```

{{while}}`n < 3` Words.

{{while}}`n < 4` One {{eval}}`m` and {{eval}}`n`.

:::{{answer}} more
{{eval}}`n + 1`
:::

```{{code-cell}} ipython3
figures.time()
```

```{{code-cell}} ipython3
last = 1
```
"""


def value(expression: str, text: str, **more: str) -> nodes.inline:
    return nodes.inline("", text, expression=expression, classes=["computed"], **more)


def page_and_notebook() -> tuple[nodes.document, nbformat.NotebookNode]:
    notebook = values.read_page(PAGE, ["colon_fence"])
    place = {made.source.split("\n")[0]: index for index, made in enumerate(notebook.cells)}
    document = new_document("page")
    document += nodes.title("", "", value("n", "2"))
    document += cell(place["n = m = 2"])
    document += nodes.caption("", "", value("m", "2"))
    document += nodes.paragraph("", "", nodes.inline(classes=["premise"], expression="n < 3"))
    # In a translation, values may be translated and in another order.
    document += nodes.paragraph("", "", value("n", "zwei", original="2"), value("m", "2"))
    document += nodes.paragraph("", "", nodes.inline("", "no value"), value("n + 1", "3"))
    document += cell(place["figures.time()"], live=True)
    return document, notebook


def test_steps_are_code_cells_and_the_prose_between_them() -> None:
    document, notebook = page_and_notebook()
    found = python.steps_of(notebook, document)
    assert found["steps"] == [
        {"blocks": [0]},
        {"code": "n = m = 2", "cell": 0, "alt": "A plot."},
        {"blocks": [1]},
        {"blocks": [2, 3]},  # block 4, a guess's answer, is not recomputed
        {"code": "last = 1", "cell": None, "alt": ""},
    ]
    assert found["blocks"] == [
        {"values": {"n": "2"}, "shown": ["n"]},
        {"values": {"m": "2"}, "shown": ["m"]},
        {"values": {}, "shown": [None], "premise": "n < 3"},
        {"values": {"n": "2", "m": "2"}, "shown": ["n", "m"], "premise": "n < 4"},
        {"values": {"n + 1": "3"}, "shown": ["n + 1"]},
    ]


def test_an_eval_value_outside_all_blocks_of_prose_stops_the_build() -> None:
    document, notebook = page_and_notebook()
    document += nodes.paragraph("", "", value("k", "7"))
    with pytest.raises(PageError, match="'7' is a value of no block"):
        python.steps_of(notebook, document)


@pytest.mark.parametrize("change", ["another", "fewer"])
def test_a_block_whose_values_differ_from_its_source_stops_the_build(change: str) -> None:
    document, notebook = page_and_notebook()
    marks = list(python.places(document))
    if change == "another":
        marks[0]["expression"] = "k"
    else:
        marks[-1].parent.remove(marks[-1])
    with pytest.raises(PageError, match="expected"):
        python.steps_of(notebook, document)


def test_json_for_scripts_has_no_spaces_and_no_escapes() -> None:
    assert python.compact({"a": [1, "万"]}) == '{"a":[1,"万"]}'


def test_a_hard_link_replaces_an_older_file(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("new")
    for _ in range(2):
        python.link(tmp_path / "new", tmp_path / "served")
    assert (tmp_path / "new").samefile(tmp_path / "served")


# Figures that react.


@pytest.mark.parametrize(
    ("raw", "loaded", "measures"),
    [
        (["<p>", '<figure class="live"'], True, False),
        (["<p>", '<figure class="live" data-part="measure"'], True, True),
        (["<p>"], False, False),
        ([], False, False),
        (None, False, False),
    ],
)
def test_pages_with_live_figures_load_their_script(
    folder: Path, raw: list[str] | None, loaded: bool, measures: bool
) -> None:
    app = build(folder)
    document = None if raw is None else new_document("page")
    for text in raw or ():
        document += nodes.raw("", text, format="html")  # type: ignore[operator]
    context = {"pathto": lambda name, resource: f"../{name}" if resource else "a page"}
    figures.add_to_page(app, "page", "page.html", context, document)
    assert app.add_css_file.called == app.add_js_file.called == loaded
    if loaded:
        attributes = app.add_js_file.call_args.kwargs
        assert attributes.pop("loading_method") == "defer"
        address = attributes.pop("data-measure", "")
        assert address.partition("?")[0] == "../_static/browser-roof.js" * measures
        assert attributes == {}


def test_scripts_of_figures_are_written_by_html_builds_only(folder: Path) -> None:
    for _ in range(2):
        figures.write_scripts(build(folder))
    written = {path.name for path in (folder / "html/_static").iterdir()}
    assert written == {"live.js", "live.css", "browser-roof.js"}
    figures.write_scripts(build(folder / "other", "gettext"))
    assert not (folder / "other").exists()


@pytest.mark.parametrize(("language", "translated"), [("zh_CN", True), ("en", False)])
def test_a_figure_is_replaced_by_the_one_in_the_pages_language(
    folder: Path, language: str, translated: bool
) -> None:
    cache = folder / "cache"
    english = ['<figure class="live">one', '<figure class="live">two', "<p>"]
    for text in (english[0], english[2]):
        file = figures.place(cache, "zh-CN", text)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("图", encoding="utf-8")
    document = new_document("page")
    document += [nodes.raw("", text, format="html") for text in english]
    config = SimpleNamespace(language=language, nb_execution_cache_path=str(cache))
    page: Any = SimpleNamespace(
        document=document, config=config, app=SimpleNamespace(config=config)
    )
    figures.TranslateFigures.apply(page)
    assert [raw.astext() for raw in document] == ["图" if translated else english[0], *english[1:]]
    assert [raw.get("translated", False) for raw in document] == [translated, False, False]
