"""The rooms of the house: who imports whom, how large they are, and what is named alike."""

import ast
import collections
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from repository import ROOT

PACKAGES = {
    "rooflib": ROOT / "rooflib",
    "roofkit": ROOT / "kit/roofkit",
    "roofmeter": ROOT / "kit/roofmeter",
    "grading": ROOT / "grading",
}
# Who may import whom. Exercises get no more of the grading than the schema.
ALLOWED = {
    "rooflib": set(),
    "roofkit": {"rooflib"},
    "roofmeter": {"rooflib"},
    "grading": {"rooflib", "roofkit"},
    "exercises": {"rooflib", "grading.schema"},
    "site": set(),
    "chapters": {"rooflib", "roofkit", "roofmeter"},
}
# Modules of a room that only scripts beside them see.
LOCAL = {path.stem for path in (ROOT / "site").iterdir()}
# What type checkers bring: imported where they look, and nowhere else.
FOR_TYPES = {"typing_extensions"}
LOCAL |= {path.stem for path in (ROOT / "grading/sandbox/inside").glob("*.py")}
LOCAL |= {
    path.stem
    for name in ("support", "mutants", "bench", "fuzz")
    for path in (ROOT / "tests" / name).iterdir()
}


def imports(source: str) -> Iterator[str]:
    """The modules that a piece of code imports, those inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from package import module` imports the module.
            yield from (f"{node.module}.{name.name}" for name in node.names)


def code(room: str) -> Iterator[tuple[Path, str]]:
    """(file, its code) for each file of a room; of a chapter, the code in its cells."""
    folder = PACKAGES.get(room, ROOT / room)
    for path in sorted(folder.rglob("*.py")):
        yield path, path.read_text(encoding="utf-8")
    if room == "chapters":
        for path in sorted(folder.glob("*.md")):
            cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", path.read_text(), re.DOTALL)
            yield path, re.sub(r"^(?:[:%].*|---\n.*?---)$", "", "\n".join(cells), flags=re.M | re.S)


def ours(module: str) -> bool:
    return module.split(".")[0] in PACKAGES


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    own = room if room in PACKAGES else None
    for path, source in code(room):
        for module in filter(ours, imports(source)):
            top = module.split(".")[0]
            allowed = {name for name in ALLOWED[room] if f"{module}.".startswith(f"{name}.")}
            assert top == own or allowed, f"{path.relative_to(ROOT)} imports {module}"


def modules() -> dict[str, Path]:
    """Each module of our packages, by its full name."""
    found = {}
    for name, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((name, *parts)).removesuffix(".__init__")] = path
    return found


def test_no_module_imports_itself_through_others() -> None:
    known = modules()
    graph = {}
    for name, path in known.items():
        top_level = [
            ast.unparse(node)
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        wanted = set()
        for module in imports("\n".join(top_level)):
            # `from module import name`, unless the name is a module.
            wanted |= {next((m for m in (module, module.rpartition(".")[0]) if m in known), "")}
        graph[name] = wanted - {"", name}
    TopologicalSorter(graph).prepare()  # raises if there is a circle


def rooms_of_grading() -> dict[str, set[str]]:
    graph: dict[str, set[str]] = collections.defaultdict(set)
    for path, source in code("grading"):
        room = path.relative_to(ROOT / "grading").parts[0].removesuffix(".py")
        for module in imports(source):
            if module.startswith("grading."):
                graph[room].add(module.split(".")[1])
        graph[room].discard(room)
    return graph


def test_no_room_of_the_grading_imports_itself_through_others() -> None:
    TopologicalSorter(rooms_of_grading()).prepare()


def test_every_package_that_is_imported_was_chosen() -> None:
    asked = "".join(path.read_text() for path in ROOT.glob("requirements*.in"))
    chosen = set(re.findall(r"^([\w-]+)", asked, re.MULTILINE))
    distributions = packages_distributions()
    for room in ("rooflib", "kit", "grading", "exercises", "site", "tests"):
        for path, source in code(room):
            if "hostile/cells" in path.as_posix():
                continue
            for module in {name.split(".")[0] for name in imports(source)}:
                known = {*sys.stdlib_module_names, *PACKAGES, *LOCAL, *FOR_TYPES}
                if module in known:
                    continue
                names = {name.lower().replace("_", "-") for name in distributions.get(module, ())}
                assert names & chosen, f"{path.relative_to(ROOT)} imports {module}"
