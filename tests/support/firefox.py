"""Headless Firefox, driven over WebDriver BiDi: pages, scripts, keys, errors.

Playwright brings its own build of Firefox; this drives the system's, with nothing in between.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server_process import serving
from websocket import WebSocket, create_connection

FIREFOX = ("firefox-esr", "firefox")
MISSING = "no Firefox found: sudo apt install firefox-esr"
LISTENING = r"(?<=BiDi listening on )ws://\S+"
SECONDS = 120  # timeout for an answer; the machine may be busy with other tests
# Ask no other host for anything: the proxy is a closed port, and loopback needs none.
PREFERENCES: dict[str, object] = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
}


def firefox() -> str | None:
    """Return the path of the system's Firefox, or None."""
    return next(filter(None, map(shutil.which, FIREFOX)), None)


@dataclass
class Firefox:
    """A running Firefox with one tab, and the errors that its pages reported."""

    socket: WebSocket
    tab: str = ""
    errors: list[str] = field(default_factory=list)
    sent: int = 0

    def ask(self, method: str, **params: object) -> Any:
        """Send a command, and return its result."""
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": params}))
        while True:
            heard = json.loads(self.socket.recv())
            if heard.get("method") == "log.entryAdded":
                entry = heard["params"]
                if entry["level"] == "error":
                    self.errors.append(str(entry["text"]))
            elif heard.get("id") == self.sent:
                if heard["type"] == "error":
                    raise RuntimeError(f"{method}: {heard['message']}")
                return heard["result"]

    def open(self, url: str) -> None:
        """Load a page, and wait until it and its fonts are there."""
        self.errors.clear()
        self.ask("browsingContext.navigate", context=self.tab, url=url, wait="complete")
        self.run("document.fonts.ready.then(() => true)")

    def run(self, expression: str) -> Any:
        """Evaluate JavaScript; return its value, that of a promise once it is settled."""
        answer = self.ask(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then((v) => JSON.stringify(v ?? null))",
            target={"context": self.tab},
            awaitPromise=True,
            userActivation=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true, polling once per frame."""
        self.run(
            "new Promise((done) => { const look = () => "
            f"({condition}) ? done(true) : requestAnimationFrame(look); look(); }})"
        )

    def press(self, *keys: str) -> None:
        """Press keys one after another."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.ask("input.performActions", context=self.tab, actions=[source])

    def size(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self.ask("browsingContext.setViewport", context=self.tab, viewport=size)


@contextmanager
def started(path: str, profile: Path) -> Iterator[Firefox]:
    """Start Firefox with a new profile in this folder until the block ends."""
    profile.mkdir()
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    words = [path, "--headless", "--no-remote", "--profile", str(profile)]
    words += ["--remote-debugging-port", "0"]
    with serving(words, LISTENING) as (address, _):
        socket = create_connection(
            f"{address}/session", timeout=SECONDS, suppress_origin=True, http_no_proxy=["*"]
        )
        browser = Firefox(socket)
        browser.ask("session.new", capabilities={})
        browser.ask("session.subscribe", events=["log.entryAdded"])
        browser.tab = browser.ask("browsingContext.create", type="tab")["context"]
        yield browser
        socket.close()
