"""Exercise 5: parts, cases and misconceptions about a data sheet's figures."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import rooflib as rl
from grading.schema.messages import N_
from grading.schema.misconceptions import wrong
from grading.schema.parts import Exercise, Part, combinations
from grading.schema.ranges import Choice, Printed, Sheets, Whole

# The units that the questions name, and their factors to FLOP/s and bytes/s.
PEAK_UNITS = {"TFLOP/s": 1e12, "PFLOP/s": 1e15}
BANDWIDTH_UNITS = {"B/s": 1, "GB/s": 1e9, "TB/s": 1e12, "Gbit/s": 1e9 / 8}
# Critical batches exceed 100 in these ranges, so rounding one stays within the tolerance.
PEAKS = Printed(2e14, 4e15, PEAK_UNITS)
BANDWIDTHS = Printed(7e11, 9.9e11, BANDWIDTH_UNITS)

PREFIX: dict[str, float] = {"P": 1e15, "T": 1e12, "G": 1e9}
BINARY: dict[str, float] = {"P": 2**50, "T": 2**40, "G": 2**30}
SWAPPED: dict[str, float] = {"P": 1e12, "T": 1e15}


def catalog() -> Iterator[dict[str, Any]]:
    """Yield the catalog's data sheets as printed, in the notebook's format."""
    printed = {(figure.chip, figure.what): figure for figure in rl.figures() if figure.chosen}
    for chip in rl.chips():
        if "bf16" not in chip:
            continue
        peak, memory = printed[chip.name, "peak bf16"], printed[chip.name, "bandwidth"]
        yield {
            "name": chip.name,
            "peak": peak.printed,
            "peak_unit": peak.unit,
            "sparse": peak.sparse,
            "bandwidth": memory.printed,
            "bandwidth_unit": memory.unit,
        }


SHEETS = list(catalog())
H100, B200, V5E = (
    {key: value for key, value in sheet.items() if key != "name"}
    for sheet in SHEETS
    if sheet["name"] in ("H100 SXM", "B200", "TPU v5e")
)


# Invented chips with other names, in another order, using every unit.
INVENTED = [
    {
        "name": name,
        "peak": peak,
        "peak_unit": peak_unit,
        "sparse": sparse,
        "bandwidth": bandwidth,
        "bandwidth_unit": bandwidth_unit,
    }
    for name, peak, peak_unit, sparse, bandwidth, bandwidth_unit in (
        ("Willow", 1.2, "PFLOP/s", True, 6400, "Gbit/s"),
        ("Acorn", 480, "TFLOP/s", False, 9.6e11, "B/s"),
        ("Maple", 2.5, "PFLOP/s", False, 0.8, "TB/s"),
        ("Elm", 300, "TFLOP/s", True, 819, "GB/s"),
    )
]


def close_to(tokens: int) -> list[dict[str, Any]]:
    """Return sheets of chips with a critical batch 4% above or below `tokens`.

    The sheets cover all units.
    """
    memory = 9e11
    return [
        {
            "name": f"{name}{number}",
            "peak": float(f"{ratio * tokens * memory * (1 + sparse) / peak_factor:.6g}"),
            "peak_unit": peak_unit,
            "sparse": sparse,
            "bandwidth": memory / memory_factor,
            "bandwidth_unit": bandwidth_unit,
        }
        for name, ratio in (("Rowan ", 0.96), ("Sorrel ", 1.04))
        for number, (
            sparse,
            (peak_unit, peak_factor),
            (bandwidth_unit, memory_factor),
        ) in enumerate(
            itertools.product((True, False), PEAK_UNITS.items(), BANDWIDTH_UNITS.items()), start=1
        )
    ]


def scale(unit: str, prefixes: dict[str, float] = PREFIX) -> float:
    return prefixes.get(unit[0], 1) / (8 if unit.endswith("bit/s") else 1)


def dense(
    printed: float,
    unit: str,
    sparse: bool,
    factor: float | None = None,
    prefixes: dict[str, float] = PREFIX,
) -> float:
    share = (0.5 if sparse else 1) if factor is None else factor
    return printed * scale(unit, prefixes) * share


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


def bits_for_bytes(
    peak: float, peak_unit: str, sparse: bool, bandwidth: float, bandwidth_unit: str
) -> float:
    memory = one_way(bandwidth, bandwidth_unit.replace("bit", "B"))
    return dense(peak, peak_unit, sparse) / memory


def for_each(way: Callable[..., float]) -> Callable[[list[dict[str, Any]]], dict[str, float]]:
    """Return a function that applies `way` to each of a list of sheets."""
    return lambda sheets: {
        sheet["name"]: way(**{key: value for key, value in sheet.items() if key != "name"})
        for sheet in sheets
    }


def names(
    tokens: Callable[[float, float], float], way: Callable[..., float] = batch
) -> Callable[..., list[str]]:
    """Return a function that lists the chips whose critical batch is exceeded.

    The number of tokens is `tokens(sequences, length)`.
    """
    return lambda sheets, sequences, length: [
        name for name, needed in for_each(way)(sheets).items() if tokens(sequences, length) > needed
    ]


def product(sequences: float, length: float) -> float:
    return sequences * length


def ratios(sheets: list[dict[str, Any]], sequences: int, length: int) -> list[float]:
    """Return the number of tokens divided by each chip's critical batch."""
    return [sequences * length / needed for needed in for_each(batch)(sheets).values()]


