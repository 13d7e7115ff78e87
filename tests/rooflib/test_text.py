"""Numbers, tables and results are shown as a person reads them."""

import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

SPACE = "\N{NO-BREAK SPACE}"
SHOWN = [
    (1.0111e-3, "s", "1.01 ms"),
    (9.996e-4, "s", "1 ms"),
    (-1e-3, "s", "−1 ms"),
    (1.5e-7, "s", "150 ns"),
    (2e-12, "s", "2 ps"),
    (9e-19, "s", "9×10⁻¹⁹ s"),
    (90, "s", "90 s"),
    (0, "s", "0 s"),
    (-0.0, "s", "0 s"),
    (math.inf, "s", "∞ s"),
    (-math.inf, "", "−∞"),
    (0.25, "B", "0.25 B"),
    (999.6, "B", "1 kB"),
    (2.5e6, "OP", "2.5 MOP"),
    (9.895e14, "FLOP/s", "990 TFLOP/s"),
    (9.999e14, "FLOP/s", "1 PFLOP/s"),
    *((3.14 * 1e3**i, "FLOP", f"3.14 {prefix}FLOP") for i, prefix in enumerate("kMGTPEZY", 1)),
    (3.14e28, "FLOP", "3.14×10²⁸ FLOP"),
    (3.35e12, "B/s", "3.35 TB/s"),
    (240.537, "FLOP/B", "241 FLOP/B"),
    (8756, "", "8,756"),
    (-2.5, "", "−2.5"),
    (0.00213, "", "0.00213"),
    (9e-7, "", "9×10⁻⁷"),
    (math.nan, "", "not a number"),
]


@pytest.mark.parametrize(("value", "unit", "shown"), SHOWN)
def test_a_number_is_shown_with_three_digits_and_a_prefix_that_suits_it(value, unit, shown):
    found = f"{rl.Quantity(value, unit)}"
    assert found == shown.replace(" ", SPACE if unit else " ")
    assert repr(rl.Quantity(value, unit)) == shown


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-12, 1e23), st.sampled_from(["FLOP", "B", "B/s", "FLOP/s"]))
def test_a_shown_number_is_the_number_to_three_digits(value, unit):
    number, prefixed = f"{rl.Quantity(value, unit)}".split(SPACE)
    prefix = prefixed.removesuffix(unit)
    if "×" in number:
        number = number.replace("×10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    factor = {"": 1, **{each: 1e3**i for i, each in enumerate("kMGTPEZY", start=1)}}[prefix]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=6e-3)


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-9, 1, exclude_max=True))
def test_a_share_is_never_rounded_to_nothing_or_to_all(share):
    shown = f"{rl.Quantity(share, '%')}"
    assert shown not in ("0%", "100%")
    number = re.sub("×10⁻(.+)", lambda found: f"e-{found[1]}", shown.removesuffix("%"))
    number = number.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    assert float(number) == pytest.approx(100 * share, rel=0.06)


# A sum, product or quotient of quantities, and what is shown of it.
S, B, FLOP = (rl.Quantity(2.0, unit) for unit in ("s", "B", "FLOP"))
COMBINED = [
    (B / S, "1 B/s"),
    (FLOP / S, "1 FLOP/s"),
    (FLOP / B, "1 FLOP/byte"),
    (B / (B / S), "2 s"),
    ((FLOP / S) / (B / S), "1 FLOP/byte"),
    ((FLOP / B) * (B / S), "1 FLOP/s"),
    ((B / S) * S, "2 B"),
    (3 * S + S / 2, "7 s"),
    (sum([S, S]), "4 s"),
    (1 - rl.Quantity(0.25, "%"), "75%"),
    (S / S, "1"),
    (max(S, 3 * S), "6 s"),
]


@pytest.mark.parametrize(("found", "shown"), COMBINED)
def test_arithmetic_keeps_the_unit_where_it_is_a_simple_one(found, shown):
    assert f"{found}".replace(SPACE, " ") == shown
    assert isinstance(found, rl.Quantity)


def test_other_arithmetic_gives_plain_numbers():
    for found in (S * S, 1 / S, S + B, S**2, S * np.ones(2), np.float64(2) * S):
        assert not isinstance(found, rl.Quantity)
    assert float(S) == 2
    assert (math.floor(rl.Quantity(2.5)), math.ceil(rl.Quantity(2.5))) == (2, 3)
    assert math.ceil(rl.Quantity(math.inf)) == math.inf


@pytest.mark.parametrize("sent", [S, rl.chip("H100 SXM"), rl.matmul(1, 2, 3).on("TPU v5e")])
def test_what_goes_to_another_process_prints_the_same(sent):
    assert repr(pickle.loads(pickle.dumps(sent))) == repr(sent)


