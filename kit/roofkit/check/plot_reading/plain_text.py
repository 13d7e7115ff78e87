"""Normalization of a figure's texts: TeX, powers, spaces and digits."""

import re
import unicodedata

MAX_LENGTH = 300  # characters of a text that are read; the rest is ignored

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
    """Return the text without TeX, with ASCII digits, and powers as 10^12.

    The result has at most MAX_LENGTH characters, which bounds the time of regular expressions.
    """
    plain = text[:MAX_LENGTH] if isinstance(text, str) else ""
    plain = _POWER.sub(lambda power: "^" + power.group().translate(_RAISED), plain)
    plain = _FONT.sub("", re.sub(_FONT.pattern + r" ?\{([^{}]*)\}", r"\1", plain))
    plain = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", plain)
    for sign, character in _SIGNS.items():
        plain = plain.replace(sign, character)
    plain = unicodedata.normalize("NFKC", plain.replace("{", "").replace("}", ""))
    plain = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in plain)
    # Truncate again: NFKC may expand one character to eighteen.
    return " ".join(plain[:MAX_LENGTH].split())
