"""Cache of the pages' values in ``_build``, reused when `make lab` runs again.

A page is run again if its own cells or anything that they may use has changed.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import page_values
from .page_values import Steps, computed

FILE = Path("_build") / "page-values.json"
USED = (
    *("requirements.txt", "exercises/*.py"),
    *(f"{room}/**/*.{kind}" for room in ("rooflib", "kit") for kind in ("py", "toml", "json")),
)


def kept_or_computed(book: Path, pages: Mapping[str, Steps]) -> dict[str, dict[str, Any]]:
    """Return each page's values and error; run only pages that are not cached."""
    kept, shared = _read(book / FILE), shared_digest(book)
    keys = {page: _digest(shared, json.dumps(steps)) for page, steps in pages.items()}
    known = {page: kept[key] for page, key in keys.items() if key in kept}
    unknown = {page: steps for page, steps in pages.items() if page not in known}
    if not unknown:
        return known
    found = known | computed(book, unknown)
    # Don't cache failures: their reason may lie outside of the book and be gone next time.
    _write(book / FILE, {keys[page]: one for page, one in found.items() if not one["error"]})
    return {page: found[page] for page in pages}


def shared_digest(book: Path) -> str:
    """Return a hash of everything that pages' values may depend on.

    It covers Python, the lock, our packages and the exercises.
    """
    parts = [sys.version]
    for path in sorted({path for pattern in USED for path in book.glob(pattern)}):
        parts += [path.relative_to(book).as_posix(), path.read_text(encoding="utf-8")]
    return _digest(*parts, Path(page_values.__file__).read_text(encoding="utf-8"))


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Read the cache; a missing or damaged file counts as empty."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(path: Path, kept: Mapping[str, dict[str, Any]]) -> None:
    """Write the cache atomically, since several processes may write at once."""
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        json.dump(kept, file)
    Path(file.name).replace(path)
