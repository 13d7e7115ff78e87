"""A fake torch on an imaginary GPU, with a simulated clock.

numpy computes the results. The fake implements the torch API that roofmeter uses, and raises
torch's errors for likely mistakes: fp8 weights that are not column-major, a CUDA graph without a
warm-up. Each call takes as long as the roofs of the device predict, so tests can check which
operations roofmeter requests, how it counts them, and which figures it computes. It can't show that
a real torch has this API, or how fast it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

BYTES = {"float32": 4, "bfloat16": 2, "float8_e4m3fn": 1}
DIGITS = {"float32": 24, "tf32": 11, "bfloat16": 8, "float8_e4m3fn": 4}
"""Significant bits of each type, including the leading one."""
WARM = 0.5
"""Seconds of continuous work after which the device lowers its clock, until it rests."""


def rounded(array: np.ndarray, kind: str) -> np.ndarray:
    """Round to the precision of the type; return fp32."""
    share, exponent = np.frexp(np.asarray(array, np.float32))
    return np.ldexp(np.round(np.ldexp(share, DIGITS[kind])), exponent - DIGITS[kind])


class Tensor:
    def __init__(self, array: np.ndarray, kind: str, torch: FakeTorch) -> None:
        self.array, self.kind, self.torch = array, kind, torch
        self.shape = array.shape

    nbytes = property(lambda self: self.array.size * BYTES[self.kind])

    def __getitem__(self, index) -> Tensor:
        return Tensor(self.array[index], self.kind, self.torch)

    def to(self, kind: str) -> Tensor:
        return Tensor(rounded(self.array, kind), kind, self.torch)

    def t(self) -> Tensor:
        return Tensor(self.array.T, self.kind, self.torch)

    def neg_(self) -> Tensor:
        def flip() -> None:
            self.array *= -1

        return self.torch.launch(flip, self, 0, 2 * self.nbytes)

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.array


class FakeTorch:
    """The module `torch` on a machine with this GPU.

    Peaks are 100, 200, 50 and 10 MFLOP/s in bf16, fp8, tf32 and fp32, a fifth less once the device
    is warm; memory moves 10 MB/s.
    """

    __version__ = "0.0.0+paper"
    float32, bfloat16, float8_e4m3fn = BYTES

    def __init__(self) -> None:
        self.peaks = {"bfloat16": 1e8, "float8_e4m3fn": 2e8, "tf32": 5e7, "float32": 1e7}
        self.bandwidth = 1e7
        self.now, self.rested = 0.0, 0.0
        self.slower: Callable[[], float] = lambda: 1.0
        self.breaks: Callable[[str, np.ndarray], np.ndarray] = lambda name, result: result
        self.recorded: list[Callable[[], None]] | None = None
        self.warmed, self.graphs, self.precision = False, 0, "highest"
        self.about = SimpleNamespace(
            name="Paper GPU", total_memory=2**26, L2_cache_size=2**12, major=9, minor=0
        )
        self.version = SimpleNamespace(cuda="0.0")
        self.backends = SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 0))
        self.cuda = SimpleNamespace(
            is_available=lambda: True,
            get_device_properties=lambda index: self.about,
            synchronize=lambda: None,
            Event=lambda enable_timing: Event(self),
            Stream=lambda: SimpleNamespace(wait_stream=lambda other: None),
            current_stream=lambda: SimpleNamespace(wait_stream=lambda other: None),
            stream=self.beside,
            CUDAGraph=lambda: Graph(self),
            graph=self.recording,
        )
        self.nn = SimpleNamespace(functional=self)

    # Simulated device.

    def rest(self, seconds: float) -> None:
        self.now += seconds
        self.rested = self.now

    @property
    def warm(self) -> bool:
        return self.now - self.rested > WARM

    def spend(self, kind: str, flops: float, size: float) -> None:
        peak = self.peaks[kind] * (0.8 if self.warm else 1)
        self.now += max(flops / peak, size / self.bandwidth) * self.slower()

    def launch(self, compute: Callable[[], None], out: Tensor, flops: float, size: float) -> Tensor:
        kind = "tf32" if out.kind == "float32" and self.precision == "high" else out.kind
        kind = "float8_e4m3fn" if flops < 0 else kind

        def again() -> None:
            compute()
            self.spend(kind, abs(flops), size)

        self.warmed = self.warmed or self.recorded is None
        if self.recorded is None:
            again()
        else:
            self.recorded.append(again)
        return out

    def make(self, name: str, kind: str, result: Callable[[], np.ndarray], flops: float, *inputs):
        out = Tensor(np.array(rounded(result(), kind)), kind, self)

        def compute() -> None:
            out.array[...] = self.breaks(name, rounded(result(), kind))

        # Writing a scalar result is not counted.
        written = out.nbytes if out.shape else 0
        return self.launch(compute, out, flops, sum(a.nbytes for a in inputs) + written)

    # Operations.

    def Generator(self, device: str):
        return SimpleNamespace(manual_seed=np.random.default_rng)

    def randn(self, *shape: int, generator: np.random.Generator, device: str) -> Tensor:
        return Tensor(generator.standard_normal(shape, np.float32), "float32", self)

    def ones(self, shape: tuple[int, ...], device: str) -> Tensor:
        return Tensor(np.ones(shape, np.float32), "float32", self)

    def get_float32_matmul_precision(self) -> str:
        return self.precision

    def set_float32_matmul_precision(self, precision: str) -> None:
        self.precision = precision

    def matmul(self, x: Tensor, w: Tensor) -> Tensor:
        kind = "tf32" if x.kind == "float32" and self.precision == "high" else x.kind
        flops = 2 * x.array.size * w.shape[1]
        return self.make(
            f"matmul {kind}",
            x.kind,
            lambda: rounded(x.array, kind) @ rounded(w.array, kind),
            flops,
            x,
            w,
        )

    def _scaled_mm(self, x: Tensor, w: Tensor, scale_a, scale_b, out_dtype: str) -> Tensor:
        if not (x.array.flags.c_contiguous and w.array.flags.f_contiguous):
            raise RuntimeError("mat1 must be row-major and mat2 column-major")
        flops = -2 * x.array.size * w.shape[1]  # negative: fp8 arithmetic, bf16 output
        return self.make("matmul fp8", out_dtype, lambda: x.array @ w.array, flops, x, w)

    def clone(self, a: Tensor) -> Tensor:
        return self.make("copy", a.kind, lambda: a.array, 0, a)

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        return self.make("add", a.kind, lambda: a.array + b.array, 0, a, b)

    def amax(self, a: Tensor) -> Tensor:
        return self.make("largest", a.kind, lambda: a.array.max(), 0, a)

    def rms_norm(self, x: Tensor, shape: tuple[int, ...], gain: Tensor, epsilon: float) -> Tensor:
        assert shape == x.shape[1:]

        def result() -> np.ndarray:
            scale = np.sqrt(np.mean(x.array**2, axis=1, keepdims=True) + epsilon)
            return x.array / scale * gain.array

        return self.make("norm", x.kind, result, 0, x, gain)

    def scaled_dot_product_attention(
        self, q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False, enable_gqa: bool = False
    ) -> Tensor:
        B, N, T, H = q.shape
        assert k.shape[1] == N or enable_gqa

        def result() -> np.ndarray:
            keys, values = (np.repeat(a.array, N // k.shape[1], axis=1) for a in (k, v))
            scores = q.array @ keys.swapaxes(2, 3) / np.sqrt(H)
            if is_causal:
                scores[..., np.triu(np.ones((T, T), bool), 1)] = -np.inf
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return shares / shares.sum(axis=-1, keepdims=True) @ values

        pairs = T * (T + 1) // 2 if is_causal else T * k.shape[2]
        name = "prefill" if is_causal else "decode"
        return self.make(name, q.kind, result, 4 * B * N * H * pairs, q, k, v)

    # CUDA graphs.

    @contextmanager
    def beside(self, stream):
        self.warmed = False
        yield

    @contextmanager
    def recording(self, graph: Graph):
        if not self.warmed:
            raise RuntimeError("library setup can't be captured in a graph")
        self.recorded = graph.calls
        self.graphs += 1
        yield
        self.recorded = None


class Graph:
    def __init__(self, torch: FakeTorch) -> None:
        self.calls: list[Callable[[], None]] = []

    def replay(self) -> None:
        for call in self.calls:
            call()


class Event:
    def __init__(self, torch: FakeTorch) -> None:
        self.torch = torch

    def record(self) -> None:
        self.at = self.torch.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: Event) -> float:
        return (end.at - self.at) * 1e3


class FakeNvml:
    """The module `pynvml` for that GPU: 1 GHz when cold, 800 MHz and 300 W when warm."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    class NVMLError(Exception):
        pass

    def __init__(self, torch: FakeTorch) -> None:
        self.torch, self.busy, self.open = torch, 0, 0
        self.reasons: Callable[[], int] = lambda: 4 if torch.warm else 0

    def nvmlInit(self) -> None:
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def __getattr__(self, name: str):
        answers = {
            "nvmlDeviceGetHandleByIndex": lambda index: "device",
            "nvmlSystemGetDriverVersion": lambda: "000.00",
            "nvmlDeviceGetMaxClockInfo": lambda device, which: 1000 * which,
            "nvmlDeviceGetEnforcedPowerLimit": lambda device: 300_000,
            "nvmlDeviceGetClockInfo": lambda device, which: (
                2000 if which == 2 else 800 if self.torch.warm else 1000
            ),
            "nvmlDeviceGetPowerUsage": lambda device: 300_000 if self.torch.warm else 100_000,
            "nvmlDeviceGetTemperature": self._not_supported,
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda device: self.reasons(),
            "nvmlDeviceGetUtilizationRates": lambda device: SimpleNamespace(gpu=self.busy),
        }
        if name not in answers:
            raise AttributeError(name)
        return answers[name]

    def _not_supported(self, device, which):
        raise self.NVMLError("not supported")
