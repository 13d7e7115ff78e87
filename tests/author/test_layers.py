"""Who may import whom, and that what is imported is installed."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from repository import ROOT

OURS = {
    "rooflib": ROOT / "rooflib",
    "roofkit": ROOT / "kit" / "roofkit",
    "roofmeter": ROOT / "kit" / "roofmeter",
    "grading": ROOT / "grading",
}
# Folder → what it may import. Exercises give learners `check`, and say how they are graded.
ALLOWED = {
    "rooflib": (),
    "kit/roofkit": ("rooflib",),
    "kit/roofmeter": ("rooflib",),
    "grading": ("rooflib", "roofkit"),
    "exercises": ("rooflib", "roofkit.check", "grading.schema"),
    "site": ("roofkit.lines", "roofkit.texts", "roofkit.words"),
    "chapters": ("rooflib", "roofkit", "roofmeter"),
}
# Modules that lie in folders of their own on sys.path, and what only type checkers have.
LOCAL = ("site", "tests")
TYPING_ONLY = {"typing_extensions"}


def code(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield (file, Python code) for each module, and for the cells of each page."""
    for path in sorted(folder.rglob("*.py")):
        yield path, path.read_text(encoding="utf-8")
    for path in sorted(folder.glob("*.md")):
        cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", path.read_text(), re.DOTALL)
        yield path, re.sub(r"^(?:[:%].*|---\n.*?---)$", "", "\n".join(cells), flags=re.M | re.S)


def imported(source: str, package: str) -> Iterator[str]:
    """Yield what code imports, in functions and for types, too: `a.b` for `from a import b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            start = parts[: len(parts) + 1 - node.level] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("start", ALLOWED)
def test_packages_import_only_their_layers(start: str) -> None:
    own = start.split("/")[-1]
    for path, source in code(ROOT / start):
        for name in imported(source, own):
            top = name.split(".")[0]
            if top in OURS and top != own:
                fits = any(f"{name}.".startswith(f"{allowed}.") for allowed in ALLOWED[start])
                assert fits, f"{path.relative_to(ROOT)} imports {name}"


def test_no_modules_import_each_other() -> None:
    files = {}
    for folder in (*OURS.values(), ROOT / "site"):
        root = folder if folder.name == "site" else folder.parent
        for path in folder.rglob("*.py"):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            files[name.removesuffix(".__init__")] = path
    graph = {}
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = imported(path.read_text(encoding="utf-8"), package)
        modules = (n if n in files else n.rpartition(".")[0] for n in found)
        graph[name] = {module for module in modules if module in files} - {name}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_every_imported_package_is_in_the_requirements() -> None:
    asked = "".join(path.read_text() for path in ROOT.glob("requirements*.in"))
    chosen = set(re.findall(r"^([\w-]+)", asked, re.MULTILINE))
    distributions = packages_distributions()
    known = {*sys.stdlib_module_names, *OURS, *TYPING_ONLY}
    known |= {path.stem for name in LOCAL for path in (ROOT / name).rglob("*")}
    for start in ("rooflib", "kit", "grading", "exercises", "site", "tests"):
        for path, source in code(ROOT / start):
            if "hostile" in path.parts:
                continue
            for module in {name.split(".")[0] for name in imported(source, "")} - known - {""}:
                names = {name.lower().replace("_", "-") for name in distributions.get(module, ())}
                assert names & chosen, f"{path.relative_to(ROOT)} imports {module}"
