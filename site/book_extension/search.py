"""The search index: terms of the glossary stay in it when only some pages are built anew."""

import pickle
from pathlib import Path

from sphinx.application import ENV_PICKLE_FILENAME, Sphinx


def keep_terms(app: Sphinx, exception: Exception | None) -> None:
    """Save the environment once more, now with what the search index was made of.

    Sphinx saves it before it writes pages, and collects the terms while it writes them: the next
    build would find them neither in the environment nor on the pages that it leaves alone.
    """
    if exception is None and app.builder.format == "html":
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as file:
            pickle.dump(app.env, file, pickle.HIGHEST_PROTOCOL)
