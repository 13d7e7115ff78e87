"""Edits of a page's visible cells, and false statements on the page after them."""

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
