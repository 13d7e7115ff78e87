"""Numbers, tables and results are shown as a person reads them."""

import math
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
    (9e-19, "s", "9×10⁻¹⁹ s"),
    (90, "s", "90 s"),
    (0, "s", "0 s"),
    (-0.0, "s", "0 s"),
    (math.inf, "s", "∞ s"),
    (0.25, "B", "0.25 B"),
    (999.6, "B", "1 kB"),
    (2.5e6, "OP", "2.5 MOP"),
    (9.895e14, "FLOP/s", "990 TFLOP/s"),
    (9.999e14, "FLOP/s", "1 PFLOP/s"),
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
    assert rl.text(value, unit) == shown.replace(" ", SPACE if unit else " ")


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-12, 1e23), st.sampled_from(["FLOP", "B", "B/s", "FLOP/s"]))
def test_a_shown_number_is_the_number_to_three_digits(value, unit):
    number, prefixed = rl.text(value, unit).split(SPACE)
    prefix = prefixed.removesuffix(unit)
    if "×" in number:
        number = number.replace("×10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    factor = {"": 1, **{each: 1e3**i for i, each in enumerate("kMGTPEZY", start=1)}}[prefix]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=6e-3)


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-9, 1, exclude_max=True))
def test_a_share_is_never_rounded_to_nothing_or_to_all(share):
    shown = rl.percent(share)
    assert shown not in ("0%", "100%")
    number = re.sub("×10⁻(.+)", lambda found: f"e-{found[1]}", shown.removesuffix("%"))
    number = number.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    assert float(number) == pytest.approx(100 * share, rel=0.06)


@pytest.mark.parametrize(
    ("share", "shown"), [(0.00208, "0.21%"), (0.5, "50%"), (0.999, "99.9%"), (0, "0%"), (1, "100%")]
)
def test_a_share_is_shown_in_percent(share, shown):
    assert rl.percent(share) == shown


def test_powers_of_ten_are_written_with_raised_digits():
    assert rl.scientific(1.97e14, "FLOP/s") == f"1.97×10¹⁴{SPACE}FLOP/s"
    assert rl.scientific(2e-7) == "2×10⁻⁷"


def test_a_table_is_text_in_a_terminal_and_markdown_in_a_notebook():
    table = rl.Table({"chip": ["A", "long | name"], "rate": [rl.text(4.5e10, "B/s"), "–"]})
    assert str(table).splitlines() == ["chip            rate", "A            45 GB/s",
                                       "long | name        –"]  # fmt: skip
    assert table._repr_markdown_().splitlines() == [
        "| chip | rate |", "| :-- | --: |", f"| A | 45{SPACE}GB/s |", r"| long \| name | – |",
    ]  # fmt: skip


# An object, and what a notebook must show of it.
OBJECTS = [
    (rl.matmul(64, 4096, 16384), ["matmul", "8.59 GFLOP", "bf16", "62.8 FLOP/B"]),
    (rl.bound(rl.matmul(64, 4096, 16384), "TPU v5e"), ["HBM", "167 µs", "211 µs"]),
    (rl.bound(rl.matmul(*[65536] * 3), "TPU v5e"), ["does not fit"]),
    (rl.matmul(np.array([1, 2]), 64, 64), ["8.19 kFLOP to 16.4 kFLOP"]),
    (rl.chip("TPU v5e"), ["TPU v5e", "197 TFLOP/s", "819 GB/s", "16.91 GB"]),
    (rl.Serving("Llama 3 8B", "H100 SXM"), ["Llama 3 8B", "H100 SXM"]),
]


@pytest.mark.parametrize(("found", "parts"), OBJECTS, ids=lambda each: type(each).__name__)
def test_a_result_shows_its_numbers(found, parts):
    shown = found._repr_markdown_().replace(SPACE, " ")
    for part in parts:
        assert part in shown
    assert "\n" not in repr(found) or "|" not in repr(found)
    assert "object at" not in repr(found)
