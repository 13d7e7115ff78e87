"""Show the built site on this machine alone: ``python site serve [port]``."""

import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"


class Quiet(SimpleHTTPRequestHandler):
    """Request handler that logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send the site's own 404 page, as static hosts do."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def serve(site: Path, port: int) -> int:
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(site)))
    except OSError as error:
        print(f"port {port}: {error.strerror}; try PORT={port + 1} make serve", file=sys.stderr)
        return 1
    with server:
        print(f"http://127.0.0.1:{server.server_port}/ (stop with Ctrl+C)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(serve(SITE, int(sys.argv[1]) if len(sys.argv) > 1 else 8000))
