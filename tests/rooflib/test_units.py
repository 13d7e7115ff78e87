"""Printed figures in, readable text out."""

from __future__ import annotations

import math

import pytest

import rooflib as rl
from rooflib.units import to_base

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
    ],
)
def test_units_of_data_sheets(printed, unit, base):
    assert to_base(printed, unit) == base


def test_an_unknown_unit_is_named():
    with pytest.raises(ValueError, match=r"unit must be one of .*GB/s.*; got 'GBps'"):
        to_base(1, "GBps")


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.0111e-3, "s", "1.01 ms"),
        (1, "s", "1 s"),
        (90, "s", "90 s"),
        (1.5e-7, "s", "150 ns"),
        (2e-14, "s", "0.02 ps"),
        (0, "s", "0 s"),
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
        (0, "", "0"),
        (math.inf, "", "∞"),
        (math.nan, "", "not a number"),
    ],
)
def test_text_for_people(value, unit, shown):
    assert rl.text(value, unit) == shown.replace(" ", SPACE if unit else " ")


def test_digits_are_significant():
    assert rl.text(240.537, digits=4) == "240.5"
    assert rl.text(2.0, digits=4) == "2"


def test_scientific_and_percent():
    assert rl.scientific(1.97e14, "FLOP/s") == f"1.97×10¹⁴{SPACE}FLOP/s"
    assert rl.scientific(2e-7) == "2×10⁻⁷"
    assert rl.percent(0.00208) == "0.21%"
    assert rl.percent(1) == "100%"


def test_a_table_shows_itself():
    table = rl.Table({"chip": ["A", "long | name"], "ridge": ["1", "20"]})
    assert str(table).splitlines()[1] == "A                1"
    assert table._repr_markdown_().splitlines() == [
        "| chip | ridge |",
        "| :-- | --: |",
        "| A | 1 |",
        r"| long \| name | 20 |",
    ]


def test_a_table_lines_up_figures_on_the_right_and_words_on_the_left():
    table = rl.Table({"chip": ["1", "2"], "link": ["ICI", "PCIe"], "GB/s": ["45", "–"]})
    assert table._repr_markdown_().splitlines()[1] == "| :-- | :-- | --: |"
