"""Headings and cells of rooflib's tables in the reader's language.

The tables that pages show when they are built are messages of these pages, cell by cell. A reader's
own tables have other numbers and other rows, whose words are here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


def N_(message: str) -> str:
    """Mark a message for extraction."""
    return message


# {name} stands for a name, any other place for a number, with its unit if it has one; {held} may be
# a range of numbers.
WITH_PLACES = (
    N_("{name} on the chip"),
    N_("{name} to one peer"),
    N_("on {chips} × {name}"),
    N_("on {name}"),
    N_("{share}% of {memory}"),
    N_("{held} of {memory}"),
    N_("{held} of {memory}, does not fit"),
    N_("{held} of {memory}, does not always fit"),
    N_("{low} to {high}"),
    N_("{list} and {last}"),
    N_("the next chip, {name}"),
    N_("sequences of {S} that fit"),
    N_("positions of {B} sequences that fit"),
)
WHOLE = (
    N_("L1 and shared memory"),
    N_("dense, one way"),
    N_("ridge, FLOP/byte"),
    N_("computed in"),
    N_("loaded"),
    N_("written"),
    N_("sent"),
    N_("held"),
    N_("attained"),
    N_("vector"),
    N_("DOES NOT FIT"),
    N_("fewest chips on which it fits"),
    N_("prefill and decode apart"),
    N_("a prompt's cache"),
    N_("prefill for one of decode, at least"),
    N_("requests/s of decode, at most"),
    N_("requests/s of prefill, at most"),
    N_("its way from chip to chip, at least"),
    N_("cost of a million tokens"),
    N_("collectives"),
    N_("state"),
    N_("share"),
)
# A figure has a control of the same name.
RENAMED = {"step": N_("whole step")}
PLACE = re.compile(r"\{(\w+)\}")
QUANTITY = r"[-–<∞\d][^ ]*(?: [^\s,]+)?"
KINDS = {"name": r"[A-Z].*|network", "held": f"{QUANTITY}(?: to {QUANTITY})?"}


def translated(text: str, translate: Callable[[str], str]) -> str:
    """Return a heading or a cell of a table in the language into which `translate` translates."""
    message = RENAMED.get(text, text)
    found = translate(message)
    if found != message:
        return found
    for template in WITH_PLACES:
        if parts := pattern(template).fullmatch(text):
            words = {name: translated(part, translate) for name, part in parts.groupdict().items()}
            return translate(template).format(**words)
    return text


@cache
def pattern(message: str) -> re.Pattern[str]:
    """Return a regular expression for the cells that are made from a message."""
    found = ""
    for number, part in enumerate(PLACE.split(message)):
        if number % 2:
            found += f"(?P<{part}>{KINDS.get(part, QUANTITY)})"
        else:
            found += re.escape(part)
    return re.compile(found)
