"""jax: a pass is one compiled function, timed by the host until its results are there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roofmeter.accelerator.backend import Array, missing, rows
from roofmeter.accelerator.sensors import NoSensors, Sensors, sensors
from roofmeter.device import Device
from roofmeter.host import this_host
from roofmeter.readings import Reading
from roofmeter.watch import Work

TYPES = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp8": "float8_e4m3fn"}
BLOCK = 2**20 - 3
"""Numbers that are drawn; a larger array repeats them, and its rows are unlike all the same."""
KINDS = {"gpu": "cuda", "cuda": "cuda", "tpu": "tpu", "cpu": "cpu"}


def made(jax: Any, place: str) -> JaxBackend:
    """The backend on "cuda" or "cpu"; without a place, on jax's own choice."""
    try:
        device = jax.devices(place or None)[0]
    except RuntimeError:
        raise missing("CUDA", "jax", 'device="jax:cpu" measures the processor') from None
    return JaxBackend(jax, device)


class JaxBackend:
    """jax on one device."""

    heads_first = False

    def __init__(self, jax: Any, device: Any) -> None:
        self._jax, self._at, self._np = jax, device, jax.numpy
        drawn = np.random.default_rng(5).standard_normal(BLOCK, np.float32)
        self._block = np.concatenate([drawn, drawn])
        self._filled = jax.jit(
            lambda block, shape, kind: jax.numpy.resize(block, shape).astype(kind),
            static_argnums=(1, 2),
        )
        kind = KINDS.get(device.platform, device.platform)
        self.sensors: Sensors = sensors() if kind == "cuda" else NoSensors()
        host = this_host()
        told = device.memory_stats() or {} if kind != "cpu" else {}
        self.device = Device(
            name=host.cpu if kind == "cpu" else device.device_kind,
            kind=kind,
            memory=float(told.get("bytes_limit", host.memory)),
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

    def lacks(self, kind: str) -> str:
        if kind == "bf16" or (kind == "fp32" and self.device.kind != "tpu"):
            return ""
        if self.device.kind != "cuda":
            return f"{self.device.kind} has no arithmetic in {kind}"
        needed = {"tf32": (8, 0), "fp8": (8, 9)}[kind]
        if tuple(int(part) for part in self.device.capability.split(".")) < needed:
            return f"compute capability {self.device.capability} has no arithmetic in {kind}"
        return ""

    def normal(self, shape: Sequence[int], kind: str, seed: int) -> Array:
        # A generator would be compiled for each shape, which takes longer than what is measured.
        start, size = seed * 7919 % BLOCK, math.prod(shape)
        block = self._block[start : start + BLOCK]
        if size <= BLOCK:
            few = block[:size].reshape(shape).astype(self._np.dtype(TYPES[kind]))
            return self._jax.device_put(few, self._at)
        return self._filled(self._jax.device_put(block, self._at), tuple(shape), TYPES[kind])

    def weights(self, D: int, F: int, kind: str, seed: int) -> Array:
        return self.normal((D, F), kind, seed)

    def host(self, array: Array, step: int = 1) -> NDArray[np.float64]:
        found = np.asarray(array)
        return (found[rows(len(found), step)] if step > 1 else found).astype(np.float64)

    def matmul(self, kind: str) -> Callable[..., Array]:
        # The usual precision of a CUDA device is tf32; the highest is fp32.
        precision = "highest" if kind == "fp32" else "default"
        out = "bfloat16" if kind == "fp8" else TYPES[kind]
        return lambda x, w: self._np.matmul(x, w, precision=precision, preferred_element_type=out)

    def functions(self) -> Mapping[str, Callable[..., Array]]:
        jnp = self._np
        # Left to itself, jax keeps all scores in memory.
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
        # Each set has operands of its own: equal calls would be made once.
        compiled = self._jax.jit(lambda sets: [function(*each) for each in sets])
        return self._repeated(lambda: compiled(operands)[-1])

    def negate(self, array: Array) -> Work:
        compiled = self._jax.jit(lambda a: -a, donate_argnums=0)
        held = [array]

        def once() -> Array:
            held[0] = compiled(held[0])
            return held[0]

        return self._repeated(once)

    def timed(
        self, work: Work, repeats: int, meanwhile: Callable[[], Reading]
    ) -> tuple[float, Reading]:
        start = time.perf_counter()
        last = work(repeats)
        reading = meanwhile()
        self._jax.block_until_ready(last)
        return time.perf_counter() - start, reading

    def close(self) -> None:
        self.sensors.close()

    def _repeated(self, once: Callable[[], Array]) -> Work:
        # A device does one pass after the other; a processor might begin the next one meanwhile.
        wait = self._jax.block_until_ready if self.device.kind == "cpu" else lambda last: last

        def work(repeats: int) -> Array:
            last = None
            for _ in range(repeats):
                last = wait(once())
            return last

        return work
