"""The torch backend: passes are CUDA graphs, timed by CUDA events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofmeter.accelerator.backend import Array, device_not_found, sampled_rows
from roofmeter.accelerator.sensors import NoSensors, Sensors, sensors
from roofmeter.clocks import SensorReading
from roofmeter.device import Device
from roofmeter.host import this_host
from roofmeter.load_monitor import Work

TYPES = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp8": "float8_e4m3fn"}


def make_backend(torch: Any, place: str) -> TorchBackend:
    """Return the backend on "cuda" or "cpu", or on the best available device."""
    cuda = torch.cuda.is_available()
    if place == "cuda" and not cuda:
        raise device_not_found(
            "CUDA", "torch", 'device="torch:cpu" measures the processor through torch'
        )
    return TorchBackend(torch, place or ("cuda" if cuda else "cpu"))


class TorchBackend:
    """The torch backend on the first CUDA device, or on the CPU."""

    heads_first = True

    def __init__(self, torch: Any, place: str) -> None:
        self._torch, self._place = torch, place
        self.libraries = {"library": f"torch {torch.__version__}"}
        self.sensors: Sensors = NoSensors()
        self._precision = torch.get_float32_matmul_precision()
        if place == "cpu":
            host = this_host()
            self.device = Device(host.cpu, "cpu", host.memory, max(host.caches.values(), default=0))
            self.protocol: dict[str, Any] = {
                "timer": "clock of the host",
                "started": "call by call",
            }
            return
        about = torch.cuda.get_device_properties(0)
        uuid = getattr(about, "uuid", "")
        self.sensors = sensors(f"GPU-{uuid}" if uuid else "")
        self.device = Device(
            name=about.name,
            kind="cuda",
            memory=float(about.total_memory),
            cache=float(getattr(about, "L2_cache_size", 0)),
            capability=f"{about.major}.{about.minor}",
            driver=self.sensors.driver,
            limits=self.sensors.limits,
        )
        self.libraries |= {
            "cuda": str(torch.version.cuda),
            "cudnn": str(torch.backends.cudnn.version()),
        }
        self.protocol = {"timer": "CUDA events", "started": "pass by pass, as CUDA graphs"}

    def unsupported(self, kind: str) -> str:
        if kind in ("fp32", "bf16"):
            return ""
        # Compute capabilities as in NVIDIA's "CUDA C++ Programming Guide".
        needed = {"tf32": (8, 0), "fp8": (8, 9)}[kind]
        if self.device.kind != "cuda":
            return f"{self.device.kind} has no arithmetic in {kind}"
        if tuple(int(part) for part in self.device.capability.split(".")) < needed:
            return f"compute capability {self.device.capability} has no arithmetic in {kind}"
        if kind == "fp8" and not hasattr(self._torch, "_scaled_mm"):
            return "this version of torch has no fp8 matmul"
        return ""

    def random_normal(self, shape: Sequence[int], kind: str, seed: int) -> Array:
        torch = self._torch
        generator = torch.Generator(device=self._place).manual_seed(seed)
        drawn = torch.randn(*shape, generator=generator, device=self._place)
        return drawn.to(getattr(torch, TYPES[kind]))

    def weights(self, D: int, F: int, kind: str, seed: int) -> Array:
        # The fp8 matmul requires a column-major second operand.
        return (
            self.random_normal((F, D), kind, seed).t()
            if kind == "fp8"
            else self.random_normal((D, F), kind, seed)
        )

    def to_numpy(self, array: Array, step: int = 1) -> NDArray[np.float64]:
        picked = array[sampled_rows(array.shape[0], step)] if step > 1 else array
        found: NDArray[np.float64] = picked.to(self._torch.float32).cpu().numpy()
        return found.astype(np.float64)

    def matmul(self, kind: str) -> Callable[..., Array]:
        torch = self._torch
        if kind == "fp8":
            one = torch.ones((), device=self._place)
            return lambda x, w: torch._scaled_mm(
                x, w, scale_a=one, scale_b=one, out_dtype=torch.bfloat16
            )

        def multiply(x: Array, w: Array) -> Array:
            # "high" computes fp32 matmuls in tf32; "highest" does not.
            torch.set_float32_matmul_precision("high" if kind == "tf32" else "highest")
            return torch.matmul(x, w)

        return multiply

    def functions(self) -> Mapping[str, Callable[..., Array]]:
        torch, layers = self._torch, self._torch.nn.functional
        return {
            "copy": torch.clone,
            "add": torch.add,
            "largest": torch.amax,
            "rms_norm": lambda x, gain: layers.rms_norm(x, gain.shape, gain, 1e-6),
            "prefill": lambda q, k, v: layers.scaled_dot_product_attention(
                q, k, v, is_causal=True, enable_gqa=True
            ),
            "decode": lambda q, k, v: layers.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        }

    def sweep(self, function: Callable[..., Array], operands: Sequence[tuple[Array, ...]]) -> Work:
        def once() -> Array:
            for each in operands:
                result = function(*each)
            return result

        return self._repeated(once)

    def negate(self, array: Array) -> Work:
        return self._repeated(array.neg_)

    def time_work(
        self, work: Work, repeats: int, read_sensors: Callable[[], SensorReading]
    ) -> tuple[float, SensorReading]:
        if self._place == "cpu":
            start = time.perf_counter()
            work(repeats)
            return time.perf_counter() - start, read_sensors()
        cuda = self._torch.cuda
        start, end = (cuda.Event(enable_timing=True) for _ in range(2))
        cuda.synchronize()
        start.record()
        work(repeats)
        end.record()
        reading = read_sensors()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3, reading

    def close(self) -> None:
        self._torch.set_float32_matmul_precision(self._precision)
        self.sensors.close()

    def _repeated(self, once: Callable[[], Array]) -> Work:
        replay, result = self._graph(once) if self._place == "cuda" else (None, None)

        def work(repeats: int) -> Array:
            if replay is None:
                last = None
                for _ in range(repeats):
                    last = once()
                return last
            for _ in range(repeats):
                replay()
            return result

        return work

    def _graph(self, once: Callable[[], Array]) -> tuple[Callable[[], object] | None, Array]:
        """Return a CUDA graph of one pass, so that launch overhead doesn't dominate."""
        cuda = self._torch.cuda
        beside = cuda.Stream()
        beside.wait_stream(cuda.current_stream())
        with cuda.stream(beside):  # one-time library setup can't be captured
            once()
        cuda.current_stream().wait_stream(beside)
        cuda.synchronize()
        graph = cuda.CUDAGraph()
        try:
            with cuda.graph(graph):
                result = once()
        except RuntimeError:
            self.protocol["started"] = "pass by pass, as CUDA graphs where that went"
            return None, None
        return graph.replay, result
