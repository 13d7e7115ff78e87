"""A one-line progress bar on stderr."""

from __future__ import annotations

import sys

WIDTH = 24


def draw(share: float, what: str) -> None:
    """Redraw the bar at `share` of its width, with `what` as its label."""
    full = round(share * WIDTH)
    line = f"\r{'█' * full}{'░' * (WIDTH - full)} {what[:50]:<50}"
    sys.stderr.write(line + ("\n" if share >= 1 else ""))
