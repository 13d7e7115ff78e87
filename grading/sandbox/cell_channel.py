"""The grader's end of the socket to the process that runs cells.

Requests and replies are lines of JSON: see inside/cells.py. Any reply may be forged.
"""

import json
import secrets
import select
import socket
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

MESSAGE_BYTES = 8_000_000  # longer lines are discarded without being buffered
# Limits that end the notebook: bytes in total, lines for one request, and lines in total. Ordinary
# notebooks stay below them because inside/output.py has lower limits.
ENDLESS_BYTES = 100_000_000
ENDLESS_LINES, ALL_ENDLESS_LINES = 20_000, 100_000
SMALL_BYTES = 4_000
BUDGET_BYTES = 30_000_000  # beyond this, messages over SMALL_BYTES are dropped
SEND_SECONDS = 5  # timeout for sending a request
BLOCK = 1 << 18

Content = dict[str, Any]


class Ended(Exception):
    """The process has ended, or accepts no more requests."""


class Endless(Exception):
    """The process has sent more bytes or lines than the limits allow."""


class Channel:
    """A connection that sends requests and receives replies of limited size.

    Malformed replies are dropped. ended: returns whether the process has ended. life: becomes
    readable when it may have ended.
    """

    def __init__(
        self,
        connection: socket.socket,
        ended: Callable[[], bool],
        life: socket.socket | None = None,
    ) -> None:
        self.connection, self.ended = connection, ended
        self.sources = [connection, life] if life else [connection]
        connection.setblocking(False)
        self.number = 0
        self.received = 0
        self.rest = bytearray()
        self.searched = 0  # number of first bytes of `rest` known to contain no newline
        self.lines, self.all_lines = 0, 0  # received for this request, and for all earlier requests

    def request(self, what: str, word: Any) -> None:
        """Send a request; raise Ended if the process doesn't accept it.

        From now on, `receive` returns only replies to this request. Its random number keeps the
        notebook from sending forged replies in advance.
        """
        self.number = secrets.randbits(53)
        self.all_lines += self.lines
        self.lines = 0
        line = json.dumps([self.number, what, word]).encode() + b"\n"
        try:
            self.connection.settimeout(SEND_SECONDS)
            self.connection.sendall(line)
        except OSError:
            raise Ended from None
        finally:
            self.connection.setblocking(False)

    def receive(self, seconds: float) -> tuple[str, Content] | None:
        """Return the next reply to the last request, None if none arrives in time.

        Raise Ended or Endless if there will be no more.
        """
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            while (line := self._line()) is not None:
                message = self._read(line)
                if message is not None:
                    return message
            ready, _, _ = select.select(self.sources, [], [], left)
            if self.connection not in ready:
                if self.ended():
                    raise Ended
                continue
            self._take_in()
        return None

    def _take_in(self) -> None:
        try:
            block = self.connection.recv(BLOCK)
        except BlockingIOError:
            return
        except OSError:
            block = b""
        if not block:
            raise Ended
        self.rest += block

    def _line(self) -> bytes | None:
        """Return the next complete line, if any; an overlong line loses its beginning."""
        place = self.rest.find(b"\n", self.searched)
        if place < 0:
            if len(self.rest) > MESSAGE_BYTES:
                self._count(len(self.rest))
                self.rest.clear()
            self.searched = len(self.rest)
            return None
        line = bytes(self.rest[:place])
        del self.rest[: place + 1]
        self.searched = 0
        self.lines += 1
        self._count(len(line))
        return line

    def _count(self, size: int) -> None:
        """Count this many received bytes; raise Endless if a limit is exceeded."""
        self.received += size
        if (
            self.received > ENDLESS_BYTES
            or self.lines > ENDLESS_LINES
            or self.lines + self.all_lines > ALL_ENDLESS_LINES
        ):
            raise Endless

    def _read(self, line: bytes) -> tuple[str, Content] | None:
        """Parse a reply to the last request; return None if the line is anything else."""
        if not line or (self.received > BUDGET_BYTES and len(line) > SMALL_BYTES):
            return None
        try:
            number, kind, content = json.loads(line.decode("utf-8", "replace"))
            if number == self.number and well_formed(kind, content):
                return kind, content
        except Exception:  # malformed
            return None
        return None


def well_formed(kind: object, content: object) -> bool:
    """Return whether a message has the types that the protocol requires."""
    if not isinstance(kind, str) or kind not in CONTENT or not isinstance(content, dict):
        return False
    return all(isinstance(content.get(key), wanted) for key, wanted in CONTENT[kind]) and VALID.get(
        kind, _always
    )(content)


def _texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _data(content: Content) -> bool:
    display = content.get("transient", {})
    return (
        _texts(content["data"].values())
        and isinstance(display, dict)
        and isinstance(display.get("display_id", ""), str)
    )


def _stream(content: Content) -> bool:
    return content["name"] in ("stdout", "stderr")


def _traceback(content: Content) -> bool:
    return _texts(content["traceback"])


def _always(_: Content) -> bool:
    return True


DATA = (("data", dict), ("metadata", dict))
CONTENT: dict[str, tuple[tuple[str, type], ...]] = {
    "stream": (("name", str), ("text", str)),
    "error": (("ename", str), ("evalue", str), ("traceback", list)),
    "display_data": DATA,
    "update_display_data": DATA,
    "execute_result": (*DATA, ("execution_count", int)),
    "clear_output": (),
    "done": (),
}
VALID: dict[str, Callable[[Content], bool]] = {
    "stream": _stream,
    "error": _traceback,
    "display_data": _data,
    "update_display_data": _data,
    "execute_result": _data,
}
