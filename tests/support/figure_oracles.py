"""What rooflib says about the settings of a page's figures.

Each function takes a figure's settings, by name, and returns the numbers that it must show. A name
that the figure doesn't show is ignored.
"""

import bisect
import functools
import math
import re
from collections.abc import Callable
from typing import Any

from figure_engine import OWN_NUMBERS

import rooflib as rl
from rooflib.dtypes import DTYPES

Numbers = dict[str, Any]
PROBLEM: Numbers = {}  # rooflib refuses these settings: the figure shows no numbers
OWN = "my own chip"


def chip_of(name: str) -> rl.Chip:
    """Return a chip of the catalog, or the one that a reader has typed."""
    if name != OWN:
        return rl.chip(name)
    link = rl.Link("own", OWN_NUMBERS["link"], topology="switch")
    rates = {"bf16": OWN_NUMBERS["peak"], "HBM": OWN_NUMBERS["bandwidth"]}
    return rl.Chip(OWN, rates, OWN_NUMBERS["memory"], links=(link,))


def times(bound: rl.Times, link: str | None = None) -> Numbers:
    return {
        "t_math": bound.times["compute"],
        "t_comms": bound.times["HBM"],
        "t_link": bound.times[link] if link else 0,
        "lower": bound.lower,
        "upper": bound.upper,
        "held": bound.work.held,
        "memory": bound.chip.memory,
        "idle": bound.idle,
    }


def of_time(flops: float, bytes: float, chip: str) -> Numbers:
    return times(rl.work("work", flops, loaded=bytes).on(chip_of(chip))) | {"held": bytes}


def of_intensity(n: float, chip: str) -> Numbers:
    at = chip_of(chip)
    operations = {
        "dot": rl.dot(n),
        "add": rl.elementwise(n, inputs=2),
        "matmul": rl.matmul(n, n, n),
    }
    shares = {f"{name}_share": op.on(at).share_of_peak for name, op in operations.items()}
    return {
        **{name: op.intensity for name, op in operations.items()},
        **shares,
        "ridge": at.ridge(),
        "enough": 3 * at.ridge(),
        "held": operations["matmul"].bytes,
        "memory": at.memory,
    }


def of_roofline(intensity: float, second: float, chip: str) -> Numbers:
    own = chip_of(chip)
    other = own | {"HBM": second}
    first, then = (c.attainable(intensity) for c in (own, other))
    return {
        "bandwidth": own["HBM"],
        "peak": own["bf16"],
        "ridge": own.ridge(),
        "second_ridge": other.ridge(),
        "reached": first,
        "second_reached": then,
        "share": first / own["bf16"],
        "second_share": then / own["bf16"],
    }


LAYER = functools.partial(rl.matmul, D=4096, F=16384)


def of_one_roof(intensity: float, chip: str) -> Numbers:
    at = chip_of(chip)
    reached = at.attainable(intensity)
    share = reached / at["bf16"]
    shares = {"share": share, "idle": 1 - share}
    known = {"dot product": rl.dot(10**6), "batch 32": LAYER(32), "batch 1,024": LAYER(1024)}
    dots = {name: op.intensity for name, op in known.items()}
    return {"reached": reached, "peak": at["bf16"], "ridge": at.ridge(), "dots": dots, **shares}


def of_chip(chip: str) -> Numbers:
    at = chip_of(chip)
    peer = at.links[0]
    return {
        "ceiling": at["bf16"],
        "capacity": at.memory,
        "bandwidth": at["HBM"],
        "ridge": at.ridge(),
        "rate_0": peer.to_one_peer,
        "total_0": peer.total,
        "ridge_0": at.ridge("bf16", peer),
        "ratio": at["HBM"] / peer.to_one_peer,
        "rates": [at["HBM"], *(n for link in at.links for n in _lanes(link)), 1e12],
        "ridges": [at.ridge("bf16", link) for link in at.links],
        "bandwidth_and_key": at["HBM"] + 1e12,
        "memory_and_key": at.memory + 1e9,
        "compute_and_key": at["bf16"] + 1e14,
        "memories": len(at.on_chip),
        "on_chip": sum(at.on_chip.values()),
        "each_memory": [*at.on_chip.values()],
        "lanes": _lanes(peer)[0],
        "held_share": sum(at.on_chip.values()) / at.memory,
    }


