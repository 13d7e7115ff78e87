"""The package's TOML files, and sources of figures: data sheets, papers etc."""

import datetime
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """Where and when data were read; `note` names the version or the copies read."""

    key: str
    title: str
    publisher: str
    url: str
    read: datetime.date
    note: str = ""


def read_toml(file: str) -> dict[str, Any]:
    """Return the content of a TOML file beside this module."""
    # Imported here to keep `import rooflib` light.
    import importlib.resources
    import tomllib

    return tomllib.loads(importlib.resources.files("rooflib").joinpath(file).read_text())
