"""Jupyter server extension that answers the Validate button with HonestValidator.

It also gives the button's messages in the language of a notebook.
"""

from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions.validate_assignment import (  # type: ignore[import-untyped]
    handlers,
)
from tornado import web

from roofkit.words import ORIGINAL

from . import HonestValidator, messages

ADDRESS = "roofkit/messages"


class Messages(APIHandler):
    @web.authenticated
    def get(self) -> None:
        self.finish(messages(self.get_query_argument("language", ORIGINAL)))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    handlers.Validator = HonestValidator
    app = server.web_app
    place = url_path_join(app.settings["base_url"], ADDRESS)
    app.add_handlers(".*$", [(place, Messages)])