def _lanes(link: rl.Link) -> list[float]:
    """Return how many links lead to neighbors, if they do, and the bandwidth to one peer."""
    count = link.links_per_axis * link.axes
    return [count, link.to_one_peer] if link.topology in ("torus", "mesh") else [link.to_one_peer]


def of_units(work: str, chip: str) -> Numbers:
    n = 16 * 2**20  # elements of the arrays
    at = chip_of(chip)
    works = {
        "dot product": rl.dot(n, compute="vector fp32"),
        "addition": rl.elementwise(n, inputs=2, compute="vector fp32"),
        "ReLU": rl.elementwise(n, compute="vector fp32"),
        "GELU": rl.elementwise(n, flops_per_element=9, compute="vector fp32"),
        **{
            f"matmul, {rows}": LAYER(B)
            for B, rows in ((1, "1 row"), (32, "32 rows"), (4096, "4,096 rows"))
        },
    }
    unit = "matrix" if work.startswith("matmul") else "vector"
    bound = works[work].on(at)
    return {
        "matrix": at["bf16"],
        "vector": at["vector fp32"],
        "ratio": at["bf16"] / at["vector fp32"],
        "matrix_ridge": at.ridge("bf16"),
        "vector_ridge": at.ridge("vector fp32"),
        "ridges": [at.ridge("vector fp32"), at.ridge("bf16")],
        "intensity": works[work].intensity,
        "matrix_busy": bound.share_of_peak * (unit == "matrix"),
        "vector_busy": bound.share_of_peak * (unit == "vector"),
        "unit": unit,
        "squares": at["bf16"] + at["vector fp32"],
        "filled": bound.share_of_peak * at["bf16" if unit == "matrix" else "vector fp32"],
        "busy": bound.share_of_peak,
        "unit_ridge": at.ridge("bf16" if unit == "matrix" else "vector fp32"),
        "lower": bound.lower,
    }


def of_matmul_blocks(B: float, D: float, F: float, one: str, chip: str) -> Numbers:
    op, at = rl.matmul(B, D, F), chip_of(chip)
    sizes = {"x": B * D, "w": D * F, "out": B * F}
    return {
        **{f"{name}_bytes": 2 * size for name, size in sizes.items()},
        "shapes": [(D, B), (F, D), (F, B)],
        **{f"{name}_intensity": op.flops / 2 / size for name, size in sizes.items()},
        "held": op.bytes,
        "memory": at.memory,
        "largest": "|".join(name for name in sizes if sizes[name] == max(sizes.values())),
        "flops": op.flops,
        "intensity": op.intensity,
        "ridge": at.ridge(),
        "smallest": min(B, D, F),
        "largest_share": max(sizes.values()) / sum(sizes.values()),
        "share": op.on(at).share_of_peak,
    }


def of_matmul(B: float, D: float, F: float, x: str, w: str, out: str, chip: str) -> Numbers:
    at = chip_of(chip)
    try:
        op = rl.matmul(B, D, F, x=x, w=w, out=out)
        bound = op.on(at)
    except ValueError:
        return PROBLEM
    critical = rl.critical_batch(at, D, F, x=x, w=w, out=out)
    return times(bound) | {
        "flops": op.flops,
        "bytes": op.bytes,
        "held": op.bytes,
        "intensity": op.intensity,
        "compute": op.compute,
        "attained": op.flops / bound.lower,
        "peak": at[op.compute],
        "ridge": at.ridge(op.compute),
        "share": bound.share_of_peak,
        "critical": critical,
        "first": math.floor(critical) + 1 if math.isfinite(critical) else math.inf,
        "limit": rl.critical_batch(at, x=x, w=w),
    }


def of_chips(N: float, D: float, split: str, over: str, B: float, F: float) -> Numbers:
    name, link = over.split(", ") if over != OWN else (OWN, "own")
    at = chip_of(name)
    bound = rl.split(split, N, B, D, F).on(at, link)
    return times(bound, link) | {
        "busy": bound.share_of_peak,
        "first": math.ceil(rl.critical_depth(at, link, N, split=split)),
    }


def of_attention(B: int, S: int, model: str, chip: str, chips: int, w: str, kv: str) -> Numbers:
    at = chip_of(chip)
    step = functools.partial(rl.model(model).decode, S=int(S), chips=int(chips), w=w, kv=kv)
    bound = step(B=int(B)).on(at, at.links[0])
    cache = rl.model(model).kv_bytes_per_token(kv) * B * S

    def too_many(batch: int) -> bool:
        return not step(B=batch).on(at, at.links[0]).fits

    return times(bound, at.links[0].name) | {
        "rate": B / bound.lower,
        "caches": cache / chips / step(B=int(B)).bytes,
        "fitting": bisect.bisect(range(1, 10**7), False, key=too_many),
    }


