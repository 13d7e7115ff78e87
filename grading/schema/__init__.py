"""What an exercise's file needs to say how its parts are graded."""

from grading.schema.parts import combinations, part
from grading.schema.ranges import Choice, Made, Pairs, Printed, Real, Sheets, Some, Whole

__all__ = [
    "Choice",
    "Made",
    "Pairs",
    "Printed",
    "Real",
    "Sheets",
    "Some",
    "Whole",
    "combinations",
    "part",
]
