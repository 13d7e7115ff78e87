"""What a released notebook carries: cases, and values for them. No formula, no code."""

import ast
import base64
import json
import textwrap
import zlib
from typing import Any


def pack(data: dict[str, Any]) -> str:
    """Plain data as lines of text."""
    packed = base64.b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode()
    return "\n".join(textwrap.wrap(packed, 88))


def unpack(text: str) -> dict[str, Any]:
    """The data that `pack` was given; ValueError if the text was changed."""
    try:
        data = json.loads(zlib.decompress(base64.b64decode("".join(text.split()), validate=True)))
    except (ValueError, zlib.error) as error:
        raise ValueError("the data of this check were changed") from error
    if not isinstance(data, dict):
        raise ValueError("the data of this check were changed")
    return data


def literal(cases: Any) -> str:
    """Arguments as Python writes them, which keeps tuples apart from lists."""
    return repr(cases)


def cases_of(text: str) -> Any:
    return ast.literal_eval(text)
