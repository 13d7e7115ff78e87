"""A page's Python as a local process that exchanges JSON lines.

It reads requests and writes answers.

    python -I process.py

imports what pages need and waits at its socket, stdin. For each folder that it receives with two
pipes, it forks a process that serves a page at these pipes, whose course is in folder/course, and
answers with the number of that process.

{"run": code} runs code whose last expression is the Page; {"call": method, "args": [...]} calls a
method of that Page. The answer is {"result": …} or {"error": …}. Lines {"reported": […]} before it
are the arguments of calls of `js.reportCall`.
"""

import ast
import json
import os
import signal
import socket
import sys
import time
from types import ModuleType
from typing import Any, TextIO

import matplotlib.pyplot  # noqa: F401


class Served:
    """The Python of one page."""

    def __init__(self, folder: str, answers: TextIO) -> None:
        self.folder = folder
        self.answers = answers
        self.names: dict[str, Any] = {}
        self.page: Any = None

    def say(self, message: dict[str, Any]) -> None:
        print(json.dumps(message), file=self.answers, flush=True)

    def result(self, asked: dict[str, Any]) -> Any:
        if "call" in asked:
            return getattr(self.page, asked["call"])(*asked["args"])
        code = ast.parse(asked["run"].replace('"/course', f'"{self.folder}/course'))
        last = code.body.pop()
        assert isinstance(last, ast.Expr)
        exec(compile(code, "start", "exec"), self.names)
        self.page = eval(compile(ast.Expression(last.value), "start", "eval"), self.names)
        # Limit calls by CPU time, so that load from other programs does not count.
        sys.modules["browser.python.call_times"].TIMES.clock = time.process_time
        return None

    def run(self) -> None:
        for line in sys.stdin:
            try:
                answer = {"result": self.result(json.loads(line))}
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            self.say(answer)


def serve(folder: str) -> None:
    """Run a page's Python: read requests from stdin, write answers to stdout."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # send what libraries print to stderr, not among the answers
    os.environ["HOME"] = folder
    served = Served(folder, answers)
    sys.modules["js"] = js = ModuleType("js")
    js.reportCall = lambda *reported: served.say({"reported": reported})  # type: ignore[attr-defined]
    served.run()


with socket.socket(fileno=os.dup(0)) as asked:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended processes leave no zombies
    while True:
        name, pipes, _, _ = socket.recv_fds(asked, 1000, 2)
        if not name:
            sys.exit()
        if child := os.fork():
            asked.send(str(child).encode())
        else:
            break
        for pipe in pipes:
            os.close(pipe)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
for number, pipe in enumerate(pipes):
    os.dup2(pipe, number)
    os.close(pipe)
serve(name.decode())
