"""The jax backend: passes are compiled functions, timed by the host."""

from __future__ import annotations

import math
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
DRAWN_NUMBERS = 2**20 - 3
"""Random numbers drawn. Larger arrays repeat them; the odd length keeps their rows different."""
KINDS = {"gpu": "cuda", "cuda": "cuda", "tpu": "tpu", "cpu": "cpu"}


def make_backend(jax: Any, place: str) -> JaxBackend:
    """Return the backend on "cuda" or "cpu", or on jax's default device."""
    try:
        device = jax.devices(place or None)[0]
    except RuntimeError:
        raise device_not_found("CUDA", "jax", 'device="jax:cpu" measures the processor') from None
    return JaxBackend(jax, device)


class JaxBackend:
    """The jax backend on one device."""

    heads_first = False

    def __init__(self, jax: Any, device: Any) -> None:
        self._jax, self._at, self._np = jax, device, jax.numpy
        drawn = np.random.default_rng(5).standard_normal(DRAWN_NUMBERS, np.float32)
        self._block = np.concatenate([drawn, drawn])
        self._filled = jax.jit(
            lambda block, shape, kind: jax.numpy.resize(block, shape).astype(kind),
            static_argnums=(1, 2),
        )
        kind = KINDS.get(device.platform, device.platform)
        self.sensors: Sensors = sensors() if kind == "cuda" else NoSensors()
        host = this_host()
        memory = device.memory_stats() or {} if kind != "cpu" else {}
        self.device = Device(
            name=host.cpu if kind == "cpu" else device.device_kind,
            kind=kind,
            memory=float(memory.get("bytes_limit", host.memory)),
            cache=float(max(host.caches.values(), default=0)) if kind == "cpu" else 0.0,
            capability=str(getattr(device, "compute_capability", "")),
            driver=self.sensors.driver,
            limits=self.sensors.limits,
        )
        self.libraries = {
            "library": f"jax {jax.__version__}",
            "platform": " ".join(str(device.client.platform_version).split()),
        }
        self.protocol: dict[str, Any] = {
            "timer": "clock of the host, until the results are there",
            "started": "pass by pass, compiled",
        }

    def unsupported(self, kind: str) -> str:
        if kind == "bf16" or (kind == "fp32" and self.device.kind != "tpu"):
            return ""
        if self.device.kind != "cuda":
            return f"{self.device.kind} has no arithmetic in {kind}"
        needed = {"tf32": (8, 0), "fp8": (8, 9)}[kind]
        if tuple(int(part) for part in self.device.capability.split(".")) < needed:
            return f"compute capability {self.device.capability} has no arithmetic in {kind}"
        return ""

    def random_normal(self, shape: Sequence[int], kind: str, seed: int) -> Array:
        # jax would compile a generator for each shape, which takes longer than the measurement.
        start, size = seed * 7919 % DRAWN_NUMBERS, math.prod(shape)
        block = self._block[start : start + DRAWN_NUMBERS]
        if size <= DRAWN_NUMBERS:
            few = block[:size].reshape(shape).astype(self._np.dtype(TYPES[kind]))
            return self._jax.device_put(few, self._at)
        return self._filled(self._jax.device_put(block, self._at), tuple(shape), TYPES[kind])

    def weights(self, D: int, F: int, kind: str, seed: int) -> Array:
        return self.random_normal((D, F), kind, seed)

    def to_numpy(self, array: Array, step: int = 1) -> NDArray[np.float64]:
        found = np.asarray(array)
        return (found[sampled_rows(len(found), step)] if step > 1 else found).astype(np.float64)

    def matmul(self, kind: str) -> Callable[..., Array]:
        # "default" precision computes fp32 in tf32 on CUDA devices; "highest" uses fp32.
        precision = "highest" if kind == "fp32" else "default"
        out = "bfloat16" if kind == "fp8" else TYPES[kind]
        return lambda x, w: self._np.matmul(x, w, precision=precision, preferred_element_type=out)

    def functions(self) -> Mapping[str, Callable[..., Array]]:
        jnp = self._np
        # By default, jax materializes all attention scores.
        fused = "cudnn" if self.device.kind == "cuda" else None

        def attend(q: Array, k: Array, v: Array, causal: bool) -> Array:
            attention = self._jax.nn.dot_product_attention
            return attention(q, k, v, is_causal=causal, implementation=fused)

        def rms_norm(x: Array, gain: Array) -> Array:
            wide = x.astype("float32")
            scale = self._jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)
            return (wide * scale).astype(x.dtype) * gain

        return {
            "copy": jnp.copy,
            "add": jnp.add,
            "largest": jnp.max,
            "rms_norm": rms_norm,
            "prefill": lambda q, k, v: attend(q, k, v, True),
            "decode": lambda q, k, v: attend(q, k, v, False),
        }

    def sweep(self, function: Callable[..., Array], operands: Sequence[tuple[Array, ...]]) -> Work:
        # Each set needs its own operands: XLA merges identical calls into one.
        compiled = self._jax.jit(lambda sets: [function(*each) for each in sets])
        return self._repeated(lambda: compiled(operands)[-1])

    def negate(self, array: Array) -> Work:
        compiled = self._jax.jit(lambda a: -a, donate_argnums=0)
        held = [array]

        def once() -> Array:
            held[0] = compiled(held[0])
            return held[0]

        return self._repeated(once)

    def time_work(
        self, work: Work, repeats: int, read_sensors: Callable[[], SensorReading]
    ) -> tuple[float, SensorReading]:
        start = time.perf_counter()
        last = work(repeats)
        reading = read_sensors()
        self._jax.block_until_ready(last)
        return time.perf_counter() - start, reading

    def close(self) -> None:
        self.sensors.close()

    def _repeated(self, once: Callable[[], Array]) -> Work:
        # Accelerators run passes in order; on the CPU, passes might overlap.
        wait = self._jax.block_until_ready if self.device.kind == "cpu" else lambda last: last

        def work(repeats: int) -> Array:
            last = None
            for _ in range(repeats):
                last = wait(once())
            return last

        return work
