"""What a stock kernel does slowly for each cell, done sooner and with the same outcome.

Called by the zygote, so it holds for every kernel. A class runs these steps thousands of times.
"""

import zlib
from typing import Any


def set_up() -> None:
    """Replace the slow steps in IPython and ipykernel."""
    from ipykernel import compiler
    from IPython.core.inputtransformer2 import TransformerManager

    compiler.murmur2_x86 = _number
    TransformerManager.do_token_transforms = _Once(  # type: ignore[method-assign]
        TransformerManager.do_token_transforms
    ).method()


def _number(source: str, seed: int) -> int:
    """What a cell's file is named after. The stock one goes through all bytes in Python."""
    return zlib.crc32(source.encode(), seed)


class _Once:
    """Looks for commands such as %magic once in a cell; a kernel asks for that twice in a row."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain
        self.last: tuple[object, list[str]] | None = None

    def method(self) -> Any:
        def do_token_transforms(manager: Any, lines: list[str]) -> list[str]:
            asked = (list(lines), list(manager.token_transformers))
            if self.last is None or self.last[0] != asked:
                self.last = asked, list(self.plain(manager, lines))
            return list(self.last[1])

        return do_token_transforms
