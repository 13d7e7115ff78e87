"""Jupyter server extension that answers the Validate button with HonestValidator.

It also gives the button's messages in the language of a notebook.
"""

from typing import Any

from nbgrader.server_extensions.validate_assignment import (  # type: ignore[import-untyped]
    handlers,
)

from roofkit.words import ORIGINAL

from . import HonestValidator, messages

ADDRESS = "roofkit/messages"


class Messages(handlers.JupyterHandler):  # type: ignore[misc]
    @handlers.web.authenticated  # type: ignore[untyped-decorator]
    def get(self) -> None:
        self.finish(messages(self.get_query_argument("language", ORIGINAL)))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    handlers.Validator = HonestValidator
    app = server.web_app
    place = f"{app.settings['base_url'].rstrip('/')}/{ADDRESS}"
    app.add_handlers(".*$", [(place, Messages)])
