"""Verdicts on parts that failed because a module is not installed.

The learner's message names the modules.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from grading.intake.missing_modules import missing_modules, sentence
from grading.intake.own_code import imports, parsed
from grading.judging.verdicts import ONLY_HIDDEN_FAIL, Graded
from roofkit.words import _

CAUSES = ("raised", "not-a-function")  # problems that a missing module can cause
MAX_MODULES = 3  # modules listed in a cause
MAX_NAME_CHARACTERS = 40  # characters of each module's name in a cause


def name_missing_modules(
    nb: NotebookNode, functions: Mapping[str, str], graded: Mapping[str, Graded]
) -> dict[str, Graded]:
    """Return the verdicts, with the missing modules that each failing function needs.

    The modules are found by static analysis of the function and of everything that it uses.

    functions: key of a part → its function.
    """
    if not any(part.cause in CAUSES for part in graded.values()):
        return dict(graded)
    missing = set(missing_modules(nb))
    bodies = [parsed(cell.source) for cell in nb.cells if cell.cell_type == "code"]
    whole = [node for body in bodies for node in body or ()]
    result = {}
    for key, part in graded.items():
        needed = sorted(_needed(functions[key], whole, missing)) if part.cause in CAUSES else []
        result[key] = _with_modules(part, needed) if needed else part
    return result


def _with_modules(part: Graded, modules: Sequence[str]) -> Graded:
    names = [ascii(name)[1:-1][:MAX_NAME_CHARACTERS] for name in modules[:MAX_MODULES]]
    # Don't reveal how a function fails if it fails only for hidden values.
    added = () if _(ONLY_HIDDEN_FAIL) in part.sentences else (sentence(names),)
    return replace(
        part,
        cause=f"not installed: {', '.join(names)}",
        sentences=(*part.sentences, *added),
    )


def _needed(function: str, body: Sequence[ast.stmt], missing: set[str]) -> set[str]:
    """Return the missing modules that a function uses, directly or indirectly."""
    modules_of: dict[str, set[str]] = {}  # name in the notebook → missing modules it needs
    for module, name in imports(body):
        if module in missing:
            modules_of.setdefault(name, set()).add(module)
    needed = set(modules_of.get("*", ()))
    defined: dict[str, list[ast.stmt]] = {}
    for node in body:
        for name in _defined(node):
            defined.setdefault(name, []).append(node)
    names, walked = [function], set()
    while names:
        for node in defined.pop(names.pop(), ()):
            if node in walked:
                continue
            walked.add(node)
            needed |= {module for module, _ in imports([node]) if module in missing}
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name):
                    names.append(inner.id)
                    needed |= modules_of.get(inner.id, set())
    return needed


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, except by an import."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    else:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
