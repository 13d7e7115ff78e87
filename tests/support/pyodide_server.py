"""Server of the site with the real Pyodide.

The site may have been built without Pyodide.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.pyodide import files as pyodide_files
from site_server import Handler, Server, serving

RUNTIME = re.compile(r"/_static/python/pyodide-[0-9a-f]+/(?P<name>[\w.-]+)")


class PyodideHandler(Handler):
    """A handler that serves Pyodide's files from the cache of builds."""

    def translate_path(self, path: str) -> str:
        found = RUNTIME.fullmatch(path.removeprefix(self.record.below))
        if found and found["name"] in pyodide_files.SERVED:
            return str(pyodide_files.cache() / found["name"])
        return super().translate_path(path)


@contextmanager
def serving_pyodide(site: Path, below: str = "") -> Iterator[Server]:
    """Serve the site, at the top or below a path, until the block ends.

    Files missing from the cache are downloaded.
    """
    try:
        pyodide_files.make(pyodide_files.obtain(pyodide_files.cache()))
    except pyodide_files.NotObtained as error:
        pytest.fail(f"could not obtain Pyodide ({error})", pytrace=False)
    with serving(site, below, PyodideHandler) as server:
        yield server
