"""A mutant: one small fault in a file, the source with it, and its diff."""

from __future__ import annotations

import ast
import difflib
import functools
from dataclasses import dataclass

MIN_DOUBLED = 16  # double larger integers: raising a limit by one is hardly a fault


@dataclass(frozen=True)
class Mutant:
    """A fault: the bytes from `start` to `end` of the file `path` become `text`.

    `how` names the kind of the fault.
    """

    path: str
    start: int
    end: int
    text: str
    how: str

    def applied(self, source: str) -> str:
        """Return the source with the fault in it."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()

    def line(self, source: str) -> int:
        """Return the number of the first changed line."""
        return source.encode().count(b"\n", 0, self.start) + 1

    def shown(self, source: str) -> tuple[str, str]:
        """Return the changed lines, before and after, with whitespace collapsed."""
        raw = source.encode()
        first = raw.rfind(b"\n", 0, self.start) + 1
        last = raw.find(b"\n", self.end)
        last = len(raw) if last < 0 else last
        after = raw[first : self.start] + self.text.encode() + raw[self.end : last]
        return " ".join(raw[first:last].decode().split()), " ".join(after.decode().split())

    def diff(self, source: str) -> str:
        """Return the fault as a unified diff."""
        lines = [text.splitlines(keepends=True) for text in (source, self.applied(source))]
        return "".join(difflib.unified_diff(*lines, f"a/{self.path}", f"b/{self.path}", n=2))

    def real(self, source: str) -> bool:
        """Return whether the code is valid, and differs in more than its spelling."""
        mutated = self.applied(source)
        if not self.path.endswith(".py"):
            return mutated != source
        try:
            return ast.dump(ast.parse(mutated)) != _dumped(source)
        except (SyntaxError, ValueError):
            return False


@functools.lru_cache(maxsize=200)
def _dumped(source: str) -> str:
    return ast.dump(ast.parse(source))


def changed_number(value: int | float) -> str:
    """Return another number: twice a float or large integer, 0 for 1, else one more."""
    if isinstance(value, float):
        return repr(2 * value if value else 1.0)
    if value == 1:
        return "0"
    return str(2 * value if value > MIN_DOUBLED else value + 1)
