"""Figures for the last part of exercise 3: right in many ways, and wrong in known ones.

Each file beside this one holds the function that one learner wrote. One named ``right_*`` must
count. One named ``wrong_*`` says in ``EXPECT`` the key of the problem or of the misconception that
must be named (None: neither is known).
"""

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class LibraryFigure:
    """One learner's function, and what must be said about what it draws."""

    name: str
    function: Callable[..., None]
    is_right: bool
    expected: str | None


def figures() -> list[LibraryFigure]:
    """All figures, the right ones first."""
    return [_read(path) for path in sorted(FOLDER.glob("[rw]*_*.py"))]


def _read(path: Path) -> LibraryFigure:
    found = runpy.run_path(str(path))
    is_right = path.name.startswith("right_")
    if is_right == ("EXPECT" in found):
        raise ValueError(f"{path.name}: EXPECT belongs to the wrong ones, and only to them")
    return LibraryFigure(path.stem, found["plot_throughput"], is_right, found.get("EXPECT"))


def throughput(size, batches, peak, bandwidth):
    """Attainable FLOP/s of bf16[B, size] · int8[size, size] at each batch B."""
    batches = np.asarray(batches, dtype=float)
    flops = 2 * batches * size**2
    return flops / np.maximum(flops / peak, (4 * batches * size + size**2) / bandwidth)
