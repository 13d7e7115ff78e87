"""Starts a Jupyter server for a test, and waits until it accepts connections."""

import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

SECONDS, SECONDS_TO_END, PAUSE = 120, 20, 0.05
# The server takes the first free port and prints its address.
OPTIONS = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port_retries=500")
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/")


@contextmanager
def serving(
    command: Sequence[str], given: Mapping[str, str], folder: Path | None = None
) -> Iterator[str]:
    """Start a server with a command that includes OPTIONS, and yield its address."""
    with subprocess.Popen(
        command, env=given, cwd=folder, stderr=subprocess.PIPE, text=True
    ) as server:
        named, lines = Event(), []

        def listen() -> None:
            for line in server.stderr or ():
                lines.append(line)
                if ADDRESS.search(line):
                    named.set()
            named.set()

        listener = Thread(target=listen, daemon=True)
        listener.start()
        try:
            assert named.wait(SECONDS), "".join(lines)
            found = ADDRESS.search("".join(lines))
            assert found, "".join(lines)
            wait_for(found[1], server, lines)
            yield found[1]
        finally:
            server.terminate()
            try:
                server.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                # Occasionally a server hangs at exit, waiting for its own threads.
                server.kill()
            listener.join(SECONDS)


def wait_for(address: str, server: subprocess.Popen[str], lines: list[str]) -> None:
    """Wait until a server accepts connections.

    It prints its address before it listens. Raises AssertionError with the server's output if it
    exits or takes too long.
    """
    place, latest = urlsplit(address), time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection((place.hostname, place.port), SECONDS).close()
            return
        except ConnectionRefusedError:
            assert server.poll() is None, "".join(lines)
            assert time.monotonic() < latest, "".join(lines)
            time.sleep(PAUSE)
