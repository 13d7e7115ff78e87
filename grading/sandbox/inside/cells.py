"""Process that runs cells: IPython's kernel without its sockets and threads.

Requests arrive over a socket, one JSON line each: [number, command, argument]. Replies are JSON
lines too: [number, kind, content]; the last one for a request is [number, "done", content].
"""

import asyncio
import contextlib
import importlib
import json
import logging
import marshal
import os
import signal
import socket
import sys
import tempfile
from base64 import b64decode
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ipykernel.displayhook import ZMQDisplayHook
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from traitlets.config import Config

from . import commands, isolate, missing
from .output import Lines, Stream

IMPORTED_AT_START = (
    "faulthandler",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "matplotlib_inline.backend_inline",
)
# Bound here because a notebook may replace json's functions.
read = json.JSONDecoder().decode


class Kernel(IPythonKernel):
    """A kernel that runs cells as JupyterLab's does, but receives no messages."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        # No thread is "the main one", so the kernel leaves SIGINT alone: `_run` handles it.
        self.shell_channel_thread = SimpleNamespace(parent_thread=None)


class KernelApp(IPKernelApp):
    """The kernel application without its sockets, threads and connection files."""

    def initialize(self, argv: object = None) -> None:
        """Create the kernel and its shell in the stock order."""
        stock: Any = self
        stock.init_crash_handler()
        stock.init_profile_dir()
        stock.init_pdb()
        hook: Any = ZMQDisplayHook
        self.displayhook = sys.displayhook = hook(self.session, None)
        stock.patch_io()
        self.kernel = Kernel.instance(
            parent=self,
            session=self.session,
            log=self.log,
            profile_dir=self.profile_dir,
            user_ns=None,
        )
        self.displayhook.get_execution_count = lambda: self.kernel.execution_count
        stock.init_shell()
        stock.init_gui_pylab()
        stock.init_extensions()
        stock.init_code()


def warm_up() -> None:
    """Import and run once what every notebook needs, so that forks have it in memory."""
    for module in IMPORTED_AT_START:
        importlib.import_module(module)
    _app().kernel.shell.run_cell("1 + 1", silent=True, store_history=False)
    if "rooflib" in sys.modules:
        sys.modules["rooflib"].chips()  # loads the catalog, which nearly every notebook uses


def run(descriptor: int) -> None:
    """Execute requests from this socket until it closes."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # otherwise every fork draws the same numbers
    app: Any = _app()
    lines, kernel = app.session, app.kernel
    lines.connection, lines.pid = socket.socket(fileno=descriptor), os.getpid()
    streams = Stream("stdout", 1, lines), Stream("stderr", 2, lines)
    sys.stdout, sys.stderr = streams
    app.init_path()
    # As in a stock kernel, cells find a running event loop, and their tasks survive the cell.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Placeholders: the command "begin" sets both.
    keep: Callable[[str], bool] = bool
    stay: Callable[[str, int, bytes], object] = print
    for line in lines.connection.makefile("r", encoding="utf-8"):
        lines.number, command, argument = read(line)
        reply = ""
        if command == "begin":
            code, address = argument
            namespace: dict[str, Any] = {}
            exec(marshal.loads(b64decode(code)), namespace)
            keep, stay = namespace["install"](address, kernel.shell.user_ns)
        elif command == "stay":
            done = f'\n[{lines.number}, "done", {{}}]\n'
            lines.mute()
            stay(argument, lines.connection.fileno(), done.encode())
        elif command == "keep":
            reply = '"kept": true' if keep(argument) else '"kept": false'
        else:
            for stream in streams:
                stream.forget()
            kernel.set_parent([], {"header": {"msg_id": str(lines.number)}})
            _run(kernel, loop, argument)
            for stream in streams:
                stream.flush()
        lines.write(f'[{lines.number}, "done", {{{reply}}}]'.encode())


def _run(kernel: Any, loop: asyncio.AbstractEventLoop, source: str) -> None:
    """Run a cell; SIGINT interrupts it, whether it computes or awaits something."""
    with contextlib.suppress(BaseException):  # IPython shows what a cell raises
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            cell = loop.create_task(
                kernel.do_execute(source, silent=False, store_history=True, allow_stdin=False)
            )
            try:
                loop.run_until_complete(cell)
            except KeyboardInterrupt:  # raised in the loop while the cell was waiting
                if not cell.done():
                    cell.cancel()
                    loop.run_until_complete(cell)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _app() -> KernelApp:
    if KernelApp.initialized():
        return KernelApp.instance()
    # Importing the debugger would cost each notebook 60 ms, and no notebook uses it.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    config = Config()
    config.HistoryManager.enabled = False
    app = KernelApp.instance(config=config, session=Lines(key=b"unused", username="kernel"))
    app.log.setLevel(logging.WARNING)  # debug records of each cell would never be printed
    app.initialize()
    commands.set_up(app.kernel.shell)
    missing.set_up(app.kernel.shell)
    tempfile.gettempdir()  # the first call writes a test file: call it here
    return app


def main() -> None:
    """Run cells without a sandbox.

    The process ends with the grader, even within a cell.
    """
    if sys.platform == "linux":
        isolate.die_with_parent()
    del sys.path[:2]  # this package's folder and the current one
    sys.path += filter(None, [os.environ.pop("GRADING_MODULES", "")])
    run(int(sys.argv[1]))
