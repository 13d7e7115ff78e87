"""Runs inside the process of a submitted notebook, before the learner's first cell.

`install` makes that process able to keep a copy of itself (a fork) at the moment a check cell is
reached. The copy waits at a socket until all cells have run; then it is asked. So a function is
asked in the state in which its check would have seen it; what is asked can't turn up in a later
cell's output; and a call that never ends, ends the process, or changes what it uses, harms its own
part alone.

A fork is what costs most, so at first the copy answers by itself. If that ends it, nobody knows
how, and the notebook is run once more, with questions that ask for a spare. Then the copy answers
in a fork of its own, and says how that ended: by itself, at its limit of CPU time, at the limit of
the wall clock, there for want of a core, or otherwise. Whoever answers waits for the next question
of the part, if there may be one.

Nothing of nbgrader here, and nothing of the grader: only roofkit and the standard library.
"""

import ast
import contextlib
import gc
import json
import math
import os
import resource
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from roofkit.check.answers import ask_all

FILES = 65536  # descriptors that a process may have open
AGAIN = 2  # how often the first case may be asked once more

Question = dict[str, Any]
_KEPT: list[Any] = []


def snapshot(part: str, namespace: dict[str, Any], address: str) -> None:
    """Keep this process as it is now, for the questions about `part` that come to `address`.

    OSError if there is no room for one more process or file.
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
        os.read(inlet, 1)  # until the copy has reported to the grader, or has ended
        os.close(inlet)
        return
    stay(part, namespace, address, outlet)


def stay(
    part: str, namespace: dict[str, Any], address: str, outlet: int, word: bytes = b""
) -> NoReturn:
    """Be what answers the questions about `part` until there are no more, and end.

    outlet: is sent the word, and closed, when this process has reported to the grader.
    """
    try:
        _wait_for_questions(part, namespace, address, outlet, word)
    finally:
        os._exit(0)


def _wait_for_questions(
    part: str, namespace: dict[str, Any], address: str, outlet: int, word: bytes
) -> None:
    with contextlib.suppress(OSError):  # of the notebook's own process, which leads its session
        os.setsid()  # an interrupt or a kill that is meant for the notebook must not end the copy
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or the system would not say how a child ended
    _close_files(outlet)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.setblocking(False)  # never keep the notebook waiting for a grader that is busy
        channel.connect(address)
        channel.sendall((json.dumps({"part": part}) + "\n").encode())
        channel.setblocking(True)
        os.write(outlet, word)
        os.close(outlet)  # the notebook goes on
        with channel.makefile("r", encoding="utf-8") as questions:
            while line := questions.readline():
                question = json.loads(line)
                if question["spare"]:
                    how = _asked_in_a_fork(question, questions, namespace, channel)
                else:
                    how = ""
                    _asked(question, questions, namespace, channel)
                _send(channel, {"end": how})


def _send(channel: socket.socket, message: dict[str, Any]) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")


def _asked_in_a_fork(
    question: Question, questions: IO[str], namespace: dict[str, Any], channel: socket.socket
) -> str:
    """Send the answers; how that ended: "cpu" or "wall" for a limit, "" for anything else.

    "starved" if the limit was that of the wall clock, and the fork mostly waited for a core.
    """
    try:
        child = _fork()
    except OSError:  # the notebook has used up its processes: nobody will say how this one ended
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
    # The system counts CPU time for a limit and for this report in two ways, which may differ.
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
    """Send the answers within the limits that this process now gets for good."""
    _limit_cpu(_most_seconds(question))
    _new_pools()
    gc.freeze()  # or a look for garbage would write to pages that are shared
    _answered(question, questions, namespace, channel)


def _most_seconds(question: Question) -> int:
    """CPU seconds for all calls of this question and of the one that may come after it."""
    calls = len(question["cases"]) + AGAIN
    if question["more"]:
        calls += question["more"] + AGAIN
    seconds: float = question["cpu_seconds"] * calls
    return math.ceil(seconds + time.process_time()) + 1  # with what the cells took in this process


def _answered(
    question: Question, questions: IO[str], namespace: dict[str, Any], channel: socket.socket
) -> None:
    """Send the answers, also to the question that comes after this one, if any comes."""
    for answer in _answers(question, namespace):
        _send(channel, answer)
    if question["more"]:
        _send(channel, {"end": ""})
        if line := questions.readline():
            _answered(json.loads(line), questions, namespace, channel)


def _new_pools() -> None:
    """Give pools that the notebook has made new threads: a copy of a process has but one.

    Without them a function that hands its work to such a pool would wait for ever.
    """
    threads: Any = sys.modules.get("concurrent.futures.thread")
    pools: Any = sys.modules.get("multiprocessing.pool")
    # Loaded in every kernel; it lists the threads of all executors.
    executor = threads.ThreadPoolExecutor if threads and threads._threads_queues else None
    pool = pools.Pool if pools else None
    for one in gc.get_objects() if executor or pool else ():
        # By its type, since an object of the learner's may say what it likes about its class.
        if executor and issubclass(type(one), executor):
            fresh = executor(one._max_workers)
            for name in ("_threads", "_work_queue", "_idle_semaphore", "_shutdown_lock"):
                setattr(one, name, getattr(fresh, name))
        elif pool and issubclass(type(one), pool):
            fresh = type(one)(one._processes)
            # Or one would be ended when its object goes, and the other wait for its threads.
            _KEPT.extend((fresh, one.__dict__))
            one.__dict__ = fresh.__dict__


def _starved_seconds(child: int) -> float:
    """How long it has been ready to run while others had the cores; 0 if nobody tells."""
    try:
        return int(Path(f"/proc/{child}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _answers(question: Question, namespace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One answer for each case, and one about asking the first again if that is wanted.

    A call that takes longer than its time ends this process.
    """
    cases = [ast.literal_eval(case) for case in question["cases"]]
    answers = ask_all(namespace.get(question["function"]), cases, question["kind"])  # type: ignore[arg-type]
    for index in range(len(cases) + question["again"]):
        with _ending_after(question["cpu_seconds"], question["wall_seconds"]):
            answer = next(answers)
        # The detail may quote the case, which is not for the learner's eyes.
        yield {"value": answer.value, "problem": answer.problem}
        if index == 0 and answer.problem:
            return  # it decides the verdict; the grader asks the next part meanwhile


