"""Clocks, power and temperature of a device while it works, read where the driver tells them.

By NVML, the driver's own library, if its Python bindings (nvidia-ml-py) are installed; else by
`nvidia-smi`, which keeps running beside the measurement; else not at all, and the run says so.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from roofmeter.readings import Reading

NOT_SAMPLED = "not sampled"
EVERY_MS = 100
"""Milliseconds between two lines of nvidia-smi."""


class Sensors(Protocol):
    """What is asked for a `Reading` while the device works."""

    name: str
    driver: str
    limits: Mapping[str, float]

    def __call__(self) -> Reading: ...

    def busy(self) -> float | None:
        """Share of the last moments in which the device worked; None where it is not told."""

    def close(self) -> None: ...


def sensors(uuid: str = "") -> Sensors:
    """The best sensors that there are for the CUDA device of this UUID, or for the first one."""
    # The driver counts all devices; a program only those that it may see.
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    which = uuid or seen or "0"
    kinds: tuple[Callable[[str], Sensors], ...] = (Nvml, Smi)
    for kind in kinds:
        try:
            return kind(which)
        except (ImportError, OSError, RuntimeError, ValueError, subprocess.SubprocessError):
            continue
    return NoSensors()


class NoSensors:
    """Nothing is told."""

    name, driver = NOT_SAMPLED, ""
    limits: Mapping[str, float] = {}

    def __call__(self) -> Reading:
        return Reading()

    def busy(self) -> float | None:
        return None

    def close(self) -> None:
        pass


class Nvml:
    """The driver's library; its functions as in NVIDIA's "NVML API Reference Guide"."""

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
        self.driver = str(self._told("nvmlSystemGetDriverVersion", of_device=False) or "")
        limits = {
            "clock": _scaled(self._told("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM), 1e6),
            "memory clock": _scaled(
                self._told("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_MEM), 1e6
            ),
            "power": _scaled(self._told("nvmlDeviceGetEnforcedPowerLimit"), 1e-3),
        }
        self.limits: Mapping[str, float] = {
            name: value for name, value in limits.items() if value is not None
        }

    def __call__(self) -> Reading:
        nvml = self._nvml
        return Reading(
            clock=_scaled(self._told("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM), 1e6),
            memory_clock=_scaled(self._told("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM), 1e6),
            power=_scaled(self._told("nvmlDeviceGetPowerUsage"), 1e-3),
            temperature=_scaled(
                self._told("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU), 1
            ),
            reasons=self._told("nvmlDeviceGetCurrentClocksThrottleReasons"),
        )

    def busy(self) -> float | None:
        told = self._told("nvmlDeviceGetUtilizationRates")
        return None if told is None else told.gpu / 100

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    def _told(self, function: str, *rest: Any, of_device: bool = True) -> Any:
        # A part of a device, or one in a virtual machine, does not tell everything.
        try:
            return getattr(self._nvml, function)(*([self._device] if of_device else []), *rest)
        except (self._nvml.NVMLError, AttributeError):
            return None


class Smi:
    """nvidia-smi, a line every tenth of a second; its fields as in `nvidia-smi --help-query-gpu`.

    Starting it takes longer than a sample lasts, so it is started once.
    """

    name = "nvidia-smi"
    FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "utilization.gpu")
    FIXED = ("driver_version", "clocks.max.sm", "clocks.max.mem", "enforced.power.limit")
    # Named anew with driver 535; the old name is understood for some time.
    REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")

    def __init__(self, which: str) -> None:
        found = shutil.which("nvidia-smi")
        if not found:
            raise OSError("nvidia-smi is not there")
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
        told = {
            name: _scaled(word, scale) for (name, scale), word in zip(scales, largest, strict=True)
        }
        self.limits: Mapping[str, float] = {
            name: value for name, value in told.items() if value is not None
        }
        self._process = subprocess.Popen(
            [*query, "-lms", str(EVERY_MS)], stdout=subprocess.PIPE, text=True
        )
        self.follower = threading.Thread(target=self._follow, daemon=True)
        self.follower.start()

    def __call__(self) -> Reading:
        return self._latest[0]

    def busy(self) -> float | None:
        return self._latest[1]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _follow(self) -> None:
        for line in self._process.stdout or ():
            if line.strip():
                self._latest = self._parsed(line)

    def _parsed(self, line: str) -> tuple[Reading, float | None]:
        words = [word.strip() for word in line.strip().split(",")]
        clock, memory, power, temperature, busy, reasons = words
        reading = Reading(
            clock=_scaled(clock, 1e6),
            memory_clock=_scaled(memory, 1e6),
            power=_scaled(power, 1),
            temperature=_scaled(temperature, 1),
            reasons=int(reasons, 16) if reasons.startswith("0x") else None,
        )
        return reading, _scaled(busy, 0.01)


def _scaled(told: Any, scale: float) -> float | None:
    """What was told in SI units; None for "[N/A]" and what else is no number."""
    try:
        return float(told) * scale
    except (TypeError, ValueError):
        return None
