"""A page's Python as a local process that reads requests and writes answers as JSON lines.

    python -I process.py folder     (the course is unpacked into folder/course)

{"run": code} runs code whose last expression is the Page; {"call": method, "args": [...]} calls a
method of that Page. The answer is {"result": …} or {"error": …}. Lines {"reported": […]} before it
are the arguments of calls of `js.reportCall`.
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
os.dup2(2, 1)  # send what libraries print to stderr, not among the answers
names: dict[str, Any] = {}
page: Any = None


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), file=answers, flush=True)


sys.modules["js"] = js = ModuleType("js")
js.reportCall = lambda *reported: say({"reported": reported})  # type: ignore[attr-defined]


def result(asked: dict[str, Any]) -> Any:
    global page
    if "call" in asked:
        return getattr(page, asked["call"])(*asked["args"])
    code = ast.parse(asked["run"].replace('"/course', f'"{folder}/course'))
    last = code.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(code, "start", "exec"), names)
    page = eval(compile(ast.Expression(last.value), "start", "eval"), names)
    # Limit calls by CPU time, so that load from other programs does not count.
    sys.modules["browser.python.call_times"].TIMES.clock = time.process_time
    return None


for line in sys.stdin:
    try:
        answer = {"result": result(json.loads(line))}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    say(answer)
