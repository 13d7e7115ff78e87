"""Tests of other projects' private names: CONTRIBUTING lists each that we use.

It names the test of each, too.
"""

import ast
import collections
import re
import subprocess
from collections.abc import Iterator

import pytest
from repository import ROOT

PACKAGES = ("rooflib/", "kit/", "grading/", "site/", "exercises/")
# Names that are public despite the underscore: Python documents them.
DOCUMENTED = {"_exit"}


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Yield (path, syntax tree) for each of our Python files outside the tests."""
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for path in listed.stdout.splitlines():
        if path.endswith(".py"):
            yield path, ast.parse((ROOT / path).read_text(encoding="utf-8"))


def defined(trees: list[ast.Module]) -> collections.Counter[str]:
    """Count how often our code defines each name.

    A name is that of a function, a class, a variable or an attribute.
    """
    found: collections.Counter[str] = collections.Counter()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found[node.name] += 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found[node.attr] += isinstance(node.value, ast.Name) and node.value.id == "self"
    return found


def used(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a node looks up in an object or a module.

    Each comes with whether a base class must have it.
    """
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
            yield name, True
        case ast.Attribute(attr=name):
            yield name, False
        case ast.Call(
            func=ast.Name(id="getattr" | "setattr" | "hasattr"),
            args=[_, ast.Constant(value=str(name)), *_],
        ):
            yield name, False
        case ast.ImportFrom(module=module, names=names):
            yield from ((part, False) for part in (module or "").split("."))
            yield from ((alias.name, False) for alias in names)
        case ast.Import(names=names):
            yield from ((part, False) for alias in names for part in alias.name.split("."))


def foreign(files: list[tuple[str, ast.Module]]) -> dict[str, set[str]]:
    """Return private names that our code doesn't define → the files that use them."""
    ours = defined([tree for _, tree in files])
    found: dict[str, set[str]] = collections.defaultdict(set)
    for path, tree in files:
        for node in ast.walk(tree):
            for name, inherited in used(node):
                private = re.match(r"_[a-zA-Z]", name) and name not in DOCUMENTED
                if private and ours[name] <= inherited:
                    found[name].add(path)
    return found


def rows() -> list[tuple[str, str]]:
    """Return (names, test) of each row of CONTRIBUTING's table."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("## Private names of other projects")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [(line.split(" | ")[0], line.rsplit(" | ", 1)[1]) for line in lines]


def test_contributing_lists_each_private_name_of_other_projects_that_we_use() -> None:
    listed = {name for names, _ in rows() for name in re.findall(r"\b_\w+", names)}
    found = foreign(list(sources()))
    assert len(found) > 5
    assert {name: paths for name, paths in found.items() if name not in listed} == {}


def test_each_listed_private_name_cites_existing_tests() -> None:
    assert len(rows()) > 8
    for names, test in rows():
        (path, *functions) = re.findall(r"`([^`]+)`", test)
        text = (ROOT / path).read_text(encoding="utf-8")
        assert [name for name in functions if f"def {name}(" not in text] == [], names


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import ours\nours.work._secret()", "_secret"),
        ("getattr(ours, '_secret')", "_secret"),
        ("from numpy import _core", "_core"),
        ("import numpy._core.umath", "_core"),
        ("class A(B):\n    def _said(self):\n        return super()._said()", "_said"),
    ],
)
def test_private_names_of_other_projects_are_found(code: str, name: str) -> None:
    assert foreign([("one.py", ast.parse(code))]) == {name: {"one.py"}}


def test_names_that_our_code_defines_or_python_documents_are_not_reported() -> None:
    code = "def _own():\n    pass\nmodule._own()\nos._exit(1)\nself.__dict__"
    assert foreign([("one.py", ast.parse(code))]) == {}
