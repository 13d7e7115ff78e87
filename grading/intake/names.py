"""Names that somebody else chose: of students, folders and files."""

import unicodedata

# Each of these does something in a page, in a pattern of file names, or to what stands beside it.
SIGNS = set('<>"*?[]\\')
REFUSED = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # controls, what has no look, ends of lines
# Names in Persian, Hindi, Hebrew and other languages are written with these, which have no look.
JOINERS = {"\u200c", "\u200d", "\u200e", "\u200f"}
LONGEST = 80  # characters that are shown


def unfit(name: str) -> str:
    """Why no student can have this name, "" if one can."""
    if name.startswith("."):
        return "a name that begins with a dot is hidden"
    odd = any(
        letter in SIGNS or (unicodedata.category(letter) in REFUSED and letter not in JOINERS)
        for letter in name
    )
    return "not a name that a student can have" if odd else ""


def shown(name: str) -> str:
    """A name that somebody chose, fit for a line of a report."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
