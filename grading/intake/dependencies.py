"""Static analysis of the names that a cell binds and needs; no code is run."""

import ast
import builtins
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grading.intake.own_code import functions, is_stub, parsed

KERNEL_NAMES = {"display", "get_ipython", "In", "Out", "exit", "quit", "_", "__", "___"}
PREDEFINED = {*dir(builtins), *KERNEL_NAMES}
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Names = frozenset[str]


@dataclass(frozen=True)
class Step:
    """One top-level statement of a cell: the names that it needs, calls and binds.

    Names that a function needs only when it is called are not included.
    """

    needs: Names
    calls: Names
    binds: Names


@dataclass(frozen=True)
class CellNames:
    """The names that one cell binds and needs.

    later: function or class → names that it needs when called. stubs: functions that the learner
    has not written yet.
    """

    steps: tuple[Step, ...] = ()
    later: Mapping[str, Names] = field(default_factory=dict)
    stubs: Names = frozenset()

    @functools.cached_property
    def binds(self) -> Names:
        """Return all names that the cell binds, except those of stubs."""
        return frozenset().union(*(step.binds for step in self.steps)) - self.stubs

    @functools.cached_property
    def needs(self) -> Names:
        """Return all names that earlier cells must define before this cell runs."""
        found: set[str] = set()
        bound: set[str] = set()
        for step in self.steps:
            found |= step.needs - bound
            bound |= step.binds
        return frozenset(found)


def names_of(source: str) -> CellNames:
    """Return the names that a cell binds and needs; if unparsable, its functions."""
    body = parsed(source)
    if body is None:
        return CellNames((Step(frozenset(), frozenset(), frozenset(functions(source))),))
    later: dict[str, Names] = {}
    for node in body:
        for name, needed in _later(node):
            later[name] = later.get(name, frozenset()) | needed
    stubs = {node.name for node in body if isinstance(node, ast.FunctionDef) and is_stub(node)}
    return CellNames(tuple(map(_step, body)), later, frozenset(stubs))


def closure(names: Iterable[str], later: Mapping[str, Names]) -> set[str]:
    """Return these names and, transitively, all names that calling them needs."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += later.get(name, ())
    return found


def _step(node: ast.stmt) -> Step:
    needs: set[str] = set()
    calls: set[str] = set()
    binds: set[str] = set()
    for one in _at_once(node):
        if isinstance(one, ast.Name):
            (needs if isinstance(one.ctx, ast.Load) else binds).add(one.id)
            if isinstance(node, ast.AugAssign):
                needs.add(one.id)
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
            calls.add(one.func.id)
        else:
            binds |= set(_bound_by(one))
    if not isinstance(node, ast.AugAssign | ast.Assign | ast.AnnAssign):
        needs -= binds  # loops, `with` blocks and imports bind their names before using them
    return Step(frozenset(needs - PREDEFINED), frozenset(calls - PREDEFINED), frozenset(binds))


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are evaluated when a statement runs; skip function bodies."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, SCOPES):
            waiting += _evaluated_at_definition(one)
        else:
            waiting += ast.iter_child_nodes(one)


def _evaluated_at_definition(node: SCOPES) -> list[ast.AST]:
    """Return a function's defaults, decorators and annotations."""
    parts: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
    if not isinstance(node, ast.Lambda):
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        every += filter(None, (node.args.vararg, node.args.kwarg))
        parts += [*node.decorator_list, node.returns, *(one.annotation for one in every)]
    return [one for one in parts if one is not None]


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that this node binds as plain strings, not as `ast.Name` nodes."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((name.asname or name.name).split(".")[0] for name in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


def _later(node: ast.stmt) -> Iterator[tuple[str, Names]]:
    """Yield (function or class, names that it needs when called) for a statement."""
    for one in _at_once(node):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield one.name, _free(one)
    if isinstance(node, ast.Assign):
        lambdas = [one for one in ast.walk(node.value) if isinstance(one, ast.Lambda)]
        for target in node.targets:
            if isinstance(target, ast.Name) and lambdas:
                yield target.id, frozenset().union(*map(_free, lambdas))


def _free(node: ast.AST) -> Names:
    """Return the free names of a definition: the ones it reads but does not bind."""
    loaded: set[str] = set()
    own: set[str] = set()
    outer: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            (loaded if isinstance(one.ctx, ast.Load) else own).add(one.id)
        elif isinstance(one, ast.arg):
            own.add(one.arg)
        elif isinstance(one, ast.Global):
            outer |= set(one.names)
        elif one is not node:
            own |= set(_bound_by(one))
    return frozenset(loaded - (own - outer) - PREDEFINED)
