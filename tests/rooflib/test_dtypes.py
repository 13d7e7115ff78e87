"""Tests of data types: widths, names, and common types."""

from __future__ import annotations

import itertools
import re

import pytest

import rooflib as rl
from rooflib.dtypes import DTYPES, common_type

BYTES = {
    "fp64": 8,
    "fp32": 4,
    "tf32": 4,
    "bf16": 2,
    "fp16": 2,
    "fp8": 1,
    "fp4": 0.5,
    "int32": 4,
    "int8": 1,
    "int4": 0.5,
}
# Type → the types that are converted to it when multiplied with it.
AGREED = {
    "fp64": {"fp32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"},
    "fp32": {"bf16", "fp16", "fp8", "fp4", "int8", "int4"},
    "bf16": {"fp8", "fp4", "int8", "int4"},
    "fp16": {"fp8", "fp4", "int8", "int4"},
    "fp8": {"fp4"},
    "int8": {"int4"},
}


def test_data_type_widths():
    assert {name: kind.bytes for name, kind in DTYPES.items()} == BYTES
    assert all(kind.bits == 8 * kind.bytes for kind in DTYPES.values())
    assert [name for name, kind in DTYPES.items() if isinstance(kind.bytes, float)] == [
        "fp4",
        "int4",
    ]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(BYTES, BYTES)))
def test_only_standard_pairs_of_data_types_have_a_common_type(first, second):
    meet = {first} if first == second else set()
    meet |= {
        kind for kind in (first, second) if {first, second} - {kind} <= AGREED.get(kind, set())
    }
    if meet:
        assert {common_type(rl.dtype(first), rl.dtype(second)).name} == meet
    else:
        with pytest.raises(ValueError, match=f"compute must be given for {first} times {second}:"):
            rl.matmul(2, 3, 4, x=first, w=second)
        assert rl.matmul(2, 3, 4, x=first, w=second, compute="bf16").compute.name == "bf16"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("bfloat16", "bf16"),
        ("BF16", "bf16"),
        ("BFloat16", "bf16"),
        ("half", "fp16"),
        ("single", "fp32"),
        ("double", "fp64"),
        ("float64", "fp64"),
        ("float32", "fp32"),
        ("float16", "fp16"),
        ("float8", "fp8"),
        ("float4", "fp4"),
        ("INT8", "int8"),
    ],
)
def test_data_types_have_aliases(written, name):
    assert rl.dtype(written) is rl.dtype(name)
    assert rl.matmul(1, 2, 3, x=written).compute.name == name


@pytest.mark.parametrize(
    ("wrong", "meant"), [("bfloat61", "bfloat16"), ("INT18", "int8"), ("int", "int8")]
)
def test_misspelled_data_types_get_a_suggestion(wrong, meant):
    with pytest.raises(ValueError, match=re.escape(f"got {wrong!r}; did you mean {meant!r}?")):
        rl.dtype(wrong)


@pytest.mark.parametrize("wrong", ["", "quaternion", 8, None, ["bf16"]])
def test_unrelated_names_get_no_suggestion(wrong):
    with pytest.raises(ValueError, match=re.escape(f"got {wrong!r}") + "$"):
        rl.dtype(wrong)


def test_custom_data_types_work_in_operations():
    mine = rl.DType("int3", 3)
    op = rl.matmul(8, 16, 32, x=mine)
    assert (op.compute, op.loaded, op.written) == (mine, 0.375 * (8 * 16 + 16 * 32), 0.375 * 8 * 32)
    with pytest.raises(ValueError, match="compute must be given for bf16 times int3"):
        rl.matmul(8, 16, 32, w=mine)
    assert rl.matmul(8, 16, 32, w=mine, compute="bf16").loaded == 2 * 8 * 16 + 0.375 * 16 * 32


@pytest.mark.parametrize("bits", [0, -8, 2.5])
def test_bits_must_be_a_positive_whole_number(bits):
    with pytest.raises(ValueError, match=r"^bits must be"):
        rl.DType("odd", bits)
