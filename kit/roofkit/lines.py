"""What cells print, draw and tabulate, and values in texts, in the reader's language.

It is translated at build time, in the page's Python and in kernels. A line that is printed or drawn
is a message in which {1}, {2} … stand for its numbers and names. Values and the cells of tables
have messages of their own.
"""

from __future__ import annotations

import builtins
import linecache
import re
import sys
from collections.abc import Callable, Collection
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

# A number in a text, with its unit, but not within a name such as H100.
NUMBER = re.compile(
    r"(?<![\w.])\d+(?:[.,]\d+)*(?:e\d+)?(?:[ \xa0][kMGTPEmnµ]?i?(?:s|B|FLOP|OP|bit)(?:/s)?)?(?!\w)"
)
# Names that are words: they are translated where a line says which roof or link it is.
ROOFS = {name: name for name in ("compute", "exponentials", "launch", "network")}
ROOFS["vector"] = "vector unit"
ROOF = rf"(?:^|(?<=[:,] ))(?:HBM|{'|'.join(ROOFS)})(?=$|[:,]| binds| takes| +\d)"
# Messages that no page has: roofs, names and numbers alone, and lines of a reader's other chip.
MESSAGES = (
    *(*ROOFS.values(), "{1}: {2}", "{1}, {2}", "{1}, {2}: {3}"),
    *("printed: {1}", "printed: {1}, {2} links", "printed: {1}, each of {2} cores"),
    *("printed: {1}, both ways", "fits: no", "{1} fit on {2}", "{1} has no peak in {2}"),
    *("ridge point: {1} or {2} or {3}/byte", "ridge point: {1} or {2} or {3} or {4}/byte"),
    *("{1}: no published peak of the vector unit", "{1} has no link in the catalog"),
    "no batch is enough: D and F are too small",
    # Headings and cells of a reader's own tables; those that pages show are messages of the pages.
    *("whole step", "dense, one way", "ridge, FLOP/byte", "computed in", "loaded", "written"),
    *("sent", "held", "attained", "vector", "share", "DOES NOT FIT", "prefill and decode apart"),
    *("a prompt's cache", "prefill for one of decode, at least", "cost of a million tokens"),
    *("requests/s of decode, at most", "requests/s of prefill, at most"),
    *("its way from chip to chip, at least", "fewest chips on which it fits"),
)
PLACE = re.compile(r"\{(\d+)\}")
LINES = " / "  # separates the lines of a picture's text in its message
UNITS = re.compile(r"\b(?:byte|true|false)\b")
# A line that is said to readers: short texts may be names that a program needs in English.
SAID = re.compile(r"\{1\}|: |\w+ \w+ \w+")
# Scale words that translators write after a count, with powers of ten.
SCALES = {"百万": 6, "十亿": 9}
COUNT = re.compile(rf"(\d[\d,]*(?:\.\d+)?) ?({'|'.join(SCALES)})")
# A space between Chinese characters, around a place that has some.
NEEDLESS = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")
# Chinese number words that pages show after a count, with powers of ten; largest first.
COUNT_UNITS = {"万亿": 12, "亿": 8, "万": 4, "": 0}

# Values and cells that have places. The first of these that one matches is its message, and what
# stands in the places is translated, too.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
VALUES = (
    "about {minutes} minutes, easy",
    "about {minutes} minutes, medium",
    "about {minutes} minutes, hard",
    "{figure}, sparse",
    "{name} on the chip",
    "{name} to one peer",
    "on {chips} × {name}",
    "on {name}",
    "{share}% of {memory}",
    "{held} of {memory}",
    "{held} of {memory}, does not fit",
    "{held} of {memory}, does not always fit",
    "the next chip, {name}",
    "sequences of {S} that fit",
    "positions of {B} sequences that fit",
    "{low} to {high}",
    "{list} and {last}",
    *(f"{{day}} {month} {{year}}" for month in MONTHS),
    *(f"{month} {{year}}" for month in MONTHS),
    "{items}, {item}",
)
NAMED = re.compile(r"\{(\w+)\}")
# What stands in a place: a name, a list, a range, or else a figure with its unit.
QUANTITY = r"[-–<∞\d][^ ]*(?: [^\s,]+)?"
LIST = r".*[A-Z\d].*"
KINDS = {
    "name": r"[A-Z].*|network",
    "held": f"{QUANTITY}(?: to {QUANTITY})?",
    **dict.fromkeys(("list", "last", "items", "item"), LIST),
}
# A figure has a control of the same name.
RENAMED = {"step": "whole step"}
COUNTED = re.compile(r"\d[\d,]*(?:\.\d+)?")  # a value that may be counted in millions


