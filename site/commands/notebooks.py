"""Make the chapters' notebooks for JupyterLab: ``python site notebooks LANGUAGE``.

`make lab` runs this in a process of its own, since it sets variables for the kernels of a build.
The notebooks lie in ``_build/lab/LANGUAGE/notebooks``, and are made again if anything changed.
"""

import gc
import json
import sys
from pathlib import Path

from book_extension.languages import ORIGINAL

from commands.build import GC_THRESHOLD, ROOT, build_pages, digest, run_pages, sources
from commands.translated import settings


def folder(book: Path, language: str) -> Path:
    return book / "_build" / "lab" / language / "notebooks"


def make(book: Path, language: str) -> bool:
    """Make the notebooks in a language; return whether that succeeded."""
    target = folder(book, language)
    stamp, output = target.with_name("made-from.json"), target.parent
    extensions = [book / "_toc.yml", *(book / "site").rglob("*.py")]
    files = [*sources(book), *(book / "site").rglob("*")]
    now = [sys.version, digest(book, extensions), digest(book, files)]
    before = json.loads(stamp.read_text()) if stamp.exists() else []
    if before == now:
        return True
    stamp.unlink(missing_ok=True)
    cache = run_pages(book)
    # Without this, MyST-NB warns that it knows no format for outputs; notebooks have all.
    options: dict[str, object] = {
        "nb_mime_priority_overrides": [("notebooks", "text/plain", 1)],
    }
    if language != ORIGINAL.code:
        options |= settings(book, language, output)
    # Sphinx reads the pages that have changed, but doesn't notice a change in our extensions, and
    # warns only about what it reads: after a failure, all pages are read again.
    fresh = before[:2] != now[:2]
    status = build_pages(book, target, cache, options, builder="notebooks", freshenv=fresh)
    if status == 0:
        stamp.write_text(json.dumps(now))
    return status == 0


if __name__ == "__main__":
    gc.set_threshold(GC_THRESHOLD)
    sys.exit(0 if make(ROOT, sys.argv[1]) else 1)
