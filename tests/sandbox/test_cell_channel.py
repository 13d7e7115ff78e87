"""The grader's channel to a process that may forge every message."""

import contextlib
import json
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from grading.sandbox import cell_channel
from grading.sandbox.cell_channel import Channel, Ended, Endless, well_formed
from grading.sandbox.inside import output

DATA = {"data": {"text/plain": "1"}, "metadata": {}}
GOOD = [
    ("stream", {"name": "stdout", "text": "x"}),
    ("stream", {"name": "stderr", "text": ""}),
    ("error", {"ename": "E", "evalue": "", "traceback": ["a", "b"]}),
    ("display_data", DATA),
    ("display_data", {**DATA, "transient": {"display_id": "1"}}),
    ("update_display_data", {**DATA, "transient": {}}),
    ("execute_result", {**DATA, "execution_count": 1}),
    ("clear_output", {}),
    ("done", {"kept": True}),
]
BAD = [
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
    ("done", []),
    ("done", None),
    ("status", {"execution_state": "idle"}),
    ("comm_open", {}),
    ("comm_msg", {}),
    ("comm_close", {}),
    ("no such kind", {}),
    (5, {}),
    (["stream"], {}),
    ("stream", None),
]


@pytest.mark.parametrize(("kind", "content"), GOOD)
def test_well_formed_messages_are_accepted(kind: str, content: dict[str, Any]) -> None:
    assert well_formed(kind, content)


@pytest.mark.parametrize(("kind", "content"), BAD)
def test_malformed_messages_are_rejected(kind: Any, content: Any) -> None:
    assert not well_formed(kind, content)


class Ends:
    """A channel and the peer of its socket."""

    def __init__(self, ended: bool = False) -> None:
        ours, self.theirs = socket.socketpair()
        self.channel = Channel(ours, lambda: ended)

    def read(self) -> list[Any]:
        """Return the next request from the channel."""
        line = self.theirs.makefile("rb").readline()
        request: list[Any] = json.loads(line)
        return request

    def write(self, *lines: bytes) -> None:
        """Write the lines from a thread, since they may exceed the buffer, and hang up."""

        def send_all() -> None:
            with contextlib.suppress(OSError), self.theirs:
                self.theirs.sendall(b"".join(lines))

        self.thread = threading.Thread(target=send_all)
        self.thread.start()

    def received(self) -> list[str]:
        """Return the texts of all stream messages until the peer hangs up."""
        texts: list[str] = []
        with contextlib.suppress(Ended):
            while True:
                if (message := self.channel.receive(60)) is not None:
                    texts.append(message[1]["text"])
        self.thread.join()
        return texts


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    made.channel.request("run", "x = 1")
    yield made
    made.channel.connection.close()
    made.theirs.close()


def stream(number: object, text: str) -> bytes:
    return json.dumps([number, "stream", {"name": "stdout", "text": text}]).encode() + b"\n"


def test_each_request_is_sent_with_an_unpredictable_number(ends: Ends) -> None:
    number, *rest = ends.read()
    assert rest == ["run", "x = 1"]
    ends.channel.request("keep", "two\nlines")
    other, *rest = ends.read()
    assert rest == ["keep", "two\nlines"]
    assert other not in (number, number + 1)
    assert ends.channel.number == other


def test_noise_and_replies_to_other_requests_are_ignored(ends: Ends) -> None:
    number, *_ = ends.read()
    noise = [b"x", b"{}", b"[]", b"7", b"[" * 99_999, b"\xff", b"", b"\0", b"9" * 9_999]
    noise += [json.dumps([number, *rest]).encode() for rest in ([], ["stream"], ["stream", {}])]
    others = [stream(other, "forged") for other in (number - 1, number + 1, str(number), None)]
    malformed = json.dumps([number, "stream", {"name": "stdin", "text": "x"}]).encode()
    lines = [stream(number, "a"), *(one + b"\n" for one in noise), *others, malformed, b"\n"]
    ends.write(*lines, stream(number, "b"))
    assert ends.received() == ["a", "b"]


def test_truncated_line_does_not_affect_other_lines(ends: Ends) -> None:
    number, *_ = ends.read()
    whole = stream(number, "a")
    ends.write(whole[:-9], b"\n", whole, b"\n", whole[:9])
    assert ends.received() == ["a"]


def test_large_messages_are_dropped_beyond_the_byte_budget(ends: Ends) -> None:
    number, *_ = ends.read()
    large = [stream(number, f"{place}".ljust(3_000_000)) for place in range(10)]
    ends.write(*large, stream(number, "x" * 4_000), stream(number, "small"))
    assert [text.strip() for text in ends.received()] == [*map(str, range(9)), "small"]


def test_overlong_line_is_not_buffered(ends: Ends) -> None:
    number, *_ = ends.read()
    longest, take = 0, ends.channel._take_in

    def watched() -> None:
        nonlocal longest
        take()
        longest = max(longest, len(ends.channel.rest))

    ends.channel._take_in = watched  # type: ignore[method-assign]
    ends.write(b"x" * 40_000_000, b"\n", stream(number, "the next one"))
    assert ends.received() == ["the next one"]
    assert longest < 10_000_000


def test_overlong_lines_count_toward_the_byte_limit(ends: Ends) -> None:
    ends.write(*[b"x" * 9_000_000, b"\n"] * 6, b"x" * 80_000_000)
    with pytest.raises(Endless):
        ends.channel.receive(60)
    ends.channel.connection.close()
    ends.thread.join()


