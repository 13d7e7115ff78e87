"""A local server of a folder that compresses its files."""

import functools
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import unquote, urlsplit

# Suffixes worth compressing: fonts (woff2) and images (png) already are.
PACKED = (".html", ".css", ".js", ".svg", ".json", ".ipynb", ".md", ".txt")


@dataclass
class Server:
    """A served folder.

    below: the URL path of the folder, such as "/course", or "".
    """

    folder: Path
    below: str = ""
    origin: str = ""

    def size(self, url: str) -> int:
        """Return how many bytes this address sends to a browser with an empty cache."""
        path = self.folder / unquote(urlsplit(url).path).removeprefix(self.below).lstrip("/")
        if not url.startswith(self.origin) or not path.is_file():
            return 0
        body = packed(path, path.stat().st_mtime_ns) if path.suffix in PACKED else path.read_bytes()
        return len(body)


class Handler(SimpleHTTPRequestHandler):
    """A handler that compresses files and keeps connections open."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args: object, served: Server, **kwargs: object) -> None:
        self.served = served
        self.status = 0
        super().__init__(*args, directory=str(served.folder), **kwargs)  # type: ignore[arg-type]

    def translate_path(self, path: str) -> str:
        below = self.served.below
        found = path.removeprefix(below) if path.startswith(f"{below}/") else "/no-such-folder/"
        return super().translate_path(found)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def send_response(self, code: int, message: str | None = None) -> None:
        self.status = int(code)
        super().send_response(code, message)

    def send_header(self, keyword: str, value: str) -> None:
        path = Path(self.translate_path(self.path))
        if keyword == "Content-Length" and self.status == 200 and path.suffix in PACKED:
            super().send_header("Content-Encoding", "gzip")
            value = str(len(packed(path, path.stat().st_mtime_ns)))
        super().send_header(keyword, value)

    def do_GET(self) -> None:
        source = self.send_head()
        path = Path(self.translate_path(self.path))
        if source is None:
            return
        with cast(BinaryIO, source):
            body = source.read()
        if path.suffix in PACKED:
            body = packed(path, path.stat().st_mtime_ns)
        # The browser may have left the page.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)


@functools.cache
def packed(path: Path, _changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)


@contextmanager
def serving(folder: Path, below: str = "") -> Iterator[Server]:
    """Serve a folder on a free port, at the top or below a path such as "/course"."""
    served = Server(folder, below)
    handler = functools.partial(Handler, served=served)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        served.origin = f"http://127.0.0.1:{server.server_port}{below}"
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
