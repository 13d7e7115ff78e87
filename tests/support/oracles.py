"""Oracles for the reference solutions: the answers as rooflib computes them."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import rooflib as rl


def chip_with(peak: float, bandwidth: float) -> rl.Chip:
    """Return a chip with this peak and bandwidth."""
    return rl.Chip("given", {"int8": peak, "bf16": peak, "HBM": bandwidth}, 16e9)


def int8(B: Any, D: Any, F: Any) -> rl.Work:
    return rl.matmul(B, D, F, x="int8")


def mixed(B: Any, D: Any, F: Any, w: str = "int8") -> rl.Work:
    return rl.matmul(B, D, F, x="bf16", w=w)


def per_example(B: Any, D: Any, F: Any) -> rl.Work:
    return B * rl.matmul(1, D, F, x="int8")


def bounds_of(op: rl.Work, peak: float, bandwidth: float) -> rl.Times:
    return op.on(chip_with(peak, bandwidth))


def critical_batch(D: float, F: float, peak: float, bandwidth: float) -> Any:
    return rl.critical_batch(chip_with(peak, bandwidth), D, F, w="int8")


def sheet_chip(peak, peak_unit, sparse, bandwidth, bandwidth_unit, name="sheet") -> rl.Chip:
    source = rl.figures()[0].source
    compute = rl.Figure(name, "peak bf16", peak, peak_unit, source, sparse=sparse)
    units = {"B/s": (1e-9, "GB/s")}  # rooflib parses bandwidths only with a prefix
    factor, unit = units.get(bandwidth_unit, (1, bandwidth_unit))
    memory = rl.Figure(name, "bandwidth", bandwidth * factor, unit, source)
    return rl.Chip(name, {"bf16": compute.value, "HBM": memory.value}, 80e9)


def link_bandwidth(printed: float, unit: str, both_ways: bool) -> float:
    factor, unit = {"B/s": (1e-9, "GB/s")}.get(unit, (1, unit))
    source = rl.figures()[0].source
    return rl.Figure("any", "link", printed * factor, unit, source, two_way=both_ways).value


DTYPES = {0.5: "int4", 1: "int8", 2: "bf16", 4: "fp32"}


def kernel(
    B: int = 1,
    T: int = 1,
    S: int = 1,
    N: int = 1,
    K: int = 1,
    H: int = 1,
    q_bytes: float = 2,
    kv_bytes: float = 2,
    fused: bool = True,
) -> rl.Work:
    types = {"x": DTYPES[q_bytes], "kv": DTYPES[kv_bytes], "compute": "bf16"}
    return rl.attention(B, T, S, N, K, H, causal=False, fused=fused, softmax=False, **types)


def compute_bound_from(
    N: int, K: int, H: int, width: float, peak: float, bandwidth: float, fused: bool
) -> float:
    """Extrapolate the compute-bound length from prompts of one and two tokens.

    FLOPs grow with the square of the length; bytes have a linear part and a square one.
    """
    one, two = (kernel(1, T, T, N, K, H, width, width, fused) for T in (1, 2))
    square = (two.bytes - 2 * one.bytes) / 2
    ridge = chip_with(peak, bandwidth).ridge()
    room = one.flops - ridge * square
    return ridge * (one.bytes - square) / room if room > 0 else math.inf


def sequences_that_fit(
    capacity: float, weights: float, S: int, layers: int, K: int, H: int, kv_bytes: float
) -> int:
    """Return how many sequences fit, counting one by one."""
    each, found = S * rl.kv_bytes_per_token(layers, K, H, DTYPES[kv_bytes]), 0
    while weights + (found + 1) * each <= capacity:
        found += 1
    return found


def sharded(B: int, D: int, F: int, N: int, peak: float, link: float) -> rl.Times:
    chip = dataclasses.replace(chip_with(peak, 1e30), links=(rl.Link("ring", link),))
    return rl.split("D", N, B, D, F).on(chip, "ring")


def speedup(B: int, D: int, F: int, N: int, peak: float, bandwidth: float, link: float) -> float:
    chip = dataclasses.replace(chip_with(peak, bandwidth), links=(rl.Link("ring", link),))
    alone = rl.matmul(B, D, F).on(chip)
    return alone.lower / rl.split("D", N, B, D, F).on(chip, "ring").lower


def all_reduce_time(size: float, N: int, link: float, delay: float) -> float:
    """Return the time of a ring all-reduce, summed over its steps.

    Each step takes one piece and one delay.
    """
    ring = rl.Link("ring", link, latency=delay)
    piece = rl.work("piece", 0, loaded=0, sent=size / N, hops=1)
    chip = dataclasses.replace(chip_with(1, 1), links=(ring,))
    return sum(piece.on(chip, ring).lower for _ in range(2 * (N - 1)))


def fixed_time(n: int, rate: float, more: int, more_rate: float) -> float:
    """Return the part of the time that doesn't scale, from two linear equations."""
    found = np.linalg.solve([[1, 1 / n], [1, 1 / more]], [1 / rate, 1 / more_rate])
    return float(found[0])


