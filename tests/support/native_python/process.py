"""A page's Python outside of a browser: reads questions, a line of JSON each, and answers so.

    python -I process.py folder     (where the course was unpacked: folder/course)

{"run": code} runs code, whose last expression is the page's runner; {"call": method, "args": [...]}
asks that. The answer is {"result": …} or {"error": …}. Before it may come lines {"told": […]}: what
Python told the page's thread by `js.tellCall` meanwhile.
"""

import ast
import json
import os
import sys
import time
from types import ModuleType
from typing import Any

folder = sys.argv[1]
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what a library prints is no answer
names: dict[str, Any] = {}
page: Any = None


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), file=answers, flush=True)


sys.modules["js"] = js = ModuleType("js")
js.tellCall = lambda *told: say({"told": told})  # type: ignore[attr-defined]


def result(asked: dict[str, Any]) -> Any:
    global page
    if "call" in asked:
        return getattr(page, asked["call"])(*asked["args"])
    code = ast.parse(asked["run"].replace('"/course', f'"{folder}/course'))
    last = code.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(code, "start", "exec"), names)
    page = eval(compile(ast.Expression(last.value), "start", "eval"), names)
    # What other programs take of this machine is no matter to a call.
    sys.modules["page_python.call_times"].TIMES.clock = time.process_time
    return None


for line in sys.stdin:
    try:
        answer = {"result": result(json.loads(line))}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    say(answer)
