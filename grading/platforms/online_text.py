"""Online text: what a learner typed on the platform instead of uploading a file."""

import html
import json

import nh3

MAX_CHARACTERS = 5_000_000


def words(page: bytes) -> str:
    """Return the visible text of an HTML page."""
    text = page.decode("utf-8", errors="replace")[:MAX_CHARACTERS]
    return html.unescape(nh3.clean(text, tags=set())).strip()


def is_empty(page: bytes) -> bool:
    """Return whether a page is blank: Moodle writes one even if nothing was typed."""
    return not words(page) and b"<img" not in page.lower()


def notebook(page: bytes) -> bytes | None:
    """Return the notebook that was pasted into the form, None if there is none.

    Spaces may have become no-break spaces in the form's editor; they are converted back.
    """
    text = words(page).replace("\N{NO-BREAK SPACE}", " ")
    text = text[text.find("{") : text.rfind("}") + 1]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_one = isinstance(found, dict) and isinstance(found.get("cells"), list)
    return text.encode() if is_one else None
