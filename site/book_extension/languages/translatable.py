"""What of a text needs a translation."""

import re

# Text that needs no translation: computed values, citations, code, formulas, numbers with units,
# abbreviations and names of chips.
UNTRANSLATED = re.compile(
    r"\{(?:eval|cite:[pt])\}`[^`]*`|`[^`]*`|\$[^$]*\$|\d\S*\s[mnµ]?s\b"
    r"|[^\s`]*(?:\d|[A-Z][^\s`]*[A-Z])[^\s`]*"
)

# English words that need a translation even among names: an article, or a plural such as TPUs.
ENGLISH = re.compile(r"\ba (?=[A-Z]{2})|\b[A-Z]{2,}s\b")


def has_words(message: str) -> bool:
    """Return whether a message has something to translate."""
    return bool(ENGLISH.search(message) or re.search("[a-z]{2}", UNTRANSLATED.sub("", message)))
