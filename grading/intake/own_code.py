"""What in a cell's code is the learner's own: read from the syntax tree, never run."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

SOURCE_CHARACTERS = 100_000  # parsed; a syntax tree takes some hundred bytes for each
KEPT_CHARACTERS = 2_000  # of a source whose tree is kept for the next who asks
KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)

# What a source may catch where a module is missing.
ABSENCES = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


@functools.lru_cache(maxsize=100)
def functions(source: str) -> list[str]:
    """Names of the functions that this source defines at its top level."""
    body = parsed(source)
    if body is None:  # names behind a `def` at the beginning of a line
        return re.findall(r"^def\s+(\w+)", source, flags=re.MULTILINE)
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def written(source: str, function: str) -> bool:
    """Whether this source defines the function, and not as it was released: yet to be written."""
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
    """Top-level modules that this source imports, in its functions too.

    Not those whose absence the source handles: in a `try` that catches an ImportError.
    """
    body = parsed(source)
    if body is None:
        found = re.findall(r"^[ \t]*(?:import|from)[ \t]+(\w+)", source, flags=re.MULTILINE)
        return frozenset(found)
    return frozenset(module for module, _ in imports(body))


def imports(body: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """(top-level module, name that it gives a value to) of the same imports in a syntax tree.

    The name is "*" for all that a module has.
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
        elif isinstance(node, ast.Try) and any(map(_catches_absence, node.handlers)):
            nodes += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            nodes += ast.iter_child_nodes(node)


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    """Whether it handles that a module is not there."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in ABSENCES) for kind in kinds
    )


def added(source: str, original: str) -> tuple[str, bool]:
    """(what was added to a cell's code, whether all that it had is still there and still holds).

    Nothing that gives another value to a name of the original's counts as added. If the original
    is not there any more, imports, definitions and assignments count and nothing else.
    """
    body, before = parsed(source), parsed(original)
    if body is None or before is None:
        return "", source.split() == original.split()
    known = {dump(node) for node in before}
    taken = {name for node in before for name in _bound(node)}
    whole = known <= {dump(node) for node in body}
    kinds = (ast.stmt,) if whole else KEPT
    own = [
        node
        for node in body
        if isinstance(node, kinds) and dump(node) not in known and not taken & _bound(node)
    ]
    lines = _plain(source).split("\n")
    holds = whole and not any(taken & _bound(n) for n in body if dump(n) not in known)
    spans = dict.fromkeys((_first_line(node), node.end_lineno or node.lineno) for node in own)
    return "\n".join("\n".join(lines[start - 1 : end]) for start, end in spans), holds


def parsed(source: str) -> Sequence[ast.stmt] | None:
    """The statements at the top level; None for what can't be parsed, or is too long for it."""
    if len(source) > SOURCE_CHARACTERS:
        return None
    return (_kept if len(source) <= KEPT_CHARACTERS else _parsed)(source)


def _parsed(source: str) -> Sequence[ast.stmt] | None:
    try:
        return ast.parse(_plain(source)).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two for deep nesting
        return None


# A class hands in the same cells again and again, and each is asked about many times.
_kept = functools.lru_cache(maxsize=200)(_parsed)


def dump(node: ast.stmt) -> str:
    """The same for statements that are the same; its own for one that is nested too deep."""
    try:
        return ast.dump(node)
    except RecursionError:
        return repr(node)


def _plain(source: str) -> str:
    """Without the commands of a notebook, which are no Python."""
    if "%" not in source and "!" not in source:
        return source
    return "\n".join("" if line[:1] in ("%", "!") else line for line in source.split("\n"))


def is_stub(node: ast.FunctionDef) -> bool:
    """Whether it raises NotImplementedError and returns nothing, as released."""
    last = node.body[-1]
    if not isinstance(last, ast.Raise) or last.exc is None:
        return False
    name = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    returns = any(isinstance(one, ast.Return) for one in ast.walk(node))
    return isinstance(name, ast.Name) and name.id == "NotImplementedError" and not returns


def is_unwritten(node: ast.FunctionDef) -> bool:
    """Whether it does nothing but raise NotImplementedError: no work has gone into it."""
    statements = [
        one
        for one in node.body
        if not (isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and _is_constant(one)))
    ]
    return not statements or (len(statements) == 1 and is_stub(node))


def _is_constant(node: ast.Expr) -> bool:
    """A docstring, or three dots."""
    return isinstance(node.value, ast.Constant)


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement gives a value to."""
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
