"""What a notebook prints and displays, on its way to the grader: lines of JSON over one socket."""

import io
import json
import os
import signal
import socket
import tempfile
import threading
import time
from typing import Any

from jupyter_client.session import Session

MESSAGE_BYTES = 4_000_000
SHOWN = ("stream", "error", "display_data", "update_display_data", "execute_result", "clear_output")
NO_PROCESS = 0
# What a cell, and a notebook, sends; the grader takes no more than a few times as much. Errors are
# sent all the same, a few of them.
CELL_MESSAGES, ALL_MESSAGES = 4_000, 20_000
CELL_BYTES, ALL_BYTES = 8_000_000, 40_000_000
CELL_ERRORS = 10
FLUSH_CHARACTERS = 500_000
FLUSH_SECONDS = 0.2


class Lines(Session):
    """Writes what IPython would send as messages: [number of the order, kind, content]."""

    connection: socket.socket
    number = 0  # of the order that is carried out
    counted = 0  # the order that these numbers are about
    messages = size = errors = all_messages = all_size = 0
    is_cut = False  # whether it was said that something is left out
    lock = threading.RLock()

    def mute(self) -> None:
        """Drop all later messages: what a function shows is not part of its answer."""
        self.pid = NO_PROCESS

    def send(self, stream: Any, msg_or_type: Any, content: Any = None, *_: Any, **__: Any) -> None:
        """Write a message, if a notebook shows its kind, and this process is no fork of it."""
        kind = msg_or_type
        if isinstance(kind, dict):
            kind, content = kind["header"]["msg_type"], kind["content"]
        if kind not in SHOWN or os.getpid() != self.pid:
            return
        line = self._packed(kind, content)
        if len(line) > MESSAGE_BYTES:  # which the grader would not take
            text = f"[{len(line) / 1e6:.0f} MB were left out]\n"
            line = self._packed("stream", {"name": "stderr", "text": text})
        if self._has_room(kind, len(line)):
            self.write(line)

    def _has_room(self, kind: str, size: int) -> bool:
        """Whether a message of this size is sent; when the first is not, say so in its place."""
        with self.lock:
            if self.counted != self.number:
                self.counted, self.is_cut = self.number, False
                self.messages = self.size = self.errors = 0
            if kind == "error":
                self.errors += 1
                return self.errors <= CELL_ERRORS
            self.messages += 1
            self.size += size
            fits = (
                self.messages <= CELL_MESSAGES
                and self.size <= CELL_BYTES
                and self.all_messages < ALL_MESSAGES
                and self.all_size + size <= ALL_BYTES
            )
            if fits:
                self.all_messages += 1
                self.all_size += size
            first, self.is_cut = not (fits or self.is_cut), not fits or self.is_cut
        if first:
            text = "[What this cell showed from here on was left out]\n"
            self.write(self._packed("stream", {"name": "stderr", "text": text}))
        return fits

    def _packed(self, kind: str, content: Any) -> bytes:
        message = [self.number, kind, content]
        try:
            packed: bytes = self.pack(message)
            return packed
        except UnicodeError:  # half a character
            return json.dumps(message, ensure_ascii=False, default=repr).encode(errors="replace")

    def write(self, line: bytes) -> None:
        """Write this line. If something cuts it off, the next one is a line all the same."""
        with self.lock:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
            try:
                self.connection.sendall(b"\n" + line + b"\n")
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of a notebook.

    Programs, and libraries that are not Python's, write to its descriptor, which is a file without
    a name. What they wrote is found before something is printed, and at the end of a cell.
    """

    encoding = "UTF-8"

    def __init__(self, name: str, descriptor: int, lines: Lines) -> None:
        self.name, self.descriptor, self.lines = name, descriptor, lines
        self.lock = threading.RLock()
        self.texts: list[str] = []
        self.size, self.since = 0, 0.0
        with tempfile.TemporaryFile(buffering=0) as file:
            os.dup2(file.fileno(), descriptor)
        self.file = os.dup(descriptor)
        self.taken = 0

    def write(self, text: str) -> int:
        """Keep the text until it is flushed, which is soon."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if os.getpid() != self.lines.pid:  # a fork of the notebook's process
            os.write(self.descriptor, text.encode(errors="replace"))
            return len(text)
        with self.lock:
            self._read_file()
            self._add(text)
            full = self.size > FLUSH_CHARACTERS or time.monotonic() - self.since > FLUSH_SECONDS
        if full:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was printed."""
        if self.closed or os.getpid() != self.lines.pid:
            return
        with self.lock:
            self._read_file()
            text = "".join(self.texts)
            self.texts, self.size = [], 0
        if text:
            self.lines.send(None, "stream", {"name": self.name, "text": text})

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def forget(self) -> None:
        """Drop what came since the last cell had ended, and make room for more."""
        with self.lock:
            self._read_file()
            self.texts, self.size = [], 0
            if self.taken:
                os.ftruncate(self.file, 0)
                self.taken = os.lseek(self.file, 0, os.SEEK_SET)

    def _read_file(self) -> None:
        try:
            end = os.lseek(self.file, 0, os.SEEK_CUR)  # whoever writes to it moves this on
            if end > self.taken:
                found = os.pread(self.file, end - self.taken, self.taken)
                self._add(found.decode(errors="replace"))
            self.taken = end
        except OSError:  # the notebook has closed it
            return

    def _add(self, text: str) -> None:
        if not self.texts:
            self.since = time.monotonic()
        self.texts.append(text)
        self.size += len(text)
