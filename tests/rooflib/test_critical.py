"""Tests of critical sizes against a search and hand calculations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rooflib as rl

WIRE = rl.Link("wire", 1e10, links_per_axis=2)
CHIP = rl.Chip("own", {"bf16": 1e12, "int8": 3e12}, 1e11, 1e9, links=(WIRE,))


def compute_bound(B, D, F, **types):
    b = rl.bound(rl.matmul(B, D, F, **types), CHIP)
    return b.times["compute"] > b.times["HBM"]


@pytest.mark.parametrize("D", [17, 40, 300])
@pytest.mark.parametrize("F", [19, 64, 1000])
@pytest.mark.parametrize(
    "types",
    [
        {},
        {"w": "int8"},
        {"x": "int8"},
        {"x": "int8", "compute": "bf16"},
        {"out": "fp32"},
        {"x": "int8", "out": "bf16"},
        {"w": "int4", "out": "int8"},
    ],
    ids=str,
)
def test_critical_batch_matches_a_search(D, F, types):
    batch = rl.critical_batch(CHIP, D, F, **types)
    found = next((B for B in range(1, 2000) if compute_bound(B, D, F, **types)), math.inf)
    if math.isinf(found):
        assert batch > 1999
    else:
        assert rl.first_whole_above(batch) == found


@pytest.mark.parametrize(
    ("types", "limit"),
    [
        ({}, 10.0),  # ridge 10, two bytes per weight
        ({"w": "int8"}, 5.0),
        ({"w": "int4"}, 2.5),
        ({"x": "int8"}, 15.0),  # ridge 30, one byte
        ({"x": "int8", "compute": "bf16"}, 5.0),
    ],
    ids=str,
)
def test_critical_batch_approaches_its_limit(types, limit):
    assert rl.critical_batch_limit(CHIP, **types) == limit
    assert rl.critical_batch(CHIP, 10**9, 10**9, **types) == pytest.approx(limit, rel=1e-6)


def test_critical_batch_is_infinite_for_small_matrices():
    # 2 - ridge · (2/F + 2/D) is zero where 1/D + 1/F is a tenth.
    assert rl.critical_batch(CHIP, 20, 20) == math.inf
    assert rl.critical_batch(CHIP, [20, 10], 20).tolist() == [math.inf, math.inf]
    assert rl.critical_batch(CHIP, 40, 20) == pytest.approx(40)


@pytest.mark.parametrize(("split", "times"), [("B", 1), ("D", 2), ("F", 1)])
def test_critical_depth_matches_hand_calculations(split, times):
    # Two chips: 2BDF/2 FLOPs at 1e12; all-reduce sends 2BF bytes at 1e10, all-gather half as many.
    assert rl.critical_depth(CHIP, "wire", split=split) == 100 * times
    assert rl.critical_depth(CHIP, WIRE, N=5, split=split) == 400 * times
    assert rl.critical_depth(CHIP, WIRE, N=1, split=split) == 0
    assert rl.critical_depth(CHIP, WIRE, split=split, out="fp32") == 200 * times
    assert rl.critical_depth(CHIP, WIRE, split=split, compute="int8") == 300 * times
    assert rl.critical_depth(CHIP, WIRE, N=[1, 2, 3], split=split).tolist() == [
        0,
        100 * times,
        200 * times,
    ]
    for out in ("int8", "fp32"):
        D = rl.critical_depth(CHIP, "wire", N=4, split=split, out=out)
        b = rl.bound(rl.sharded_matmul(8, D, 8, 4, split=split, out=out), CHIP, "wire")
        assert b.times["compute"] == pytest.approx(b.times["wire"])


def test_split_defaults_to_the_contraction_dimension():
    assert rl.critical_depth(CHIP, "wire") == rl.critical_depth(
        CHIP, "wire", 2, split="D", out="bf16", compute="bf16"
    )
    assert rl.sharded_matmul(8, 8, 8, 4).loaded == rl.sharded_matmul(8, 8, 8, 4, split="D").loaded


def test_the_link_stops_binding_at_the_first_whole_critical_depth():
    ridge = {"bf16": 4.096e14}
    chip = rl.Chip("tied", ridge, 1e30, 16e9, links=(rl.Link("wire", 1e11),))
    first = rl.first_whole_from(rl.critical_depth(chip, "wire", 4))
    assert first == 24_576
    binding = [
        rl.bound(rl.sharded_matmul(8, D, 8, 4), chip, "wire").binding for D in (24_572, first)
    ]
    assert binding == ["wire", "compute"]


def test_first_whole_from_and_above_accept_arrays():
    values = np.array([[0, 0.5, 1], [297.3, 298, math.inf]])
    assert rl.first_whole_from(values).tolist() == [[0, 1, 1], [298, 298, math.inf]]
    assert [rl.first_whole_from(v) for v in (0, 0.5, 1, math.inf)] == [0, 1, 1, math.inf]
    assert isinstance(rl.first_whole_from(297.3), int)
    assert rl.first_whole_above(values).tolist() == [[1, 1, 2], [298, 299, math.inf]]
    assert [rl.first_whole_above(v) for v in (0, 0.5, 1)] == [1, 1, 2]
    assert isinstance(rl.first_whole_above(297.3), int)
