"""Computation of the values of ``{eval}`` roles without a kernel.

All pages run in one process.

``python page_values.py`` reads ``{page: [["code", source] or ["values", expression, ...], ...]}``
as JSON and writes ``{page: {"values": {expression: text}, "error": text}}``.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

Steps = Sequence[Sequence[str]]


def computed(book: Path, pages: Mapping[str, Steps]) -> dict[str, dict[str, Any]]:
    """Run pages in a separate process with the packages next to the book."""
    beside = [str(book), str(book / "kit"), os.environ.get("PYTHONPATH")]
    environment = {
        "PYTHONPATH": os.pathsep.join(filter(None, beside)),
        "MPLBACKEND": "agg",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(pages),
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def run_page(steps: Steps) -> dict[str, Any]:
    """Run a page; return its values up to a failing cell, and the error."""
    names: dict[str, Any] = {"__name__": "__main__"}
    values: dict[str, str] = {}
    try:
        for kind, *sources in steps:
            for source in sources:
                if kind == "code":
                    exec(source, names)
                else:
                    values[source] = as_text(eval(source, names))
    except Exception as error:
        return {"values": values, "error": f"{type(error).__name__}: {error}"}
    finally:
        # Close all figures: one process runs all pages, and Matplotlib warns of many open figures.
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")
    return {"values": values, "error": ""}


def as_text(value: Any) -> str:
    """Format a value as the built book shows it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{value:,}"
    if getattr(value, "unit", None) is not None:
        return str(value)  # a quantity of rooflib prints its own unit
    raise TypeError(f"{value!r} is no str, int or quantity: format it")


def main() -> None:
    pages = json.load(sys.stdin)
    # Discard what cells print or display.
    with contextlib.redirect_stdout(io.StringIO()):
        found = {page: run_page(steps) for page, steps in pages.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