# A quantity, a format, and what it gives.
FORMATS = [
    (rl.Quantity(1.2345e-3, "s"), "4", "1.234 ms"),
    (rl.Quantity(240.537, "FLOP/byte"), "n", "241"),
    (rl.Quantity(240.537, "FLOP/byte"), "5n", "240.54"),
    (rl.Quantity(0.5), "%", "50%"),
    (rl.Quantity(0.00208, "%"), "", "0.21%"),
    (rl.Quantity(0.999, "%"), "", "99.9%"),
    (rl.Quantity(0.0, "%"), "", "0%"),
    (rl.Quantity(1.0, "%"), "", "100%"),
    (rl.Quantity(0.1234, "%"), "3", "12.3%"),
    (rl.Quantity(12000, "FLOP"), ",", "12,000"),
    (rl.Quantity(1234.5), ",", "1,234.5"),
    (rl.Quantity(2.5, "s"), ".2f", "2.50"),
    (rl.Quantity(1.97e14, "FLOP/s"), "e", "1.97×10¹⁴ FLOP/s"),
    (rl.Quantity(2e-7), "e", "2×10⁻⁷"),
]


@pytest.mark.parametrize(("value", "how", "shown"), FORMATS)
def test_a_format_sets_digits_unit_and_notation(value, how, shown):
    assert format(value, how).replace(SPACE, " ") == shown


def test_a_table_is_text_in_a_terminal_and_markdown_in_a_notebook():
    rates, batches = [rl.Quantity(4.5e10, "B/s"), "–"], [1234, rl.Quantity(math.inf)]
    table = rl.Table({"chip": ["A", "long | name"], "rate": rates, "batch": batches})
    assert str(table).splitlines() == ["chip            rate  batch", "A            45 GB/s  1,234",
                                       "long | name        –      ∞"]  # fmt: skip
    assert table._repr_markdown_().splitlines() == [
        "| chip | rate | batch |", "| :-- | --: | --: |", f"| A | 45{SPACE}GB/s | 1,234 |",
        r"| long \| name | – | ∞ |",
    ]  # fmt: skip
    # In a terminal, a Chinese character is as wide as two others.
    chinese = rl.Table({"芯片": ["A", "很长的名字"], "n": [5, 20]})
    assert str(chinese).splitlines() == ["芯片         n", "A            5", "很长的名字  20"]


WIRES = (rl.Link("near", 4e10, 2, latency=1e-6), rl.Link("far", 1e9, topology="host"))
RATES = {"bf16": 2e14, "int8": 4e14, "vector fp32": 5e12, "exponentials": 1e12, "HBM": 1e12}
MINE = rl.Chip("mine", RATES, 16e9, WIRES, on_chip={"VMEM": 128e6, "L2": 4e6})
# 8 · 1,024 pairs take 4 · 64 FLOPs each. Of 2 bytes: 8 · 64 of q and of the result, 2 · 2 · 64 of
# keys and values at 1,024 positions; scores and probabilities twice, of which one array is held.
ATTENTION = rl.attention(1, 1, 1024, 8, 2, 64, fused=False)
# 2 · 20 · 1,000 · 3,000 FLOPs, 0.6 µs; 40 kB + 6 MB loaded, 120 kB written, 6.16 µs; a half of
# 120 kB twice, 3 µs, and two hops.
SPLIT = rl.split("D", 2, 20, 2000, 3000).named("split")
TWO = (SPLIT + rl.matmul(20, 1000, 20, x="int8").named("small")).on(MINE, "near")
SWEEP = rl.matmul(np.array([1, 100_000]), 70_000, 70_000).on(MINE)
# An object, and the cells after the first of each row of its table.
TABLES = [
    (MINE, [("200 TFLOP/s", "200"), ("400 TOP/s", "400"), ("5 TFLOP/s", "5"), ("1 TOP/s", ""),
            ("1 TB/s, 16 GB", ""), ("128 MB", ""), ("4 MB", ""), ("40 GB/s, 1 µs a hop", ""),
            ("1 GB/s", "")]),
    (ATTENTION.on(MINE), ["2.1 MFLOP", "bf16", "558 kB", "33.8 kB", "3.54 FLOP/byte", "10.5 ns",
                          "6.55 ns", "8.19 ns", "592 ns", "HBM", "592 ns", "617 ns", "3.54 TFLOP/s",
                          "1.8%", "543 kB of 16 GB"]),
    (SPLIT.on(MINE, "near"), ["120 MFLOP", "bf16", "6.04 MB", "120 kB", "120 kB", "19.5 FLOP/byte",
                              "600 ns", "6.16 µs", "5 µs", "HBM", "6.16 µs", "11.8 µs",
                              "19.5 TFLOP/s", "9.7%", "6.16 MB of 16 GB"]),
    (rl.matmul(200, 64, 64, "int8").on(MINE), ["1.64 MOP", "int8", "16.9 kB", "12.8 kB",
                                               "55.2 FLOP/byte", "4.1 ns", "29.7 ns", "HBM",
                                               "29.7 ns", "33.8 ns", "55.2 TOP/s", "14%",
                                               "29.7 kB of 16 GB"]),
    (SWEEP, ["9.8 GFLOP to 980 TFLOP", "bf16", "9.8 GB to 23.8 GB", "140 kB to 14 GB",
             "1 FLOP/byte to 25,926 FLOP/byte", "49 µs to 4.9 s", "9.8 ms to 37.8 ms",
             "compute or HBM", "9.8 ms to 4.9 s", "9.85 ms to 4.94 s",
             "1 TFLOP/s to 200 TFLOP/s", "0.5% to 100%",
             "9.8 GB to 37.8 GB of 16 GB, does not always fit"]),
    (rl.matmul(*[100_000] * 3).on(MINE), ["2 PFLOP", "bf16", "40 GB", "20 GB", "33,333 FLOP/byte",
                                          "10 s", "60 ms", "compute", "10 s", "10.1 s",
                                          "200 TFLOP/s", "100%", "60 GB of 16 GB, does not fit"]),
    (TWO.parts, [("120 MFLOP", "6.04 MB", "120 kB", "6.16 MB", "120 kB", "19.5", "600 ns",
                  "6.16 µs", "5 µs", "HBM", "99%"),
                 ("800 kFLOP", "40 kB", "400 B", "40.4 kB", "0 B", "19.8", "2 ns", "40.4 ns",
                  "0 s", "HBM", "0.65%"),
                 ("121 MFLOP", "6.08 MB", "120 kB", "6.2 MB", "120 kB", "19.5", "602 ns",
                  "6.2 µs", "5 µs", "HBM", "100%")]),
    (rl.matmul(200, 64, 64, "int8").on(MINE).parts,
     2 * [("1.64 MOP", "16.9 kB", "12.8 kB", "29.7 kB", "0 B", "55.2", "4.1 ns", "29.7 ns", "HBM",
           "100%")]),
]  # fmt: skip


