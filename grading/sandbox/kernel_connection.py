"""The grader's connection to a kernel whose every message may be forged."""

import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import TYPE_CHECKING, Any

import traitlets
import zmq
import zmq.asyncio
from jupyter_client import session
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session
from nbclient.exceptions import DeadKernelError

if TYPE_CHECKING:
    from .box import Box

MESSAGE_BYTES = 8_000_000  # ZeroMQ closes the connection at a larger message, and reconnects
SMALL_BYTES = 4_000
SEND_MILLISECONDS = 5_000  # how long a send may wait for a connection
WAITING_MESSAGES = 50
BUDGET_BYTES = 30_000_000  # on each channel; after that, larger messages than small are dropped
READY_SECONDS = 300  # a busy machine may take long; a kernel that has ended is noticed at once
ANSWER_SECONDS = 1  # before the kernel is asked again whether it is ready

Message = dict[str, Any]
# Nobody here asks when a message was sent: dates stay texts, which are read sooner.
session.extract_dates = lambda obj: obj  # type: ignore[attr-defined]


def manager(box: "Box") -> "Manager":
    """The manager of the kernel that runs in this box."""
    return Manager(
        box=box,
        transport="ipc",
        ip=f"{box.folder}/kernel",
        shell_port=1,
        iopub_port=2,
        stdin_port=3,
        control_port=4,
        hb_port=5,
        session=Session(key=box.key.encode(), username="grader"),
    )


def stock(ip: Path, folder: str) -> "StockManager":
    """The manager of a stock kernel with its sockets at `ip`, working in this folder."""
    return StockManager(folder=folder, transport="ipc", ip=str(ip), kernel_name="python3")


class Channel(AsyncZMQSocketChannel):
    """Passes on well-formed messages only, and not too many bytes of them."""

    socket: zmq.asyncio.Socket
    received = 0

    def send(self, msg: Message) -> None:
        try:
            super().send(msg)
        except zmq.Again:
            # Bytes that are no message closed the connection; the send would wait for ever.
            raise DeadKernelError("The kernel takes no more messages") from None

    async def get_msg(  # type: ignore[override]  # the stock one is async under a sync signature
        self, timeout: float | None = None
    ) -> Message:
        """The next well-formed message; Empty if none comes within `timeout` seconds."""
        end = None if timeout is None else monotonic() + timeout
        while True:
            left = None if end is None else max(0, int((end - monotonic()) * 1000))
            if left is not None and not await self.socket.poll(left):
                raise Empty
            frames = await self.socket.recv_multipart()
            size = sum(map(len, frames))
            self.received += size
            if self.received > BUDGET_BYTES and size > SMALL_BYTES:
                continue
            try:
                message = self.session.deserialize(self.session.feed_identities(frames)[1])
                if well_formed(message):
                    return message
            except Exception:  # malformed in whatever way
                continue


