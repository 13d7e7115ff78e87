"""Choice of the translations to build: those with catalogs that are published.

``published = false`` in ``locale/<language>/edition.toml`` leaves a translation out while it is
incomplete. The variable TRANSLATIONS=1 has all of them built.
"""

import os
import tomllib
from pathlib import Path

FOLDER = "locale"
VARIABLE = "TRANSLATIONS"


def languages(book: Path) -> list[str]:
    """Return the codes of the translations that are built, such as "zh_CN"."""
    found = sorted(path.parent for path in (book / FOLDER).glob("*/LC_MESSAGES"))
    return [
        folder.name for folder in found if os.environ.get(VARIABLE) == "1" or is_published(folder)
    ]


def is_published(folder: Path) -> bool:
    """Return whether a language is to be published, from the settings in its folder."""
    settings = folder / "edition.toml"
    if not settings.exists():
        return True
    found = tomllib.loads(settings.read_text(encoding="utf-8")).get("published", True)
    return bool(found)
