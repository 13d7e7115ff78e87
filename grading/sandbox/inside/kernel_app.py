"""A stock ipykernel whose sockets were bound outside and are inherited."""

import importlib
import sys

import zmq
from ipykernel import kernelapp
from ipykernel.iostream import IOPubThread
from jupyter_client.session import Session
from traitlets.config import Config

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


class Capped(Session):
    """Leaves out what would be too large for the grader, which ends the connection over it."""

    def serialize(self, message, ident=None):
        frames = super().serialize(message, ident)
        size = sum(map(len, frames))
        if size <= MESSAGE_BYTES:
            return frames
        said = f"{size / 1e6:.0f} MB were left out"
        kind, content = message["header"]["msg_type"], {"name": "stderr", "text": f"[{said}]\n"}
        if kind == "execute_reply":  # which is waited for, and says no more than the outputs do
            known = {key: message["content"].get(key) for key in ("status", "execution_count")}
            content = {**known, "ename": "TooLarge", "evalue": said, "traceback": [said]}
        else:
            kind = "stream"
        header = {**message["header"], "msg_type": kind}
        return super().serialize({**message, "header": header, "content": content}, ident)


class Outputs(IOPubThread):
    """Without an internet socket for what copies of the process print: none is to be had."""

    def __init__(self, socket, pipe=False, session=None):
        super().__init__(socket, pipe=False, session=session)


kernelapp.IOPubThread = Outputs


class KernelApp(kernelapp.IPKernelApp):
    def _try_bind_socket(self, socket, port):
        socket.setsockopt(zmq.USE_FD, self.inherited[port])
        socket.bind(f"ipc://{self.ip}-{port}")
        return port

    def init_heartbeat(self):
        """None: whoever started the sandbox is told when the process ends."""

    def write_connection_file(self, **_):
        """None: the grader made the connection."""

    def load_config_file(self, **_):
        """None: the home is empty."""


def warm_up():
    """Import and build once what every kernel needs, so that its copies have it already."""
    # Nobody debugs here; without this, each kernel would import a debugger for 60 ms.
    sys.modules["debugpy"] = None
    for module in IMPORTED_AT_START:
        importlib.import_module(module)
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(config=_config())
    shell.run_cell("1 + 1", silent=True, store_history=False)
    InteractiveShell.clear_instance()


def run(sockets, key, folder):
    """Be the kernel that listens on these sockets, in the order of CHANNELS, until it ends."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # copies of one process would all draw alike
    ports = {name: index for index, name in enumerate(CHANNELS, start=1)}
    app = KernelApp.instance(
        transport="ipc",
        ip=f"{folder}/kernel",
        config=_config(),
        session=Capped(key=key.encode(), username="kernel"),
        **{f"{name}_port": port for name, port in ports.items()},
    )
    app.inherited = dict(zip(ports.values(), sockets, strict=True))
    app.initialize([])
    # Its last file, which it would else open at the first output, when there may be none to be had.
    app.iopub_thread.schedule(lambda: app.iopub_thread.schedule(int))
    app.start()


def _config():
    config = Config()
    config.HistoryManager.enabled = False
    config.IPKernelApp.quiet = True
    return config
