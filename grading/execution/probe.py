"""Code that the grader loads into a notebook's process before the first cell.

`install` lets that process fork a copy of itself when it reaches a check cell. The copy waits at a
socket until all cells have run, and then answers the grader's questions about that part. So a
function is called in the state that its check would have seen, its inputs can't show up in a later
cell's output, and a call that hangs, ends its process or changes its globals affects one part only.

Forking is expensive, so the copy first answers in its own process. If that process dies, the grader
can't tell why, and runs the notebook again with questions that have `spare` set. The copy then
answers in a fork and reports how the fork ended: normally, at its CPU limit, at its wall-clock
limit, at that limit while waiting for a core, or in another way.

This module may import only roofkit and the standard library.
"""

import ast
import contextlib
import gc
import math
import os
import resource
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from json import dumps, loads  # by name: a cell may replace `json.dumps`
from pathlib import Path
from typing import IO, Any, NoReturn

from roofkit.check.answers import ask_all

MAX_DESCRIPTORS = 65536  # open files per process
REPEATS = 2  # calls per question, beyond one per case, that the CPU limit leaves time for

Question = dict[str, Any]
_KEPT: list[Any] = []


def snapshot(part: str, namespace: dict[str, Any], address: str) -> None:
    """Fork a copy of this process that answers questions about `part` over `address`.

    Raise OSError if the sandbox has no room for another process or file.
    """
    inlet, outlet = os.pipe()
    try:
        is_notebook = _fork() != 0
    except OSError:
        os.close(inlet)
        os.close(outlet)
        raise
    if is_notebook:
        os.close(outlet)
        os.read(inlet, 1)  # returns when the copy has reported to the grader, or has ended
        os.close(inlet)
        return
    stay(part, namespace, address, outlet)


def stay(
    part: str, namespace: dict[str, Any], address: str, outlet: int, word: bytes = b""
) -> NoReturn:
    """Answer all questions about `part` in this process, then exit.

    outlet: descriptor to which `word` is written, and which is then closed, as soon as this process
    has reported to the grader.
    """
    try:
        _wait_for_questions(part, namespace, address, outlet, word)
    finally:
        os._exit(0)


def _wait_for_questions(
    part: str, namespace: dict[str, Any], address: str, outlet: int, word: bytes
) -> None:
    # `setsid` fails for a session leader, such as the notebook's own process.
    with contextlib.suppress(OSError):
        os.setsid()  # a signal meant for the notebook must not end the copy
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if ignored, children would leave no exit status
    _close_files(outlet)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.setblocking(False)  # a busy grader must not block the notebook
        channel.connect(address)
        channel.sendall((dumps({"part": part}) + "\n").encode())
        channel.setblocking(True)
        os.write(outlet, word)
        os.close(outlet)  # the notebook goes on
        with channel.makefile("r", encoding="utf-8") as questions:
            while line := questions.readline():
                question = loads(line)
                if question["spare"]:
                    how = _asked_in_fork(question, questions, namespace, channel)
                else:
                    how = ""
                    _asked(question, questions, namespace, channel)
                _send(channel, {"end": how})


def _send(channel: socket.socket, message: dict[str, Any]) -> None:
    channel.sendall(dumps(message).encode() + b"\n")


def _asked_in_fork(
    question: Question, questions: IO[str], namespace: dict[str, Any], channel: socket.socket
) -> str:
    """Send the answers from a fork; return the limit that ended it, or "".

    "cpu" means the CPU limit, and "wall" the wall-clock limit. "starved" means the wall-clock
    limit, in a fork that spent most of its time waiting for a core.
    """
    try:
        child = _fork()
    except OSError:  # no fork possible: answer here; how this process ends stays unknown
        child = 0
    if child == 0:
        try:
            _asked(question, questions, namespace, channel)
        finally:
            os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    starved = _starved_seconds(child)
    _, status, used = os.wait4(child, 0)
    if not os.WIFSIGNALED(status):
        return ""
    ended_by = os.WTERMSIG(status)
    # Compare with half the limit: Linux counts CPU time differently for limits and for rusage.
    most = _most_seconds(question)
    at_limit = ended_by == signal.SIGKILL and used.ru_utime + used.ru_stime > most / 2
    if ended_by == signal.SIGPROF or at_limit:
        return "cpu"
    if ended_by != signal.SIGALRM:
        return ""
    return "starved" if starved > question["wall_seconds"] / 2 else "wall"


def _asked(
    question: Question, questions: IO[str], namespace: dict[str, Any], channel: socket.socket
) -> None:
    """Limit this process's CPU time irrevocably, then send the answers."""
    _limit_cpu(_most_seconds(question))
    _restart_pools()
    gc.freeze()  # otherwise a garbage collection writes to shared pages
    _answered(question, questions, namespace, channel)


