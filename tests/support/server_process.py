"""A Jupyter server that a test starts, from its command to the moment when it answers."""

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
# It takes the first port that is free, and says which.
OPTIONS = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port_retries=500")
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/")


@contextmanager
def serving(
    command: Sequence[str], given: Mapping[str, str], folder: Path | None = None
) -> Iterator[str]:
    """The server that a command starts with OPTIONS among its own, as its address."""
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
                # Now and then it has ended its work and waits for its own threads for good.
                server.kill()
            listener.join(SECONDS)


def wait_for(address: str, server: subprocess.Popen[str], lines: list[str]) -> None:
    """Wait until a server answers: it names its address before it listens, and then says no more.

    Raises AssertionError, with what the server wrote, where it ends or takes too long.
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
