"""Formulas of sentences in the reader's language, with formulas as parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

PLACE = re.compile(r"\{(\w+)\}")


def quoted(words: str) -> str:
    """Return a formula whose value is this text: a string literal."""
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def said(sentence: str, **places: str) -> str:
    """Return the formula of a sentence; `places` has the formula of each {name}.

    >>> said("{n} of {all}", n="text(n)", all="text(N)")
    "text(n) + ' of ' + text(N)"

    Other names in braces stay: the figure fills them in.
    """
    parts, words, end = [], "", 0
    for place in PLACE.finditer(sentence):
        if place[1] in places:
            words += sentence[end : place.start()]
            parts += [quoted(words)] * bool(words) + [places[place[1]]]
            words, end = "", place.end()
    words += sentence[end:]
    parts += [quoted(words)] * bool(words)
    return " + ".join(parts) or "''"


def one_of(sentences: Iterable[str], at: str) -> str:
    """Return a formula for the sentence whose index the formula `at` computes."""
    return f"at([{', '.join(map(quoted, sentences))}], {at})"


def named(formula: str, words: Mapping[str, str]) -> str:
    """Return a formula that translates the name computed by `formula`.

    Other values stay as they are.
    """
    for name, shown in words.items():
        if shown != name:
            formula = f"either(({formula}) == {quoted(name)}, {quoted(shown)}, {formula})"
    return formula
