"""Show the built site on this machine alone: ``python site/serve.py [port]``."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).resolve().parent.parent / "_build" / "html"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        pass


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
