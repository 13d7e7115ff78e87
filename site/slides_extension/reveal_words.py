"""Words of reveal.js in a translation: its buttons, its list of keys, the lecturer's window, print.

reveal.js has no translations, so the copy of its files beside translated decks gets them.
"""

import re
from pathlib import Path

from book_extension import languages
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util import logging

from roofkit.words import N_

_ = get_translation("sphinx")
LOGGER = logging.getLogger(__name__)


FILES = ("dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js")
# Their words, which stand there between quotes or tags.
WORDS = (
    N_("previous slide"),
    N_("next slide"),
    N_("above slide"),
    N_("below slide"),
    N_("Resume presentation"),
    N_("Keyboard Shortcuts"),
    N_("KEY"),
    N_("ACTION"),
    N_("Next slide"),
    N_("Previous slide"),
    N_("Navigate left"),
    N_("Navigate right"),
    N_("Navigate up"),
    N_("Navigate down"),
    N_("Navigate without fragments"),
    N_("Jump to first/last slide"),
    N_("Pause"),
    N_("Fullscreen"),
    N_("Jump to slide"),
    N_("Slide overview"),
    N_("reveal.js - Speaker View"),
    N_("Speaker notes view"),
    N_("Speaker notes"),  # above printed ones
    N_("Loading speaker view..."),
    N_("Upcoming"),
    N_("Time "),
    N_("Click to Reset"),
    N_("Notes"),
    N_("Layout"),
    N_("Default"),
    N_("Wide"),
    N_("Tall"),
    N_("Notes only"),
    N_("Error connecting to main window.<br>Please try closing and reopening the speaker view."),
    N_(
        "Speaker view popup failed to open. "
        "Please make sure popups are allowed and reopen the speaker view."
    ),
)
CLOCK = "'en-US', { hour12: true"
CLOCK_OF_24_HOURS = "[], { hour12: false"


def translate(app: Sphinx, failed: Exception | None) -> None:
    """Put the translations into the files; warn of words that a new reveal.js no longer has."""
    if failed or app.builder.name != "revealjs" or not languages.is_translation(app):
        return
    folder = Path(app.outdir, "_static", "revealjs")
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
    for word in WORDS:
        place = re.compile(rf"(?<=[\"'>]){re.escape(word)}(?=[\"'<\\])")
        if not any(map(place.search, texts.values())):
            LOGGER.warning("reveal.js no longer has the words %r", word)
        texts = {name: place.sub(_(word), text) for name, text in texts.items()}
    for name, text in texts.items():
        translated = text.replace(CLOCK, CLOCK_OF_24_HOURS)
        (folder / name).write_text(translated, encoding="utf-8")
