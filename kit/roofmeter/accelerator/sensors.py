"""Sensors of a device under load: clocks, power and temperature.

They are read through NVML, the driver's library, if its Python bindings (nvidia-ml-py) are
installed; else through `nvidia-smi` in the background; else not at all, which the run records.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from roofmeter.clocks import SensorReading

NOT_SAMPLED = "not sampled"
INTERVAL_MS = 100
"""Sampling interval of nvidia-smi."""


class Sensors(Protocol):
    """A source of `SensorReading`s."""

    name: str
    driver: str
    limits: Mapping[str, float]

    def __call__(self) -> SensorReading: ...

    def utilization(self) -> float | None:
        """Return the share of recent time in which the device was busy; None if unknown."""

    def close(self) -> None: ...


def sensors(uuid: str = "") -> Sensors:
    """Return sensors for the CUDA device with this UUID, or for the visible one."""
    # The driver numbers all devices, a program only those visible to it.
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    which = uuid or seen or "0"
    kinds: tuple[Callable[[str], Sensors], ...] = (Nvml, NvidiaSmi)
    for kind in kinds:
        try:
            return kind(which)
        except (ImportError, OSError, RuntimeError, ValueError, subprocess.SubprocessError):
            continue
    return NoSensors()


class NoSensors:
    """No sensors: every value is unknown."""

    name, driver = NOT_SAMPLED, ""
    limits: Mapping[str, float] = {}

    def __call__(self) -> SensorReading:
        return SensorReading()

    def utilization(self) -> float | None:
        return None

    def close(self) -> None:
        pass


class Nvml:
    """NVML, the library of the driver.

    Its functions are those of NVIDIA's "NVML API Reference Guide".
    """

    name = "NVML"

    def __init__(self, which: str) -> None:
        self._nvml = nvml = importlib.import_module("pynvml")
        try:
            nvml.nvmlInit()
            if which.isdecimal():
                self._device = nvml.nvmlDeviceGetHandleByIndex(int(which))
            else:
                self._device = nvml.nvmlDeviceGetHandleByUUID(which)
        except nvml.NVMLError as error:
            raise OSError(str(error)) from None
        self.driver = str(self._query("nvmlSystemGetDriverVersion", of_device=False) or "")
        limits = {
            "clock": _scaled(self._query("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM), 1e6),
            "memory clock": _scaled(
                self._query("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_MEM), 1e6
            ),
            "power": _scaled(self._query("nvmlDeviceGetEnforcedPowerLimit"), 1e-3),
        }
        self.limits: Mapping[str, float] = {
            name: value for name, value in limits.items() if value is not None
        }

    def __call__(self) -> SensorReading:
        nvml = self._nvml
        return SensorReading(
            clock=_scaled(self._query("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM), 1e6),
            memory_clock=_scaled(self._query("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM), 1e6),
            power=_scaled(self._query("nvmlDeviceGetPowerUsage"), 1e-3),
            temperature=_scaled(
                self._query("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU), 1
            ),
            reasons=self._query("nvmlDeviceGetCurrentClocksThrottleReasons"),
        )

    def utilization(self) -> float | None:
        values = self._query("nvmlDeviceGetUtilizationRates")
        return None if values is None else values.gpu / 100

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    def _query(self, function: str, *rest: Any, of_device: bool = True) -> Any:
        # MIG partitions and virtual GPUs don't report every value.
        try:
            return getattr(self._nvml, function)(*([self._device] if of_device else []), *rest)
        except (self._nvml.NVMLError, AttributeError):
            return None


class NvidiaSmi:
    """nvidia-smi in the background; its fields as in `nvidia-smi --help-query-gpu`.

    It is started once and prints a line per interval: starting it takes longer than a sample.
    """

    name = "nvidia-smi"
    FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "utilization.gpu")
    FIXED = ("driver_version", "clocks.max.sm", "clocks.max.mem", "enforced.power.limit")
    # Renamed in driver 535; the old name still works.
    REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")

    def __init__(self, which: str) -> None:
        found = shutil.which("nvidia-smi")
        if not found:
            raise OSError("nvidia-smi is not installed")
        ask = [found, "-i", which, "--format=csv,noheader,nounits"]
        for reasons in self.REASONS:
            query = [*ask, "--query-gpu=" + ",".join((*self.FIELDS, reasons))]
            once = subprocess.run(query, capture_output=True, text=True, timeout=20)
            if once.returncode == 0:
                break
        self._latest = self._parsed(once.stdout)
        fixed = subprocess.run(
            [*ask, "--query-gpu=" + ",".join(self.FIXED)],
            capture_output=True,
            text=True,
            timeout=20,
        )
        self.driver, *largest = [word.strip() for word in fixed.stdout.strip().split(",")]
        scales = (("clock", 1e6), ("memory clock", 1e6), ("power", 1.0))
        values = {
            name: _scaled(word, scale) for (name, scale), word in zip(scales, largest, strict=True)
        }
        self.limits: Mapping[str, float] = {
            name: value for name, value in values.items() if value is not None
        }
        self._process = subprocess.Popen(
            [*query, "-lms", str(INTERVAL_MS)], stdout=subprocess.PIPE, text=True
        )
        self.follower = threading.Thread(target=self._follow, daemon=True)
        self.follower.start()

    def __call__(self) -> SensorReading:
        return self._latest[0]

    def utilization(self) -> float | None:
        return self._latest[1]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _follow(self) -> None:
        for line in self._process.stdout or ():
            if line.strip():
                self._latest = self._parsed(line)

    def _parsed(self, line: str) -> tuple[SensorReading, float | None]:
        words = [word.strip() for word in line.strip().split(",")]
        clock, memory, power, temperature, busy, reasons = words
        reading = SensorReading(
            clock=_scaled(clock, 1e6),
            memory_clock=_scaled(memory, 1e6),
            power=_scaled(power, 1),
            temperature=_scaled(temperature, 1),
            reasons=int(reasons, 16) if reasons.startswith("0x") else None,
        )
        return reading, _scaled(busy, 0.01)


def _scaled(value: Any, scale: float) -> float | None:
    """Return the value in SI units; None for "[N/A]" and other text."""
    try:
        return float(value) * scale
    except (TypeError, ValueError):
        return None
