"""CSS classes for wide tables, chosen by text length.

They are chosen at build time and in the page's Python.
"""

import re
from collections.abc import Sequence

# A table is too wide for a phone if it has more than COLUMNS columns, or exactly COLUMNS whose
# longest cells add up to more than CHARACTERS.
COLUMNS, CHARACTERS = 4, 60
# A phone shows the rows of a wide table as lists, with a line for each cell. With more rows than
# this, the reader would scroll past screens of them, unless the table has few columns and some of
# them are sentences: those are read one row after another.
LISTED_ROWS = 4
# Maximum cell lengths, in characters, of a column that stays on one line, and of a column with room
# for some words. Other columns get room for a sentence.
ONE_LINE, SOME_WORDS = 20, 45
WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff01-\uff60]")


def shown_as(rows: Sequence[Sequence[str]]) -> str:
    """Return how a phone shows a table, given its rows with the headings first.

    "wide": as lists; "long": as a table that scrolls; "": as a table that fits.
    """
    longest = [longest_of(column) for column in zip(*rows, strict=True)]
    if len(longest) <= COLUMNS and (len(longest) <= 3 or sum(longest) <= CHARACTERS):
        return ""
    is_prose = len(longest) <= COLUMNS and max(longest) > SOME_WORDS
    return "long" if len(rows) - 1 > LISTED_ROWS and not is_prose else "wide"


def column_class(column: Sequence[str]) -> str:
    """Return the CSS class of a wide table's column, given with its heading."""
    longest = longest_of(column)
    if longest <= ONE_LINE:
        return "figure-cell"
    return "words-cell" if longest <= SOME_WORDS else "sentence-cell"


def longest_of(column: Sequence[str]) -> int:
    """Return the length of the longest cell below the heading."""
    return max(map(length, column[1:] or column))


def length(text: str) -> int:
    """Return a text's length in Latin letters: a Chinese character is as wide as two."""
    return len(text) + len(WIDE.findall(text))
