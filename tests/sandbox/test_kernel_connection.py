"""What the grader takes from a kernel whose every message may be forged."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from queue import Empty
from typing import Any

import pytest
import zmq
from jupyter_client.session import Session
from nbclient.exceptions import DeadKernelError

from grading.sandbox import kernel_connection
from grading.sandbox.inside import kernel_app
from grading.sandbox.kernel_connection import Channel, well_formed

DATA = {"data": {"text/plain": "1"}, "metadata": {}}
GOOD = [
    ("status", {"execution_state": "idle"}),
    ("stream", {"name": "stdout", "text": "x"}),
    ("stream", {"name": "stderr", "text": ""}),
    ("error", {"ename": "E", "evalue": "", "traceback": ["a", "b"]}),
    ("display_data", DATA),
    ("display_data", {**DATA, "transient": {"display_id": "1"}}),
    ("update_display_data", {**DATA, "transient": {}}),
    ("execute_result", {**DATA, "execution_count": 1}),
    ("execute_input", {"code": "1", "execution_count": 1}),
    ("execute_reply", {"status": "ok", "execution_count": 1}),
    ("clear_output", {}),
    ("snapshot_reply", {"kept": True}),
]
BAD = [
    ("status", {"execution_state": 1}),
    ("status", {}),
    ("stream", {"name": "stdin", "text": "x"}),
    ("stream", {"name": "stdout", "text": 7}),
    ("stream", {"text": "x"}),
    ("error", {"ename": 1, "evalue": "", "traceback": []}),
    ("error", {"ename": "E", "evalue": None, "traceback": []}),
    ("error", {"ename": "E", "evalue": "", "traceback": "x"}),
    ("error", {"ename": "E", "evalue": "", "traceback": ["x", 1]}),
    ("display_data", {"data": 5, "metadata": {}}),
    ("display_data", {"data": {"text/plain": ["x"]}, "metadata": {}}),
    ("display_data", {"data": {}, "metadata": None}),
    ("display_data", {**DATA, "transient": []}),
    ("update_display_data", {**DATA, "transient": {"display_id": [1]}}),
    ("execute_result", DATA),
    ("execute_result", {**DATA, "data": {"text/html": None}, "execution_count": 1}),
    ("execute_input", {"code": 1, "execution_count": 1}),
    ("execute_reply", {"status": "ok", "execution_count": None}),
    ("execute_reply", {"status": 0, "execution_count": 1}),
    ("comm_open", {}),
    ("comm_msg", {}),
    ("comm_close", {}),
    (5, {}),
    ("status", None),
]


def message(kind: Any, content: Any) -> dict[str, Any]:
    header = {"msg_type": kind, "msg_id": "1"}
    return {"header": header, "parent_header": {}, "content": content, "msg_type": kind}


@pytest.mark.parametrize(("kind", "content"), GOOD)
def test_a_well_formed_message_passes(kind: str, content: dict[str, Any]) -> None:
    assert well_formed(message(kind, content))


@pytest.mark.parametrize(("kind", "content"), BAD)
def test_a_malformed_message_does_not(kind: Any, content: Any) -> None:
    assert not well_formed(message(kind, content))


@pytest.mark.parametrize("part", ["header", "parent_header", "content"])
def test_each_part_is_a_table(part: str) -> None:
    assert not well_formed({**message("clear_output", {}), part: []})


def test_a_message_has_an_id_of_text() -> None:
    broken = message("clear_output", {})
    broken["header"] = {"msg_type": "clear_output", "msg_id": 1}
    assert not well_formed(broken)


class Frames:
    """Stands for a socket: has these messages to give, and takes none."""

    def __init__(self, messages: list[list[bytes]]) -> None:
        self.messages = messages

    async def poll(self, _: int | None) -> bool:
        return bool(self.messages)

    async def recv_multipart(self) -> list[bytes]:
        return self.messages.pop(0)

    def send_multipart(self, *_: Any, **__: Any) -> None:
        raise zmq.Again


SESSION = Session(key=b"key")


def channel_of(messages: list[list[bytes]]) -> Channel:
    channel = Channel.__new__(Channel)  # whose __init__ insists on a real socket
    channel.socket, channel.session = Frames(messages), SESSION
    return channel


def received(messages: list[list[bytes]]) -> list[str]:
    """Texts of the streams that pass a channel."""
    texts: list[str] = []

    async def all_of_them() -> None:
        channel = channel_of(messages)
        while True:
            texts.append((await channel.get_msg(timeout=0))["content"]["text"])

    # In a thread of its own: where a browser is open, this one has an event loop already.
    with ThreadPoolExecutor(1) as thread, pytest.raises(Empty):
        thread.submit(asyncio.run, all_of_them()).result()
    return texts


def stream(text: str, session: Session = SESSION) -> list[bytes]:
    content = {"name": "stdout", "text": text}
    frames: list[bytes] = session.serialize(session.msg("stream", content))
    return frames


def test_noise_and_other_peoples_messages_are_passed_over() -> None:
    noise = [[b"x"], [b"<IDS|MSG>", b"", b"{", b"}", b"[" * 99_999, b"\xff"], []]
    forged = stream("forged", Session(key=b"another"))
    malformed = SESSION.serialize(SESSION.msg("stream", {"name": "stdin", "text": "signed"}))
    assert received([stream("a"), *noise, forged, malformed, stream("b")]) == ["a", "b"]


def test_a_message_that_is_sent_again_is_not_taken_again() -> None:
    again = stream("a")
    assert received([list(again), list(again), stream("b")]) == ["a", "b"]


def test_after_thirty_megabytes_only_small_messages_pass() -> None:
    large = [stream(f"{number}".ljust(3_000_000)) for number in range(10)]
    texts = received([*large, stream("x" * 4_000), stream("small")])
    assert [text.strip() for text in texts] == [*map(str, range(9)), "small"]


def test_a_send_that_nobody_takes_means_a_dead_kernel() -> None:
    channel = channel_of([])
    with pytest.raises(DeadKernelError):
        channel.send(SESSION.msg("execute_request", {}))


def test_sockets_take_no_more_than_they_should() -> None:
    client = kernel_connection.Client(transport="ipc", ip="/nowhere", iopub_port=2)
    socket = client._create_connected_socket("iopub", b"me")
    try:
        assert socket.maxmsgsize == 8_000_000
        assert socket.rcvhwm == 50
        assert socket.linger == 0
        assert socket.sndtimeo == kernel_connection.SEND_MILLISECONDS
        assert socket.identity == b"me"
        assert socket.type == zmq.SUB
    finally:
        socket.close()
        client.context.destroy(linger=0)


class Starting:
    """Stands for a client whose kernel answers at once, and publishes what was asked for twice."""

    parent = None

    def __init__(self, alive: bool = True) -> None:
        self.alive = alive
        self.asked: list[str] = []
        self.shell_channel = self.iopub_channel = self

    def kernel_info(self) -> str:
        self.asked.append(str(len(self.asked)))
        self.told = iter([("kernel_info_reply", "another"), ("kernel_info_reply", self.asked[-1])])
        return self.asked[-1]

    async def _async_is_alive(self) -> bool:
        return self.alive

    async def get_msg(self, _: float) -> dict[str, Any]:
        kind, parent = next(self.told, ("status", self.asked[-1]))
        if kind == "status" and len(self.asked) < 3:
            raise Empty  # what is published before somebody is connected is lost
        heard = message(kind, {"execution_state": "idle"})
        return {**heard, "parent_header": {"msg_id": parent}}


def wait_for(starting: Starting) -> None:
    starting.parent = starting
    wait = kernel_connection.Client.wait_for_ready(starting, timeout=5)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, wait).result()


def test_a_kernel_is_ready_when_it_is_heard_on_both_channels() -> None:
    starting = Starting()
    wait_for(starting)
    assert starting.asked == ["0", "1", "2"]


def test_a_kernel_that_has_ended_is_not_waited_for() -> None:
    starting = Starting(alive=False)
    with pytest.raises(RuntimeError, match="died"):
        wait_for(starting)
    assert starting.asked == ["0"]


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (
            "stream",
            {"name": "stdout", "text": "x" * 5_000_000},
            ("stream", {"name": "stderr", "text": "[5 MB were left out]\n"}),
        ),
        (
            "execute_reply",
            {"status": "error", "execution_count": 3, "evalue": "x" * 6_000_000},
            (
                "execute_reply",
                {
                    "status": "error",
                    "execution_count": 3,
                    "ename": "TooLarge",
                    "evalue": "6 MB were left out",
                    "traceback": ["6 MB were left out"],
                },
            ),
        ),
        ("stream", {"name": "stdout", "text": "x"}, ("stream", {"name": "stdout", "text": "x"})),
    ],
)
def test_the_kernel_leaves_out_what_would_end_the_connection(kind, content, expected) -> None:
    session = kernel_app.CappedSession(key=b"key")
    frames = session.serialize(session.msg(kind, content))
    assert sum(map(len, frames)) < 4_000_000
    read = SESSION.deserialize(SESSION.feed_identities(frames)[1])
    assert (read["header"]["msg_type"], read["content"]) == expected


def test_the_kernel_sends_nothing_that_the_grader_would_not_take() -> None:
    assert kernel_app.MESSAGE_BYTES < kernel_connection.MESSAGE_BYTES
