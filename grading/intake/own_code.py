"""Finds the learner's own code in a cell, by static analysis: nothing is run."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

MAX_SOURCE_CHARACTERS = 100_000  # longer sources are not parsed: syntax trees take much memory
MAX_CACHED_CHARACTERS = 2_000  # syntax trees of longer sources are not cached
BINDING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)

# A `try` that catches one of these handles a missing module.
IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


@functools.lru_cache(maxsize=100)
def functions(source: str) -> list[str]:
    """Return the names of the functions that this source defines at its top level."""
    body = parsed(source)
    if body is None:  # fall back to lines that begin with `def`
        return re.findall(r"^def\s+(\w+)", source, flags=re.MULTILINE)
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def written(source: str, function: str) -> bool:
    """Return whether a source defines the function, as more than the stub."""
    body = parsed(source)
    if body is None:
        return function in functions(source)
    return any(
        (isinstance(node, ast.FunctionDef) and node.name == function and not is_stub(node))
        or (
            (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda))
            and function in _bound(node)
        )
        for node in body
    )


def imported(source: str) -> frozenset[str]:
    """Return the top-level modules that this source imports, inside functions too.

    Imports in a `try` that catches the ImportError do not count.
    """
    body = parsed(source)
    if body is None:
        found = re.findall(r"^[ \t]*(?:import|from)[ \t]+(\w+)", source, flags=re.MULTILINE)
        return frozenset(found)
    return frozenset(module for module, _ in imports(body))


def imports(body: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield (top-level module, bound name) of each import in these syntax trees.

    Imports in a `try` that catches the ImportError are skipped. The name is "*" for
    `from module import *`.
    """
    nodes = list(body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            for name in node.names:
                module = name.name.split(".")[0]
                yield module, name.asname or module
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                for name in node.names:
                    yield node.module.split(".")[0], name.asname or name.name
        elif isinstance(node, ast.Try) and any(map(_catches_import_error, node.handlers)):
            nodes += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            nodes += ast.iter_child_nodes(node)


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in IMPORT_ERRORS) for kind in kinds
    )


def added(source: str, original: str) -> tuple[str, bool]:
    """Return (code added to a cell, whether the original is still in effect).

    The original is in effect if it is complete and none of its names is rebound. A statement that
    rebinds a name of the original does not count as added. If parts of the original are missing,
    only imports, definitions and assignments count.
    """
    body, before = parsed(source), parsed(original) or []
    if body is None:
        return "", False
    known = {dump(node) for node in before}
    taken = {name for node in before for name in _bound(node)}
    whole = known <= {dump(node) for node in body}
    kinds = (ast.stmt,) if whole else BINDING
    own = [
        node
        for node in body
        if isinstance(node, kinds) and dump(node) not in known and not taken & _bound(node)
    ]
    lines = _plain(source).split("\n")
    holds = whole and not any(taken & _bound(n) for n in body if dump(n) not in known)
    spans = dict.fromkeys((_first_line(node), node.end_lineno) for node in own)
    return "\n".join("\n".join(lines[start - 1 : end]) for start, end in spans), holds


def parsed(source: str) -> Sequence[ast.stmt] | None:
    """Return the top-level statements, None if a source is invalid or too long."""
    if len(source) > MAX_SOURCE_CHARACTERS:
        return None
    return (_parsed if len(source) <= MAX_CACHED_CHARACTERS else _parsed.__wrapped__)(source)


# Cache, since most cells are identical in many submissions, and each is parsed several times.
@functools.lru_cache(maxsize=200)
def _parsed(source: str) -> Sequence[ast.stmt] | None:
    try:
        return ast.parse(_plain(source)).body
    # Deep nesting raises MemoryError or RecursionError.
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def syntax_error_line(source: str) -> int | None:
    """Return the line of a source's syntax error, None if there is none or it is too long."""
    if len(source) <= MAX_SOURCE_CHARACTERS:
        try:
            ast.parse(_plain(source))
        except SyntaxError as error:
            return error.lineno
        except (ValueError, MemoryError, RecursionError):
            pass
    return None


def dump(node: ast.stmt) -> str:
    """Return a text that is equal for equal statements.

    A statement that is nested too deep gets a unique text.
    """
    try:
        return ast.dump(node)
    except RecursionError:
        return repr(node)


def _plain(source: str) -> str:
    """Blank out lines with notebook magics and shell commands."""
    return "\n".join("" if line[:1] in ("%", "!") else line for line in source.split("\n"))


def is_stub(node: ast.FunctionDef) -> bool:
    """Return whether a function is a stub.

    A stub raises NotImplementedError and never returns.
    """
    last = node.body[-1]
    if not isinstance(last, ast.Raise) or last.exc is None:
        return False
    name = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    returns = any(isinstance(one, ast.Return) for one in ast.walk(node))
    return isinstance(name, ast.Name) and name.id == "NotImplementedError" and not returns


def is_unwritten(node: ast.FunctionDef) -> bool:
    """Return whether a function has at most a docstring and a NotImplementedError."""
    statements = [
        one
        for one in node.body
        if not (isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and _is_constant(one)))
    ]
    return not statements or (len(statements) == 1 and is_stub(node))


def _is_constant(node: ast.Expr) -> bool:
    """Return whether this is a constant, such as a docstring or `...`."""
    return isinstance(node.value, ast.Constant)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    return set(_names(node))


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for one in ast.walk(node):
        if isinstance(one, ast.Import | ast.ImportFrom):
            yield from ((name.asname or name.name).split(".")[0] for name in one.names)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id


def _first_line(node: ast.stmt) -> int:
    above: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in above)])
