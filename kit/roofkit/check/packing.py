"""Packing of cases and expected values into a released notebook."""

import base64
import json
import textwrap
import zlib
from typing import Any


def pack(data: dict[str, Any]) -> str:
    """Return plain data as compressed JSON in lines of base64."""
    packed = base64.b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode()
    return "\n".join(textwrap.wrap(packed, 88))


def unpack(text: str) -> dict[str, Any]:
    """Return the packed data; raise ValueError if the text is damaged."""
    try:
        data = zlib.decompress(base64.b64decode("".join(text.split()), validate=True))
    except zlib.error as error:
        raise ValueError("the data of this check were changed") from error
    found: dict[str, Any] = json.loads(data)
    return found
