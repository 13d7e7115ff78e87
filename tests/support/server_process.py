"""Starts a program that serves, and waits until it says where."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

SECONDS_TO_END, PAUSE = 20, 0.05
ADDRESS = r"http://127\.0\.0\.1:\d+"  # as Jupyter prints it
# Jupyter takes the first free port.
JUPYTER = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port_retries=500")


@contextlib.contextmanager
def serving(
    command: Sequence[object],
    address: str,
    given: Mapping[str, str] | None = None,
    folder: Path | None = None,
    seconds: float = 120,
) -> Iterator[tuple[str, list[str]]]:
    """Start a program; yield the first address that it prints, and the lines until then.

    address: a pattern. given: the environment. At the end, the program ends, and with it what it
    has started.
    """
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env=given,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as server:
        named, lines = Event(), []

        def listen() -> None:
            for line in server.stdout or ():
                lines.append(line)
                if re.search(address, line):
                    named.set()
            named.set()

        listener = Thread(target=listen, daemon=True)
        listener.start()
        try:
            assert named.wait(seconds), "".join(lines)
            found = re.search(address, "".join(lines))
            assert found, "".join(lines)
            yield found[0], lines
        finally:
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                # Occasionally a server hangs at exit, waiting for its own threads.
                os.killpg(server.pid, signal.SIGKILL)
            listener.join(SECONDS_TO_END)


def wait_for(address: str, seconds: float = 120) -> None:
    """Wait until connections are accepted: Jupyter prints its address before it listens."""
    place, latest = urlsplit(address), time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((place.hostname, place.port), seconds).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < latest, f"nothing listens at {address}"
            time.sleep(PAUSE)
