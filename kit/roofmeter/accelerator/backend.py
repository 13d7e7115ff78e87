"""The backend interface: what the measurement needs from torch or jax.

Neither is a dependency of roofmeter; a backend imports its library on use.
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
from roofmeter.clocks import SensorReading
from roofmeter.device import Device
from roofmeter.load_monitor import Work

Array = Any
"""An array of the library, on the device."""
DEVICES = ("cuda", "torch", "torch:cpu", "jax", "jax:cpu")
INSTALL = {"torch": "https://pytorch.org", "jax": "https://docs.jax.dev"}


class Backend(Protocol):
    """A compute library on one device.

    Attributes
    ----------
    libraries
        Name and version of the library as "library", and the versions of its components.
    protocol
        How it measures time ("timer") and how it starts passes ("started"), for run files.
    heads_first
        True if its attention takes [B, heads, positions, H], False for [B, positions, heads, H].
    """

    device: Device
    sensors: Sensors
    libraries: Mapping[str, str]
    protocol: dict[str, Any]
    heads_first: bool

    def unsupported(self, kind: str) -> str:
        """Return why this data type is not supported; empty if it is."""

    def random_normal(self, shape: Sequence[int], kind: str, seed: int) -> Array:
        """Return standard normal numbers, rounded to the data type."""

    def weights(self, D: int, F: int, kind: str, seed: int) -> Array:
        """Return random normal weights [D, F] in the layout that the matmul requires."""

    def to_numpy(self, array: Array, step: int = 1) -> NDArray[np.float64]:
        """Return the array, or every `step`-th row up to the last one, as fp64 in numpy."""

    def matmul(self, kind: str) -> Callable[..., Array]:
        """Return the function x, w → x · w; the result is bf16 for fp8, else `kind`."""

    def functions(self) -> Mapping[str, Callable[..., Array]]:
        """Return the other operations by name.

        "copy" (a), "add" (a, b), "largest" (a), "rms_norm" (x, gain), and attention on (q, k, v):
        "prefill", which is causal, and "decode".
        """

    def sweep(self, function: Callable[..., Array], operands: Sequence[tuple[Array, ...]]) -> Work:
        """Return work that applies the function to each set of operands in turn.

        The work returns the last result. Launch overhead of the host must not delay the device.
        """

    def negate(self, array: Array) -> Work:
        """Return work that negates the array in place and returns it."""

    def time_work(
        self, work: Work, repeats: int, read_sensors: Callable[[], SensorReading]
    ) -> tuple[float, SensorReading]:
        """Return the device time of the work, and the sensor values read under load."""

    def close(self) -> None:
        """Restore changed settings and release the sensors."""


def load(device: str) -> Backend:
    """Return the backend for a device; "cuda" is torch, or jax if torch is missing.

    Raises a ValueError for an unknown or absent device, and an ImportError that says what to
    install for a missing library.
    """
    library, _, place = one_of("device", device, DEVICES).partition(":")
    if library == "cuda":
        library, place = (
            ("jax" if not _is_installed("torch") and _is_installed("jax") else "torch"),
            "cuda",
        )
    try:
        found = importlib.import_module(library)
    except ImportError as error:
        raise ImportError(
            f"device {device!r} needs {library}, which roofmeter does not install: pip install "
            f"{library}, in the build for this device ({INSTALL[library]}); {error}"
        ) from None
    module = importlib.import_module(f"roofmeter.accelerator.{library}_backend")
    made: Backend = module.make_backend(found, place)
    return made


def _is_installed(library: str) -> bool:
    return library in sys.modules or importlib.util.find_spec(library) is not None


def sampled_rows(count: int, step: int) -> slice:
    """Return a slice of every `step`-th row up to the last.

    Including the last row catches kernels that stop early.
    """
    return slice((count - 1) % step, None, step)


def device_not_found(place: str, library: str, otherwise: str) -> ValueError:
    """Return the error for a device that the library does not find."""
    return ValueError(
        f"device must be one that is there: {library} finds no {place} device; {otherwise}"
    )
