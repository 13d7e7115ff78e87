"""Exercise 5: what is asked of a data sheet's figures; known misconceptions."""

from collections.abc import Callable, Iterator
from typing import Any

import rooflib as rl
from grading.schema.misconceptions import wrong
from grading.schema.parts import Exercise, Part
from grading.schema.ranges import Choice, Real, Sheets, Whole

PREFIX: dict[str, float] = {"P": 1e15, "T": 1e12, "G": 1e9}
BINARY: dict[str, float] = {"P": 2**50, "T": 2**40, "G": 2**30}


def catalogue() -> Iterator[dict[str, Any]]:
    """The sheets of the catalogue as they are printed, in the shape that the notebook shows."""
    printed = {(figure.chip, figure.what): figure for figure in rl.data_points() if figure.chosen}
    for chip in rl.chips():
        peak, memory = printed[chip.name, "peak bf16"], printed[chip.name, "bandwidth"]
        yield {
            "name": chip.name,
            "peak": peak.printed,
            "peak_unit": peak.unit,
            "sparse": peak.sparse,
            "bandwidth": memory.printed,
            "bandwidth_unit": memory.unit,
        }


SHEETS = list(catalogue())
H100, B200, V5E = (
    {key: value for key, value in sheet.items() if key != "name"}
    for sheet in SHEETS
    if sheet["name"] in ("H100 SXM", "B200", "TPU v5e")
)


def scale(unit: str, prefixes: dict[str, float] = PREFIX) -> float:
    return prefixes.get(unit[0], 1) / (8 if unit.endswith("bit/s") else 1)


def dense(printed: float, unit: str, sparse: bool, factor: float | None = None) -> float:
    share = (0.5 if sparse else 1) if factor is None else factor
    return printed * scale(unit) * share


def one_way(
    printed: float,
    unit: str,
    both_ways: bool = False,
    share: float = 0.5,
    prefixes: dict[str, float] = PREFIX,
) -> float:
    return printed * scale(unit, prefixes) * (share if both_ways else 1)


def batch(
    peak: float,
    peak_unit: str,
    sparse: bool,
    bandwidth: float,
    bandwidth_unit: str,
    factor: float | None = None,
) -> float:
    return dense(peak, peak_unit, sparse, factor) / one_way(bandwidth, bandwidth_unit)


def upside_down(**sheet: Any) -> float:
    return 1 / batch(**sheet)


def int8_weights(**sheet: Any) -> float:
    return batch(**sheet) / 2


def sparse_for_dense(**sheet: Any) -> float:
    return batch(**sheet, factor=1)


def always_halved(**sheet: Any) -> float:
    return batch(**sheet, factor=0.5)


def one_prefix_for_all(
    peak: float, peak_unit: str, sparse: bool, bandwidth: float, bandwidth_unit: str
) -> float:
    return dense(peak, "TFLOP/s", sparse) / one_way(bandwidth, "TB/s")


def for_each(way: Callable[..., float]) -> Callable[[list[dict[str, Any]]], dict[str, float]]:
    """The way `way` of taking one sheet, taken for a list of sheets."""
    return lambda sheets: {
        sheet["name"]: way(**{key: value for key, value in sheet.items() if key != "name"})
        for sheet in sheets
    }


def names(
    tokens: Callable[[float, float], float], way: Callable[..., float] = batch
) -> Callable[..., list[str]]:
    """The chips that `tokens(sequences, length)` tokens would be enough for."""
    return lambda sheets, sequences, length: [
        name for name, needed in for_each(way)(sheets).items() if tokens(sequences, length) > needed
    ]


def product(sequences: float, length: float) -> float:
    return sequences * length