def _most_seconds(question: Question) -> int:
    """Return the CPU limit that allows all calls of this question and the next one."""
    calls = len(question["cases"]) + REPEATS
    if question["more"]:
        calls += question["more"] + REPEATS
    seconds: float = question["cpu_seconds"] * calls
    return math.ceil(seconds + time.process_time()) + 1  # process_time includes the cells


def _answered(
    question: Question, questions: IO[str], namespace: dict[str, Any], channel: socket.socket
) -> None:
    """Send the answers to this question and to the next one, if any."""
    for answer in _answers(question, namespace):
        _send(channel, answer)
    if question["more"]:
        _send(channel, {"end": ""})
        if line := questions.readline():
            _answered(loads(line), questions, namespace, channel)


def _restart_pools() -> None:
    """Give the notebook's thread and process pools new workers after a fork.

    A fork has only one thread. A function that submits work to such a pool would otherwise wait
    forever.
    """
    threads: Any = sys.modules.get("concurrent.futures.thread")
    pools: Any = sys.modules.get("multiprocessing.pool")
    # Every kernel imports concurrent.futures.thread, so look for executors only if any has threads.
    executor = threads.ThreadPoolExecutor if threads and threads._threads_queues else None
    pool = pools.Pool if pools else None
    for one in gc.get_objects() if executor or pool else ():
        # Check the type: an object of the learner's may lie about its __class__.
        if executor and issubclass(type(one), executor):
            fresh = executor(one._max_workers)
            for name in ("_threads", "_work_queue", "_idle_semaphore", "_shutdown_lock"):
                setattr(one, name, getattr(fresh, name))
        elif pool and issubclass(type(one), pool):
            fresh = type(one)(one._processes)
            # Keep the new pool and the old state from garbage collection: collecting the first
            # would end its workers, and collecting the second would join its threads.
            _KEPT.extend((fresh, one.__dict__))
            one.__dict__ = fresh.__dict__


def _starved_seconds(child: int) -> float:
    """Return how long this child waited for a core, 0 if that is unknown."""
    try:
        return int(Path(f"/proc/{child}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _answers(question: Question, namespace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an answer for each case, and for the repeated first case if requested.

    A call that exceeds its time ends this process.
    """
    cases = [ast.literal_eval(case) for case in question["cases"]]
    answers = ask_all(namespace.get(question["function"]), cases, question["kind"])  # type: ignore[arg-type]
    for index in range(len(cases) + question["again"]):
        with _ending_after(question["cpu_seconds"], question["wall_seconds"]):
            answer = next(answers)
        # Leave out the detail: it may quote the case, which the learner must not see.
        yield {"value": answer.value, "problem": answer.problem}
        if index == 0 and answer.problem:
            return  # a problem in the first case decides the verdict


@contextlib.contextmanager
def _ending_after(cpu: float, wall: float) -> Iterator[None]:
    """End the process by a timer's signal if the `with` block exceeds a limit.

    The signal runs no Python code.
    """
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPROF, signal.SIGALRM])
    signal.setitimer(signal.ITIMER_PROF, cpu)
    signal.setitimer(signal.ITIMER_REAL, wall)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_cpu(seconds: int) -> None:
    """Limit CPU time irrevocably.

    The learner's functions may reset the timers, but not this limit.
    """
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = seconds if hard == resource.RLIM_INFINITY else min(seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def _fork() -> int:
    with warnings.catch_warnings():
        # Ignore the warning that a fork lacks the other threads: nothing here needs them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _close_files(but: int) -> None:
    """Close the descriptors inherited from the notebook, except `but`."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, but)
    os.closerange(but + 1, MAX_DESCRIPTORS)
    # Discard what functions print.
    sys.stdin, sys.stdout, sys.stderr = map(Path(os.devnull).open, "rww")


def install(
    address: str, namespace: dict[str, Any]
) -> tuple[Callable[[str], bool], Callable[[str, int, bytes], NoReturn]]:
    """Report this process to the grader; return the functions `keep` and `remain`.

    `keep` forks a copy for a part, and returns whether it could. `remain` turns this process itself
    into that copy, at the last check of a notebook. The loop that runs the cells calls them, so
    nothing that a cell can replace is involved: run_cell, displayhook, source or AST transformers.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.connect(address)  # the grader reads this process's id from the connection

    def keep(part: str) -> bool:
        try:
            snapshot(part, namespace, address)
        except OSError:
            return False
        return True

    def remain(part: str, outlet: int, word: bytes) -> NoReturn:
        stay(part, namespace, address, outlet, word)

    return keep, remain
