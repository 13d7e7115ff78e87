"""Approve what the figures draw now: look at the drawings before you run this."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

from drawn_figures import table  # noqa: E402

if __name__ == "__main__":
    (HERE / "approved_figures.toml").write_text(table(), encoding="utf-8")
