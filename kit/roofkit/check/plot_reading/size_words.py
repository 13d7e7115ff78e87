"""Sizes that a text names, such as 4096, 4,096 or 4k."""

import functools
import re
from collections.abc import Iterable

from .plain_text import plain_text


def named_size(text: object, sizes: Iterable[int]) -> int | None:
    """Return the size that the text names first, None if it names none."""
    plain = plain_text(text)
    found = [(match.start(), size) for size in sizes if (match := _named(size).search(plain))]
    return min(found)[1] if found else None


@functools.lru_cache(maxsize=100)
def _named(size: int) -> re.Pattern[str]:
    """Return a pattern that finds this size in any spelling."""
    ways = {str(size), *(f"{size:,}".replace(",", sign) for sign in (",", " ", "_", "'", "."))}
    if size & (size - 1) == 0:
        ways.add(f"2^{size.bit_length() - 1}")
    thousands = {f"{size / 1024:g}", f"{size / 1024:.1f}", f"{size / 1024:.2f}"}
    thousands = {way for way in thousands if float(way) * 1024 == size}
    # Decimal thousands count only with a decimal point (4.1k), since 4k means 4,096.
    thousands |= {f"{size / 1000:.{places}f}" for places in (1, 2, 3) if size >= 1000}
    ways |= {f"{way}{gap}{k}" for way in thousands for gap in ("", " ") for k in ("k", "K", "Ki")}
    return re.compile(rf"(?<![\d.,^])(?:{'|'.join(map(re.escape, sorted(ways)))})(?!\d|[.,]\d)")