def of_ring(step: float, N: float, size: float) -> Numbers:
    step = min(step, 2 * (N - 1))
    total = rl.all_reduce(size, N)
    return {
        "done": step,
        "last": 2 * (N - 1),
        "part": 1 / N,
        "slots": N + 2 * (N - 1),
        "places": [*range(1, int(N) + 1)],
        # Piece c reaches chip k in step (k - c) mod N, and finished in as many of the second pass.
        "cells": [
            f"{_parts((chip - piece) % int(N), step, int(N))}/{N:g}"
            for piece in range(int(N))
            for chip in range(int(N))
        ],
        "pass": (N - 1) / N,
        "piece": size / N,
        "sent": step * size / N,
        "share": step / N,
        "total": total,
        "total_share": total / size,
    }


def _parts(distance: int, step: float, N: int) -> int:
    """Return how many parts are in a piece that came from a chip so far before."""
    if distance < step - (N - 1):
        return N
    return distance + 1 if distance <= step else 1


def of_shards(split: str, N: float, result: str, B: float, D: float, F: float) -> Numbers:
    x, w, out = 2 * B * D, 2 * D * F, 2 * B * F
    is_whole = result.startswith("whole")
    whole = (F, B)
    cut = {"B": (F, B / N), "D": whole, "F": (F / N, B)}[split]
    end = whole if is_whole else (F, B / N) if split == "D" else cut
    by = {name: N if name == split else 1 for name in "BDF"}
    shapes = [(D / by["D"], B / by["B"]), (F / by["F"], D / by["D"]), cut, end]
    if split == "D":
        sent = rl.all_reduce(out, N) if is_whole else rl.reduce_scatter(out, N)
    else:
        sent = rl.all_gather(out, N) if is_whole else 0
    return {
        "x_part": x / N if split in "BD" else x,
        "w_part": w / N if split in "DF" else w,
        "written": out if split == "D" else out / N,
        "out": out,
        "sent": sent,
        "times": sent / out,
        "shapes": [shape for one in shapes for shape in [one] * int(N)],
        "part": 1 / N,
        "held": sum((x / N if split in "BD" else x, w / N if split in "DF" else w))
        + (out if split == "D" or is_whole else out / N),
    }


