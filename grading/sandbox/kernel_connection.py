"""The grader's connection to a kernel whose every message may be forged."""

import signal
from queue import Empty
from time import monotonic

import zmq
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session
from nbclient.exceptions import DeadKernelError
from traitlets import Any, Type

MESSAGE_BYTES = 8_000_000  # a larger one ends the connection, which is then made again
SMALL_BYTES = 4_000
SEND_MILLISECONDS = 2_000
WAITING_MESSAGES = 50
BUDGET_BYTES = 30_000_000  # of a notebook; beyond it only small messages are looked at


def manager(box):
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


def stock(ip, folder):
    return Stock(folder=folder, transport="ipc", ip=str(ip), kernel_name="python3")


class Channel(AsyncZMQSocketChannel):
    """Lets through what a kernel could have meant."""

    received = 0

    def send(self, message):
        try:
            super().send(message)
        except zmq.Again:
            # Noise in the place of a message ends the connection; a send would wait for ever.
            raise DeadKernelError("The kernel takes no more messages") from None

    async def get_msg(self, timeout=None):
        end = None if timeout is None else monotonic() + timeout
        while True:
            left = None if end is None else max(0, int((end - monotonic()) * 1000))
            if not await self.socket.poll(left):
                raise Empty
            frames = await self.socket.recv_multipart()
            size = sum(map(len, frames))
            self.received += size
            if self.received > BUDGET_BYTES and size > SMALL_BYTES:
                continue
            try:
                message = self.session.deserialize(self.session.feed_identities(frames)[1])
                if sound(message):
                    return message
            except Exception:  # whatever is wrong with it, it is no message
                continue


class Client(AsyncKernelClient):
    shell_channel_class = Type(Channel)
    iopub_channel_class = Type(Channel)
    stdin_channel_class = Type(Channel)
    control_channel_class = Type(Channel)

    def start_channels(self, shell=True, iopub=True, stdin=True, hb=True, control=True):
        # No heartbeat: the box tells when the kernel has ended.
        super().start_channels(shell, iopub, stdin, hb=False, control=control)

    def _create_connected_socket(self, channel, identity=None):
        socket = self.context.socket(zmq.SUB if channel == "iopub" else zmq.DEALER)
        socket.linger = 0
        socket.sndtimeo = SEND_MILLISECONDS
        socket.maxmsgsize = MESSAGE_BYTES
        socket.rcvhwm = WAITING_MESSAGES
        if identity:
            socket.identity = identity
        socket.connect(self._make_url(channel))
        return socket

    async def wait_for_ready(self, timeout=None):
        """Until the kernel has answered and its answer's outputs have come: no fixed waits."""
        end = monotonic() + (timeout or 60)
        while monotonic() < end:
            asked = self.kernel_info()
            try:
                while (await self.shell_channel.get_msg(timeout=1))["parent_header"].get(
                    "msg_id"
                ) != asked:
                    pass
                while not _idle(await self.iopub_channel.get_msg(timeout=1), asked):
                    pass
                return
            except Empty:
                if not await self.parent._async_is_alive():
                    break
        raise RuntimeError("Kernel died before it was ready")


class Manager(AsyncKernelManager):
    """The kernel is there as long as its box: nothing to launch, and little to clean up."""

    box = Any()
    client_class = "grading.sandbox.kernel_connection.Client"
    client_factory = Type(Client)

    has_kernel = True

    def client(self, **options):
        client = super().client(**options)
        self.box.on_close(lambda: _disconnect(client))
        return client

    async def start_kernel(self, **_):
        self._attempted_start = True

    async def _async_is_alive(self):
        return self.box.poll() is None

    is_alive = _async_is_alive

    async def interrupt_kernel(self):
        self.box.signal(signal.SIGINT)

    async def shutdown_kernel(self, now=False, restart=False):
        """End the kernel; copies of its process live on until the box is closed."""
        self.box.signal(signal.SIGKILL)

    async def cleanup_resources(self, restart=False):
        self._close_control_socket()


class Stock(AsyncKernelManager):
    """A kernel as nbgrader starts it, with all that its user may do: for the unsafe box."""

    folder = Any()
    client_class = "grading.sandbox.kernel_connection.Client"
    client_factory = Type(Client)

    async def start_kernel(self, **options):
        await super().start_kernel(**{**options, "cwd": self.folder})

    def end(self):
        process = getattr(self.provisioner, "process", None)
        if process is not None:
            process.kill()
            process.wait()


def _disconnect(client):
    client.stop_channels()
    client.context.destroy(linger=0)


def _idle(message, asked):
    return (
        message["msg_type"] == "status"
        and message["parent_header"].get("msg_id") == asked
        and message["content"]["execution_state"] == "idle"
    )


def sound(message):
    """Whether its parts have the types that the protocol gives them. Widgets' talk is left out."""
    header, parent, content = (message[key] for key in ("header", "parent_header", "content"))
    if not (all(isinstance(part, dict) for part in (header, parent, content))):
        return False
    if not (isinstance(header["msg_type"], str) and isinstance(header["msg_id"], str)):
        return False
    return all(
        isinstance(content.get(key), kind) for key, kind in CONTENT.get(message["msg_type"], ())
    ) and SOUND.get(message["msg_type"], lambda _: True)(content)


def _texts(values):
    return all(isinstance(value, str) for value in values)


def _data(content):
    display = content.get("transient", {})
    return (
        _texts(content["data"].values())
        and isinstance(display, dict)
        and isinstance(display.get("display_id", ""), str)
    )


def _never(_):
    return False


DATA = (("data", dict), ("metadata", dict))
CONTENT = {
    "status": (("execution_state", str),),
    "stream": (("name", str), ("text", str)),
    "error": (("ename", str), ("evalue", str), ("traceback", list)),
    "display_data": DATA,
    "update_display_data": DATA,
    "execute_result": (*DATA, ("execution_count", int)),
    "execute_input": (("code", str), ("execution_count", int)),
    "execute_reply": (("status", str), ("execution_count", int)),
}
SOUND = {
    "stream": lambda content: content["name"] in ("stdout", "stderr"),
    "error": lambda content: _texts(content["traceback"]),
    "display_data": _data,
    "update_display_data": _data,
    "execute_result": _data,
    "comm_open": _never,
    "comm_msg": _never,
    "comm_close": _never,
}
