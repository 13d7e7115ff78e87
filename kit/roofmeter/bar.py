"""A bar of progress, a line in a terminal or below a cell."""

from __future__ import annotations

import sys

WIDTH = 24


def draw(share: float, what: str) -> None:
    """Draw the bar anew, up to `share` of its width, and what is measured next beside it."""
    full = round(share * WIDTH)
    line = f"\r{'█' * full}{'░' * (WIDTH - full)} {what[:50]:<50}"
    sys.stderr.write(line + ("\n" if share >= 1 else ""))
    sys.stderr.flush()
