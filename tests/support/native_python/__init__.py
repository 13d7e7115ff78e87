"""A server of the site that runs pages' Python natively instead of in Pyodide.

A stand-in for Pyodide's script forwards each call to this server, which runs it in a local Python
process. So tests need none of Pyodide's files, nor the time to compile them. The rest is as on the
real site: the scripts, the packed course, the worker that can be terminated.
"""

import functools
import hashlib
import io
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyodide_server import RUNTIME
from site_server import Handler, Server, serving

HERE = Path(__file__).parent


@dataclass
class Process:
    """A Python process for one web worker of a page, with its own folder."""

    home: Path
    handle: int  # a file descriptor of the process, by which it is killed
    questions: io.FileIO
    answers: io.FileIO
    lines: list[bytes] = field(default_factory=list)
    rest: bytes = b""

    def ask(self, question: object, asker: io.BufferedIOBase) -> bytes:
        """Send a question, if any, and return the next line of JSON.

        The process is killed when the asker disconnects.
        """
        if question is not None:
            self.questions.write(json.dumps(question).encode() + b"\n")
        while not self.lines:
            ready, _, _ = select.select([self.answers, asker], [], [])
            if self.answers not in ready:
                self.kill()
                raise ConnectionAbortedError
            heard = self.answers.read(1 << 16)
            if not heard:
                raise ConnectionAbortedError
            *self.lines, self.rest = (self.rest + heard).split(b"\n")
        return self.lines.pop(0)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def end(self) -> None:
        self.kill()
        for file in (self.questions, self.answers):
            file.close()
        os.close(self.handle)


class Processes:
    """All Python processes started for web workers, by number.

    They are forks of one that has imported NumPy and Matplotlib.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: list[Process] = []
        self.lock = threading.Lock()
        self.asking, answering = socket.socketpair()
        with answering:
            self.imported = subprocess.Popen(
                [sys.executable, "-I", str(HERE / "process.py")],
                stdin=answering,
                env={"MPLBACKEND": "agg", "HOME": str(folder)},
            )

    def start(self) -> int:
        with self.lock:
            home = self.folder / str(len(self.all))
            home.mkdir()
            (reads, questions), (answers, writes) = os.pipe(), os.pipe()
            socket.send_fds(self.asking, [str(home).encode()], [reads, writes])
            handle = os.pidfd_open(int(self.asking.recv(100)))
            os.close(reads)
            os.close(writes)
            self.all.append(
                Process(home, handle, io.FileIO(questions, "w"), io.FileIO(answers, "r"))
            )
            return len(self.all) - 1

    def unpack(self, process: Process, archive: bytes) -> None:
        """Unpack the course for a process, or add a translation's words to its course.

        All processes share the files, and so what Python compiles.
        """
        link, digest = process.home / "course", hashlib.sha256(archive)
        before = link.resolve() if link.exists() else None
        digest.update(str(before).encode())
        course = self.folder / digest.hexdigest()
        with self.lock:
            if not course.exists():
                if before:
                    shutil.copytree(before, course)
                zipfile.ZipFile(io.BytesIO(archive)).extractall(course)
        link.unlink(missing_ok=True)
        link.symlink_to(course)

    def end(self) -> None:
        for process in self.all:
            process.end()
        self.asking.close()
        self.imported.wait()


class NativeHandler(Handler):
    """A handler that serves the stand-in instead of Pyodide and forwards its calls."""

    def __init__(self, *args: object, processes: Processes, **kwargs: object) -> None:
        self.processes = processes
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        found = RUNTIME.fullmatch(self.path.removeprefix(self.record.below))
        if not found:
            return super().do_GET()
        script = found["name"] == "pyodide.js"
        body = (HERE / "stand_in.js").read_bytes() if script else b"\0" * 1000
        return self.answer(200, body, "text/javascript" if script else "application/octet-stream")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        what, _, number = self.path.removeprefix(f"{self.record.below}/native/").partition("/")
        if what == "start":
            return self.answer(200, str(self.processes.start()).encode())
        process = self.processes.all[int(number)]
        if what == "unpack":
            self.processes.unpack(process, body)
            return self.answer(200, b"")
        try:
            answer = process.ask(json.loads(body), self.connection)  # type: ignore[arg-type]
        except ConnectionAbortedError:
            self.close_connection = True
            return None
        return self.answer(200, answer)

    def answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        # Bypass Handler, which compresses.
        super(Handler, self).send_header("Content-Type", kind)
        super(Handler, self).send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving_native(site: Path, below: str = "") -> Iterator[Server]:
    """Serve the site with native Python until the block ends.

    below: a path to serve it at, instead of the top.
    """
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(Path(folder))
        try:
            handler = functools.partial(NativeHandler, processes=processes)
            with serving(site, below, handler) as server:
                yield server
        finally:
            processes.end()
