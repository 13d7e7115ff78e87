"""Tests of the layers: packages import only lower ones, never in a circle."""

import ast
import collections
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from imports import import_roots, imported, module_name
from repository import ROOT

PACKAGES = {
    "rooflib": ROOT / "rooflib",
    "roofkit": ROOT / "kit/roofkit",
    "roofmeter": ROOT / "kit/roofmeter",
    "grading": ROOT / "grading",
}
# package → what it may import; of grading, exercises may import only the schema.
ALLOWED = {
    "rooflib": set(),
    "roofkit": {"rooflib"},
    "roofmeter": {"rooflib"},
    "grading": {"rooflib", "roofkit"},
    "exercises": {"rooflib", "grading.schema"},
    "site": set(),
    "chapters": {"rooflib", "roofkit", "roofmeter"},
}
# Folders on sys.path, whose modules are imported by file name.
SCRIPT_FOLDERS = ("site", "grading/sandbox/inside", "tests")
# Packages that type checkers bring, imported only for type checking.
TYPING_ONLY = {"typing_extensions"}
# Matches a mention of a package, one of its modules or its folder in a string.
NAMED_PACKAGE = re.compile(r"(?:^|[=/'\"\s])(grading|kit|roofkit|roofmeter|rooflib)(?=$|[./=])")


def code(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield (file, Python code) for each module and each chapter.

    A chapter's code is that of its cells.
    """
    for path in sorted(folder.rglob("*.py")):
        yield path, path.read_text(encoding="utf-8")
    for path in sorted(folder.glob("*.md")):
        cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", path.read_text(), re.DOTALL)
        yield path, re.sub(r"^(?:[:%].*|---\n.*?---)$", "", "\n".join(cells), flags=re.M | re.S)


def modules(folders: Iterable[Path]) -> dict[str, Path]:
    """Return full name → file of each module in these folders."""
    roots = import_roots()
    return {module_name(path, roots): path for folder in folders for path in folder.rglob("*.py")}


def import_graph(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return module → the modules it imports, also for types and inside functions."""
    graph = {}
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = set()
        for module in imported(path.read_text(encoding="utf-8"), package):
            # In `from module import name`, the name may be a module.
            found |= {next((m for m in (module, module.rpartition(".")[0]) if m in files), name)}
        graph[name] = found - {name}
    return graph


@pytest.mark.parametrize("start", ALLOWED)
def test_packages_import_only_their_layers(start: str) -> None:
    for path, source in code(PACKAGES.get(start, ROOT / start)):
        for module in imported(source, start):
            top = module.split(".")[0]
            if top in PACKAGES and top != start:
                fits = any(f"{module}.".startswith(f"{name}.") for name in ALLOWED[start])
                assert fits, f"{path.relative_to(ROOT)} imports {module}"


def test_no_module_imports_are_circular() -> None:
    files = modules([*PACKAGES.values(), ROOT / "site"])
    assert len(files) > 200
    TopologicalSorter(import_graph(files)).prepare()  # raises CycleError


@pytest.mark.parametrize(
    "back", ["import a", "def f():\n    from a import b", "if TYPE_CHECKING:\n    import a.b.c"]
)
def test_circular_imports_are_found_also_in_functions_and_for_types(
    tmp_path: Path, back: str
) -> None:
    sources = {"a": "from a.b import c", "a.b": "from . import c", "a.b.c": "from .. import d"}
    sources["d"] = "import a.b.c"
    files = {name: tmp_path / f"{name}.py" for name in sources}
    files["a.b"] = tmp_path / "__init__.py"
    for name, file in files.items():
        file.write_text(sources[name])
    graph = import_graph(files)
    assert graph == {"a": {"a.b.c"}, "a.b": {"a.b.c"}, "a.b.c": {"a"}, "d": {"a.b.c"}}
    files["a.b.c"].write_text("import json")
    TopologicalSorter(import_graph(files)).prepare()
    files["a.b.c"].write_text("import d")
    files["d"].write_text(back)
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph(files)).prepare()


def test_no_subpackage_imports_in_grading_are_circular() -> None:
    graph: dict[str, set[str]] = collections.defaultdict(set)
    for name, found in import_graph(modules([ROOT / "grading"])).items():
        here, *others = (f"{module}.".split(".")[1] for module in (name, *found))
        graph[here] |= set(others) - {here, ""}
    TopologicalSorter(graph).prepare()


def strings(source: str) -> Iterator[str]:
    """Yield the strings in a piece of code, without docstrings."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_contributing_lists_the_packages_that_each_file_in_site_names() -> None:
    found = {}
    for path, source in code(ROOT / "site"):
        names = {name for text in strings(source) for name in NAMED_PACKAGE.findall(text)}
        if names - {"kit"}:
            found[path.relative_to(ROOT).as_posix()] = names - {"kit"}
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("What `site/` runs or names")[1].split("\n#")[0]
    rows = re.findall(r"^\| `(site/[^`]+)` \| ([^|]+) \|", section, re.MULTILINE)
    assert {path: set(re.findall(r"`(\w+)`", names)) for path, names in rows} == found


def test_every_imported_package_is_in_the_requirements() -> None:
    asked = "".join(path.read_text() for path in ROOT.glob("requirements*.in"))
    chosen = set(re.findall(r"^([\w-]+)", asked, re.MULTILINE))
    distributions = packages_distributions()
    known = {*sys.stdlib_module_names, *PACKAGES, *TYPING_ONLY}
    known |= {path.stem for name in SCRIPT_FOLDERS for path in (ROOT / name).rglob("*")}
    for start in ("rooflib", "kit", "grading", "exercises", "site", "tests"):
        for path, source in code(ROOT / start):
            if "hostile/cells" in path.as_posix():
                continue
            for module in {name.split(".")[0] for name in imported(source)} - known - {""}:
                names = {name.lower().replace("_", "-") for name in distributions.get(module, ())}
                assert names & chosen, f"{path.relative_to(ROOT)} imports {module}"