def cause_of(operation: dict[str, Any]) -> str:
    """Return what explains a measured time, from the bounds of the operation."""
    roofs = {key: operation[key] for key in ("peak", "bandwidth")}
    least, done = (
        bounds_of(rl.work("work", operation["flops"], loaded=operation[moved]), **roofs)
        for moved in ("needed", "moved")
    )
    if operation["measured"] < least.times["HBM"]:
        return "cache"
    if operation["overhead"] > done.lower:
        return "overhead"
    if done.roof == "compute":
        return "compute"
    return "memory" if done.lower == least.lower else "traffic"


def telling(
    B: int, D: int, F: int, changes: dict[str, list[int]], one: str, other: str
) -> list[str]:
    before, found = rl.matmul(B, D, F), []
    for name, sizes in changes.items():
        after = rl.matmul(*sizes)
        factors = {
            "compute": after.flops / before.flops,
            "memory": after.bytes / before.bytes,
            "overhead": 1,
        }
        if not 1 / 1.25 < factors[one] / factors[other] < 1.25:
            found.append(name)
    return found


def gain(
    fix: str,
    flops: float,
    needed: float,
    moved: float,
    overhead: float,
    peak: float,
    bandwidth: float,
) -> float:
    """Return the speedup by a fix such as "fuse"; model overhead as link latency."""

    def lower(flops: float, moved: float, overhead: float, peak: float) -> Any:
        calls = rl.Link("calls", 1, latency=overhead)
        chip = dataclasses.replace(chip_with(peak, bandwidth), links=(calls,))
        return rl.work("work", flops, loaded=moved, sent=0, hops=1).on(chip, calls).lower

    before = {"flops": flops, "moved": moved, "overhead": overhead, "peak": peak}
    changes = {
        "fuse": {"moved": needed},
        "one call": {"overhead": 0},
        "half the bytes": {"moved": moved / 2},
        "twice the peak": {"peak": 2 * peak},
    }
    return float(lower(**before) / lower(**before | changes[fix]))


def wrong_lines(
    sheet: dict[str, Any], B: int, D: int, F: int, analysis: dict[str, float]
) -> list[str]:
    chip = sheet_chip(sheet["tflops"], "TFLOP/s", sheet["sparse"], sheet["gigabytes"], "GB/s")
    matmul = rl.matmul(B, D, F)
    amounts = {"flops": matmul.flops, "moved": matmul.bytes, "sent": matmul.written}
    rates = {"peak": chip["bf16"], "bandwidth": chip["HBM"]}
    rates |= {"link": link_bandwidth(sheet["gigabits"], "Gbit/s", sheet["both_ways"])}
    times = dict(
        zip(("compute", "memory", "network"), zip(amounts, rates, strict=True), strict=True)
    )
    right = rates | amounts
    right |= {time: analysis[amount] / analysis[rate] for time, (amount, rate) in times.items()}
    right["bound"] = max(analysis[time] for time in times)
    return [
        line for line in analysis if not math.isclose(analysis[line], right[line], rel_tol=0.02)
    ]


# Rows of a decode step whose FLOPs and weights the exercise counts. Of attention, it counts only
# the cache that is read; it leaves out lookups, norms, and all that is written.
ROWS_OF_WEIGHTS = ("projections", "router", "experts", "MLP", "logits")


def norms_of(model: rl.Model) -> int:
    """Count the weights outside of matrices, which the exercise leaves out."""
    return model.D + sum(kind.count * kind.gains for kind in model.kinds)


def weights_of(config: dict[str, Any]) -> tuple[int, int]:
    model = rl.model_from_config(config)
    layers = model.active_parameters(tables=False) - norms_of(model)
    return model.parameters - norms_of(model), layers + model.vocabulary * model.D


def parts_of(
    config: dict[str, Any], B: int, S: int = 1, width: float = 2, kv_bytes: float = 2
) -> dict[str, rl.Work]:
    """Return name → operation for the parts of a decode step."""
    types = {
        name: rl.DType("int4", round(8 * stored))
        for name, stored in (("w", width), ("kv", kv_bytes))
    }
    step = rl.model_from_config(config).decode(B, S, **types, x="bf16", compute="bf16")
    return {part.name: part for part in step.parts}


