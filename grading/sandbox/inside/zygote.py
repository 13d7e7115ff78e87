"""The zygote: a process in bubblewrap with all imports, forked for each sandbox.

It runs no learner's code. For each sandbox it forks a process that enters new namespaces and
becomes init, process 1 of a new pid namespace. If it lacks the privileges for that, it forks init
instead. When init ends, the kernel kills all other processes of the sandbox. Init forks the process
that runs the notebook.

`main` takes the file descriptor of the grader's socket and the names of modules to import.
"""

import array
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import cells, isolate, memory, refusals, seccomp
from .request import Request, SandboxLimits

# Number of new objects that starts a garbage collection. Drawing a figure makes tens of thousands,
# and a collection costs more than it frees.
GC_THRESHOLD = 5_000
POLL_SECONDS = 0.05  # between two checks of the memory in use


def serve(grader: socket.socket) -> None:
    """Fork a sandbox for each request, until the grader closes the socket."""
    wake, woken = _woken_by_signals()
    own = isolate.pid_namespace()
    lives: dict[int, int] = {}  # first process of a sandbox → its life socket
    grader.send(b"ready")
    while True:
        ready, _, _ = select.select([grader, wake], [], [])
        if wake in ready:
            wake.recv(4096)
        for pid, _ in _reaped():  # the first process of a sandbox ends after all others
            os.close(lives.pop(pid))
        if grader not in ready:
            continue
        request, descriptors = _receive(grader)
        if not request:
            return
        child = os.fork() if own is None else isolate.fork_first(own)
        if child == 0:
            others = [grader.fileno(), wake.fileno(), woken.fileno(), *lives.values()]
            if own is not None:
                others.append(own)
            _end(sandbox, Request.from_json(request), descriptors, others, own is None)
        lives[child], *sockets = descriptors
        for descriptor in sockets:
            os.close(descriptor)


def sandbox(
    request: Request, descriptors: Sequence[int], others: Sequence[int], forks: bool
) -> None:
    """Enter new namespaces and become init; with `forks`, fork init and wait for it.

    others: the zygote's descriptors, which the sandbox must not inherit.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    isolate.die_with_parent()
    for other in others:
        os.close(other)
    first, *sockets = descriptors
    life = socket.socket(fileno=first)
    try:
        isolate.unshare_namespaces(pids=forks)
        child = os.fork() if forks else 0
    except OSError as error:
        _tell(life, refused=str(error))
        return
    if child == 0:
        _end(init, request, life, sockets)
    for descriptor in sockets:
        os.close(descriptor)
    os.waitpid(child, 0)  # returns when all processes of the sandbox have ended


def init(request: Request, life: socket.socket, sockets: Sequence[int]) -> None:
    """Run as process 1 of the sandbox: start and watch the notebook, reap orphans."""
    limits = request.limits
    user = request.user or os.geteuid()
    group = request.user or os.getegid()
    try:
        isolate.prefer_oom_kill()  # before /proc is mounted read-only
        isolate.mount_folders(request.box, user, group, limits.scratch_bytes, request.readable)
        isolate.drop_privileges(user, group)
        isolate.set_limits(limits)
        isolate.dumpable(False)
        isolate.die_with_parent()
        # From here on init must not make a call that the filter refuses: it would wait forever,
        # because init itself is the listener.
        refused = refusals.Refusals(isolate.filter_calls(), functools.partial(_tell, life))
        child = os.fork()
    except OSError as error:
        _tell(life, refused=str(error))
        return
    if child == 0:
        life.close()
        refused.drop()
        _end(learner, request, sockets)
    for descriptor in sockets:
        os.close(descriptor)
    with contextlib.closing(refused):
        _watch(life, child, limits, refused)


def learner(request: Request, sockets: Sequence[int]) -> None:
    """Become the process that runs the notebook."""
    place = len(sockets) - request.groups
    isolate.join(sockets[place:])
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    isolate.dumpable(True)
    os.setsid()
    os.nice(5)  # lower priority than init and the grader
    refusals.watch(request.readable)
    cells.run(*sockets[:place])


def _watch(
    life: socket.socket, kernel: int, limits: SandboxLimits, refused: refusals.Refusals
) -> None:
    """Watch the sandbox until the grader hangs up or a limit is exceeded.

    The limits are those of time and memory.
    """
    child: int | None = kernel
    was_over = False
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the notebook could send SIGINT to init
    wake, _woken = _woken_by_signals()
    next_check, held = time.monotonic(), memory.Memory()
    end = next_check + limits.wall_seconds
    _tell(life, started=True)
    while True:
        sources: list[Any] = [life, wake, *refused.sources()]
        ready = select.select(sources, [], [], max(0, next_check - time.monotonic()))[0]
        refused.take(ready)
        if wake in ready:
            wake.recv(4096)
        for pid, status in _reaped():
            if pid == child:
                child = None
                _tell(life, exit=os.waitstatus_to_exitcode(status))
        if life in ready:
            number = life.recv(4096)
            if not number:
                return
            if child is not None:
                os.kill(child, int(number))
        if time.monotonic() > end:
            _tell(life, stopped="time")
            return
        if time.monotonic() < next_check:
            continue
        next_check = time.monotonic() + POLL_SECONDS
        over = held.exceeds(limits.memory_bytes)
        if over and was_over:
            _tell(life, stopped="memory")
            return
        if over:
            # Often one cell or call takes it all: the copies of the notebook at earlier checks can
            # still answer without that process.
            _tell(life, killed="memory")
            held.kill_largest()
        was_over = over


def _woken_by_signals() -> tuple[socket.socket, socket.socket]:
    """Return a socket that becomes readable when a child ends, and its peer.

    Keep the peer open: signals write to it.
    """
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)  # the wakeup needs a Python handler
    return wake, woken


def _reaped() -> Iterator[tuple[int, int]]:
    """Reap each child that has ended, including orphans; yield (id, status)."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def _tell(life: socket.socket, **message: object) -> None:
    with contextlib.suppress(OSError):  # reading `life` shows whether the grader is gone
        life.send(json.dumps(message).encode())


def _receive(grader: socket.socket) -> tuple[bytes, list[int]]:
    """Return a request and the file descriptors sent with it.

    The request is b"" when the grader is gone.
    """
    size = array.array("i").itemsize * 16
    request, ancillary, _, _ = grader.recvmsg(65536, socket.CMSG_SPACE(size))
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    return request, list(descriptors)


def _end(function: Callable[..., None], *arguments: object) -> NoReturn:
    """Run the function, then end this process."""
    try:
        function(*arguments)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(0)


def main() -> None:
    """Import the modules named on the command line, then serve the grader."""
    grader = socket.socket(fileno=int(sys.argv[1]))
    grader.set_inheritable(False)
    isolate.lift_grader_limits()
    sys.path[0] = "/run/course"  # instead of /run, which was needed to import this package
    if isolate.MODULES.is_dir():
        sys.path.append(
            str(isolate.MODULES)
        )  # last, so that no module hides one of the environment's
    for module in sys.argv[2:]:
        importlib.import_module(module)
    cells.warm_up()
    seccomp.warm_up()
    isolate.proc_masks()
    if threading.active_count() > 1 or len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError(f"a fork would lack these threads: {threading.enumerate()}")
    gc.collect()
    gc.freeze()  # so that collections in the children do not write to shared pages
    gc.set_threshold(GC_THRESHOLD)
    isolate.use_huge_pages()
    serve(grader)
