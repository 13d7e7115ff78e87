"""Names and signatures on the API page, for its copy in JupyterLab.

They are read from the source, so that `make lab` imports no package of the course.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# Directives of the API page: a module, then names that it defines.
DIRECTIVE = re.compile(r"^\.\. (?P<kind>auto\w+|data):: (?P<name>\S+)$", re.MULTILINE)
Definition = ast.FunctionDef | ast.ClassDef


def as_list(directives: str, book: Path) -> str:
    """Return a Markdown list of the documented names with their signatures."""
    return "\n".join(f"- `{name}`" for name in names(directives, book))


def names(directives: str, book: Path) -> Iterator[str]:
    defined: dict[str, Definition] = {}
    for found in DIRECTIVE.finditer(directives):
        name = found["name"].rpartition("::")[2]
        if found["kind"] == "automodule":
            path = book.joinpath(*name.split("."))
            defined = definitions(
                path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            )
        else:
            node = defined.get(name.rpartition(".")[2])
            yield name + (signature(node) if node else "")


def definitions(module: Path) -> dict[str, Definition]:
    """Return a module's functions and classes by name.

    Of overloads, the last counts, which is the implementation.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, Definition)}


def signature(node: Definition) -> str:
    """Return a function's arguments and result, or the fields that a dataclass takes."""
    if isinstance(node, ast.ClassDef):
        return f"({', '.join(fields(node))})"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(node.args)}){returns}"


def fields(node: ast.ClassDef) -> Iterator[str]:
    for field in node.body:
        if isinstance(field, ast.AnnAssign):
            default = default_of(field.value)
            shown = f"{ast.unparse(field.target)}: {ast.unparse(field.annotation)}"
            yield f"{shown} = {default}" if default else shown


def default_of(value: ast.expr | None) -> str:
    """Return a dataclass field's default as code, "" if it has none."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
        factory = options.get("default_factory")
        return f"{factory}()" if factory else options.get("default", "")
    return ast.unparse(value) if value else ""
