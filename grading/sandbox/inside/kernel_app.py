"""A stock ipykernel whose sockets were bound outside and are inherited."""

import importlib
import logging
import sys
from collections.abc import Sequence
from typing import Any

import zmq
from ipykernel import kernelapp
from ipykernel.iostream import IOPubThread
from jupyter_client.session import Session
from traitlets.config import Config

from . import sooner

IMPORTED_AT_START = (
    "faulthandler",
    "tornado.platform.asyncio",
    "tornado.queues",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "ipykernel.debugger",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "matplotlib_inline.backend_inline",
)
MESSAGE_BYTES = 4_000_000
CHANNELS = ("shell", "iopub", "stdin", "control")


class CappedSession(Session):
    """Replaces messages so large that the grader would close the connection."""

    def serialize(
        self, msg: dict[str, Any], ident: list[bytes] | bytes | None = None
    ) -> list[bytes]:
        frames = super().serialize(msg, ident)
        size = sum(map(len, frames))
        if size <= MESSAGE_BYTES:
            return frames
        note = f"{size / 1e6:.0f} MB were left out"
        kind: str = msg["header"]["msg_type"]
        content: dict[str, Any] = {"name": "stderr", "text": f"[{note}]\n"}
        if kind == "execute_reply":  # must arrive, as the grader waits for it
            kept = {key: msg["content"].get(key) for key in ("status", "execution_count")}
            content = {**kept, "ename": "TooLarge", "evalue": note, "traceback": [note]}
        else:
            kind = "stream"
        header = {**msg["header"], "msg_type": kind}
        return super().serialize({**msg, "header": header, "content": content}, ident)


class OutputThread(IOPubThread):
    """Takes no output from forked processes: that needs a TCP socket, which the filter refuses."""

    def __init__(self, socket: Any, pipe: bool = False, session: Any = None) -> None:
        super().__init__(socket, pipe=False, session=session)  # type: ignore[no-untyped-call]


kernelapp.IOPubThread = OutputThread  # type: ignore[attr-defined]


class KernelApp(kernelapp.IPKernelApp):
    """The kernel's application, with what touches files and ports taken out."""

    inherited: dict[int, int]  # port → descriptor of the bound socket

    def _try_bind_socket(self, socket: zmq.Socket[bytes], port: int) -> int:
        socket.setsockopt(zmq.USE_FD, self.inherited[port])
        socket.bind(f"ipc://{self.ip}-{port}")
        return port

    def init_heartbeat(self) -> None:
        """No heartbeat: init tells the grader when the kernel ends."""

    def write_connection_file(self, **_: Any) -> None:
        """No connection file: the grader made the sockets and the key."""

    def parse_command_line(self, argv: object = None) -> None:
        """No command line, for which a parser of every setting would be made."""

    def load_config_file(self, *_: Any, **__: Any) -> None:
        """No configuration: the home folder is empty."""


def warm_up() -> None:
    """Import and run once what every kernel needs, so that forked ones have it in memory."""
    # Each kernel would otherwise spend 60 ms on importing a debugger that nobody uses.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    for module in IMPORTED_AT_START:
        importlib.import_module(module)
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(config=_config())
    shell.run_cell("1 + 1", silent=True, store_history=False)
    InteractiveShell.clear_instance()
    sooner.set_up()
    if "rooflib" in sys.modules:
        sys.modules["rooflib"].chips()  # reads the catalogue, as nearly every notebook does


def run(sockets: Sequence[int], key: str, folder: str) -> None:
    """Be the kernel that listens on these sockets, in the order of CHANNELS, until it ends."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # or every fork would draw the same numbers
    ports = {name: index for index, name in enumerate(CHANNELS, start=1)}
    app = KernelApp.instance(
        transport="ipc",
        ip=f"{folder}/kernel",
        config=_config(),
        session=CappedSession(key=key.encode(), username="kernel"),
        **{f"{name}_port": port for name, port in ports.items()},
    )
    app.inherited = dict(zip(ports.values(), sockets, strict=True))
    app.log.setLevel(logging.WARNING)  # or each message makes records that nobody prints
    app.initialize([])  # type: ignore[no-untyped-call]
    # Open the output thread's last socket now: later the notebook may have used up its files.
    app.iopub_thread.schedule(lambda: app.iopub_thread.schedule(int))
    app.start()  # type: ignore[no-untyped-call]


def _config() -> Config:
    config = Config()
    config.HistoryManager.enabled = False
    return config