def of_tiles(t: float, step: float) -> Numbers:
    side = 8
    last = (side / t) ** 2 * side
    done = min(step, last)
    total = 2 * side**3 / t
    x, w, out = ([[0] * side for _ in range(side)] for _ in range(3))
    tiles = [(row, column) for row in range(0, side, int(t)) for column in range(0, side, int(t))]
    for now in range(int(done)):
        (row, column), k = tiles[now // side], now % side
        for i in range(int(t)):
            x[row + i][k] += 1
            w[k][column + i] += 1
            for j in range(int(t)):
                out[row + i][column + j] += 1
    below = [line for lines in zip(x, out, strict=True) for line in lines]
    return {
        "cells": [f"{count}" for line in [*w, *below] for count in line if count],
        "done": done,
        "last": last,
        "loaded": 2 * t * done,
        "loaded_bytes": 4 * t * done,
        "total": total,
        "written": t * t * (done // side),
        "piece": max(0, done - 1) % side + 1,
        "tile": max(0, done - 1) // side + 1,
        "tiles": (side / t) ** 2,
        "side": side,
        "most": 2 * side**3,
        "least": 2 * side**2,
        "times": side / t,
        "held": t * t,
        "intensity": 2 * side**3 / (2 * (total + side**2)),
    }


def of_timeline(slices: float, job: str, chip: str) -> Numbers:
    B, D, F = map(int, re.findall(r"= ([\d,]+)", job.replace(",", " ").replace("  ", " ")))
    op, at = rl.matmul(B, D, F), chip_of(chip)
    bound = op.on(at)
    # A load, rounds in which the road stores and loads while the units work, and a store.
    work, load, store = (
        time / slices
        for time in (bound.times["compute"], op.loaded / at["HBM"], op.written / at["HBM"])
    )
    rounds = max(work, load) + (slices - 2) * max(work, load + store) + max(work, store)
    takes = load + (rounds if slices > 1 else work) + store
    return times(bound) | {
        **{"B": B, "D": D, "F": F, "held": op.bytes},
        "slice": op.loaded / slices,
        "loads": slices * load,
        "stores": slices * store,
        "takes": takes,
        "above": takes / bound.lower - 1,
        "math_waits": 1 - bound.times["compute"] / takes,
        "road_waits": 1 - bound.times["HBM"] / takes,
    }


def of_model(**at: Any) -> Numbers:
    """Return a step's times; {} if rooflib can't count or time it."""
    model, chip = rl.model(at["model"]), chip_of(at["chip"])
    digits = re.sub(r"\D", "", str(at["read"]).removesuffix(".0"))
    try:
        w, x = (None if at[name] == "as stored" else at[name] for name in ("w", "x"))
        # As in rooflib.llm.Serving, a chip without the types of a checkpoint computes in bf16.
        lacks = any(of.x and of.x not in chip for of in model.formats)
        types = {"w": w, "x": "bf16" if x is None and w is None and lacks else x}
        sizes = [int(at[name]) for name in ("B", "S", "chips")]
        how = types | {
            "kv": at["kv"],
            "compute": at.get("compute"),
            "expert_parallel": at["experts"] == "whole on a chip",
            "replicas": int(at["replicas"]),
        }
        if at["phase"] == "decode":
            op = model.decode(*sizes, **how)
        else:
            op = model.prefill(*sizes, chunk=int(digits) if digits else None, **how)
        bound = op.on(chip, chip.links[0] if chip.links and op.sent else None)
    except (ValueError, IndexError):
        return PROBLEM
    links = [time for roof, time in bound.times.items() if roof not in ("compute", "HBM")]
    tokens = at["B"] * (1 if at["phase"] == "decode" else at["S"])
    road = chip.links[0] if chip.links and op.sent else None
    spent = {part.name: part.on(chip, road if part.sent else None).lower for part in op.parts}
    largest = max(spent, key=spent.__getitem__)
    color = {"HBM": "blue", "compute": "rust"}
    colors = dict.fromkeys(("blue_spent", "rust_spent", "green_spent"), 0.0)
    for part in op.parts:
        roof = part.on(chip, road if part.sent else None).roof
        colors[f"{color.get(roof, 'green')}_spent"] += float(spent[part.name])
    return times(bound) | {
        **colors,
        "t_link": sum(links),
        "flops": op.flops,
        "bytes": op.bytes,
        "rate": tokens / bound.lower,
        "compute": "+".join(kind for kind in op.amounts if kind in DTYPES),
        "spent": {name: float(time) for name, time in spent.items()},
        "dots": {part.name: part.intensity for part in op.parts if part.flops},
        "largest": largest,
        "largest_share": spent[largest] / sum(spent.values()),
        "routed": any(kind.experts for kind in model.kinds),
        "passes": math.ceil(sizes[1] / int(digits)) if digits and at["phase"] == "prefill" else 1,
    }


ORACLES: dict[str, Callable[..., Numbers]] = {
    "time": of_time,
    "intensity": of_intensity,
    "roofline": of_roofline,
    "one_roof": of_one_roof,
    "chip": of_chip,
    "units": of_units,
    "matmul_blocks": of_matmul_blocks,
    "matmul": of_matmul,
    "chips": of_chips,
    "attention": of_attention,
    "ring": of_ring,
    "shards": of_shards,
    "tiles": of_tiles,
    "timeline": of_timeline,
    "model": of_model,
}


# ---- numbers as they are written

PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
PREFIXES |= {"m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(
    r"(?P<digits>-?\d[\d,]*(?:\.\d+)?)(?:×10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
    r"(?P<percent>%)?(?:\s(?P<prefix>[kMGTPEmµnp])(?=FLOP|OP|B\b|s\b))?"
)


def number(text: str) -> float:
    """Return the number that a text such as "85.5 GB" begins with, in units without a prefix."""
    found = NUMBER.match(text)
    if not found:
        return math.nan
    value = float(found["digits"].replace(",", ""))
    value *= 10.0 ** int((found["power"] or "0").translate(SUPERSCRIPTS))
    return value / 100 if found["percent"] else value * PREFIXES.get(found["prefix"] or "", 1)


def settings(chosen: dict[str, str]) -> dict[str, Any]:
    """Return a figure's settings as numbers and names, from what its controls say."""
    found = {name: number(text) for name, text in chosen.items()}
    is_name = {name for name, value in found.items() if math.isnan(value)}
    return {name: chosen[name] if name in is_name else found[name] for name in chosen}
