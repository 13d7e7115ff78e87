"""Finds the modules that Python code imports, and the module names of files."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from repository import ROOT


def imported(source: str, package: str = "") -> Iterator[str]:
    """Yield the modules that code imports, those inside functions included.

    `from a import b` yields `a.b`, which may be a module or a name in `a`. `package`: the one that
    relative imports are resolved against.
    """
    for node in import_statements(source):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        else:
            start = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{name.name}" for name in node.names)


@cache
def import_statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return the import statements of code.

    Expressions, most of a tree, contain none and are skipped.
    """
    found = []
    left: list[ast.AST] = [ast.parse(source)]
    while left:
        node = left.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, ())
            if isinstance(inner, list):  # a conditional expression has a single node here
                left += inner
    return tuple(found)


@cache
def import_roots(root: Path = ROOT) -> list[Path]:
    """Return the folders that tests import from, the innermost first."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    names = settings["tool"]["pytest"]["ini_options"]["pythonpath"]
    return sorted((root / name for name in names), key=lambda path: -len(path.parts))


def module_name(file: Path, roots: list[Path]) -> str:
    """Return the full name of the module in a file."""
    root = next(root for root in roots if file.is_relative_to(root))
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
