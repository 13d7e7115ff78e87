"""The worked numbers of the source documents, corrected where they are wrong.

Figures that an exercise states are typed here as stated; all others come from the catalog.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import rooflib as rl

V5E = rl.chip("TPU v5e")
H100 = rl.chip("H100 SXM")
V6E = rl.chip("TPU v6e")
# The chip as stated in the source's exercises 1 to 3, with a bandwidth of 8.1e11; the catalog has
# Google's figure, 8.19e11.
GIVEN = rl.Chip("given", {"int8": 3.94e14, "bf16": 1.97e14}, 8.1e11, 16e9)


def test_a_trillion_flops_take_about_a_millisecond():
    op = rl.operation(flops=1e12)
    assert rl.bound(op, H100).lower == pytest.approx(1.01e-3, rel=2e-3)
    assert rl.bound(op, V6E).lower == pytest.approx(1.1e-3, rel=2e-2)


def test_critical_intensity_of_v5e_is_about_240():
    as_computed_there = rl.Chip("rounded", {"bf16": 1.97e14}, 8.2e11, 16e9)
    assert as_computed_there.ridge() == pytest.approx(240, abs=0.5)
    assert round(V5E.ridge(), 1) == 240.5


def test_dot_product_intensity_tends_to_one_half():
    assert rl.dot(1000).intensity == (2 * 1000 - 1) / (4 * 1000 + 2)
    assert rl.dot(10**9).intensity == pytest.approx(0.5, rel=1e-8)


def test_dot_product_reaches_a_fifth_of_a_percent_of_peak():
    # The source says 99.5% idle; half a FLOP per byte at a ridge point of 240 gives 99.8%.
    assert rl.bound(rl.dot(10**6), V5E).fraction_of_peak == pytest.approx(0.5 / 240.5, rel=1e-3)


def test_small_batch_intensity_is_the_batch():
    assert rl.matmul(64, 1e9, 1e9).intensity == pytest.approx(64, rel=1e-6)


def test_matmul_intensity_matches_the_formula_of_the_source():
    B, D, F = 512, 4096, 16384
    assert rl.matmul(B, D, F).intensity == B * D * F / (B * D + D * F + B * F)


def test_times_of_a_matmul_on_two_chips_match_the_source():
    B, D, F = 512, 8192, 4096
    b = rl.bound(rl.sharded_matmul(B, D, F, 2), V5E, link="ICI")
    assert b.times["compute"] == B * D * F / 1.97e14
    assert b.times["ICI"] == 2 * B * F / 4.5e10


def test_a_matmul_on_two_chips_is_compute_bound_from_a_depth_of_8756():
    depth = rl.critical_depth(V5E, "ICI", 2)
    assert depth == pytest.approx(8755.6, abs=0.1)
    assert rl.first_whole_from(depth) == 8756
    for D, roof in [(8754, "ICI"), (8756, "compute")]:
        op = rl.sharded_matmul(4096, D, 4096, 2)
        assert rl.bound(op, V5E, link="ICI").binding == roof


def test_exercise_1_matches_its_published_answers():
    B, D, F = 128, 4096, 4096
    op = rl.matmul(B, D, F, x="int8")
    assert (op.loaded, op.written, op.flops) == (B * D + D * F, B * F, 2 * B * D * F)
    assert GIVEN.ridge("int8") == pytest.approx(486, abs=0.5)
    assert rl.critical_batch_limit(GIVEN, x="int8") == pytest.approx(243, abs=0.3)
    b = rl.bound(op, GIVEN)
    assert b.times["compute"] == 2 * B * D * F / 3.94e14
    assert b.times["HBM"] == (B * D + D * F + B * F) / 8.1e11
    assert (b.lower, b.upper) == (max(b.times.values()), sum(b.times.values()))


def test_rooflib_reproduces_the_answers_to_the_sources_exercise_2():
    assert rl.critical_batch_limit(V5E, w="int8") == pytest.approx(120, abs=0.5)
    assert rl.critical_batch_limit(V5E, w="int8") == rl.critical_batch_limit(V5E) / 2


def test_the_sources_exercise_3_has_critical_batches_in_a_ratio_of_1_66():
    large = rl.critical_batch(V5E, 4096, 4096, w="int8")
    small = rl.critical_batch(V5E, 1024, 1024, w="int8")
    assert round(large) == 136
    assert small == pytest.approx(226, abs=1)
    assert small / large == pytest.approx(1.66, abs=0.005)


def test_exercise_4_has_an_intensity_of_about_two_at_every_batch():
    sizes = np.array([1, 10, 1000])
    intensity = rl.matmul_per_example(sizes, 4096, 4096, x="int8").intensity
    np.testing.assert_allclose(intensity, 2, rtol=1e-3)
    assert np.ptp(intensity) < 1e-12


def test_exercise_5_matches_its_published_answers():
    rounded_up = rl.Chip("rounded", {"bf16": 1e15}, 3.35e12, 80e9)
    assert rl.critical_batch_limit(rounded_up) == pytest.approx(298, abs=1)
    assert round(rl.critical_batch_limit(H100)) == 295


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("TPU v5e", 240),
        ("TPU v5p", 166),
        ("TPU v4", 229),
        ("TPU v6e", 560),
        ("TPU7x", 313),
        ("A100 80GB SXM", 153),
        ("H100 SXM", 295),
        ("H200 SXM", 206),
        ("B200", 292),
    ],
)
def test_each_listed_chip_has_the_expected_critical_batch(name, batch):
    limit = rl.critical_batch_limit(rl.chip(name))
    assert limit == pytest.approx(batch, abs=1)


def test_hbm_is_faster_than_links_by_the_stated_factors():
    assert H100.bandwidth / H100.link("NVLink").to_one_peer == pytest.approx(7.4, abs=0.05)
    assert V5E.bandwidth / V5E.link("ICI").to_one_peer == pytest.approx(18, abs=0.5)


def test_int8_activations_do_not_change_the_critical_batch():
    assert rl.critical_batch_limit(GIVEN, x="int8") == pytest.approx(
        rl.critical_batch_limit(GIVEN), rel=1e-12
    )


def test_critical_batches_of_larger_models_fall_toward_the_ridge_point():
    sides = 2.0 ** np.arange(10, 24)
    batches = rl.critical_batch(V5E, sides, sides)
    assert np.all(np.diff(batches) < 0)
    assert np.all(batches > V5E.ridge())
    assert batches[-1] == pytest.approx(V5E.ridge(), rel=1e-4)


def test_no_batch_is_enough_for_a_narrow_matmul():
    assert rl.critical_batch(V5E, 128, 128) == math.inf
    assert rl.bound(rl.matmul(10**9, 128, 128), V5E).binding == "HBM"


def test_the_bandwidth_of_the_source_raises_the_critical_batch_to_243():
    given = dataclasses.replace(V5E, bandwidth=8.1e11)
    assert rl.critical_batch_limit(given) == pytest.approx(243, abs=0.3)
    assert rl.critical_batch_limit(V5E) == pytest.approx(240.5, abs=0.1)
