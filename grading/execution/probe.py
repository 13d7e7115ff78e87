"""Runs inside the process of a submitted notebook, before the learner's first cell.

`install` makes that process able to keep a copy of itself (a fork) at the moment a check cell is
reached. The copy waits at a socket until all cells have run; then it is asked. So a function is
asked in the state in which its check would have seen it; what is asked can't turn up in a later
cell's output; and a call that never ends, ends the process, or changes what it uses, harms its own
part alone.

Nothing of nbgrader here, and nothing of the grader: only rooflib and the standard library.
"""

import ast
import contextlib
import json
import os
import signal
import socket
import sys
import warnings
from pathlib import Path

from roofkit.check.answers import Answer, ask
from roofkit.check.compare import same

AGAIN = 1e-12  # two answers for one case that differ by more than this are two answers


def snapshot(part, namespace, address):
    """Keep this process as it is now, for the questions about `part` that come to `address`."""
    inlet, outlet = os.pipe()
    try:
        ours = _fork() != 0
    except OSError:
        os.close(inlet)
        os.close(outlet)
        raise
    if ours:
        os.close(outlet)
        os.read(inlet, 1)  # until the copy stands on its own feet, or is gone
        os.close(inlet)
        return
    try:
        os.setsid()  # an interrupt or a kill that is meant for the notebook must not end it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _close_all_files()  # the pipe too, so that the notebook goes on
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            channel.connect(address)
            with channel.makefile("r", encoding="utf-8") as questions:
                channel.sendall((json.dumps({"part": part}) + "\n").encode())
                for question in map(json.loads, questions):
                    for answer in _answers(question, namespace):
                        channel.sendall(json.dumps(answer).encode() + b"\n")
    finally:
        os._exit(0)


def _answers(question, namespace):
    """One answer for each case. A call that takes longer than its time ends this process."""
    function, kind = namespace.get(question["function"]), question["kind"]
    for index, case in enumerate(map(ast.literal_eval, question["cases"])):
        with _ending_after(question["seconds"]):
            answer = ask(function, case, kind)
        if index == 0 and not answer.problem:
            with _ending_after(question["seconds"]):
                again = ask(function, case, kind)
            if again.problem or not same(again.value, answer.value, AGAIN):
                answer = Answer(problem="changing")
        # The detail may quote the case, which is not for the learner's eyes.
        yield {"value": answer.value, "problem": answer.problem}


@contextlib.contextmanager
def _ending_after(seconds):
    """The system's timer, so that no code need come to an end for it."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _fork():
    with warnings.catch_warnings():
        # Other threads of the kernel don't exist in the copy, and nothing here needs them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _close_all_files():
    """Leave the notebook's sockets and outputs to the notebook."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, 65536)
    # What a function prints goes nowhere, for as long as the copy lives.
    sys.stdin, sys.stdout, sys.stderr = map(Path(os.devnull).open, "rww")


def install(address):
    """Answer "snapshot_request" messages of the kernel's shell channel.

    A message of its own passes by everything that a cell can replace: run_cell, displayhook,
    transformers of the source or of its syntax tree.
    """
    from ipykernel.kernelapp import IPKernelApp

    kernel = IPKernelApp.instance().kernel
    namespace = kernel.shell.user_ns

    def handle(stream, identities, message):
        kept = False
        with contextlib.suppress(OSError):  # no room for one more process or file
            snapshot(message["content"]["part"], namespace, address)
            kept = True
        kernel.session.send(stream, "snapshot_reply", {"kept": kept}, message, identities)

    kernel.shell_handlers["snapshot_request"] = handle
