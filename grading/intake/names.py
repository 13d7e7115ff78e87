"""Checks of names of students, folders and files.

Learners and platforms choose these names.
"""

import unicodedata

# Characters with a meaning in HTML, in glob patterns or in CSV.
FORBIDDEN = set('<>"*?[]\\')
# Control and format characters, unassigned and private ones, surrogates, line separators.
FORBIDDEN_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
# Invisible joiners and direction marks that Persian, Hindi, Hebrew and other names need.
ALLOWED_INVISIBLE = {"\u200c", "\u200d", "\u200e", "\u200f"}
MAX_PRINTED = 80  # characters of a name in a report


def name_problem(name: str) -> str:
    """Return why this name is refused for a student, "" if it is valid."""
    if name.startswith("."):
        return "a name that begins with a dot is hidden"
    return "not a name that a student can have" if any(map(_is_forbidden, name)) else ""


def _is_forbidden(character: str) -> bool:
    return character in FORBIDDEN or (
        unicodedata.category(character) in FORBIDDEN_CATEGORIES
        and character not in ALLOWED_INVISIBLE
    )


def printable(name: str) -> str:
    """Return a name as one short printable line for a report."""
    text = "".join(character if character.isprintable() else "?" for character in name)
    return text if len(text) <= MAX_PRINTED else f"{text[: MAX_PRINTED - 3]}..."