@pytest.mark.parametrize(("found", "cells"), TABLES, ids=lambda each: type(each).__name__)
def test_every_cell_of_a_table_is_the_number_that_its_row_and_column_name(found, cells):
    table = found if isinstance(found, rl.Table) else found.table
    rows = [tuple(cell.replace(SPACE, " ") for cell in row[1:]) for row in table.rows]
    assert rows == [(row,) if isinstance(row, str) else row for row in cells]
    assert found._repr_markdown_() == table._repr_markdown_()


# An object, and what is shown of it in one line, in this order.
LINES = [
    (MINE, ["mine", "200 TFLOP/s in bf16", "1 TB/s", "16 GB"]),
    (rl.matmul(np.array([]), 64, 64), ["no values in bf16", "no values"]),
    (SPLIT, ["split", "120 MFLOP in bf16", "6.16 MB", "120 kB sent", "19.5 FLOP/byte"]),
    (TWO.work, ["split", "small", "121 MFLOP in bf16 and int8", "6.2 MB", "120 kB sent"]),
    (TWO, ["HBM", "6.2 µs", "11.8 µs", "9.7% of peak"]),
    (SWEEP, ["compute or HBM", "9.8 ms to 4.9 s", "9.85 ms to 4.94 s", "0.5% to 100% of peak"]),
]


@pytest.mark.parametrize(("found", "parts"), LINES, ids=lambda each: type(each).__name__)
def test_a_result_shows_its_numbers_in_one_line(found, parts):
    assert re.fullmatch(".+?".join(["", *map(re.escape, parts), ""]), repr(found)), repr(found)


LLAMA = rl.model("Llama 3 8B")
# A number that is shown with its unit.
UNITS = {
    "FLOP": [SPLIT.flops],
    "OP": [rl.dot(8, "int8").flops],
    "B": [SPLIT.bytes, SPLIT.loaded, SPLIT.written, SPLIT.held, SPLIT.sent, MINE.memory,
          MINE.on_chip["L2"], LLAMA.kv_bytes_per_token(), LLAMA.state_bytes(),
          rl.kv_bytes_per_token(1, 1, 1), rl.Serving(LLAMA, "H100 SXM").room],
    "B/s": [MINE["HBM"], MINE["near"], WIRES[0].total, WIRES[0].to_group(2)],
    "FLOP/s": [MINE["bf16"], MINE["vector fp32"], MINE.attainable(1), TWO.attained],
    "OP/s": [MINE["int8"], MINE["exponentials"], rl.dot(8, "int8").on(MINE).attained,
             *(each.value for each in rl.figures() if each.what == "exponentials")],
    "FLOP/byte": [SPLIT.intensity, MINE.ridge(), MINE.ridge("int8", "near")],
    "s": [TWO.lower, TWO.upper, *TWO.times.values(), WIRES[0].latency,
          rl.published_runs()[0].seconds],
    "%": [TWO.share_of_peak, TWO.idle, rl.mfu(SPLIT, MINE, 1)],
    "": [rl.critical_batch(MINE), rl.critical_depth(MINE, "near")],
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_number_has_its_unit(unit):
    assert [number.unit for number in UNITS[unit]] == [unit] * len(UNITS[unit])
