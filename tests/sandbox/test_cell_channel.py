"""What the grader takes from a process whose every message may be forged."""

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
def test_a_well_formed_message_passes(kind: str, content: dict[str, Any]) -> None:
    assert well_formed(kind, content)


@pytest.mark.parametrize(("kind", "content"), BAD)
def test_a_malformed_message_does_not(kind: Any, content: Any) -> None:
    assert not well_formed(kind, content)


class Ends:
    """A channel, and the other end of its socket."""

    def __init__(self, ended: bool = False) -> None:
        ours, self.theirs = socket.socketpair()
        self.channel = Channel(ours, lambda: ended)

    def read(self) -> list[Any]:
        """The order that has come."""
        line = self.theirs.makefile("rb").readline()
        order: list[Any] = json.loads(line)
        return order

    def write(self, *lines: bytes) -> None:
        """Write these from another thread, since nobody takes so much at once, and hang up."""

        def all_of_them() -> None:
            with contextlib.suppress(OSError), self.theirs:
                self.theirs.sendall(b"".join(lines))

        self.thread = threading.Thread(target=all_of_them)
        self.thread.start()

    def received(self) -> list[str]:
        """Texts of the streams that come until the other end hangs up."""
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
    made.channel.order("run", "x = 1")
    yield made
    made.channel.connection.close()
    made.theirs.close()


def stream(number: object, text: str) -> bytes:
    return json.dumps([number, "stream", {"name": "stdout", "text": text}]).encode() + b"\n"


def test_an_order_is_a_line_with_a_number_that_nobody_knows_before(ends: Ends) -> None:
    number, *rest = ends.read()
    assert rest == ["run", "x = 1"]
    ends.channel.order("keep", "two\nlines")
    other, *rest = ends.read()
    assert rest == ["keep", "two\nlines"]
    assert other not in (number, number + 1)
    assert ends.channel.number == other


def test_noise_and_what_belongs_to_other_orders_is_passed_over(ends: Ends) -> None:
    number, *_ = ends.read()
    noise = [b"x", b"{}", b"[]", b"7", b"[" * 99_999, b"\xff", b"", b"\0", b"9" * 9_999]
    noise += [json.dumps([number, *rest]).encode() for rest in ([], ["stream"], ["stream", {}])]
    others = [stream(other, "forged") for other in (number - 1, number + 1, str(number), None)]
    malformed = json.dumps([number, "stream", {"name": "stdin", "text": "x"}]).encode()
    lines = [stream(number, "a"), *(one + b"\n" for one in noise), *others, malformed, b"\n"]
    ends.write(*lines, stream(number, "b"))
    assert ends.received() == ["a", "b"]


def test_a_line_that_was_cut_off_spoils_no_other(ends: Ends) -> None:
    number, *_ = ends.read()
    whole = stream(number, "a")
    ends.write(whole[:-9], b"\n", whole, b"\n", whole[:9])
    assert ends.received() == ["a"]


def test_after_thirty_megabytes_only_small_messages_pass(ends: Ends) -> None:
    number, *_ = ends.read()
    large = [stream(number, f"{place}".ljust(3_000_000)) for place in range(10)]
    ends.write(*large, stream(number, "x" * 4_000), stream(number, "small"))
    assert [text.strip() for text in ends.received()] == [*map(str, range(9)), "small"]


def test_of_a_line_that_is_too_long_little_is_kept(ends: Ends) -> None:
    number, *_ = ends.read()
    most, take = 0, ends.channel._take_in

    def watched() -> None:
        nonlocal most
        take()
        most = max(most, len(ends.channel.rest))

    ends.channel._take_in = watched  # type: ignore[method-assign]
    ends.write(b"x" * 40_000_000, b"\n", stream(number, "the next one"))
    assert ends.received() == ["the next one"]
    assert most <= cell_channel.MESSAGE_BYTES + cell_channel.BLOCK


def test_lines_that_are_too_long_are_not_taken_in_for_ever(ends: Ends) -> None:
    ends.write(*[b"x" * 9_000_000, b"\n"] * 6, b"x" * 80_000_000)
    with pytest.raises(Endless):
        ends.channel.receive(60)
    ends.channel.connection.close()
    ends.thread.join()


