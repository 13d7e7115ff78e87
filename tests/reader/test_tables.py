"""A column of a table, in chapters and slides, has in each row the number that its heading names.

Rates and memories come from the catalog, which tests/rooflib compares with the data sheets; all
else is computed here, from the other cells of the row.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from figure_oracles import NUMBER, number
from site_links import parsed

import rooflib as rl
import roofmeter

G, T = 1e9, 1e12
H100, V5E, ALL = rl.chip("H100 SXM"), rl.chip("TPU v5e"), rl.chips(hidden=True)
H200 = rl.chip("H200 SXM")
INTENSITIES = {"ReLU": 1 / 4, "addition": 1 / 6, "RMS norm": 4 / 4, "dot product": 1 / 2}
(RUN,) = (run.figures for run in roofmeter.runs().values())  # the one that the course shows
MEASURED = {"peak, fp32": "peak fp32", "peak, fp64": "peak fp64", "memory, read": "read",
            "memory, updated in place": "update", "a call of numpy": "call"}  # fmt: skip
# What each of eight chips sends, in arrays: on a ring, and behind a switch that adds.
SENT = {"all-gather": (7 / 8, 7 / 8), "reduce-scatter": (7 / 8, 7 / 8), "all-reduce": (14 / 8, 1),
        "all-to-all": (7 / 16, 7 / 64)}  # fmt: skip
SHARES = {
    (one.chip, f"{one.roof} {one.note}".strip()): one.fraction for one in rl.published_shares()
}
WIDTH = {"bf16": 2, "int8": 1}
ALONE = 2 * 4096 * 8192 * 28_672 / H100["bf16"]  # seconds of the introduction's layer on a chip
Row = dict[str, str]  # heading → cell
# What a slide calls a measured step → its seconds.
STEPS = {
    (f"{one.model.split()[-1]}, {one.w}", f"{one.chips} × {one.chip.split()[0]}", f"{one.B}"):
        one.seconds
    for one in rl.published_steps()
}  # fmt: skip


def ridge(chip: rl.Chip, kind: str = "bf16") -> float:
    return float(chip[kind] / chip["HBM"])


def prompt(chip: rl.Chip, kept: float) -> int:
    """Return the length from which causal attention binds compute; kept: heads of keys of a head.

    A query of T has (T + 1) / 2 keys on average; each head loads a row and writes one, and loads
    `kept` rows of keys and as many of values.
    """
    return math.ceil(2 * (1 + kept) * ridge(chip) - 1)


def depth(chips: float, chip: rl.Chip, link: float) -> float:
    """Return the D at which D FLOPs · 2 / chips take as long as a ring's two bytes for each sum."""
    return 2 * (chips - 1) * float(chip["bf16"]) / link


def cached(row: Row, kind: str) -> float:
    """Return the bytes that a sequence of 8,192 positions keeps."""
    return 8192 * float(rl.model(row["model, weights"].split(", ")[0]).kv_bytes_per_token(kind))


def room(row: Row, kind: str) -> float:
    """Return half a sequence less than fit on an H100 beside the weights in bf16."""
    left = H100.memory - 2 * float(rl.model(row["model"]).parameters)
    return math.floor(left / cached({"model, weights": row["model"]}, kind))


def room_of(row: Row) -> float:
    """Return the bytes that so many chips have beside a model's weights."""
    (name, kind), (count, on) = row["model, weights"].split(", "), row["chips"].split(" × ")
    return int(count) * rl.chip(on).memory - WIDTH[kind] * float(rl.model(name).parameters)


def position(row: Row) -> tuple[float, float]:
    """Return the bytes of a position in 32 layers, and how many FLOPs of 32 heads a byte gets."""
    heads, kind = row["heads of keys"].split(", ")
    return 2 * 32 * 128 * int(heads) * WIDTH[kind], 64 / int(heads) / WIDTH[kind]


def binding(B: float, D: float, F: float = 8192) -> str:
    """Return what takes longest on each of two v5e that split D."""
    moved = 2 * (B * D / 2 + D / 2 * F + B * F)
    times = {"compute": B * D * F / V5E["bf16"], "HBM": moved / V5E["HBM"], "ICI": 2 * B * F / 45e9}
    return max(times, key=times.__getitem__)


def ring(size: float, chips: float) -> float:
    """Return what each chip sends in an all-reduce."""
    return 2 * (chips - 1) / chips * size