def mixture_step(
    config: dict[str, Any], B: int, S: int, width: float, kv_bytes: float, **chip: float
) -> float:
    parts = parts_of(config, B, S, width, kv_bytes)
    flops = sum(parts[row].flops for row in ROWS_OF_WEIGHTS if row in parts)
    loaded = sum(parts[row].loaded for row in (*ROWS_OF_WEIGHTS, "attention") if row in parts)
    return float(bounds_of(rl.work("work", flops, loaded=loaded), **chip).lower)


def mixture_gains(changes: dict[str, dict[str, float]], **now: Any) -> dict[str, float]:
    def rate(**case: Any) -> float:
        return float(case["B"] / mixture_step(**case))

    return {name: rate(**{**now, **change}) / rate(**now) for name, change in changes.items()}


ORACLES: dict[str, dict[str, Callable[..., Any]]] = {
    "mixture-of-experts": {
        "parameters": weights_of,
        "cache": lambda config, kv_bytes: rl.model_from_config(config).kv_bytes_per_token(
            DTYPES[kv_bytes]
        ),
        "step": mixture_step,
        "gains": mixture_gains,
    },
    "diagnose": {
        "fixed-time": fixed_time,
        "explained-by": lambda operations, cause: [
            one["name"] for one in operations if cause_of(one) == cause
        ],
        "telling": telling,
        "gain": gain,
        "wrong-lines": wrong_lines,
    },
    "many-chips": {
        "times": lambda **case: tuple(sharded(**case).times[at] for at in ("compute", "ring")),
        "speedup": speedup,
        "all-reduce-time": all_reduce_time,
    },
    "attention": {
        "operations-and-bytes": lambda **size: (kernel(**size).flops, kernel(**size).bytes),
        "decode-intensities": lambda **size: (
            kernel(**size).intensity,
            kernel(**size | {"S": 10**13}).intensity,
        ),
        "compute-bound-from": compute_bound_from,
        "sequences-that-fit": sequences_that_fit,
    },
    "int8-matmul": {
        "bytes-moved": lambda **size: (int8(**size).loaded, int8(**size).written),
        "intensity": lambda B, D, F: (
            int8(B, D, F).flops,
            int8(B, D, F).intensity,
            int8(B, 1e13, 1e13).intensity,
        ),
        "times": lambda B, D, F, **chip: tuple(bounds_of(int8(B, D, F), **chip).times.values()),
        "bounds": lambda B, D, F, **chip: (
            bounds_of(int8(B, D, F), **chip).lower,
            bounds_of(int8(B, D, F), **chip).upper,
        ),
    },
    "int8-weights": {
        "intensity": lambda **size: mixed(**size).intensity,
        "critical-batch": critical_batch,
        "speedup": lambda B, D, F, **chip: (
            bounds_of(mixed(B, D, F, w="bf16"), **chip).lower
            / bounds_of(mixed(B, D, F), **chip).lower
        ),
    },
    "roofline-plot": {
        "attainable": lambda B, D, F, **chip: bounds_of(mixed(B, D, F), **chip).attained,
        "delay": lambda small, large, **chip: (
            critical_batch(small, small, **chip) / critical_batch(large, large, **chip)
        ),
        "figure": lambda sizes, batches, **chip: {
            size: bounds_of(mixed(np.array(batches), size, size), **chip).attained.tolist()
            for size in sizes
        },
    },
    "weight-per-example": {
        "bytes-moved": lambda **size: per_example(**size).bytes,
        "intensities": lambda B, D, F, bytes_per_element: (
            per_example(B, D, F).intensity / bytes_per_element,
            per_example(B, 1e13, 1e13).intensity / bytes_per_element,
        ),
        "compute-bound-chips": lambda chips, bytes_per_element: [
            name
            for name, (peak, bandwidth) in chips.items()
            if bounds_of(
                rl.work(
                    "work",
                    per_example(1, 1e9, 1e9).flops,
                    loaded=per_example(1, 1e9, 1e9).bytes * bytes_per_element,
                ),
                peak,
                bandwidth,
            ).roof
            == "compute"
        ],
    },
    "h100-spec-sheet": {
        "dense-peak": lambda printed, unit, sparse: sheet_chip(printed, unit, sparse, 1, "TB/s")[
            "bf16"
        ],
        "one-way-bandwidth": link_bandwidth,
        "critical-batch": lambda **sheet: rl.critical_batch(sheet_chip(**sheet)),
        "enough-on": lambda sheets, sequences, length: [
            sheet["name"]
            for sheet in sheets
            if bounds_of(
                rl.matmul(sequences * length, 1e13, 1e13),
                sheet_chip(**sheet)["bf16"],
                sheet_chip(**sheet)["HBM"],
            ).roof
            == "compute"
        ],
    },
}
