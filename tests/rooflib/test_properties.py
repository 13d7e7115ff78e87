"""Property tests: monotonicity, bounds, roofs, and scalars versus arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

# Hypothesis deadlines are off: speed is not tested here.
quick = settings(deadline=None, max_examples=60)
sizes = st.integers(1, 2**17)
powers = st.integers(0, 14).map(lambda n: 2**n)
chips = st.sampled_from(rl.chips())
types = st.sampled_from(["bf16", "int8"])
rates = st.floats(1e6, 1e18)


@st.composite
def own_chips(draw):
    peaks = {"bf16": draw(rates), "int8": draw(rates)}
    link = rl.Link("wire", draw(rates))
    return rl.Chip("mine", peaks, draw(rates), draw(rates), links=(link,))


any_chip = st.one_of(chips.filter(lambda c: "int8" in c.peaks), own_chips())


@quick
@given(any_chip, sizes, sizes, sizes, types, types)
def test_upper_bound_is_at_most_twice_the_lower(chip, B, D, F, x, w):
    b = rl.bound(rl.matmul(B, D, F, x=x, w=w), chip)
    assert max(b.times.values()) == b.lower <= b.upper <= 2 * b.lower
    assert b.upper == pytest.approx(math.fsum(b.times.values()))
    assert b.times[b.binding] == b.lower


@quick
@given(any_chip, sizes, sizes, sizes, types, types)
def test_attainable_never_exceeds_the_roof(chip, B, D, F, x, w):
    op = rl.matmul(B, D, F, x=x, w=w)
    b = rl.bound(op, chip)
    assert b.attainable <= chip.peak(op.compute) * (1 + 1e-12)
    assert b.attainable <= op.intensity * chip.bandwidth * (1 + 1e-12)
    roof = rl.attainable(op.intensity, chip, op.compute.name)
    assert b.attainable == pytest.approx(roof, rel=1e-12)
    assert 0 < b.fraction_of_peak <= 1
    assert b.idle == pytest.approx(1 - b.fraction_of_peak, abs=1e-15)


@quick
@given(any_chip, sizes, sizes, sizes, types)
def test_ridge_point_and_times_agree_on_compute_bound(chip, B, D, F, x):
    op = rl.matmul(B, D, F, x=x)
    distance = op.intensity / chip.ridge(op.compute) - 1
    if abs(distance) > 1e-9:
        assert (rl.bound(op, chip).binding == "compute") == (distance > 0)


@quick
@given(sizes, sizes, sizes, types)
def test_intensity_increases_with_every_dimension(B, D, F, x):
    here = rl.matmul(B, D, F, x=x).intensity
    for grown in [(B + 1, D, F), (B, D + 1, F), (B, D, F + 1)]:
        assert rl.matmul(*grown, x=x).intensity > here


@quick
@given(sizes, sizes, sizes)
def test_intensity_is_symmetric_with_one_type(B, D, F):
    intensity = rl.matmul(B, D, F).intensity
    for order in [(D, B, F), (F, D, B), (B, F, D), (D, F, B)]:
        assert rl.matmul(*order).intensity == pytest.approx(intensity, rel=1e-12)


@quick
@given(own_chips(), sizes, sizes, sizes)
def test_a_faster_chip_is_never_slower(chip, B, D, F):
    op = rl.matmul(B, D, F)
    faster = rl.Chip("faster", {"bf16": 2 * chip.peak()}, 2 * chip.bandwidth, chip.capacity)
    assert rl.bound(op, faster).lower == pytest.approx(rl.bound(op, chip).lower / 2)
    wider = rl.Chip("wider", chip.peaks, 2 * chip.bandwidth, chip.capacity)
    assert rl.bound(op, wider).lower <= rl.bound(op, chip).lower


@quick
@given(any_chip, sizes, sizes, types, types, st.sampled_from(["int8", "bf16", "fp32"]))
def test_critical_batch_is_where_compute_and_hbm_times_meet(chip, D, F, x, w, out):
    batch = rl.critical_batch(chip, D, F, x=x, w=w, out=out)
    limit = rl.critical_batch_limit(chip, x=x, w=w)
    if math.isinf(batch):
        times = rl.bound(rl.matmul(2**60, D, F, x=x, w=w, out=out), chip).times
        # Allow equal times: rounding can hide the bytes of the weights.
        assert times["HBM"] >= times["compute"]
        return
    assert batch >= limit * (1 - 1e-12)
    # Skip huge batches, whose formula subtracts two nearly equal numbers and is inaccurate.
    if batch < 1e6 * limit:
        b = rl.bound(rl.matmul(batch, D, F, x=x, w=w, out=out), chip)
        assert b.times["compute"] == pytest.approx(b.times["HBM"], rel=1e-6)


@quick
@given(own_chips(), powers, powers, powers, st.sampled_from([2, 4, 8]), st.sampled_from("BDF"))
def test_critical_depth_is_where_compute_and_link_meet(chip, B, D, F, N, split):
    depth = rl.critical_depth(chip, "wire", N, split=split)
    op = rl.sharded_matmul(8 * B, 8 * D, 8 * F, N, split=split)
    b = rl.bound(op, chip, link="wire")
    assert b.times["compute"] / b.times["wire"] == pytest.approx(8 * D / depth, rel=1e-9)


@quick
@given(sizes, sizes, sizes, st.sampled_from([1, 2, 4, 8]))
def test_chips_share_the_flops(B, D, F, N):
    for split in "BDF":
        share = rl.sharded_matmul(8 * B, 8 * D, 8 * F, N, split=split)
        assert share.flops * N == rl.matmul(8 * B, 8 * D, 8 * F).flops


@quick
@given(st.integers(0, 10**9), st.integers(1, 1024))
def test_all_reduce_equals_reduce_scatter_plus_all_gather(size, N):
    both = rl.reduce_scatter(size, N) + rl.all_gather(size, N)
    assert rl.all_reduce(size, N) == both < 2 * size or size * (N - 1) == 0


@quick
@given(any_chip, st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=5), types)
def test_arrays_match_scalars(chip, shapes, w):
    B, D, F = (np.array(column) for column in zip(*shapes, strict=True))
    whole = rl.bound(rl.matmul(B, D, F, w=w), chip)
    batches = rl.critical_batch(chip, D, F, w=w)
    for i, shape in enumerate(shapes):
        one = rl.bound(rl.matmul(*shape, w=w), chip)
        for name in ("lower", "upper", "attainable", "fraction_of_peak", "idle"):
            assert getattr(whole, name)[i] == pytest.approx(getattr(one, name), rel=1e-12)
        assert whole.binding[i] == one.binding
        assert whole.fits[i] == one.fits
        assert batches[i] == pytest.approx(rl.critical_batch(chip, *shape[1:], w=w), rel=1e-12)


def test_dimensions_broadcast():
    B = np.arange(1, 4).reshape(3, 1, 1)
    D = np.arange(1, 5).reshape(1, 4, 1)
    F = np.arange(1, 6).reshape(1, 1, 5)
    assert rl.matmul(B, D, F).intensity.shape == (3, 4, 5)


def test_in_a_tie_compute_binds_and_the_upper_bound_is_twice_the_lower():
    chip = rl.Chip("even", {"bf16": 1e12}, 1e12, 1e12)
    b = rl.bound(rl.operation(flops=1e9, bytes=1e9), chip)
    assert b.binding == "compute"
    assert b.upper == 2 * b.lower


def test_three_equal_roofs_triple_the_upper_bound():
    chip = rl.Chip("even", {"bf16": 1e12}, 1e12, 1e12, links=(rl.Link("wire", 1e12),))
    b = rl.bound(rl.operation(flops=1e9, bytes=1e9, sent=1e9), chip, link="wire")
    assert b.upper == 3 * b.lower


def test_each_link_has_a_separate_time():
    links = (rl.Link("near", 1e11), rl.Link("far", 1e10))
    chip = rl.Chip("two ways out", {"bf16": 1e12}, 1e12, 1e12, links=links)
    b = rl.bound(rl.operation(flops=1e9, bytes=1e9, sent={"near": 1e9, "far": 5e8}), chip)
    assert dict(b.times) == {"compute": 1e-3, "HBM": 1e-3, "near": 1e-2, "far": 5e-2}
    assert b.binding == "far"


def test_fits_is_exact_to_the_byte():
    op = rl.operation(bytes=1000)
    for capacity, fits in [(1000, True), (999, False)]:
        assert rl.bound(op, rl.Chip("small", {"bf16": 1}, 1, capacity)).fits is fits


def test_first_whole_above_is_strict():
    assert rl.first_whole_above(8755.6) == 8756
    assert rl.first_whole_above(8756.0) == 8757
    assert rl.first_whole_above(math.inf) == math.inf
