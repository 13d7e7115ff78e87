"""Numbers in a text, with the value and precision that a reader takes from them.

The value includes the unit prefix.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from figure_oracles import PREFIXES, SUPERSCRIPTS

NUMBER = re.compile(
    r"(?<![\w.,])(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?"
    r"(?:×10(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|e(?P<power>[+-]?\d+))?(?![\d.]*\d)"
    r"(?:[ \N{NO-BREAK SPACE}](?P<prefix>[kMGTPmµn])(?=FLOP|OP|B\b|B/|s\b))?"
)


@dataclass(frozen=True)
class Told:
    value: float
    digits: int  # significant

    def tells(self, value: float) -> bool:
        """Return whether this number is the value, rounded to the digits shown."""
        rounded = float(f"{value:.{self.digits - 1}e}")
        return math.isclose(self.value, rounded, rel_tol=1e-9)


def numbers(text: str) -> Iterator[Told]:
    """Yield each number of a text that shows at least three significant digits."""
    for found in NUMBER.finditer(text):
        whole, part = found["whole"].replace(",", ""), found["part"] or ""
        shown = (whole + part[1:]).lstrip("0")
        # Trailing zeros of whole numbers don't count (8,000), except in three-digit numbers (120).
        digits = len(shown if part or len(shown) == 3 else shown.rstrip("0"))
        if digits >= 3:
            power = (found["raised"] or found["power"] or "0").translate(SUPERSCRIPTS)
            value = float(f"{whole}{part}e{power}") * PREFIXES.get(found["prefix"] or "", 1)
            yield Told(value, digits)
