"""Edits of a page's visible cells, the page after each, and its false statements."""

from .displayed import Displayed, Outcome, outcomes
from .edits import Edit, edits
from .findings import Claim, Tally, check, false_as_printed, number, unclaimed, unused
from .page import EditedPage

__all__ = [
    "Claim",
    "Displayed",
    "Edit",
    "EditedPage",
    "Outcome",
    "Tally",
    "check",
    "edits",
    "false_as_printed",
    "number",
    "outcomes",
    "unclaimed",
    "unused",
]
