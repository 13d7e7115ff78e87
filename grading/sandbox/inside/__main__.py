"""The zygote: a warm process inside bubblewrap that forks for each sandboxed notebook.

It runs no learner's code itself. For each sandbox it forks a process, which enters namespaces of
its own and forks twice more: init, the first process of the new pid namespace, whose end ends
everything in there; and the kernel.

    python -I inside <file descriptor of the grader's socket> <modules to import ahead>
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
from pathlib import Path

import isolate
import kernel_app
import refusals

WATCH_SECONDS = 0.05
PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")


def serve(grader):
    """Make a sandbox for each request until the grader is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel
    grader.send(b"ready")
    while True:
        request, descriptors = _receive(grader)
        if not request:
            return
        if os.fork() == 0:
            _end(sandbox, json.loads(request), descriptors, [grader])
        for descriptor in descriptors:
            os.close(descriptor)


def sandbox(request, descriptors, others):
    """Step into namespaces of its own, and wait there until they are gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    isolate.die_with_parent()
    for other in others:
        other.close()
    life, *sockets = descriptors
    life = socket.socket(fileno=life)
    try:
        isolate.own_namespaces()
        child = os.fork()
    except OSError as error:
        _tell(life, refused=str(error))
        return
    if child == 0:
        _end(init, request, life, sockets)
    for descriptor in sockets:
        os.close(descriptor)
    os.waitpid(child, 0)  # comes back when the last process of the sandbox is gone


def init(request, life, sockets):
    """First process of the sandbox: starts the kernel, watches, reaps; its end ends everything."""
    limits = request["limits"]
    user = request["user"] or os.geteuid()
    group = request["user"] or os.getegid()
    try:
        scratch = limits["scratch_bytes"]
        isolate.own_folders(request["box"], user, group, scratch, request["readable"])
        isolate.first_victim()
        isolate.own_identity(user, group)
        isolate.set_limits(limits)
        isolate.dumpable(False)
        isolate.die_with_parent()
        # From here on a call that the filter refuses would wait for this process's own answer.
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


def learner(request, sockets):
    """The process that will run the notebook."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    isolate.dumpable(True)
    os.setsid()
    os.nice(5)  # whoever looks after this process comes first
    refusals.watch(request["readable"])
    kernel_app.run(sockets, request["key"], isolate.BOX)


def _watch(life, child, limits, refused):
    """Until the grader lets go, time is over, or the sandbox takes more memory than it may."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of signals from inside only handled ones arrive
    wake, woken = socket.socketpair()
    for end in (wake, woken):
        end.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    look = time.monotonic()
    end = look + limits["wall_seconds"]
    _tell(life, started=True)
    while True:
        sources = [life, wake, *refused.sources()]
        ready = select.select(sources, [], [], max(0, look - time.monotonic()))[0]
        refused.take(ready)
        if wake in ready:
            wake.recv(4096)
        for pid, status in _reaped():
            if pid == child:
                child = None
                _tell(life, exit=os.waitstatus_to_exitcode(status))
        if life in ready:
            order = life.recv(4096)
            if not order:
                return
            if child is not None:
                os.kill(child, int(order))
        if time.monotonic() > end:
            _tell(life, stopped="time")
            return
        if time.monotonic() < look:
            continue
        look = time.monotonic() + WATCH_SECONDS
        if _too_much(limits["memory_bytes"]):
            _tell(life, stopped="memory")
            return


def _reaped():
    """All children that have ended, orphans of the notebook's among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def _too_much(most):
    """Whether the processes here hold more bytes, pages that copies share counted once."""
    processes = [one for one in PROC.iterdir() if one.name.isdigit() and one.name != "1"]
    if sum(map(_resident, processes)) <= most:
        return False  # the quick look; it counts shared pages many times
    return sum(map(_proportional, processes)) > most


def _resident(process):
    try:
        return int((process / "statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0  # it has just ended


def _proportional(process):
    try:
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except PermissionError:
        return _resident(process)
    except OSError:
        pass
    return 0


def _tell(life, **message):
    with contextlib.suppress(OSError):  # if nobody listens, the next look at `life` says so
        life.send(json.dumps(message).encode())


def _receive(grader):
    """A request, and the file descriptors that came with it."""
    size = array.array("i").itemsize * 16
    request, ancillary, _, _ = grader.recvmsg(65536, socket.CMSG_SPACE(size))
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    return request, list(descriptors)


def _end(function, *arguments):
    """Run the function as the rest of this process's life."""
    try:
        function(*arguments)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(0)


def main():
    grader = socket.socket(fileno=int(sys.argv[1]))
    grader.set_inheritable(False)
    sys.path[0] = "/run/course"  # in the place of this file's folder
    for module in sys.argv[2:]:
        importlib.import_module(module)
    kernel_app.warm_up()
    if threading.active_count() > 1 or len(list((PROC / "self/task").iterdir())) > 1:
        raise RuntimeError(f"a copy would lack these threads: {threading.enumerate()}")
    gc.collect()
    gc.freeze()  # pages that nobody writes stay shared
    serve(grader)


main()
