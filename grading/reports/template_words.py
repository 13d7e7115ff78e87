"""Translates the words of nbgrader's feedback page into the language in force.

nbgrader's template has these words in English. They are replaced in the finished page, together
with markup that no submission can have on the page.
"""

import re
from collections.abc import Callable

from roofkit.words import N_, ORIGINAL, _, language

NUMBERS = r"Score: (?P<points>-?[\d.]+)(?: / (?P<all>[\d.]+))?"
# The template's words: HTML before and after them, their pattern, and their message.
WORDS = (
    (r'<span class="nbgrader-label">', "</span>", "Student's answer", N_("Student's answer")),
    (r'<span class="nbgrader-label">', " <code>", "Grade cell:", N_("Grade cell:")),
    (r'<a href="#top">', "</a>", r"\(Top\)", N_("(Top)")),
    (r"<b>", "</b>", "Comments:", N_("Comments:")),
    (r'<a href="#comment-[\w-]+">', "</a>", "Comment", N_("Comment")),
    (r'<li class="late-penalty">', "", "Late submission penalty", N_("Late submission penalty")),
)
SCORES = (
    rf"(?P<before><h4>[^<]*)(?P<bracket> \(){NUMBERS}\)(?P<after></h4>)",
    rf"(?P<before></a>|Late submission penalty)(?P<bracket> \(){NUMBERS}\)(?P<after></li>)",
    rf'(?P<before><span class="pull-right">\s*)(?P<bracket>){NUMBERS}(?P<after> <a href="#top">)',
)


def translated(page: str) -> str:
    """Return a feedback page with the template's words in the language in force."""
    if language() == ORIGINAL:
        return page
    page = page.replace("<html>", f'<html lang="{language().replace("_", "-")}">', 1)
    for pattern in SCORES:
        page = re.sub(pattern, _score, page)
    for before, after, words, message in WORDS:
        page = re.sub(rf"({before}){words}(?={after})", _word(_(message)), page)
    return page


def _word(word: str) -> Callable[[re.Match[str]], str]:
    return lambda found: found[1] + word


def _score(found: re.Match[str]) -> str:
    said = _("Score: {points} / {all}") if found["all"] else _("Score: {points}")
    said = said.format(points=found["points"], all=found["all"])
    if found["bracket"]:
        said = _("({score})").format(score=said)
    return found["before"] + said + found["after"]