@contextlib.contextmanager
def _ending_after(cpu: float, wall: float) -> Iterator[None]:
    """The system's timers, whose signals end the process by default: no code need take part."""
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
    """The end of a function that sets the timers back: no process can raise this limit again."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = seconds if hard == resource.RLIM_INFINITY else min(seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def _fork() -> int:
    with warnings.catch_warnings():
        # Other threads of the kernel don't exist in the copy, and nothing here needs them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _close_files(but: int) -> None:
    """Leave the notebook's sockets and outputs to the notebook; this descriptor stays open."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, but)
    os.closerange(but + 1, FILES)
    # What a function prints goes nowhere, for as long as the copy lives.
    sys.stdin, sys.stdout, sys.stderr = map(Path(os.devnull).open, "rww")


def install(
    address: str, namespace: dict[str, Any]
) -> tuple[Callable[[str], bool], Callable[[str, int, bytes], NoReturn]]:
    """Tell the grader which process this is; what keeps a copy of it, and what makes it stay.

    The first says whether it could. The second is for the last check of a notebook: nothing comes
    after it for which there would have to be a copy. The loop that runs the cells has them, so they
    pass by everything that a cell can replace: run_cell, displayhook, transformers of the source or
    of its syntax tree.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.connect(address)  # by which the grader learns which process this is

    def keep(part: str) -> bool:
        try:
            snapshot(part, namespace, address)
        except OSError:
            return False
        return True

    def remain(part: str, outlet: int, word: bytes) -> NoReturn:
        stay(part, namespace, address, outlet, word)

    return keep, remain
