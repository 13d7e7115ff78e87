"""Numbers in a text as a reader takes them: with their prefix, and with as many digits as shown."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(
    r"(?<![\w.,])(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?"
    r"(?:×10(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|e(?P<power>[+-]?\d+))?(?![\d.]*\d)"
    r"(?:[ \N{NO-BREAK SPACE}](?P<prefix>[kMGTPmµn])(?=FLOP|OP|B\b|B/|s\b))?"
)


@dataclass(frozen=True)
class Told:
    value: float
    digits: int  # significant ones

    def tells(self, value: float) -> bool:
        """Is this the value, rounded to the digits shown?"""
        rounded = float(f"{value:.{self.digits - 1}e}")
        return math.isclose(self.value, rounded, rel_tol=1e-9)


def numbers(text: str) -> Iterator[Told]:
    """Each number of a text that shows at least three digits."""
    for found in NUMBER.finditer(text):
        whole, part = found["whole"].replace(",", ""), found["part"] or ""
        shown = (whole + part[1:]).lstrip("0")
        # Nobody can tell whether the zeros of 8,000 are meant; those of 120 are.
        digits = len(shown if part or len(shown) == 3 else shown.rstrip("0"))
        if digits >= 3:
            power = (found["raised"] or found["power"] or "0").translate(SUPERSCRIPTS)
            value = float(f"{whole}{part}e{power}") * PREFIXES.get(found["prefix"] or "", 1)
            yield Told(value, digits)