@cache
def varying() -> re.Pattern[str]:
    """Return a pattern of what stands in places: names of the catalogs, roofs and numbers."""
    import rooflib as rl
    from rooflib.dtypes import DTYPES

    chips = rl.chips(hidden=True)
    links = [link for chip in chips for link in chip.links]
    names = {*DTYPES, *(one.name for one in (*chips, *links, *rl.models()))}
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"{ROOF}|(?<![\w-])(?:{listed})(?![\w-])|{NUMBER.pattern}")


def template(text: str) -> tuple[str, list[str]]:
    """Return a text's message, and what stands in its places."""
    number = count(1)
    parts = [part[0] for part in varying().finditer(text)]
    return varying().sub(lambda _: f"{{{next(number)}}}", text), parts


def in_words(text: str, translate: Callable[[str], str]) -> str:
    """Return a text with its words and its roofs translated."""
    message, parts = template(text)
    words = [translate(ROOFS[part]) if part in ROOFS else part for part in parts]
    said = translate(message)
    if words == parts and (said == message or not re.search("[a-z]", message)):
        return text  # not translated, or names and numbers
    return NEEDLESS.sub("", PLACE.sub(lambda place: words[int(place[1]) - 1], said))


def printed(text: str) -> list[str]:
    """Return the messages in what a cell has printed."""
    lines = (template(line.strip())[0] for line in text.splitlines())
    return [line for line in lines if is_said(line)]


def translated(text: str, translate: Callable[[str], str]) -> str:
    """Translate what a cell has printed, line by line."""
    return "".join(_line(line, translate) for line in text.splitlines(keepends=True))


def printing_lines(book: Path) -> set[str]:
    """Return the lines of a book's chapters that print."""
    texts = (page.read_text(encoding="utf-8") for page in book.glob("chapters/*.md"))
    return {line.strip() for text in texts for line in text.splitlines() if "print(" in line}


def print_of_cells(built: Collection[str], translate: Callable[[str], str]) -> Callable[..., None]:
    """Return a `print` that translates what is printed by lines of cells that are as built.

    built: these lines; others are a reader's own.
    """
    print_plainly = builtins.print

    def print_in_language(*values: Any, sep: str | None = None, **options: Any) -> None:
        caller = sys._getframe(1)
        line = linecache.getline(caller.f_code.co_filename, caller.f_lineno).strip()
        if line in built and options.get("file") is None:
            said = (" " if sep is None else sep).join(map(str, values))
            values = (translated(said, translate),)
        print_plainly(*values, sep=sep, **options)

    return print_in_language


def counted(value: str, power: int) -> str:
    """Return value times 10**power with a Chinese unit: "8.03", 9 → "80.3 亿".

    The number of digits stays the same.
    """
    number, decimals = float(value.replace(",", "")), len(value.partition(".")[2])
    fitting = (unit for unit in COUNT_UNITS if number * 10**power >= 10 ** COUNT_UNITS[unit])
    unit = next(fitting, "")
    shift = power - COUNT_UNITS[unit]
    return f"{number * 10.0**shift:.{max(0, decimals - shift)}f} {unit}".rstrip()


def value_in_words(text: str, power: int, translate: Callable[[str], str]) -> str:
    """Return a computed value, or a heading or cell of a table, as this language shows it.

    power: of ten, if a scale word followed the value, else 0.
    """
    if power and COUNTED.fullmatch(text):
        return counted(text, power)
    message = RENAMED.get(text, text)
    if text and (said := translate(message)) != message:
        return said
    for message in VALUES:
        if found := _values(message).fullmatch(text):
            parts = {
                name: value_in_words(part, 0, translate) for name, part in found.groupdict().items()
            }
            return translate(message).format(**parts)
    return text


@cache
def _values(message: str) -> re.Pattern[str]:
    """Return a pattern of the values and cells that have this message."""
    places = NAMED.split(message)
    places[::2] = map(re.escape, places[::2])
    places[1::2] = (f"(?P<{name}>{KINDS.get(name, QUANTITY)})" for name in places[1::2])
    return re.compile("".join(places))


def is_said(line: str) -> bool:
    """Return whether a line's message needs translation."""
    return bool(SAID.search(line) and re.search("[a-z]{3}", UNITS.sub("", line)))


def _line(line: str, translate: Callable[[str], str]) -> str:
    text = line.strip()
    message = template(text)[0]
    if message == "{1}" or not SAID.search(message):
        return line
    said = in_words(text, translate)
    if said == text:
        return line
    said = COUNT.sub(lambda found: counted(found[1], SCALES[found[2]]), said)
    return line.replace(text, said)
