"""Packing of cases and expected values into a released notebook."""

import ast
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
        data = json.loads(zlib.decompress(base64.b64decode("".join(text.split()), validate=True)))
    except (ValueError, zlib.error) as error:
        raise ValueError("the data of this check were changed") from error
    if not isinstance(data, dict):
        raise ValueError("the data of this check were changed")
    return data


def literal(cases: Any) -> str:
    """Return arguments as a Python literal, which distinguishes tuples from lists."""
    return repr(cases)


def cases_of(text: str) -> Any:
    return ast.literal_eval(text)
