"""The process that runs a notebook's cells: IPython's kernel without its sockets and threads.

One order after another comes over a socket, as a line of JSON: [number, what, word]. Lines go back,
[number, kind, content]; the last of them for an order is [number, "done", content].
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
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from ipykernel.displayhook import ZMQDisplayHook
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from traitlets.config import Config

from . import commands, isolate, missing, sooner
from .output import Lines, Stream

IMPORTED_AT_START = (
    "faulthandler",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "matplotlib_inline.backend_inline",
)
# The notebook may replace json's functions.
read = json.JSONDecoder().decode


class Kernel(IPythonKernel):
    """Runs cells as JupyterLab's kernel does. Nobody sends it messages."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        # By which it finds out whether a cell runs in the main thread.
        self.shell_channel_thread = SimpleNamespace(parent_thread=threading.main_thread())

    @contextlib.contextmanager
    def _cancel_on_sigint(self, future: "asyncio.Future[Any]") -> Iterator[None]:
        """An interrupt ends the cell, and not the loop that it runs in, which is not tornado's."""
        loop = asyncio.get_running_loop()
        before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(future.cancel))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class KernelApp(IPKernelApp):
    """The kernel's application without what makes sockets, threads and files of connections."""

    def initialize(self, argv: object = None) -> None:
        """Make the kernel and its shell, as the stock one does."""
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
    """Import and run once what every notebook needs, so that forked processes have it in memory."""
    for module in IMPORTED_AT_START:
        importlib.import_module(module)
    commands.set_up()
    before = sys.excepthook
    _app().kernel.shell.run_cell("1 + 1", silent=True, store_history=False)
    sys.excepthook = before  # an error of this process's own is no crash of a notebook
    if "rooflib" in sys.modules:
        sys.modules["rooflib"].chips()  # reads the catalogue, as nearly every notebook does


def run(descriptor: int) -> None:
    """Carry out what is ordered over this socket until it ends."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # or every fork would draw the same numbers
    app: Any = _app()
    lines, kernel = app.session, app.kernel
    lines.connection, lines.pid = socket.socket(fileno=descriptor), os.getpid()
    streams = Stream("stdout", 1, lines), Stream("stderr", 2, lines)
    sys.stdout, sys.stderr = streams
    app.init_path()
    # Cells find a loop that runs, as in a stock kernel, and what they left in it goes on.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    keep: Callable[[str], bool] = bool  # until there is one
    stay: Callable[[str, int, bytes], object] = print
    for line in lines.connection.makefile("r", encoding="utf-8"):
        lines.number, what, word = read(line)
        said = ""
        if what == "begin":
            code, address = word
            namespace: dict[str, Any] = {}
            exec(marshal.loads(b64decode(code)), namespace)
            keep, stay = namespace["install"](address, kernel.shell.user_ns)
        elif what == "stay":
            done = f'\n[{lines.number}, "done", {{}}]\n'
            lines.fall_silent()
            stay(word, lines.connection.fileno(), done.encode())
        elif what == "keep":
            said = '"kept": true' if keep(word) else '"kept": false'
        else:
            for stream in streams:
                stream.forget()
            kernel.set_parent([], {"header": {"msg_id": str(lines.number)}})
            _run(kernel, loop, word)
            for stream in streams:
                stream.flush()
        lines.write(f'[{lines.number}, "done", {{{said}}}]'.encode())


def _run(kernel: Any, loop: asyncio.AbstractEventLoop, source: str) -> None:
    with contextlib.suppress(BaseException):  # IPython shows what a cell raises
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            loop.run_until_complete(
                kernel.do_execute(source, silent=False, store_history=True, allow_stdin=False)
            )
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _app() -> KernelApp:
    if KernelApp.initialized():
        return KernelApp.instance()
    # Each notebook would otherwise spend 60 ms on importing a debugger that nobody uses.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    config = Config()
    config.HistoryManager.enabled = False
    app = KernelApp.instance(config=config, session=Lines(key=b"unused", username="kernel"))
    app.log.setLevel(logging.WARNING)  # or each cell makes records that nobody prints
    app.initialize()
    sooner.set_up()
    missing.set_up(app.kernel.shell)
    tempfile.gettempdir()  # which writes a file to find out
    return app


def main() -> None:
    """Be this process without a sandbox. It ends with the grader, in the middle of a cell too."""
    if sys.platform == "linux":
        isolate.die_with_parent()
    del sys.path[:2]  # the folder from which this package came, and the one that we are in
    sys.path += filter(None, [os.environ.pop("GRADING_MODULES", "")])
    run(int(sys.argv[1]))