class Client(AsyncKernelClient):
    """A client with filtering channels."""

    shell_channel_class = traitlets.Type(Channel)
    iopub_channel_class = traitlets.Type(Channel)
    stdin_channel_class = traitlets.Type(Channel)
    control_channel_class = traitlets.Type(Channel)

    def start_channels(
        self,
        shell: bool = True,
        iopub: bool = True,
        stdin: bool = True,
        hb: bool = True,
        control: bool = True,
    ) -> None:
        # No heartbeat: the box says when the kernel has ended.
        super().start_channels(shell, iopub, stdin, hb=False, control=control)

    def _create_connected_socket(
        self, channel: str, identity: bytes | None = None
    ) -> zmq.asyncio.Socket:
        socket: zmq.asyncio.Socket = self.context.socket(
            zmq.SUB if channel == "iopub" else zmq.DEALER
        )
        socket.linger = 0
        socket.sndtimeo = SEND_MILLISECONDS
        socket.maxmsgsize = MESSAGE_BYTES
        socket.rcvhwm = WAITING_MESSAGES
        if identity:
            socket.identity = identity
        socket.connect(self._make_url(channel))
        return socket

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel has answered on both channels. A shorter timeout is not heeded."""
        end = monotonic() + max(timeout or 0, READY_SECONDS)
        while monotonic() < end:
            asked = self.kernel_info()
            try:
                while not _answers(await self.shell_channel.get_msg(ANSWER_SECONDS), asked):
                    pass
                while not _idle(await self.iopub_channel.get_msg(ANSWER_SECONDS), asked):
                    pass
                return
            except Empty:
                if self.parent is None or not await self.parent._async_is_alive():
                    break
        raise RuntimeError("Kernel died before it was ready")


class Manager(AsyncKernelManager):
    """Manages the kernel that starts and ends with its box."""

    box = traitlets.Any()
    client_class = "grading.sandbox.kernel_connection.Client"
    client_factory = traitlets.Type(Client)

    has_kernel = True

    def client(self, **options: Any) -> Client:  # type: ignore[override]
        client: Client = super().client(**options)  # type: ignore[assignment]
        self.box.on_close(lambda: _disconnect(client))
        return client

    async def start_kernel(self, **_: Any) -> None:  # type: ignore[override]
        self._attempted_start = True

    async def _async_is_alive(self) -> bool:
        return self.box.poll() is None

    is_alive = _async_is_alive

    async def interrupt_kernel(self) -> None:  # type: ignore[override]
        self.box.signal(signal.SIGINT)

    async def shutdown_kernel(  # type: ignore[override]
        self, now: bool = False, restart: bool = False
    ) -> None:
        """End the kernel; forks of its process live on until the box is closed."""
        self.box.signal(signal.SIGKILL)

    async def cleanup_resources(  # type: ignore[override]
        self, restart: bool = False
    ) -> None:
        self._close_control_socket()


class StockManager(AsyncKernelManager):
    """Manages a kernel as nbgrader starts it, with all its user's rights: for the unsafe box."""

    folder = traitlets.Any()
    client_class = "grading.sandbox.kernel_connection.Client"
    client_factory = traitlets.Type(Client)

    async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
        await super().start_kernel(**{**options, "cwd": self.folder})

    def kill(self) -> Any:
        """Kill the kernel, if it was started; its process."""
        process = getattr(self.provisioner, "process", None)
        if process is not None:
            process.kill()
        return process

    def end(self) -> None:
        """Kill the kernel, if it was started, and wait for its end."""
        if (process := self.kill()) is not None:
            process.wait()
        # A message that the kernel never took would keep the context waiting when it is collected.
        self.context.destroy(linger=0)


def _disconnect(client: Client) -> None:
    client.stop_channels()
    client.context.destroy(linger=0)


def _answers(message: Message, asked: str) -> bool:
    return bool(message["parent_header"].get("msg_id") == asked)


def _idle(message: Message, asked: str) -> bool:
    return (
        message["msg_type"] == "status"
        and _answers(message, asked)
        and message["content"]["execution_state"] == "idle"
    )


def well_formed(message: Message) -> bool:
    """Whether its parts have the types that the protocol demands. Widget messages never pass."""
    header, parent, content = (message[key] for key in ("header", "parent_header", "content"))
    if not (all(isinstance(part, dict) for part in (header, parent, content))):
        return False
    if not (isinstance(header["msg_type"], str) and isinstance(header["msg_id"], str)):
        return False
    return all(
        isinstance(content.get(key), kind) for key, kind in CONTENT.get(message["msg_type"], ())
    ) and VALID.get(message["msg_type"], _always)(content)


def _texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _data(content: Message) -> bool:
    display = content.get("transient", {})
    return (
        _texts(content["data"].values())
        and isinstance(display, dict)
        and isinstance(display.get("display_id", ""), str)
    )


def _stream(content: Message) -> bool:
    return content["name"] in ("stdout", "stderr")


def _traceback(content: Message) -> bool:
    return _texts(content["traceback"])


def _always(_: Message) -> bool:
    return True


def _never(_: Message) -> bool:
    return False


DATA = (("data", dict), ("metadata", dict))
CONTENT: dict[str, tuple[tuple[str, type], ...]] = {
    "status": (("execution_state", str),),
    "stream": (("name", str), ("text", str)),
    "error": (("ename", str), ("evalue", str), ("traceback", list)),
    "display_data": DATA,
    "update_display_data": DATA,
    "execute_result": (*DATA, ("execution_count", int)),
    "execute_input": (("code", str), ("execution_count", int)),
    "execute_reply": (("status", str), ("execution_count", int)),
}
VALID: dict[str, Callable[[Message], bool]] = {
    "stream": _stream,
    "error": _traceback,
    "display_data": _data,
    "update_display_data": _data,
    "execute_result": _data,
    "comm_open": _never,
    "comm_msg": _never,
    "comm_close": _never,
}
