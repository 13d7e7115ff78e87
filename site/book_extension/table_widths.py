"""Classes for wide tables, chosen by text length, at build time and in the page's Python."""

from collections.abc import Sequence

# What fits beside each other on a phone, judged by the longest cell of each column.
COLUMNS, CHARACTERS = 4, 60
# A list of each row's cells is easy to read, and takes a line for each: with more rows than this a
# reader would scroll past screens of them.
LISTED_ROWS = 4
# A figure or a name stays in one line; what is longer gets room for some words, or for a sentence.
ONE_LINE, SOME_WORDS = 20, 45


def shown_as(rows: Sequence[Sequence[str]]) -> str:
    """Return how a phone shows a table's rows, the first of them headings.

    "wide": as lists; "long": as a table that scrolls; "": as a table that fits.
    """
    longest = [longest_of(column) for column in zip(*rows, strict=True)]
    if len(longest) <= COLUMNS and (len(longest) <= 3 or sum(longest) <= CHARACTERS):
        return ""
    return "long" if len(rows) - 1 > LISTED_ROWS else "wide"


def column_class(column: Sequence[str]) -> str:
    """Return the CSS class of a wide table's column, given with its heading."""
    longest = longest_of(column)
    if longest <= ONE_LINE:
        return "figure-cell"
    return "words-cell" if longest <= SOME_WORDS else "sentence-cell"


def longest_of(column: Sequence[str]) -> int:
    """Return the length of the longest cell below the heading."""
    return max(map(len, column[1:] or column))
