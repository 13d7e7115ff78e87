"""A package's public names on a page: signatures and docstrings, read from its source.

Nothing is imported, so a page shows the package that lies beside the book and no other.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from .docstrings import as_markdown, literal

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Module:
    """A module with the names that the package makes public, in the order of the source."""

    name: str
    path: Path
    docstring: str
    definitions: dict[str, Definition]


def public_modules(package: Path) -> Iterator[Module]:
    """The modules that define what ``__all__`` of a package names, in alphabetical order."""
    init = package / "__init__.py"
    tree = ast.parse(init.read_text(encoding="utf-8"))
    origin = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    # By module: the names inside it, and the public ones that they have.
    wanted: dict[str, dict[str, str]] = {}
    for name in public_names(tree):
        module, inside = origin.get(name, (package.name, name))
        if path_of(package, f"{module}.{inside}").exists():
            path = path_of(package, f"{module}.{inside}")
            found = definitions(ast.parse(path.read_text(encoding="utf-8")))
            public = {
                own: f"{name}.{own}"
                for own, node in found.items()
                if isinstance(node, Function | ast.ClassDef) and not own.startswith("_")
            }
            wanted[f"{module}.{inside}"] = public
        else:
            wanted.setdefault(module, {})[inside] = name
    for module, names in sorted(wanted.items()):
        path = init if module == package.name else path_of(package, module)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {names[own]: node for own, node in definitions(tree).items() if own in names}
        if found:
            yield Module(module, path, ast.get_docstring(tree) or "", found)


def path_of(package: Path, module: str) -> Path:
    return package.parent.joinpath(*module.split(".")).with_suffix(".py")


def public_names(init: ast.Module) -> list[str]:
    """What ``__all__`` lists."""
    for node in init.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def definitions(tree: ast.Module | ast.ClassDef) -> dict[str, Definition]:
    """The functions, classes and values that a module or a class defines, in its order."""
    found: dict[str, Definition] = {}
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[ast.unparse(node.target)] = node
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(target): node for target in node.targets}
    return found


def signature(node: Definition, *, method: bool = False) -> str:
    """Arguments and what comes back, as they would be written in a stub."""
    if isinstance(node, ast.ClassDef):
        return f"({', '.join(constructor(node))})"
    if not isinstance(node, Function):
        return ""
    returns = f" -> {short(node.returns)}" if node.returns else ""
    return f"({arguments(node.args, method=method)}){returns}"


def constructor(node: ast.ClassDef) -> list[str]:
    """The arguments that a dataclass takes, or those of ``__init__``."""
    own = definitions(node)
    if "__init__" in own and isinstance(own["__init__"], Function):
        return [arguments(own["__init__"].args, method=True)]
    found = []
    for name, field in own.items():
        if isinstance(field, ast.AnnAssign) and not name.startswith("_"):
            value = default(field.value)
            if value is not None:
                found.append(
                    f"{name}: {short(field.annotation)}" + (f" = {value}" if value else "")
                )
    return found


def default(value: ast.expr | None) -> str | None:
    """A dataclass field's default; "" if it has none, None if it is no argument."""
    if not (isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field")):
        return ast.unparse(value) if value else ""
    options = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
    if options.get("init") == "False":
        return None
    factory = options.get("default_factory")
    return f"{factory}()" if factory and "lambda" not in factory else options.get("default", "")


def arguments(args: ast.arguments, *, method: bool = False) -> str:
    """An argument list with short types."""
    shown = ast.parse(f"def f({ast.unparse(args)}): pass").body[0]
    assert isinstance(shown, ast.FunctionDef)
    listed = [*shown.args.posonlyargs, *shown.args.args, *shown.args.kwonlyargs]
    for argument in [*listed, shown.args.vararg, shown.args.kwarg]:
        if argument and argument.annotation:
            argument.annotation = ast.parse(short(argument.annotation), mode="eval").body
    if method:
        del (shown.args.posonlyargs or shown.args.args)[0]
    return ast.unparse(shown.args)


def short(annotation: ast.expr) -> str:
    """A type without the modules it comes from."""

    class Shorten(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.Name:
            return ast.Name(node.attr)

    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    copy = ast.parse(ast.unparse(annotation), mode="eval")
    return ast.unparse(Shorten().visit(copy))


def decorators(node: Definition) -> set[str]:
    found = node.decorator_list if isinstance(node, Function | ast.ClassDef) else []
    return {ast.unparse(decorator).split("(")[0].rpartition(".")[2] for decorator in found}


def described(package: str, name: str, node: Definition) -> str:
    """One public name as Markdown: a directive of Sphinx's domain for Python."""
    if isinstance(node, ast.ClassDef):
        kind, body = "class", as_markdown(ast.get_docstring(node) or "")
        members = [
            member(package, f"{name}.{inner}", inner_node)
            for inner, inner_node in definitions(node).items()
            if isinstance(inner_node, Function) and not inner.startswith("_")
        ]
        body = "\n\n".join([body, *members])
    elif isinstance(node, Function):
        kind, body = "function", as_markdown(ast.get_docstring(node) or "")
    else:
        kind, body = "data", ""
    return directive(kind, package, name + signature(node), body)


def member(package: str, name: str, node: Function) -> str:
    """A property or a method of a class."""
    body = as_markdown(ast.get_docstring(node) or "")
    if decorators(node) & {"property", "cached_property"}:
        returns = [f":type: {short(node.returns)}"] if node.returns else []
        return directive("property", package, name, body, *returns)
    kinds = {"classmethod": "classmethod", "staticmethod": "staticmethod"}
    kind = next((kinds[found] for found in decorators(node) & set(kinds)), "method")
    text = signature(node, method=kind != "staticmethod")
    return directive(kind, package, name + text, body)


def directive(kind: str, package: str, text: str, body: str, *options: str) -> str:
    # Longer than every fence within, so that classes can hold members.
    mark = ":" * (4 if kind in ("class",) else 3)
    head = [f"{mark}{{py:{kind}}} {text}", f":module: {package}", *options, ""]
    return "\n".join([*head, body, mark])


class Api(SphinxDirective):
    """``{api} package``: a section for each module, with its public names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        package = self.arguments[0]
        folder = Path(self.env.srcdir) / package
        self.env.note_dependency(str(folder / "__init__.py"))
        self.env.metadata[self.env.docname]["has_api"] = True
        sections: list[nodes.Node] = []
        for module in public_modules(folder):
            self.env.note_dependency(str(module.path))
            section = nodes.section(ids=[nodes.make_id(module.name)], names=[module.name])
            section += nodes.title("", "", nodes.literal("", module.name))
            first_line = module.docstring.partition("\n")[0]
            described_names = [
                described(package, name, node) for name, node in module.definitions.items()
            ]
            text = "\n\n".join([literal(first_line), *described_names])
            lines = StringList(text.splitlines(), source=str(module.path))
            self.state.nested_parse(lines, self.content_offset, section)
            sections.append(section)
        return sections


def leave_types_alone(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.TextElement
) -> nodes.Node | None:
    """Show types that no page describes, such as ``float``, as text, where signatures name them."""
    is_type = node.get("refdomain") == "py" and node.get("reftype") == "class"
    if is_type and "has_api" in env.metadata.get(node.get("refdoc", ""), {}):
        return contnode
    return None
