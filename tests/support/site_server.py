"""A local server of a folder."""

import functools
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Server:
    folder: Path
    origin: str

    def size(self, url: str) -> int:
        """Return the bytes that a host sends for this address, which compresses files."""
        path = self.folder / unquote(urlsplit(url).path).lstrip("/")
        return compressed(path) if url.startswith(self.origin) and path.is_file() else 0


@functools.cache
def compressed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), compresslevel=6))


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def log_message(self, format: str, *args: object) -> None:
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args: object) -> None:
        """Say nothing: the browser has left the page."""


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Serve a folder on a free port."""
    handler = functools.partial(Handler, directory=str(folder))
    with Quiet(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Server(folder, f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()
