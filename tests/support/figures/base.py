"""The usual figure, which all others vary, and the registry of figures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LibraryFigure:
    """A learner's plot function, and the expected verdict on its figure.

    expected: the key of the problem or misconception to be named; None if no name is known, or if
    the figure is right.
    """

    name: str
    function: Callable[..., None]
    is_right: bool
    expected: str | None


library: list[LibraryFigure] = []


def right(function):
    """Register a figure that must be accepted."""
    _register(function.__name__, function, True, None)
    return function


def wrong(expected):
    """Register a figure that must be rejected, and the problem that must be named."""

    def register(function):
        _register(function.__name__, function, False, expected)
        return function

    return register


def _register(name: str, function: Callable[..., None], is_right: bool, expected: Any) -> None:
    if not name.startswith("right_" if is_right else "wrong_"):
        raise ValueError(f"{name}: expected a name that starts with right_ or wrong_, as it is")
    library.append(LibraryFigure(name, function, is_right, expected))


def register_words(name, expected, xlabel, ylabel, unit=1):
    """Register the usual figure with other axis labels, and values in another unit."""

    def plot_throughput(ax, **case):
        draw(ax, **case, xlabel=xlabel, ylabel=ylabel, unit=unit)

    _register(name, plot_throughput, name.startswith("right_"), expected)


def throughput(size, batches, peak, bandwidth):
    """Return attainable FLOP/s of bf16[B, size] · int8[size, size] at each batch B."""
    batches = np.asarray(batches, dtype=float)
    flops = 2 * batches * size**2
    return flops / np.maximum(flops / peak, (4 * batches * size + size**2) / bandwidth)


def draw(
    ax,
    sizes,
    batches,
    peak,
    bandwidth,
    xlabel="batch (tokens)",
    ylabel="attainable (FLOP/s)",
    unit=1,
    label="D = F = {}",
    **style,
):
    """Plot a curve for each size, named in a legend, on labeled axes."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth) / unit
        ax.plot(batches, rates, label=label.format(size), **style)
    ax.legend()
    ax.set(xlabel=xlabel, ylabel=ylabel)