def rows(B: float) -> float:
    """Return the FLOPs for a byte of the course's layer."""
    return 1 / (1 / B + 1 / 4096 + 1 / 16_384)


def linked(chip: rl.Chip, row: Row) -> float:
    """Return the bandwidth to a peer, for a row that begins with a chip and a link."""
    return float(chip.link(next(iter(row.values())).split(", ")[1]).to_one_peer)


def trained(row: Row) -> float | str:
    """Return what one of eight chips keeps of Llama 3 8B; other rows stay as they are."""
    # Two bytes of each weight, with a whole layer gathered; two of each gradient; 12 of the state.
    layer, model = 2 * 4096 * 5120 + 3 * 4096 * 14_336, float(rl.model("Llama 3 8B").parameters)
    held = {
        "weights": model / 4 + 2 * layer,
        "gradients": model / 4,
        "optimizer’s state": 1.5 * model,
    }
    return held.get(row["on each chip"], row["recomputed"])


def n(row: Row, heading: str) -> float:
    return number(row[heading].lstrip("+").replace("−", "-"))


RIDGES = ("ridge", "ridge, bf16", "ridge point, FLOP/byte")
RIDGES += ("critical batch", "batch, bf16", "summary: bf16")
# Heading, on all pages or on one of them → what stands below it, by the chip and the row.
COLUMNS: dict[str, Callable[[rl.Chip, Row], float | str]] = {
    "bf16, TFLOP/s": lambda chip, row: chip["bf16"] / T,
    "int8, TOP/s": lambda chip, row: chip["int8"] / T,
    "fp8, TFLOP/s": lambda chip, row: chip["fp8"] / T,
    "peak, TFLOP/s": lambda chip, row: chip[row["type"]] / T,
    "peak, bf16": lambda chip, row: chip["bf16"],
    "peak, FLOP/s": lambda chip, row: chip["bf16"],
    "fp32 vector, TFLOP/s": lambda chip, row: chip["vector fp32"] / T,
    "exponentials, T/s": lambda chip, row: chip["exponentials"] / T,
    "HBM, GB": lambda chip, row: chip.memory / G,
    "HBM, GB/s": lambda chip, row: chip["HBM"] / G,
    "HBM, B/s": lambda chip, row: chip["HBM"],
    "intensity: HBM": lambda chip, row: chip["HBM"],
    "time: HBM": lambda chip, row: chip.memory,
    "size": lambda chip, row: chip.on_chip[row["memory"]],
    "per link, GB/s": lambda chip, row: chip.link(row["link"]).bandwidth / G,
    "to one peer, GB/s": lambda chip, row: chip.link(row["link"]).to_one_peer / G,
    "in total, GB/s": lambda chip, row: chip.link(row["link"]).total / G,
    "to a peer, GB/s": lambda chip, row: chip.links[0].to_one_peer / G,
    "one way, over this road": lambda chip, row: chip[row["road"].split(", ")[1]],
    "slower than HBM": lambda chip, row: chip["HBM"] / n(row, "one way, over this road"),
    "time for a gigabyte": lambda chip, row: 1e9 / n(row, "one way, over this road"),
    "peak of the sheet": lambda chip, row: chip[row["in"]],
    "of the sheet": lambda chip, row: n(row, "best published") / n(row, "peak of the sheet"),
    "in bytes": lambda chip, row: (
        (1 + n(row, "more by")) * number(row["on the sheet"].split()[0]) * G
    ),
    "elsewhere": lambda chip, row: (1 + n(row, "differs by")) * n(row, "the catalog"),
    "moves the ridge point by": lambda chip, row: V5E["HBM"] / G / n(row, "value, GB/s") - 1,
    # ridge points, and sizes from which a chip is busy
    **dict.fromkeys(RIDGES, lambda chip, row: ridge(chip, row.get("type", "bf16"))),
    "its ridge, FLOP/byte": lambda chip, row: ridge(chip, "vector fp32"),
    "ridge with HBM": lambda chip, row: ridge(H100, row["ceiling"]),
    "ridge with NVLink": lambda chip, row: H100[row["ceiling"]] / 450e9,
    "int8 weights": lambda chip, row: ridge(chip) / 2,
    "all fp8": lambda chip, row: ridge(chip, "fp8") / 2,
    "ridge, tf32": lambda chip, row: ridge(chip, "tf32"),
    "batch, tf32": lambda chip, row: 2 * ridge(chip, "tf32"),
    "ridge, fp32": lambda chip, row: ridge(chip, "vector fp32"),
    "batch, fp32": lambda chip, row: 2 * ridge(chip, "vector fp32"),
    "every head has its own keys": lambda chip, row: prompt(chip, 1),
    "four heads share them": lambda chip, row: prompt(chip, 1 / 4),
    "a prompt is compute-bound from": lambda chip, row: prompt(chip, 1 / 4),
    "decode, of peak": lambda chip, row: 4 / ridge(chip),
    "cache of 8,192 positions, read in": lambda chip, row: 8192 * 2**17 / chip["HBM"],
    "times the ridge point": lambda chip, row: n(row, "exact critical batch") / ridge(V5E),
    "D, two chips": lambda chip, row: depth(2, chip, chip.links[0].to_one_peer),
    "D, the book": lambda chip, row: depth(2, chip, n(row, "the book, GB/s") * G),
    "D, Google": lambda chip, row: depth(2, chip, n(row, "Google, GB/s") * G),
    "chips: D at least": lambda chip, row: depth(n(row, "chips"), V5E, 45e9),
    "TPU v5e: D at least": lambda chip, row: depth(n(row, "chips"), V5E, 45e9),
    "H100 SXM: D at least": lambda chip, row: depth(n(row, "chips"), H100, 450e9),
    "homework: D at least": lambda chip, row: depth(n(row, "H100"), H100, 450e9),
    "times as wide": lambda chip, row: n(row, "chips") - 1,
    **{
        f"N = {count}": lambda chip, row, count=count: rl.critical_depth(chip, row["over"], count)
        for count in (2, 4, 8)
    },
    # what is sent, kept and reached
    "each sends, of the output": lambda chip, row: 2 - 2 / n(row, "chips"),
    "each sends, ring": lambda chip, row: 2 - 2 / n(row, "chips"),
    "each sends, to everybody": lambda chip, row: n(row, "chips") - 1,
    "all together, ring": lambda chip, row: 2 * n(row, "chips") - 2,
    "of the bandwidth": lambda chip, row: n(row, "bytes alone") / n(row, "measured"),
    "scores kept": lambda chip, row: n(row, "tokens") * 128 * 2 * (2 * 32 + 2 * 8),
    "FLOP/byte, written": lambda chip, row: (
        n(row, "FLOP/byte, kept") * n(row, "scores kept") / n(row, "scores written")
    ),
    **{  # a whole number, up to one less
        f"sequences that fit, caches in {kind}": lambda chip, row, kind=kind: (
            n(row, "left for caches") / cached(row, kind) - 0.5
        )
        for kind in ("bf16", "int8")
    },
    "10,000 positions": lambda chip, row: 10_000 * n(row, "a position, all layers"),
    "H100, of peak": lambda chip, row: n(row, "FLOP/byte") / ridge(H100),
    "intensity divided by B": lambda chip, row: n(row, "FLOP/byte") / n(row, "B"),
    "sums on the chip, in fp32": lambda chip, row: 4 * n(row, "side t") ** 2,
    "attainable": lambda chip, row: min(V5E["bf16"], n(row, "FLOP/byte") * V5E["HBM"]),
    "roofline: of the peak": lambda chip, row: n(row, "attainable") / V5E["bf16"],
    # A faster memory helps all the way, part of it, or not at all.
    "roofline: H100 SXM": lambda chip, row: "compute" if n(row, "faster") == 1 else "HBM",
    "roofline: H200 SXM": lambda chip, row: "HBM" if n(row, "faster") > 1.4 else "compute",
    "tokens, by the rule 8D": lambda chip, row: 8 * n(row, "D"),
    "with its own shapes, causal": lambda chip, row: 2 * n(row, "with its own shapes"),
    "best": lambda chip, row: RUN[MEASURED[row["what"]]].best,
    "typical": lambda chip, row: RUN[MEASURED[row["what"]]].median,
    "spread": lambda chip, row: RUN[MEASURED[row["what"]]].spread,
    "of the read bandwidth": lambda chip, row: (
        n(row, "loaded, with the hidden load") / RUN["read"].median
    ),
    "own-model: recomputed": lambda chip, row: trained(row),
    "weight": lambda chip, row: math.exp(n(row, "score")) / (2 * math.e + math.exp(3)),
    "a position, all layers": lambda chip, row: position(row)[0],
    "attention: FLOP/byte": lambda chip, row: position(row)[1],
    "FLOP/byte, kept": lambda chip, row: 0.4 * (n(row, "tokens") + 1),
    # Of 32 heads, each score is written once and loaded once.
    "scores written": lambda chip, row: n(row, "scores kept") + 2 * 2 * 32 * n(row, "tokens") ** 2,
    "introduction: computing": lambda chip, row: ALONE / n(row, "chips"),
    "introduction: sending": lambda chip, row: ring(2 * 4096 * 28_672, n(row, "chips")) / 450e9,
    "times faster": lambda chip, row: ALONE / max(n(row, "computing"), n(row, "sending")),
    "one H100": lambda chip, row: {"ba": H100["HBM"], "co": H100["bf16"], "ca": H100.memory}[
        row["of the chip"][:2]
    ],
    "time: fits": lambda chip, row: "yes" if chip.memory >= 140e9 else "no",
    "share of peak": lambda chip, row: SHARES[row["chip"], row["what"]],
    "hardware: of the peak": lambda chip, row: SHARES[row["chip"], row["roof"]],
    "intensity: FLOP/byte": lambda chip, row: (2 * n(row, "n") - 1) / (4 * n(row, "n") + 2),
    "faster": lambda chip, row: {"first": H200["HBM"] / H100["HBM"], "second": 1}.get(
        row["algorithm"], ridge(H100) / rows(256)
    ),
    "first": lambda chip, row: 1 if "peak" in row["change"] else 2,
    "second": lambda chip, row: rows(512) / ridge(H100) if "peak" in row["change"] else 1,
    "matmul: FLOP/byte": lambda chip, row: (
        rows(n(row, "B")) if "B" in row else 1 / (2 / n(row, "side t") + 1 / 16_384)
    ),
    "exact critical batch": lambda chip, row: ridge(V5E) / (1 - 2 * ridge(V5E) / n(row, "D = F")),
    "roof, of peak": lambda chip, row: min(1, n(row, "side t") / 2 / ridge(V5E)),
    "each computes": lambda chip, row: f"1/{row['chips']}",
    "replicated": lambda chip, row: 2 * 3 / 4 if row["split"] == "D" else 3 / 4,
    "sharded": lambda chip, row: 3 / 4 if row["split"] == "D" else 0,
    **{
        f"chips: B = {B}": lambda chip, row, B=B: binding(B, n(row, "D"))
        for B in (16, 64, 256, 512)
    },
    "bytes alone": lambda chip, row: ring(n(row, "all-reduce of"), 8) / 300e9,
    "left for caches": lambda chip, row: room_of(row),
    "with its own shapes": lambda chip, row: (
        (2 + 2 * rl.model(row["model"]).K / rl.model(row["model"]).N) / 2 * n(row, "D")
        + 3 / 2 * rl.model(row["model"]).F
    ),
    "8 v5e": lambda chip, row: SENT[row["collective"]][0] * 2 * 8192 * 4096 / 45e9,
    "8 H100": lambda chip, row: SENT[row["collective"]][1] * 2 * 8192 * 4096 / 450e9,
    "intensity, large n, D and F": lambda chip, row: INTENSITIES.get(
        row["operation in bf16"].removesuffix(" of [n]"), row["intensity, large n, D and F"]
    ),
    "decode, one sequence": lambda chip, row: 8 / (1 + 8 / n(row, "tokens")),
    "decode, 50 sequences": lambda chip, row: 8 / (1 + 8 / n(row, "tokens")),
    "homework: prefill": lambda chip, row: 64 * (n(row, "tokens") + 1) / 2 / (64 + 8),
    "prefill on H100 binds": lambda chip, row: (
        "compute" if n(row, "prefill") > ridge(H100) else "HBM"
    ),
    "faster, F split and left in pieces": lambda chip, row: n(row, "H100"),
    "machine: FLOP/byte": lambda chip, row: n(row, "n") / 6,
    "tokens of an expert": lambda chip, row: n(row, "chunk, tokens") * 8 / 128,
    "tokens/s of each chip, at most": lambda chip, row: 128 / n(row, "time per token, at least"),
    "tokens/s in all, at most": lambda chip, row: 16 / n(row, "time per token, at least"),
    # slides
    "GPU": lambda chip, row: "a TPU" if "TPU" in chip.name else chip.name,
    "TPU": lambda chip, row: chip.name.removeprefix("TPU ") if "TPU" in chip.name else "a GPU",
    "slides/roofline: FLOP/byte": lambda chip, row: (
        INTENSITIES[row["operation in bf16"]] if "operation in bf16" in row else ridge(chip)
    ),
    "slides/roofline: bf16": lambda chip, row: chip["bf16"] if "time" in row else ridge(chip),
    "int4 weights": lambda chip, row: ridge(chip) / 4,
    "slides/roofline: HBM": lambda chip, row: chip["HBM"],
    "slides/roofline: time": lambda chip, row: (
        1e12 / chip["bf16"] if "bf16" in row else 16e9 / chip["HBM"]
    ),
    "to a peer, one way": linked,
    "its HBM is faster": lambda chip, row: chip["HBM"] / linked(chip, row),
    "slides/roofline: D at least": lambda chip, row: depth(2, chip, linked(chip, row)),
    "exponentials per second": lambda chip, row: chip["exponentials"],
    "of the matmuls’ time in bf16": lambda chip, row: chip["bf16"] / 512 / chip["exponentials"],
    "slides/attention: in fp8": lambda chip, row: chip["fp8"] / 512 / chip["exponentials"],
    "slides/attention: FLOP/byte": lambda chip, row: (
        position(row)[1] if "heads of keys" in row else {"w": 4}.get(row["attention"][0], 3277.2)
    ),
    "a position, 32 layers": lambda chip, row: position(row)[0],
    "at most": lambda chip, row: (
        0.05 * {"c": H100["bf16"], "l": H100["HBM"], "s": 450e9}[row[""][0]]
    ),
    "own keys": lambda chip, row: prompt(chip, 1),
    "four heads share": lambda chip, row: prompt(chip, 1 / 4),
    "cache in bf16": lambda chip, row: room(row, "bf16"),
    "slides/attention: in int8": lambda chip, row: room(row, "int8"),
    "slides/attention: measured": lambda chip, row: STEPS[
        row["Llama 2"], row["chips"], row["batch"]
    ],
    "slides/attention: bound": lambda chip, row: min(n(row, "bound"), n(row, "measured")),
}


