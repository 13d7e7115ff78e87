"""A check's report: one line that says what came out, details, and the cases folded below."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from roofkit.words import _

from .wording import before, joined, kept_together, tight, wrapped

# Color of the bar beside a report, as JupyterLab or a page of the course defines it.
COLORS = {
    "right": "var(--jp-success-color1, var(--pst-color-success, #1a7f37))",
    "wrong": "var(--jp-error-color1, var(--pst-color-danger, #b3261e))",
}
NEUTRAL = "var(--jp-border-color1, var(--pst-color-border, #8c8c8c))"  # unwritten, or a note


@dataclass(frozen=True)
class Offer:
    """A sentence that ends with code to run, which a page may have a button for."""

    says: str
    code: str


@dataclass(frozen=True)
class Report:
    """What a check found.

    state: "right", "wrong", "unwritten" or "note". headline: whether it is right. reasons:
    sentences, the first of which says why. cases: lines about what was checked and what grading
    asks. more: what the exercise shows, once all parts are right.
    """

    state: str
    headline: str
    reasons: list[str] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)

    def __repr__(self) -> str:
        """Return the report as plain text."""
        return self.text([*self.more, *self.cases])

    def text(self, details: Iterable[str] = ()) -> str:
        """Return the headline, the reasons, these details and the offers."""
        first = joined(filter(None, [self.headline, *self.reasons[:1]]))
        offers = [tight(f"{before(offer.says)}{offer.code}") for offer in self.offers]
        return "\n".join([*map(wrapped, [first, *self.reasons[1:], *details]), *offers])

    def _repr_html_(self) -> str:
        why, more = self.reasons[:1], (*self.reasons[1:], *self.more)
        first = [f"<strong>{html.escape(self.headline)}</strong>", *map(_as_html, why)]
        body = "".join(map(_paragraph, [" ".join(first), *map(_as_html, more)]))
        if self.cases:
            cases = (_paragraph(_as_html(line)) for line in self.cases)
            summary = html.escape(_("The cases, and what grading asks"))
            body += f"<details><summary>{summary}</summary>{''.join(cases)}</details>"
        for offer in self.offers:
            code = html.escape(offer.code)
            words = f"{html.escape(before(offer.says))}<code>{code}</code>"
            body += _paragraph(words, f' data-run="{code}"')
        bar = f"border-left:0.25em solid {COLORS.get(self.state, NEUTRAL)};padding-left:0.75em"
        return f'<div class="check-report" data-state="{self.state}" style="{bar}">{body}</div>'


def _as_html(text: str) -> str:
    """Return a sentence as HTML, with code between its backquotes."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(kept_together(text)))


def _paragraph(content: str, attributes: str = "") -> str:
    return f'<p style="margin:0.3em 0"{attributes}>{content}</p>'
