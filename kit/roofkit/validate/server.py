"""Jupyter server extension that answers the Validate button with HonestValidator."""

from nbgrader.server_extensions.validate_assignment import (  # type: ignore[import-untyped]
    handlers,
)

from . import HonestValidator


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(_: object) -> None:
    handlers.Validator = HonestValidator
