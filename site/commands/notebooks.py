"""The chapters' notebooks for JupyterLab, which `make lab` makes if anything has changed.

They lie in ``_build/lab/LANGUAGE/notebooks``.
"""

import json
import sys
from pathlib import Path

from book_extension.languages import Language

from commands.build import build_pages, in_language, run_pages, sources
from commands.inputs import digest


def folder(book: Path, language: Language) -> Path:
    return book / "_build" / "lab" / language.code / "notebooks"


def make(book: Path, language: Language) -> bool:
    """Make the notebooks in a language; return whether that succeeded."""
    target = folder(book, language)
    stamp = target.with_name("made-from.json")
    extensions = [book / "_toc.yml", *(book / "site").rglob("*.py")]
    now = [
        digest(book, extensions, sys.version),
        digest(book, [*sources(book), book / "site"]),
    ]
    before = json.loads(stamp.read_text()) if stamp.exists() else [""]
    if before == now:
        return True
    stamp.unlink(missing_ok=True)
    cache = run_pages(book)
    # Without this, MyST-NB warns that it knows no format for outputs; notebooks have all.
    settings = in_language(book, language, target.parent)
    settings["nb_mime_priority_overrides"] = [("notebooks", "text/plain", 1)]
    # Sphinx reads the pages that have changed, but doesn't notice a change in our extensions, and
    # warns only about what it reads: after a failure, all pages are read again.
    fresh = before[0] != now[0]
    done = build_pages(book, target, cache, settings, builder="notebooks", freshenv=fresh)
    if done:
        stamp.write_text(json.dumps(now))
    return done
