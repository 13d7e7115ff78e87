"""Texts of a figure as plain characters: no TeX, one way to write powers, spaces and digits."""

import re
import unicodedata

LONGEST = 300  # characters that are looked at: no label is longer

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_POWER = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_FONT = re.compile(
    r"\\(?:math(?:default|regular|rm|bf|it|sf|tt|cal|normal)|text(?:rm|bf|it|sf|normal)?|"
    r"operatorname|left|right|bf|rm|it|displaystyle)(?![a-zA-Z])"
)
_SIGNS = {
    "\\times": "×",
    "\\cdot": "·",
    "\\log": "log",
    "\\equiv": "=",
    "\\ ": " ",
    "\\,": " ",
    "\\;": " ",
    "\\:": " ",
    "\\!": "",
    "~": " ",
    "{,}": ",",
    "$": "",
    "−": "-",
    "\u2044": "/",
    "\u2215": "/",
    "÷": "/",
    "**": "^",
    "’": "'",
}


def plain_text(text: object) -> str:
    """The text without TeX; digits of all scripts as 0 to 9; powers as 10^12.

    At most LONGEST characters, so that no pattern that reads them has much to do.
    """
    plain = text[:LONGEST] if isinstance(text, str) else ""
    plain = _POWER.sub(lambda power: "^" + power.group().translate(_RAISED), plain)
    plain = _FONT.sub("", re.sub(_FONT.pattern + r" ?\{([^{}]*)\}", r"\1", plain))
    plain = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", plain)
    for sign, character in _SIGNS.items():
        plain = plain.replace(sign, character)
    plain = unicodedata.normalize("NFKC", plain.replace("{", "").replace("}", ""))
    plain = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in plain)
    # Cut again: one character may stand for eighteen others.
    return " ".join(plain[:LONGEST].split())
