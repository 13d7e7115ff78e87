"""Tests of unit conversion, number formatting, and tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl
from rooflib.units import FACTORS, span, to_base

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("printed", "unit", "base"),
    [
        (1979, "TFLOP/s", 1.979e15),
        (394, "TOP/s", 3.94e14),
        (3.35, "TB/s", 3.35e12),
        (819, "GB/s", 8.19e11),
        (800, "GiB/s", 858993459200),
        (1600, "Gbit/s", 2e11),
        (95, "GiB", 102005473280),
        (16, "GB", 16e9),
        (1, "TiB", 2**40),
        (2.01, "kB/s", 2010),
        (1979.0, "OP/s", 1979),
    ],
)
def test_data_sheet_units_convert_to_base_units(printed, unit, base):
    assert to_base(printed, unit) == base


def test_every_prefix_and_unit_has_the_expected_factor():
    decimal = {prefix: 10 ** (3 * i) for i, prefix in enumerate(["", *"kMGTPE"])}
    binary = {prefix: 1024**i for i, prefix in enumerate(["Ki", "Mi", "Gi", "Ti"], start=1)}
    expected = {f"{p}{u}": f for u in ("FLOP/s", "OP/s", "B", "B/s") for p, f in decimal.items()}
    expected |= {f"{p}{u}": f for u in ("B", "B/s") for p, f in binary.items()}
    expected |= {f"{p}bit/s": f / 8 for p, f in decimal.items() if p}
    expected |= {"OP/clock": 1}
    assert {unit: to_base(1, unit) for unit in FACTORS} == expected


def test_unknown_units_are_named_in_the_error():
    with pytest.raises(ValueError, match=r"unit must be one of .*GB/s.*; got 'GBps'"):
        to_base(1, "GBps")


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.0111e-3, "s", "1.01 ms"),
        (1, "s", "1 s"),
        (90, "s", "90 s"),
        (9.996e-4, "s", "1 ms"),
        (1e-3, "s", "1 ms"),
        (-1e-3, "s", "−1 ms"),
        (1.5e-6, "s", "1.5 µs"),
        (1.5e-7, "s", "150 ns"),
        (3e-12, "s", "3 ps"),
        (2e-14, "s", "0.02 ps"),
        (1e-18, "s", "0.000001 ps"),
        (9e-19, "s", "9×10⁻¹⁹ s"),
        (3e15, "s", "3×10¹⁵ s"),
        (0, "s", "0 s"),
        (-0.0, "s", "0 s"),
        (math.inf, "s", "∞ s"),
        (-math.inf, "B", "−∞ B"),
        (0.25, "B", "0.25 B"),
        (999.4, "B", "999 B"),
        (999.6, "B", "1 kB"),
        (2.5e6, "OP", "2.5 MOP"),
        (4e18, "OP/s", "4 EOP/s"),
        (3.14e21, "FLOP", "3.14 ZFLOP"),
        (3.14e24, "FLOP", "3.14 YFLOP"),
        (9.99e26, "FLOP", "999 YFLOP"),
        (9.999e26, "FLOP", "1×10²⁷ FLOP"),
        (3.14e28, "FLOP", "3.14×10²⁸ FLOP"),
        (1.97e14, "FLOP/s", "197 TFLOP/s"),
        (9.895e14, "FLOP/s", "990 TFLOP/s"),
        (9.999e14, "FLOP/s", "1 PFLOP/s"),
        (3.35e12, "B/s", "3.35 TB/s"),
        (512, "B", "512 B"),
        (240.537, "FLOP/B", "241 FLOP/B"),
        (8756, "", "8,756"),
        (123456.7, "", "123,457"),
        (-2.5, "", "−2.5"),
        (0.00213, "", "0.00213"),
        (0.000001, "", "0.000001"),
        (9e-7, "", "9×10⁻⁷"),
        (999999999999999, "", "1×10¹⁵"),
        (123456789012345, "", "123,456,789,012,345"),
        (0, "", "0"),
        (math.inf, "", "∞"),
        (math.nan, "", "not a number"),
    ],
)
def test_text_formats_numbers(value, unit, shown):
    assert rl.text(value, unit) == shown.replace(" ", SPACE if unit else " ")


def test_digits_counts_significant_digits():
    assert rl.text(240.537, digits=4) == "240.5"
    assert rl.text(2.0, digits=4) == "2"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2e-7, "2×10⁻⁷"),
        (-1.5e-7, "−1.5×10⁻⁷"),
        (1, "1×10⁰"),
        (9.999e9, "1×10¹⁰"),
        (0, "0"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_scientific_formats_powers_of_ten(value, shown):
    assert rl.scientific(value) == shown


def test_scientific_accepts_unit_and_digits():
    assert rl.scientific(1.97e14, "FLOP/s") == f"1.97×10¹⁴{SPACE}FLOP/s"
    assert rl.scientific(1.9749e14, digits=4) == "1.975×10¹⁴"
    assert rl.scientific(1.9749e14, digits=1) == "2×10¹⁴"


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.00208, "0.21%"),
        (0.5, "50%"),
        (0.994, "99%"),
        (0.995, "99.5%"),
        (0.999, "99.9%"),
        (0.99996, "99.996%"),
        (1 - 2**-53, "99.99999999999999%"),
        (1, "100%"),
        (1.25, "125%"),
        (1e-12, "1×10⁻¹⁰%"),
        (5e-324, "4.9×10⁻³²²%"),
        (0, "0%"),
        (-0.25, "−25%"),
        (math.inf, "∞%"),
        (math.nan, "not a number"),
    ],
)
def test_percent_formats_fractions(share, shown):
    assert rl.percent(share) == shown


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(1, 4))
@settings(deadline=None, max_examples=100)
def test_fractions_never_round_to_0_or_100_percent(share, digits):
    assert rl.percent(share, digits) not in ("0%", "100%")


def test_span_merges_ends_that_format_alike():
    times = np.array([[0.0012199, 0.002], [0.003, 0.0012201]])
    assert span(times, "s") == f"1.22{SPACE}ms to 3{SPACE}ms"
    assert span(times[:, 0] * [1, 0.4067], "s") == f"1.22{SPACE}ms"
    assert span(0.5) == "0.5"
    assert span(np.array([0.25, 0.999]), "%") == "25% to 99.9%"
    assert span(np.array([])) == "no values"


def test_tables_render_as_text_and_markdown():
    table = rl.Table({"chip": ["A", "long | name"], "ridge": ["1", "20"]})
    assert str(table).splitlines()[1] == "A                1"
    assert table._repr_markdown_().splitlines() == [
        "| chip | ridge |",
        "| :-- | --: |",
        "| A | 1 |",
        r"| long \| name | 20 |",
    ]


def test_numbers_are_right_aligned_except_in_the_first_column():
    table = rl.Table({"chip": ["1", "2"], "link": ["ICI", "PCIe"], "GB/s": ["45", "–"]})
    assert table._repr_markdown_().splitlines()[1] == "| :-- | :-- | --: |"


def test_terminal_tables_use_plain_spaces():
    table = rl.Table({"link": ["ICI"], "rate": [rl.text(4.5e10, "B/s")]})
    assert repr(table) == "link     rate\nICI   45 GB/s"
    assert f"45{SPACE}GB/s" in table._repr_markdown_()


def test_columns_that_mix_numbers_and_text_are_left_aligned():
    table = rl.Table({"chip": ["A", "BB"], "what": ["x", "1"], "n": ["10", "−9"]})
    assert str(table).splitlines() == ["chip  what   n", "A     x     10", "BB    1     −9"]


def test_tables_need_columns():
    with pytest.raises(ValueError, match="columns must have equal lengths"):
        rl.Table({})
