"""Fix for the search index: keep glossary terms after an incremental build."""

import pickle
from pathlib import Path

from sphinx.application import ENV_PICKLE_FILENAME, Sphinx


def keep_terms(app: Sphinx, exception: Exception | None) -> None:
    """Save the environment again, now with the search index's glossary terms.

    Sphinx saves the environment before it writes pages, and collects the terms while writing them.
    Without this, the next build would lack the terms of all pages that it doesn't write again.
    """
    if exception is None and app.builder.format == "html":
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as file:
            pickle.dump(app.env, file, pickle.HIGHEST_PROTOCOL)
