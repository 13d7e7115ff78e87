"""Lines of text as messages: {1}, {2} … stand for their numbers.

It runs at build time and in the page's Python.
"""

import re
from collections.abc import Callable

# A number in a text, with its unit, but not within a name such as H100.
NUMBER = re.compile(
    r"(?<![\w.])\d+(?:[.,]\d+)*(?:[ \xa0][kMGTPEmnµ]?i?(?:s|B|FLOP|OP|bit)(?:/s)?)?(?!\w)"
)
PLACE = re.compile(r"\{(\d+)\}")
UNITS = re.compile(r"\b(?:byte|true|false)\b")
# A line that is said to readers: short texts may be names that a program needs in English.
SAID = re.compile(r"\{1\}|: |\w+ \w+ \w+")


def template(text: str) -> tuple[str, list[str]]:
    """Return a text's message, and the numbers for its places."""
    numbers: list[str] = []

    def place(number: re.Match[str]) -> str:
        numbers.append(number[0])
        return f"{{{len(numbers)}}}"

    return NUMBER.sub(place, text), numbers


def filled(message: str, numbers: list[str]) -> str:
    return PLACE.sub(lambda place: numbers[int(place[1]) - 1], message)


def printed(text: str) -> list[str]:
    """Return the messages in what a cell has printed."""
    lines = (template(line.strip())[0] for line in text.splitlines())
    return [line for line in lines if is_said(line)]


def translated(text: str, translate: Callable[[str], str]) -> str:
    """Translate what a cell has printed, line by line."""
    return "".join(_line(line, translate) for line in text.splitlines(keepends=True))


def is_said(line: str) -> bool:
    return bool(SAID.search(line) and re.search("[a-z]{3}", UNITS.sub("", line)))


def _line(line: str, translate: Callable[[str], str]) -> str:
    message, numbers = template(line.strip())
    said = filled(translate(message), numbers) if is_said(message) else line.strip()
    return line.replace(line.strip(), said)
