"""What a stock kernel does slowly for each cell, done sooner and with the same outcome.

Called where cells are run, before the first. A class runs these steps thousands of times.
"""

import ast
import zlib
from typing import Any


def set_up() -> None:
    """Replace the slow steps in IPython and ipykernel."""
    from ipykernel import compiler
    from IPython.core.inputtransformer2 import TransformerManager

    compiler.murmur2_x86 = _number
    TransformerManager.do_token_transforms = _Once(  # type: ignore[method-assign]
        TransformerManager.do_token_transforms, TransformerManager().token_transformers
    ).method()


def _number(source: str, seed: int) -> int:
    """What a cell's file is named after. The stock one goes through all bytes in Python."""
    return zlib.crc32(source.encode(), seed)


class _Once:
    """Looks for commands such as %magic once in a cell; a kernel asks for that twice in a row.

    It does not look where there is none: in what Python itself can read.
    """

    def __init__(self, plain: Any, transformers: list[Any]) -> None:
        self.plain, self.transformers = plain, transformers
        self.last: tuple[object, list[str]] | None = None

    def method(self) -> Any:
        def do_token_transforms(manager: Any, lines: list[str]) -> list[str]:
            asked = (list(lines), list(manager.token_transformers))
            if self.last is None or self.last[0] != asked:
                stock = manager.token_transformers == self.transformers
                found = lines if stock and _is_python(lines) else self.plain(manager, lines)
                self.last = asked, list(found)
            return list(self.last[1])

        return do_token_transforms


def _is_python(lines: list[str]) -> bool:
    """Whether Python reads it, without a warning as about a backslash, which nobody should see."""
    source = "".join(lines)
    try:
        return "\\" not in source and ast.parse(source) is not None
    except Exception:
        return False
