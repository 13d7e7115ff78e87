"""The PyTorch lines of the chapter on machines, for which no lock installs PyTorch.

Readers with a GPU copy them. They parse, name what PyTorch documents, and name what rooflib has.
"""

import ast
import re
import subprocess
import sys

from repository import ROOT

PAGE = (ROOT / "chapters" / "machine.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = "\n".join(block for block in BLOCKS if "torch" in block)
# In `__all__` of these modules in PyTorch 2.14.1, and in its documentation.
DOCUMENTED = {
    "torch.bfloat16", "torch.int8", "torch.empty", "torch.randn", "torch.no_grad",
    "torch.nn.Linear", "torch.cuda.is_available", "torch.cuda.synchronize", "torch.cuda.Event",
    "torch.profiler.profile",
}  # fmt: skip


def used(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def test_they_name_only_what_pytorch_documents() -> None:
    chains = {
        ast.unparse(each)
        for each in ast.walk(ast.parse(LINES))
        if isinstance(each, ast.Attribute) and re.fullmatch(r"torch(\.\w+)+", ast.unparse(each))
    }
    # Of torch.cuda and torch.cuda.Event, only the second is what a line asks for.
    asked = {one for one in chains if not any(other.startswith(f"{one}.") for other in chains)}
    assert asked, "the page has no lines for PyTorch"
    assert asked <= DOCUMENTED


def test_what_they_ask_of_rooflib_is_there() -> None:
    # Everything but what depends on PyTorch, with a time that somebody measured.
    measured = ast.parse("typical = 1e-4").body[0]
    needs, kept = {"torch"}, [measured]
    for statement in ast.parse(LINES).body:
        binds = {
            each.id
            for each in ast.walk(statement)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        } | {each.name for each in ast.walk(statement) if isinstance(each, ast.FunctionDef)}
        imported = [each.name for each in getattr(statement, "names", [])]
        if "torch" in imported or used(statement) & needs:
            needs |= binds - {"typical"}
        else:
            kept.append(statement)
    code = "\n".join(map(ast.unparse, kept))
    assert "found" in code
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "MFU" in done.stdout
