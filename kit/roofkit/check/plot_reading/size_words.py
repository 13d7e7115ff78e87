"""Which of the sizes a text names."""

import re
from collections.abc import Iterable

from .plain_text import plain_text


def named_size(text: object, sizes: Iterable[int]) -> int | None:
    """The size that the text names first, None if it names none."""
    plain = plain_text(text)
    places = {size: place for size in sizes if (place := _place(plain, size)) is not None}
    return min(places, key=lambda size: places[size], default=None)


def _place(text: str, size: int) -> int | None:
    """Where the text names the size, None if nowhere."""
    ways = {str(size), *(f"{size:,}".replace(",", sign) for sign in (",", " ", "_", "'", "."))}
    if size & (size - 1) == 0:
        ways.add(f"2^{size.bit_length() - 1}")
    thousands = {f"{size / 1024:g}", f"{size / 1024:.1f}", f"{size / 1024:.2f}"}
    thousands = {way for way in thousands if float(way) * 1024 == size}
    # In steps of a thousand, but only with a decimal point: 4k is 4,096 here.
    thousands |= {f"{size / 1000:.{places}f}" for places in (1, 2, 3) if size >= 1000}
    ways |= {f"{way}{gap}{k}" for way in thousands for gap in ("", " ") for k in ("k", "K", "Ki")}
    found = [
        match.start()
        for way in ways
        for match in [re.search(rf"(?<![\d.,^]){re.escape(way)}(?!\d|[.,]\d)", text)]
        if match
    ]
    return min(found, default=None)