@pytest.mark.parametrize(("lines", "ends_at"), [((3, 2), None), ((4,), 4), ((3, 3), 6)])
def test_lines_are_limited_per_request_and_over_all_requests(
    monkeypatch: pytest.MonkeyPatch, lines: tuple[int, ...], ends_at: int | None
) -> None:
    monkeypatch.setattr(cell_channel, "ENDLESS_LINES", 3)
    monkeypatch.setattr(cell_channel, "ALL_ENDLESS_LINES", 5)
    ends, received = Ends(), 0
    try:
        for count in lines:
            ends.channel.request("run", "x = 1")
            ends.theirs.sendall(stream(ends.channel.number, "a") * count)
            for _ in range(count):
                received += 1
                ends.channel.receive(60)
    except Endless:
        assert received == ends_at
    else:
        assert ends_at is None
    ends.channel.connection.close()
    ends.theirs.close()


@pytest.mark.parametrize("limited", [True, False])
def test_endless_noise_does_not_delay_timeouts(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, limited: bool
) -> None:
    if not limited:
        for name in ("ENDLESS_BYTES", "ENDLESS_LINES", "ALL_ENDLESS_LINES"):
            monkeypatch.setattr(cell_channel, name, float("inf"))
    stop = threading.Event()

    def send_noise() -> None:
        with contextlib.suppress(OSError):
            while not stop.is_set():
                ends.theirs.sendall(b"[]\n" * 10_000)

    thread = threading.Thread(target=send_noise)
    thread.start()
    if limited:
        with pytest.raises(Endless):
            ends.channel.receive(60)
    else:
        assert ends.channel.receive(0.1) is None
    stop.set()
    ends.channel.connection.close()
    thread.join()


def test_a_request_longer_than_the_sockets_buffer_arrives_whole(ends: Ends) -> None:
    ends.read()
    cell = "x = 1\n" * 500_000
    seen: list[Any] = []
    reader = threading.Thread(target=lambda: seen.extend(ends.read()))
    reader.start()
    ends.channel.request("run", cell)
    reader.join()
    assert seen[1:] == ["run", cell]
    assert not ends.channel.connection.getblocking()


def test_request_raises_ended_if_it_cannot_be_sent(monkeypatch: Any) -> None:
    monkeypatch.setattr(cell_channel, "SEND_SECONDS", 0.01)
    ends = Ends()
    with pytest.raises(Ended):
        ends.channel.request("run", "#" * 10_000_000)
    ends.theirs.close()
    with pytest.raises(Ended):
        ends.channel.request("run", "1")
    ends.channel.connection.close()


def test_ended_process_is_detected_while_its_forks_hold_the_socket() -> None:
    ends = Ends(ended=True)
    ends.channel.request("run", "1")
    ends.theirs.sendall(stream(ends.channel.number, "last output"))
    assert ends.channel.receive(0.01) == ("stream", {"name": "stdout", "text": "last output"})
    with pytest.raises(Ended):
        ends.channel.receive(0.01)


class InterruptedSocket:
    """A socket that sends part of the first line, and then raises KeyboardInterrupt."""

    def __init__(self, theirs: socket.socket) -> None:
        self.theirs, self.lines = theirs, 0

    def sendall(self, line: bytes) -> None:
        self.lines += 1
        self.theirs.sendall(line if self.lines > 1 else line[:20])
        if self.lines == 1:
            raise KeyboardInterrupt


def test_interrupted_write_does_not_corrupt_the_next_line(ends: Ends) -> None:
    lines = output.Lines(key=b"unused")
    lines.number = ends.read()[0]
    lines.connection = InterruptedSocket(ends.theirs)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        lines.send(None, "stream", {"name": "stdout", "text": "lost"})
    lines.send(None, "stream", {"name": "stdout", "text": "kept"})
    ends.write()
    assert ends.received() == ["kept"]


def test_an_output_line_is_written_with_lock_held_and_sigint_blocked() -> None:
    lines, acquired, blocked = output.Lines(key=b"unused"), [], []

    class InspectingSocket:
        def sendall(self, _: bytes) -> None:
            other = threading.Thread(
                target=lambda: acquired.append(lines.lock.acquire(blocking=False))
            )
            other.start()
            other.join()
            blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    lines.connection = InspectingSocket()  # type: ignore[assignment]
    lines.send(None, "clear_output", {})
    assert acquired == [False]
    assert blocked == [{signal.SIGINT}]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


class RecordedLines(output.Lines):
    """A `Lines` session that appends to a list instead of writing to a socket."""

    def write(self, line: bytes) -> None:
        self.connection.append(line)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (
            "display_data",
            {"data": {"text/plain": "x" * 5_000_000}, "metadata": {}},
            ["stream", {"name": "stderr", "text": "[5 MB were left out]\n"}],
        ),
        ("stream", {"name": "stdout", "text": "x"}, ["stream", {"name": "stdout", "text": "x"}]),
        ("stream", {"name": "a\ud800", "text": ""}, ["stream", {"name": "a?", "text": ""}]),
        ("comm_open", {"data": {}}, None),
        ("status", {"execution_state": "idle"}, None),
    ],
)
def test_notebook_process_filters_and_encodes_its_messages(
    kind: str, content: Any, expected: Any
) -> None:
    lines = RecordedLines(key=b"unused")
    lines.connection = []  # type: ignore[assignment]
    lines.send(None, kind, content)
    lines.send(None, lines.msg(kind, content))
    said = [json.loads(line) for line in lines.connection]  # type: ignore[attr-defined]
    assert said == ([[0, *expected]] * 2 if expected else [])


def test_notebook_and_grader_agree_on_message_size_and_kinds() -> None:
    assert output.MESSAGE_BYTES < cell_channel.MESSAGE_BYTES
    assert set(output.SHOWN) | {"done"} == set(cell_channel.CONTENT)