def on_sheets(entry: str, value: Any) -> Callable[..., bool]:
    """Return a predicate: whether any sheet has this value in this field."""
    return lambda sheets, **rest: any(sheet[entry] == value for sheet in sheets)


ON_SHEETS: dict[str, Callable[..., bool]] = {
    f"{entry} = {value}": on_sheets(entry, value)
    for entry, values in (
        ("peak_unit", PEAK_UNITS),
        ("bandwidth_unit", BANDWIDTH_UNITS),
        ("sparse", (True, False)),
    )
    for value in values
}

EXERCISE = Exercise(
    name="h100-spec-sheet",
    title="H100 from its spec sheet",
    parts=(
        Part(
            key="dense-peak",
            function="dense_peak",
            points=4,
            hint=N_(
                "Go through one sheet's figure by hand. First turn the prefix of its unit into a "
                "power of ten. Then look at `sparse`: what does the question say that sparsity "
                "does to a printed figure? Must each figure be corrected, or only some?"
            ),
            cases=(
                *(
                    {
                        "printed": sheet["peak"],
                        "unit": sheet["peak_unit"],
                        "sparse": sheet["sparse"],
                    }
                    for sheet in (H100, B200, V5E)
                ),
                {"printed": H100["peak"], "unit": "TFLOP/s", "sparse": False},
                {"printed": 2.5, "unit": "PFLOP/s", "sparse": False},
            ),
            ranges={
                "printed, unit": Printed(1e14, 4e15, PEAK_UNITS),
                "sparse": Choice(True, False),
            },
            branches=combinations(unit=tuple(PEAK_UNITS), sparse=(True, False)),
            misconceptions=(
                wrong("sparse-for-dense", lambda **case: dense(**case, factor=1)),
                wrong("always-halved", lambda **case: dense(**case, factor=0.5)),
                wrong("doubled", lambda **case: dense(**case, factor=2 if case["sparse"] else 1)),
                wrong("prefix-ignored", lambda printed, unit, sparse: printed / (1 + sparse)),
                wrong(
                    "one-prefix-for-all",
                    lambda printed, unit, sparse: dense(printed, "TFLOP/s", sparse),
                ),
                wrong("binary-prefix", lambda **case: dense(**case, prefixes=BINARY)),
                wrong("prefixes-swapped", lambda **case: dense(**case, prefixes=SWAPPED)),
                wrong(
                    "condition-turned-round",
                    lambda **case: dense(**case, factor=1 if case["sparse"] else 0.5),
                ),
            ),
        ),
        Part(
            key="one-way-bandwidth",
            function="one_way_bandwidth",
            points=3,
            hint=N_(
                "There are three separate questions for a figure: which power of ten is its "
                "prefix, does the unit count bits or bytes, and are both directions counted? Make "
                "a table with a row for each of the four units, and fill in how many bytes per "
                "second one of that unit is."
            ),
            cases=(
                {"printed": 3.35, "unit": "TB/s", "both_ways": False},
                {"printed": 900, "unit": "GB/s", "both_ways": True},
                {"printed": 400, "unit": "Gbit/s", "both_ways": False},
                {"printed": 8e12, "unit": "B/s", "both_ways": False},
                {"printed": 640, "unit": "Gbit/s", "both_ways": True},
            ),
            ranges={
                "printed, unit": Printed(5e10, 8e12, BANDWIDTH_UNITS),
                "both_ways": Choice(True, False),
            },
            branches=combinations(unit=tuple(BANDWIDTH_UNITS), both_ways=(True, False)),
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
                wrong("both-ways-doubled", lambda **case: one_way(**case, share=2)),
                wrong(
                    "condition-turned-round",
                    lambda printed, unit, both_ways: one_way(printed, unit, not both_ways),
                ),
            ),
        ),
        Part(
            key="critical-batch",
            function="critical_batch",
            points=5,
            hint=N_(
                "Turn both figures into base units first, with your functions of the parts before. "
                "Memory is printed one way. Then write the intensity of a bf16 matmul in the "
                "small-batch limit: how many operations and how many bytes does one weight bring "
                "for each row of the batch? Set it equal to what the chip asks for."
            ),
            cases=(
                H100,
                B200,
                V5E,
                H100 | {"bandwidth": 9600, "bandwidth_unit": "Gbit/s"},
                V5E | {"peak": 0.8, "peak_unit": "PFLOP/s"},
                B200 | {"bandwidth": 2.4e12, "bandwidth_unit": "B/s"},
                H100 | {"bandwidth": 3350, "bandwidth_unit": "GB/s"},
                V5E | {"bandwidth": 0.9, "bandwidth_unit": "TB/s"},
            ),
            ranges={
                "peak, peak_unit": PEAKS,
                "sparse": Choice(True, False),
                "bandwidth, bandwidth_unit": BANDWIDTHS,
            },
            branches=combinations(peak_unit=tuple(PEAK_UNITS), sparse=(True, False)),
            # Accept answers with a peak rounded from 989.5 to 1000, a little over 1% off.
            tolerance=0.02,
            misconceptions=(
                wrong("sparse-for-dense", sparse_for_dense),
                wrong("always-halved", always_halved),
                wrong("int8-weights", int8_weights),
                wrong("upside-down", upside_down),
                wrong("one-prefix-for-all", one_prefix_for_all),
                wrong("bits-for-bytes", bits_for_bytes),
            ),
        ),
        Part(
            key="critical-batches",
            function="critical_batches",
            points=4,
            hint=N_(
                "A loop over the sheets. Each sheet is a dictionary: its entries are the arguments "
                "of your function of the part before, and its name is the key of the result. Check "
                "one chip by hand against a call of that function."
            ),
            cases=({"sheets": SHEETS}, {"sheets": INVENTED}),
            ranges={"sheets": Sheets(2, 8, PEAKS, BANDWIDTHS)},
            branches=ON_SHEETS,
            kind="numbers",
            tolerance=0.02,
            misconceptions=(
                wrong("sparse-for-dense", for_each(sparse_for_dense)),
                wrong("always-halved", for_each(always_halved)),
                wrong("int8-weights", for_each(int8_weights)),
                wrong("upside-down", for_each(upside_down)),
                wrong("one-prefix-for-all", for_each(one_prefix_for_all)),
                wrong("bits-for-bytes", for_each(bits_for_bytes)),
            ),
        ),
        Part(
            key="enough-on",
            function="enough_on",
            points=4,
            hint=N_(
                "A row of the matmul is a token. Write down how many tokens one replica has in a "
                "step, from the two numbers. The part before gives for each chip from which batch "
                "on it is compute-bound. On which side of that must the tokens be?"
            ),
            cases=(
                {"sheets": SHEETS, "sequences": 2, "length": 128},
                {"sheets": SHEETS, "sequences": 160, "length": 2},
                {"sheets": SHEETS, "sequences": 1, "length": 4096},
                {"sheets": SHEETS, "sequences": 8, "length": 16},
                {"sheets": close_to(256), "sequences": 4, "length": 64},
                {"sheets": INVENTED, "sequences": 2, "length": 2048},
                {"sheets": INVENTED, "sequences": 16, "length": 16},
            ),
            ranges={
                "sheets": Sheets(4, 12, PEAKS, BANDWIDTHS),
                "sequences": Whole(2, 512, power_of_two=True),
                "length": Whole(2, 512, power_of_two=True),
            },
            branches=ON_SHEETS
            | {
                "no chip": lambda **case: max(ratios(**case)) < 1,
                "some chips": lambda **case: min(ratios(**case)) < 1 < max(ratios(**case)),
                "all chips": lambda **case: min(ratios(**case)) > 1,
            },
            # Part 4 accepts a rounded critical batch, so rounding must not change any answer here.
            allowed=lambda **case: all(abs(ratio - 1) > 0.03 for ratio in ratios(**case)),
            kind="names",
            misconceptions=(
                wrong("sequences-for-tokens", names(lambda sequences, length: sequences)),
                wrong("length-alone", names(lambda sequences, length: length)),
                wrong("sum-for-product", names(lambda sequences, length: sequences + length)),
                wrong(
                    "shared-among-chips",
                    lambda sheets, sequences, length: names(product)(
                        sheets, sequences / len(sheets), length
                    ),
                ),
                wrong("sparse-for-dense", names(product, sparse_for_dense)),
                wrong("always-halved", names(product, always_halved)),
                wrong("one-prefix-for-all", names(product, one_prefix_for_all)),
                wrong("int8-weights", names(product, int8_weights)),
                wrong("bits-for-bytes", names(product, bits_for_bytes)),
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
    moral=N_(
        "Half of the sheet's headline, divided by the bandwidth, is the critical batch: on an "
        "H100 it is of the same order as on a TPU. Read the footnotes before you divide."
    ),
    thoughts=N_(
        "The rounding moves the peak, and with it the critical batch, by about one per cent. That "
        "decides nothing where real kernels miss the roof by much more; it could decide whether a "
        "batch just at the border counts as compute-bound, which no one should build on. No rule "
        "of thumb fits all chips: the largest critical batch of the catalog is several times the "
        "smallest."
    ),
)
