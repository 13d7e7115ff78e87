"""Fix for the search index: keep glossary terms after an incremental build."""

import pickle
from pathlib import Path

from sphinx.application import ENV_PICKLE_FILENAME, Sphinx


def keep_terms(app: Sphinx, exception: Exception | None) -> None:
    """Save the environment again, now with the search index's terms.

    Sphinx saves it before it writes pages, and collects the terms while it writes them: the next
    build would find them neither in the environment nor on the pages that it leaves alone.
    """
    if exception is None and app.builder.format == "html":
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as file:
            pickle.dump(app.env, file, pickle.HIGHEST_PROTOCOL)
