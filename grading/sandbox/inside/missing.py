"""Cells that import a module which is not here: the statement fails, and the next one runs.

A learner may have the module, and the import may serve nothing that is asked for. The cell shows
the error as ever. Names that the import would have bound raise the same error once they are used.
A `try` in the cell's own code catches the error as ever, and no later statement runs after any
other error.
"""

import ast
import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

# What an object is asked for when it is used, besides attributes.
USES = (
    "call iter next len setitem delitem contains enter exit bool int float complex index str "
    "lt le eq ne gt ge hash neg pos abs invert round trunc floor ceil await aiter anext array "
    "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor "
    "radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor "
    "instancecheck subclasscheck mro_entries"
)


class Missing:
    """Stands for what would come from a module that is not here; raises when it is used.

    Attributes, entries and unions are the same again, since an annotation is no use.
    """

    def __init__(self, module: str) -> None:
        object.__setattr__(self, "_module", module)

    def __getattr__(self, name: str) -> "Missing":
        if name.startswith("_"):  # asked for by whoever wants to know what this is
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
    """Have this shell go on after a statement that failed for want of a module."""
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
    """Do what run_ast_nodes does, one statement after another."""
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
    """Whether this says that a module is not here, and it isn't."""
    if type(error) is not ModuleNotFoundError or not isinstance(error.name, str):
        return False
    return not _is_here(error.name.partition(".")[0])


def _is_here(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _unbound(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """(name, missing module) of what this import would have bound; nothing for other statements."""
    if isinstance(node, ast.Import):
        for one in node.names:
            if module := _lacking(one.name):
                yield one.asname or one.name.partition(".")[0], module
    elif isinstance(node, ast.ImportFrom) and node.module and (module := _lacking(node.module)):
        for one in node.names:
            if one.name != "*":
                yield one.asname or one.name, module


def _assigned(node: ast.stmt) -> list[str]:
    """Names that an assignment would have given a value to."""
    if not isinstance(node, ast.Assign):
        return []
    return [one.id for one in node.targets if isinstance(one, ast.Name)]


def _lacking(module: str) -> str:
    """The top-level module that is missing when this one is imported, "" if none is."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        return (error.name or module).partition(".")[0]
    except Exception:
        return ""
    return ""