EXERCISE = Exercise(
    name="h100-spec-sheet",
    title="H100 from its spec sheet",
    parts=(
        Part(
            key="dense-peak",
            function="dense_peak",
            points=4,
            cases=tuple(
                {"printed": sheet["peak"], "unit": sheet["peak_unit"], "sparse": sheet["sparse"]}
                for sheet in (H100, B200, V5E)
            ),
            ranges={
                "printed": Real(1, 4000),
                "unit": Choice("TFLOP/s", "PFLOP/s"),
                "sparse": Choice(True, False),
            },
            misconceptions=(
                wrong("sparse-for-dense", lambda **case: dense(**case, factor=1)),
                wrong("always-halved", lambda **case: dense(**case, factor=0.5)),
                wrong("doubled", lambda **case: dense(**case, factor=2 if case["sparse"] else 1)),
                wrong("prefix-ignored", lambda printed, unit, sparse: printed / (1 + sparse)),
                wrong(
                    "one-prefix-for-all",
                    lambda printed, unit, sparse: dense(printed, "TFLOP/s", sparse),
                ),
            ),
        ),
        Part(
            key="one-way-bandwidth",
            function="one_way_bandwidth",
            points=3,
            cases=(
                {"printed": 3.35, "unit": "TB/s", "both_ways": False},
                {"printed": 900, "unit": "GB/s", "both_ways": True},
                {"printed": 400, "unit": "Gbit/s", "both_ways": False},
                {"printed": 8e12, "unit": "B/s", "both_ways": False},
            ),
            ranges={
                "printed": Real(1, 4000),
                "unit": Choice("GB/s", "TB/s", "Gbit/s"),
                "both_ways": Choice(True, False),
            },
            misconceptions=(
                wrong("both-ways", lambda **case: one_way(**case, share=1)),
                wrong(
                    "bits-for-bytes",
                    lambda printed, unit, both_ways: one_way(
                        printed, unit.replace("bit", "B"), both_ways
                    ),
                ),
                wrong("prefix-ignored", lambda printed, unit, both_ways: printed / (1 + both_ways)),
                wrong(
                    "one-prefix-for-all",
                    lambda printed, unit, both_ways: one_way(printed, "TB/s", both_ways),
                ),
                wrong("binary-prefix", lambda **case: one_way(**case, prefixes=BINARY)),
            ),
        ),
        Part(
            key="critical-batch",
            function="critical_batch",
            points=5,
            cases=(H100, B200, V5E),
            ranges={
                "peak": Real(200, 4000),
                "peak_unit": Choice("TFLOP/s"),
                "sparse": Choice(True, False),
                "bandwidth": Real(700, 1900),
                "bandwidth_unit": Choice("GB/s"),
            },
            # A peak of 989.5 that is rounded to 1000 moves the batch by a little over 1%.
            tolerance=0.02,
            misconceptions=(
                wrong("sparse-for-dense", sparse_for_dense),
                wrong("always-halved", always_halved),
                wrong("int8-weights", int8_weights),
                wrong("upside-down", upside_down),
                wrong("one-prefix-for-all", one_prefix_for_all),
            ),
        ),
        Part(
            key="critical-batches",
            function="critical_batches",
            points=4,
            cases=({"sheets": SHEETS},),
            ranges={"sheets": Sheets(6)},
            kind="numbers",
            tolerance=0.02,
            misconceptions=(
                wrong("sparse-for-dense", for_each(sparse_for_dense)),
                wrong("always-halved", for_each(always_halved)),
                wrong("int8-weights", for_each(int8_weights)),
                wrong("upside-down", for_each(upside_down)),
                wrong("one-prefix-for-all", for_each(one_prefix_for_all)),
            ),
        ),
        Part(
            key="enough-on",
            function="enough_on",
            points=4,
            cases=(
                {"sheets": SHEETS, "sequences": 2, "length": 128},
                {"sheets": SHEETS, "sequences": 160, "length": 2},
                {"sheets": SHEETS, "sequences": 1, "length": 4096},
                {"sheets": SHEETS, "sequences": 8, "length": 16},
            ),
            ranges={
                "sheets": Sheets(12),
                "sequences": Whole(2, 512, power_of_two=True),
                "length": Whole(2, 512, power_of_two=True),
            },
            kind="names",
            misconceptions=(
                wrong("sequences-for-tokens", names(lambda sequences, length: sequences)),
                wrong("length-alone", names(lambda sequences, length: length)),
                wrong("sparse-for-dense", names(product, sparse_for_dense)),
                wrong("always-halved", names(product, always_halved)),
                wrong("one-prefix-for-all", names(product, one_prefix_for_all)),
                wrong("int8-weights", names(product, int8_weights)),
                wrong("all-chips", lambda sheets, **batch: [sheet["name"] for sheet in sheets]),
                wrong(
                    "the-others",
                    lambda sheets, sequences, length: [
                        name
                        for name, needed in for_each(batch)(sheets).items()
                        if not sequences * length > needed
                    ],
                ),
            ),
        ),
    ),
)