def tables(site: Path) -> Iterator[tuple[str, list[Row]]]:
    for path in sorted([*site.glob("chapters/*.html"), *site.glob("slides/*.html")]):
        page = f"slides/{path.stem}" if path.parent.name == "slides" else path.stem
        for table in parsed(path).select(":is(article, .slides) table:has(thead)"):
            lines = [
                [" ".join(cell.get_text().split()) for cell in line.select("th, td")]
                for line in table.select("tr")
            ]
            # Slides have TPUs beside GPUs.
            middle = lines[0].index("TPU") if "TPU" in lines[0] else None
            for part in (slice(middle), slice(middle, None))[: 2 if middle else 1]:
                rows = [dict(zip(lines[0][part], line[part], strict=True)) for line in lines[1:]]
                yield page, [row for row in rows if any(row.values())]


def chip_of(row: Row) -> rl.Chip:
    """Return the chip that a row begins with, otherwise the one that tables are about."""
    name = row.get("road", next(iter(row.values()))).split(", ")[0]
    known = {one.name.removeprefix("TPU ") if "TPU" in row else one.name: one for one in ALL}
    return known.get(name, V5E)


def says(text: str, value: float | str) -> bool:
    """Whether a cell has the number, to the digits that it and its neighbors show."""
    if isinstance(value, str):
        return text == value
    shown = text.lstrip("+")
    found = NUMBER.match(shown)
    if not found or not math.isfinite(value):
        return False
    last = 10.0 ** -len(found["digits"].partition(".")[2])
    unit = abs(number(shown) / (float(found["digits"].replace(",", "")) or 1))
    return abs(number(shown) - value) <= 0.51 * last * unit + 0.008 * abs(value)


def test_a_column_has_what_its_heading_names(site: Path) -> None:
    seen, wrong = Counter[str](), []
    for page, rows in tables(site):
        for row in rows:
            chip = chip_of(row)
            for heading, cell in row.items():
                key = f"{page}: {heading}" if f"{page}: {heading}" in COLUMNS else heading
                if key in COLUMNS and cell not in ("–", "∞", ""):
                    seen[key] += 1
                    value = COLUMNS[key](chip, row)
                    if not says(cell, value):
                        wrong.append(f"{page}: {heading}: {cell}, not {value}, in {row}")
    assert not wrong, "\n".join(wrong[:20])
    assert set(COLUMNS) - set(seen) == set(), "no table has these columns"
