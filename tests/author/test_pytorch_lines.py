"""The PyTorch lines of the chapter on machines, for which no lock installs PyTorch.

Readers with a GPU copy them: they parse, and name what rooflib has.
"""

import ast
import re
import subprocess
import sys

from repository import ROOT

PAGE = (ROOT / "chapters" / "machine.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = "\n".join(block for block in BLOCKS if "torch" in block)


def used(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


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
