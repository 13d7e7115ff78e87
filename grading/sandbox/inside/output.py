"""A notebook's output, sent to the grader as lines of JSON over one socket."""

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
# Limits on what a cell and a notebook send; the grader's own limits are a few times higher. Errors
# do not count, and have their own limit.
CELL_MESSAGES, ALL_MESSAGES = 4_000, 20_000
CELL_BYTES, ALL_BYTES = 8_000_000, 40_000_000
CELL_ERRORS = 10
FLUSH_CHARACTERS = 500_000
FLUSH_SECONDS = 0.2


class Lines(Session):
    """Session that writes IPython's messages as [number of the request, kind, content]."""

    connection: socket.socket
    number = 0  # number of the current request
    counted = 0  # number of the request that the counters below belong to
    messages = size = errors = all_messages = all_size = 0
    is_cut = False  # whether the cell's truncation note has been sent
    lock = threading.RLock()

    def mute(self) -> None:
        """Drop all later messages: output of a function is not part of its answer."""
        self.pid = NO_PROCESS

    def send(self, stream: Any, msg_or_type: Any, content: Any = None, *_: Any, **__: Any) -> None:
        """Send a message to the grader if it is of a kind that notebooks show.

        Messages from forks of the notebook's process are dropped.
        """
        kind = msg_or_type
        if isinstance(kind, dict):
            kind, content = kind["header"]["msg_type"], kind["content"]
        if kind not in SHOWN or os.getpid() != self.pid:
            return
        line = self._packed(kind, content)
        if len(line) > MESSAGE_BYTES:  # the grader would discard such a line
            text = f"[{len(line) / 1e6:.0f} MB were left out]\n"
            line = self._packed("stream", {"name": "stderr", "text": text})
        if self._has_room(kind, len(line)):
            self.write(line)

    def _has_room(self, kind: str, size: int) -> bool:
        """Count a message; return whether it fits.

        The first message that doesn't fit is replaced by a note.
        """
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
        except UnicodeError:  # a lone surrogate
            return json.dumps(message, ensure_ascii=False, default=repr).encode(errors="replace")

    def write(self, line: bytes) -> None:
        """Write this line, after a newline in case the previous line was cut off."""
        with self.lock:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
            try:
                self.connection.sendall(b"\n" + line + b"\n")
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Stream(io.TextIOBase):
    """A notebook's sys.stdout or sys.stderr.

    Subprocesses and C libraries write to its file descriptor, which is an unnamed temporary file.
    That file is read before each print and at the end of a cell.
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
        """Buffer the text; flush after FLUSH_SECONDS or FLUSH_CHARACTERS."""
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
        """Send the buffered text."""
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
        """Drop output since the end of the last cell, and truncate the file."""
        with self.lock:
            self._read_file()
            self.texts, self.size = [], 0
            if self.taken:
                os.ftruncate(self.file, 0)
                self.taken = os.lseek(self.file, 0, os.SEEK_SET)

    def _read_file(self) -> None:
        try:
            end = os.lseek(self.file, 0, os.SEEK_CUR)  # writers advance this shared offset
            if end > self.taken:
                found = os.pread(self.file, end - self.taken, self.taken)
                self._add(found.decode(errors="replace"))
            self.taken = end
        except OSError:  # the notebook has closed this file
            return

    def _add(self, text: str) -> None:
        if not self.texts:
            self.since = time.monotonic()
        self.texts.append(text)
        self.size += len(text)
