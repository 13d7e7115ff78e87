"""Imports of missing modules: the statement fails, and the cell continues.

A learner may have installed the module locally, and may not need it for the graded parts. The cell
shows the usual error. Names that the import would have bound raise the same error on use. A `try`
in the cell's code catches the error as usual, and any other error still ends the cell.
"""

import ast
import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

# Special methods that raise when a missing name is used.
USES = (
    "call iter next len setitem delitem contains enter exit bool int float complex index str "
    "lt le eq ne gt ge hash neg pos abs invert round trunc floor ceil await aiter anext array "
    "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor "
    "radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor "
    "instancecheck subclasscheck mro_entries"
)


class Missing:
    """Placeholder for an object from a missing module; raises when it is used.

    Attributes, subscripts and unions return the same placeholder, because annotations aren't uses.
    """

    def __init__(self, module: str) -> None:
        object.__setattr__(self, "_module", module)

    def __getattr__(self, name: str) -> "Missing":
        if name.startswith("_"):  # used to inspect objects
            raise AttributeError(name)
        return self

    def __getitem__(self, _: object) -> "Missing":
        return self

    __or__ = __ror__ = __getitem__

    def __setattr__(self, name: str, value: object) -> None:
        _raise(self)

    def __repr__(self) -> str:
        module: str = object.__getattribute__(self, "_module")
        return f"<module {module!r} is not installed>"


def _raise(missing: Missing, *_: object, **__: object) -> NoReturn:
    module: str = object.__getattribute__(missing, "_module")
    raise ModuleNotFoundError(f"No module named {module!r}", name=module)


for use in USES.split():
    setattr(Missing, f"__{use}__", _raise)


def set_up(shell: Any) -> None:
    """Make this shell continue after statements that need a missing module."""
    shell.run_ast_nodes = functools.partial(_run, shell, shell.run_ast_nodes)


async def _run(
    shell: Any,
    run: Callable[..., Any],
    nodelist: list[ast.stmt],
    cell_name: str,
    interactivity: str = "last_expr",
    compiler: Any = compile,
    result: Any = None,
) -> Any:
    """Run statements one by one; continue after one that needs a missing module."""
    first_error: object = None
    for node in nodelist:
        shows = node is nodelist[-1] or interactivity == "all"
        how = interactivity if shows else "none"
        failed = await run([node], cell_name, how, compiler, result)
        if not failed:
            continue
        if result is None:
            return True
        error = result.error_in_exec
        if result.error_before_exec or not _is_missing(error):
            return True
        for name, module in _unbound(node):
            shell.user_ns[name] = Missing(module)
        for name in _assigned(node):
            shell.user_ns.setdefault(name, Missing(error.name))
        first_error = first_error or error
    return first_error is not None


def _is_missing(error: Any) -> bool:
    """Return whether this error names a module that is really missing."""
    if type(error) is not ModuleNotFoundError or not isinstance(error.name, str):
        return False
    return not _is_here(error.name.partition(".")[0])


def _is_here(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _unbound(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield (name, missing module) for each name that a failed import left unbound."""
    if isinstance(node, ast.Import):
        for one in node.names:
            if module := _lacking(one.name):
                yield one.asname or one.name.partition(".")[0], module
    elif isinstance(node, ast.ImportFrom) and node.module and (module := _lacking(node.module)):
        for one in node.names:
            if one.name != "*":
                yield one.asname or one.name, module


def _assigned(node: ast.stmt) -> list[str]:
    """Return the names that an assignment would have bound.

    The list is empty for other statements.
    """
    if not isinstance(node, ast.Assign):
        return []
    return [one.id for one in node.targets if isinstance(one, ast.Name)]


def _lacking(module: str) -> str:
    """Return the top-level module whose absence makes this import fail, or ""."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        return (error.name or module).partition(".")[0]
    except Exception:
        return ""
    return ""
