"""Short texts for learners about numbers, cases and returned values."""

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from roofkit.words import ORIGINAL, _, language

from .plain_data import Plain

# Maximum number of entries shown of a list or dictionary.
MAX_SHOWN = 3
# Maximum number of characters shown of a string.
MAX_TEXT = 40
WIDTH = 80  # `nbgrader validate` truncates lines of more than 90
_WIDE = r"[\u2e80-\u9fff\uff00-\uffef“”]"
# A piece after which a Chinese line may break: a word or a character, with its punctuation.
_UNIT = re.compile(
    r"[（“《]*(?:[^ \u2e80-\u9fff\uff00-\uffef（“《，。；：？！、）”》]+|[^ （“《])"
    r"[，。；：？！、）”》]* *"
)
# "B = 24" stays on one line.
_EQUATION = re.compile(r"(?<=[\w`]) = (?=\S)")
NO_BREAK, BREAK = "\N{NO-BREAK SPACE}", "\v"


def written(value: object) -> str:
    """Return a value as text: 4,096; 1.97e14; "TB/s"; [1; 2; 3; … 9 more]."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**12 else _scientific(value)
    if isinstance(value, float):
        plain = 1e-3 <= abs(value) < 1e6 or not value or math.isinf(value)
        return f"{value:,.10g}" if plain else _scientific(value)
    if isinstance(value, str):
        return f'"{value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 2] + " …"}"'
    if isinstance(value, Mapping):
        if "name" in value:  # a data sheet
            return str(value["name"])
        entries = _few([f"{key}: {written(entry)}" for key, entry in value.items()])
        return "{" + entries[1:-1] + "}"
    if isinstance(value, tuple):
        return "(" + "; ".join(map(written, value)) + ")"
    return _few([written(entry) for entry in value]) if isinstance(value, list) else str(value)


def case_text(case: Mapping[str, Any]) -> str:
    """Return the arguments of one call as text, such as B = 64, D = 4,096."""
    return ", ".join(f"{name} = {written(value)}" for name, value in case.items())


def returned(value: Plain) -> str:
    """Return a value in words that can follow "you returned"."""
    if isinstance(value, dict):
        return written(value) if value else _("an empty dictionary")
    if not isinstance(value, list):
        return written(value)
    if all(isinstance(entry, str) for entry in value):
        return listed(value) if value else _("no names")
    if len(value) == 2:
        return listed([*map(written, value)])
    return written(value)


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence: "A and B", "A, B, C and 5 more"."""
    shown, rest = list(names[:MAX_SHOWN]), len(names) - MAX_SHOWN
    if rest > 0:
        return _("{names} and {rest} more").format(names=_with_commas(shown), rest=rest)
    if len(shown) < 2:
        return "".join(shown)
    return _("{names} and {name}").format(names=_with_commas(shown[:-1]), name=shown[-1])


def series(entries: Sequence[str]) -> str:
    """Join entries that may have commas of their own: "A; B"."""
    said = _("{entries}; {entry}")
    return reduce(lambda first, other: said.format(entries=first, entry=other), entries or [""])


def joined(sentences: Iterable[str]) -> str:
    """Join sentences into one text, spaced as the language in force requires."""
    said = _("{sentences} {sentence}")
    return reduce(lambda first, other: said.format(sentences=first, sentence=other), sentences)


def wrapped(text: str) -> str:
    """Break a text into lines of about WIDTH columns at most, never within "B = 24"."""
    text = kept_together(text)
    if language() != ORIGINAL:
        # A line may end after each of these. The mark counts as the second column of a character.
        text = BREAK.join(_UNIT.findall(text))
    filled = textwrap.fill(text, WIDTH, break_on_hyphens=False, replace_whitespace=False)
    return filled.replace(BREAK, "").replace(NO_BREAK, " ")


def kept_together(text: str) -> str:
    """Return a text in which no line can break within "B = 24"."""
    return _EQUATION.sub(f"{NO_BREAK}={NO_BREAK}", tight(text))


def tight(text: str) -> str:
    """Drop spaces between Chinese characters, as around Chinese that was filled in."""
    if language() == ORIGINAL:
        return text
    return re.sub(rf"(?<={_WIDE}) +(?={_WIDE})", "", text)


def before(text: str) -> str:
    """Return a text to put before something else: with a space unless its own mark has one."""
    return text if re.search(r"[\uff00-\uffef]$", text) else f"{text} "


def _scientific(value: float) -> str:
    """Format as 1.97e14, without the plus sign and leading zeros of Python's format."""
    number, _, power = f"{value:.6g}".partition("e")
    return f"{number}e{int(power)}" if power else number


def _with_commas(names: Sequence[str]) -> str:
    said = _("{names}, {name}")
    return reduce(lambda first, other: said.format(names=first, name=other), names)


def _few(parts: Sequence[str]) -> str:
    shown, rest = "; ".join(parts[:MAX_SHOWN]), len(parts) - MAX_SHOWN
    if rest > 0:
        shown = _("{entries}; … {rest} more").format(entries=shown, rest=rest)
    return f"[{shown}]"
