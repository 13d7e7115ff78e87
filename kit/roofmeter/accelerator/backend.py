"""What the measurement asks of a library that computes: a few calls, the same for each of them.

torch and jax are no dependencies of rooflib: one is imported when somebody measures with it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rooflib._arguments import one_of
from roofmeter.accelerator.sensors import Sensors
from roofmeter.device import Device
from roofmeter.readings import Reading
from roofmeter.watch import Work

Array = Any
"""An array of the library, on the device."""
DEVICES = ("cuda", "torch", "torch:cpu", "jax", "jax:cpu")
INSTALL = {"torch": "https://pytorch.org", "jax": "https://docs.jax.dev"}


class Backend(Protocol):
    """A library and a device, as the measurement sees them.

    Attributes
    ----------
    libraries
        Its name and version as "library", and the versions of what it brings along.
    protocol
        How it takes time, for the run: "timer", and how passes are started.
    heads_first
        Whether its attention takes [B, heads, positions, H], and not [B, positions, heads, H].
    """

    device: Device
    sensors: Sensors
    libraries: Mapping[str, str]
    protocol: dict[str, Any]
    heads_first: bool

    def lacks(self, kind: str) -> str:
        """Why there is no matmul in this data type; empty where there is one."""

    def normal(self, shape: Sequence[int], kind: str, seed: int) -> Array:
        """Numbers of a standard normal distribution, rounded to the type."""

    def weights(self, D: int, F: int, kind: str, seed: int) -> Array:
        """The same, of shape [D, F], lying in memory as the matmul in this type wants them."""

    def host(self, array: Array, step: int = 1) -> NDArray[np.float64]:
        """The same numbers in numpy, of every so many rows up to the last one."""

    def matmul(self, kind: str) -> Callable[..., Array]:
        """x, w → x · w; in fp8 the result is in bf16, otherwise in the type itself."""

    def functions(self) -> Mapping[str, Callable[..., Array]]:
        """Those named "copy" (a), "add" (a, b), "largest" (a), "rms_norm" (x, gain), and
        "prefill", which is causal, and "decode" (q, k, v)."""

    def sweep(self, function: Callable[..., Array], operands: Sequence[tuple[Array, ...]]) -> Work:
        """Work that calls the function with all the operands, one set after the other, and
        returns the last result. What the host needs to start a call must not be in its way."""

    def negate(self, array: Array) -> Work:
        """Work that multiplies the array by -1 where it lies, and returns it."""

    def timed(
        self, work: Work, repeats: int, meanwhile: Callable[[], Reading]
    ) -> tuple[float, Reading]:
        """Seconds that the device needs, and what `meanwhile` gives while it works."""

    def close(self) -> None:
        """Put back what was changed."""


def load(device: str) -> Backend:
    """The backend that a name means; "cuda" is torch, or jax where torch is not installed.

    A name that is none, and a device that is not there, are a ValueError; a library that is not
    installed is an ImportError that says what to install.
    """
    library, _, place = one_of("device", device, DEVICES).partition(":")
    if library == "cuda":
        library, place = ("jax" if not _there("torch") and _there("jax") else "torch"), "cuda"
    try:
        found = importlib.import_module(library)
    except ImportError as error:
        raise ImportError(
            f"device {device!r} needs {library}, which roofmeter does not bring along: pip install "
            f"{library}, in the build for this device ({INSTALL[library]}); {error}"
        ) from None
    module = importlib.import_module(f"roofmeter.accelerator.{library}_backend")
    made: Backend = module.made(found, place)
    return made


def _there(library: str) -> bool:
    return library in sys.modules or importlib.util.find_spec(library) is not None


def rows(count: int, step: int) -> slice:
    """Every so many of the rows up to the last one, where a kernel that stops early is seen."""
    return slice((count - 1) % step, None, step)


def missing(place: str, library: str, otherwise: str) -> ValueError:
    """The error for a device that the library does not find."""
    return ValueError(
        f"device must be one that is there: {library} finds no {place} device; {otherwise}"
    )
