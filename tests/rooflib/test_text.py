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


@pytest.mark.parametrize(
    ("share", "shown"), [(0.00208, "0.21%"), (0.5, "50%"), (0.999, "99.9%"), (0, "0%"), (1, "100%")]
)
def test_a_share_is_shown_in_percent(share, shown):
    assert f"{rl.Quantity(share):%}" == f"{rl.Quantity(share, '%')}" == shown


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
    assert pickle.loads(pickle.dumps(S)).unit == "s"


# A quantity, a format, and what it gives.
FORMATS = [
    (rl.Quantity(1.2345e-3, "s"), "4", "1.234 ms"),
    (rl.Quantity(240.537, "FLOP/byte"), "n", "241"),
    (rl.Quantity(240.537, "FLOP/byte"), "5n", "240.54"),
    (rl.Quantity(0.5), "%", "50%"),
    (rl.Quantity(0.1234, "%"), "3", "12.3%"),
    (rl.Quantity(12000, "FLOP"), ",", "12,000"),
    (rl.Quantity(2.5, "s"), ".2f", "2.50"),
    (rl.Quantity(1.97e14, "FLOP/s"), "e", "1.97×10¹⁴ FLOP/s"),
    (rl.Quantity(2e-7), "e", "2×10⁻⁷"),
]


@pytest.mark.parametrize(("value", "how", "shown"), FORMATS)
def test_a_format_sets_digits_unit_and_notation(value, how, shown):
    assert format(value, how).replace(SPACE, " ") == shown


def test_a_table_is_text_in_a_terminal_and_markdown_in_a_notebook():
    table = rl.Table({"chip": ["A", "long | name"], "rate": [rl.Quantity(4.5e10, "B/s"), "–"]})
    assert str(table).splitlines() == ["chip            rate", "A            45 GB/s",
                                       "long | name        –"]  # fmt: skip
    assert table._repr_markdown_().splitlines() == [
        "| chip | rate |", "| :-- | --: |", f"| A | 45{SPACE}GB/s |", r"| long \| name | – |",
    ]  # fmt: skip


# An object, and what a notebook must show of it.
OBJECTS = [
    (rl.matmul(64, 4096, 16384), ["matmul", "8.59 GFLOP", "bf16", "62.8 FLOP/byte"]),
    (rl.matmul(64, 4096, 16384).on("TPU v5e"), ["HBM", "167 µs", "211 µs"]),
    (rl.matmul(*[65536] * 3).on("TPU v5e"), ["does not fit"]),
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
