"""Make the chapters' notebooks for JupyterLab: ``python site notebooks LANGUAGE``.

`make lab` runs this in a process of its own, since it sets variables for the kernels of a build.
The notebooks lie in ``_build/lab/LANGUAGE/notebooks``, and are made again if anything changed.
"""

import gc
import json
import sys
from pathlib import Path

from book_extension.languages import chosen

from commands.build import GC_THRESHOLD, ROOT, build_pages, in_language, run_pages, sources
from commands.inputs import digest


def folder(book: Path, language: str) -> Path:
    return book / "_build" / "lab" / language / "notebooks"


def make(book: Path, language: str) -> bool:
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
    settings = in_language(book, chosen(language), target.parent)
    settings["nb_mime_priority_overrides"] = [("notebooks", "text/plain", 1)]
    # Sphinx reads the pages that have changed, but doesn't notice a change in our extensions, and
    # warns only about what it reads: after a failure, all pages are read again.
    fresh = before[0] != now[0]
    done = build_pages(book, target, cache, settings, builder="notebooks", freshenv=fresh)
    if done:
        stamp.write_text(json.dumps(now))
    return done


if __name__ == "__main__":
    gc.set_threshold(GC_THRESHOLD)
    sys.exit(0 if make(ROOT, sys.argv[1]) else 1)