@pytest.mark.parametrize("limited", [True, False])
def test_noise_without_end_does_not_keep_the_grader_from_its_clocks(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, limited: bool
) -> None:
    if not limited:
        for name in ("ENDLESS_BYTES", "ENDLESS_LINES", "ALL_ENDLESS_LINES"):
            monkeypatch.setattr(cell_channel, name, float("inf"))
    stop = threading.Event()

    def shout() -> None:
        with contextlib.suppress(OSError):
            while not stop.is_set():
                ends.theirs.sendall(b"[]\n" * 10_000)

    thread = threading.Thread(target=shout)
    thread.start()
    if limited:
        with pytest.raises(Endless):
            ends.channel.receive(60)
    else:
        assert ends.channel.receive(0.1) is None
    stop.set()
    ends.channel.connection.close()
    thread.join()


def test_what_nobody_takes_means_that_the_process_has_ended(monkeypatch: Any) -> None:
    monkeypatch.setattr(cell_channel, "SEND_SECONDS", 0.01)
    ends = Ends()
    with pytest.raises(Ended):
        ends.channel.order("run", "#" * 10_000_000)
    ends.theirs.close()
    with pytest.raises(Ended):
        ends.channel.order("run", "1")
    ends.channel.connection.close()


def test_a_process_that_has_ended_is_not_waited_for_though_its_forks_hold_the_socket() -> None:
    ends = Ends(ended=True)
    ends.channel.order("run", "1")
    ends.theirs.sendall(stream(ends.channel.number, "its last word"))
    assert ends.channel.receive(0.01) == ("stream", {"name": "stdout", "text": "its last word"})
    with pytest.raises(Ended):
        ends.channel.receive(0.01)


class Cuts:
    """Stands for a socket in the midst of which somebody interrupts the first line."""

    def __init__(self, theirs: socket.socket) -> None:
        self.theirs, self.lines = theirs, 0

    def sendall(self, line: bytes) -> None:
        self.lines += 1
        self.theirs.sendall(line if self.lines > 1 else line[:20])
        if self.lines == 1:
            raise KeyboardInterrupt


def test_a_line_that_is_cut_off_in_the_notebook_spoils_no_other(ends: Ends) -> None:
    lines = output.Lines(key=b"unused")
    lines.number = ends.read()[0]
    lines.connection = Cuts(ends.theirs)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        lines.send(None, "stream", {"name": "stdout", "text": "lost"})
    lines.send(None, "stream", {"name": "stdout", "text": "kept"})
    ends.write()
    assert ends.received() == ["kept"]


def test_no_other_thread_and_no_interrupt_comes_in_the_midst_of_a_line() -> None:
    lines, could, blocked = output.Lines(key=b"unused"), [], []

    class Busy:
        def sendall(self, _: bytes) -> None:
            other = threading.Thread(
                target=lambda: could.append(lines.lock.acquire(blocking=False))
            )
            other.start()
            other.join()
            blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    lines.connection = Busy()  # type: ignore[assignment]
    lines.send(None, "clear_output", {})
    assert could == [False]
    assert blocked == [{signal.SIGINT}]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


class Kept(output.Lines):
    """Keeps the lines that it would write."""

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
def test_the_notebook_sends_what_the_grader_takes(kind: str, content: Any, expected: Any) -> None:
    lines = Kept(key=b"unused")
    lines.connection = []  # type: ignore[assignment]
    lines.send(None, kind, content)
    lines.send(None, lines.msg(kind, content))
    said = [json.loads(line) for line in lines.connection]  # type: ignore[attr-defined]
    assert said == ([[0, *expected]] * 2 if expected else [])


def test_the_notebook_sends_nothing_that_is_longer_than_the_grader_takes() -> None:
    assert output.MESSAGE_BYTES < cell_channel.MESSAGE_BYTES
    assert set(output.SHOWN) | {"done"} == set(cell_channel.CONTENT)
