"""Which parts failed for want of a module, and what is said about them."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from grading.intake.missing_modules import missing_modules, sentence
from grading.intake.own_code import imports, parsed
from grading.judging.verdicts import HIDDEN_ALONE, Graded

CAUSES = ("raised", "not-a-function")  # what comes of a module that is not there
MAX_NAMED = 3  # modules in a cause, each with so many characters
NAME_CHARACTERS = 40


def name_missing_modules(
    nb: NotebookNode, functions: Mapping[str, str], graded: Mapping[str, Graded]
) -> dict[str, Graded]:
    """The verdicts, with the modules named that a failing function needs and that are not there.

    functions: key of a part → its function. What was asked of a function does not matter here, and
    nothing that it said: only its code, and the code that it uses.
    """
    if not any(part.cause in CAUSES for part in graded.values()):
        return dict(graded)
    missing = set(missing_modules(nb))
    if not missing:
        return dict(graded)
    bodies = [parsed(cell.source) for cell in nb.cells if cell.cell_type == "code"]
    whole = [node for body in bodies for node in body or ()]
    named = {}
    for key, part in graded.items():
        needed = sorted(_needed(functions[key], whole, missing)) if part.cause in CAUSES else []
        named[key] = _named(part, needed) if needed else part
    return named


def _named(part: Graded, modules: Sequence[str]) -> Graded:
    shown = [ascii(name)[1:-1][:NAME_CHARACTERS] for name in modules[:MAX_NAMED]]
    # A function that fails for hidden values alone must not say how.
    told = () if HIDDEN_ALONE in part.sentences else (sentence(shown),)
    return replace(
        part,
        cause=f"not installed: {', '.join(shown)}",
        sentences=(*part.sentences, *told),
    )


def _needed(function: str, body: Sequence[ast.stmt], missing: set[str]) -> set[str]:
    """Those of the missing modules that a function uses, or whatever it calls."""
    modules_of: dict[str, set[str]] = {}
    for module, name in imports(body):
        if module in missing:
            modules_of.setdefault(name, set()).add(module)
    needed = set(modules_of.get("*", ()))
    defined: dict[str, list[ast.stmt]] = {}
    for node in body:
        for name in _defined(node):
            defined.setdefault(name, []).append(node)
    names, seen, walked = [function], {function}, set()
    while names:
        for node in defined.get(names.pop(), ()):
            if node in walked:
                continue
            walked.add(node)
            needed |= {module for module, _ in imports([node]) if module in missing}
            for one in ast.walk(node):
                if isinstance(one, ast.Name) and one.id not in seen:
                    seen.add(one.id)
                    names.append(one.id)
                    needed |= modules_of.get(one.id, set())
    return needed


def _defined(node: ast.stmt) -> Iterator[str]:
    """Names that a statement gives a value to, other than by an import."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif not isinstance(node, ast.Import | ast.ImportFrom):
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                yield one.id
