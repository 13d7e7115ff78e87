"""A page's Python outside of a browser: reads questions, a line of JSON each, and answers so.

    python -I process.py folder     (where the course was unpacked: folder/course)

{"run": code} runs code, whose last expression is the page's runner; {"call": method, "args": [...]}
asks that. The answer is {"result": …} or {"error": …}.
"""

import ast
import json
import os
import sys
from typing import Any

folder = sys.argv[1]
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what a library prints is no answer
names: dict[str, Any] = {}
page: Any = None


def result(asked: dict[str, Any]) -> Any:
    global page
    if "call" in asked:
        return getattr(page, asked["call"])(*asked["args"])
    code = ast.parse(asked["run"].replace('"/course', f'"{folder}/course'))
    last = code.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(code, "start", "exec"), names)
    page = eval(compile(ast.Expression(last.value), "start", "eval"), names)
    return None


for line in sys.stdin:
    try:
        answer = {"result": result(json.loads(line))}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=answers, flush=True)
