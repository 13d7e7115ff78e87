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
# Scale words that translators write after a count, with powers of ten.
SCALES = {"百万": 6, "十亿": 9}
COUNT = re.compile(rf"(\d[\d,]*(?:\.\d+)?) ?({'|'.join(SCALES)})")
# Chinese number words that pages show after a count, with powers of ten; largest first.
COUNT_UNITS = {"万亿": 12, "亿": 8, "万": 4, "": 0}


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


def counted(value: str, power: int) -> str:
    """Return value times 10**power with a Chinese unit: "8.03", 9 → "80.3 亿".

    The number of digits stays the same.
    """
    number, decimals = float(value.replace(",", "")), len(value.partition(".")[2])
    fitting = (unit for unit in COUNT_UNITS if number * 10**power >= 10 ** COUNT_UNITS[unit])
    unit = next(fitting, "")
    shift = power - COUNT_UNITS[unit]
    return f"{number * 10.0**shift:.{max(0, decimals - shift)}f} {unit}".rstrip()


def is_said(line: str) -> bool:
    return bool(SAID.search(line) and re.search("[a-z]{3}", UNITS.sub("", line)))


def _line(line: str, translate: Callable[[str], str]) -> str:
    message, numbers = template(line.strip())
    if not is_said(message):
        return line
    said = filled(translate(message), numbers)
    said = COUNT.sub(lambda count: counted(count[1], SCALES[count[2]]), said)
    return line.replace(line.strip(), said)
