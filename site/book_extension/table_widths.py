"""How wide a table is, judged by its texts. A page's own Python asks the same."""

from collections.abc import Sequence

# What fits beside each other on a phone, judged by the longest cell of each column.
COLUMNS, CHARACTERS = 4, 60
# A list of each row's cells is easy to read, and takes a line for each: with more rows than this a
# reader would scroll past screens of them.
LISTED_ROWS = 4
# A figure or a name stays in one line; what is longer gets room for some words, or for a sentence.
ONE_LINE, SOME_WORDS = 20, 45


def shown_as(rows: Sequence[Sequence[str]]) -> str:
    """ "wide" if a phone shows the rows, the first of them headings, as lists; "long" if it scrolls
    them; "" if they fit."""
    longest = [longest_of(column) for column in zip(*rows, strict=True)]
    if len(longest) <= COLUMNS and (len(longest) <= 3 or sum(longest) <= CHARACTERS):
        return ""
    return "long" if len(rows) - 1 > LISTED_ROWS else "wide"


def column_class(column: Sequence[str]) -> str:
    """What css calls a column of a wide table, its heading first."""
    longest = longest_of(column)
    if longest <= ONE_LINE:
        return "figure-cell"
    return "words-cell" if longest <= SOME_WORDS else "sentence-cell"


def longest_of(column: Sequence[str]) -> int:
    """Characters in the longest cell below the heading."""
    return max(map(len, column[1:] or column))
