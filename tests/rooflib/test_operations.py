"""FLOPs and bytes against a count by hand: the loops are run, and every step is counted."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import rooflib as rl

BITS = {"fp32": 32, "bf16": 16, "int8": 8, "fp4": 4}
SHAPES = [(1, 1, 1), (2, 3, 4), (5, 1, 2), (3, 4, 1), (4, 5, 6)]


class Counter:
    """Memory and arithmetic that note each element touched and each operation done."""

    def __init__(self):
        self.flops = 0
        self.touched = {"loaded": {}, "written": {}}

    def load(self, operand, index, bits):
        self.touched["loaded"][operand, index] = bits

    def write(self, operand, index, bits):
        self.touched["written"][operand, index] = bits

    def bytes(self, way):
        return Fraction(sum(self.touched[way].values()), 8)


def count_matmul(B, D, F, x, w, out, *, weight_per_example=False, start_from_product=False):
    count = Counter()
    for b, f in itertools.product(range(B), range(F)):
        for d in range(D):
            count.load("x", (b, d), BITS[x])
            count.load("w", (b, d, f) if weight_per_example else (d, f), BITS[w])
            count.flops += 1  # the product
            if d > 0 or not start_from_product:
                count.flops += 1  # added to the accumulator
        count.write("out", (b, f), BITS[out])
    return count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("start", ["zero", "product"])
@pytest.mark.parametrize("per_example", [False, True])
@pytest.mark.parametrize(
    "types", [("bf16", "bf16", "bf16"), ("bf16", "int8", "fp32"), ("int8", "fp4", "bf16")]
)
def test_matmul_counts_what_the_loops_count(shape, start, per_example, types):
    x, w, out = types
    counted = count_matmul(
        *shape,
        *types,
        weight_per_example=per_example,
        start_from_product=start == "product",
    )
    make = rl.matmul_per_example if per_example else rl.matmul
    op = make(*shape, x=x, w=w, out=out, accumulate_from=start)
    assert op.flops == counted.flops
    assert op.loaded == counted.bytes("loaded")
    assert op.written == counted.bytes("written")
    assert op.bytes == op.loaded + op.written


@pytest.mark.parametrize("N", [1, 2, 7])
@pytest.mark.parametrize("start", ["zero", "product"])
def test_dot_counts_what_the_loop_counts(N, start):
    counted = count_matmul(1, N, 1, "bf16", "bf16", "bf16", start_from_product=start == "product")
    op = rl.dot(N, accumulate_from=start)
    assert (op.flops, op.loaded, op.written) == (
        counted.flops,
        counted.bytes("loaded"),
        counted.bytes("written"),
    )


def test_dot_of_the_sources():
    N = 1000
    op = rl.dot(N)
    assert (op.flops, op.bytes) == (2 * N - 1, 4 * N + 2)


@pytest.mark.parametrize(("inputs", "each"), [(1, 1), (2, 1), (3, 5)])
def test_elementwise_counts_what_the_loop_counts(inputs, each):
    N, count = 6, Counter()
    for i in range(N):
        for operand in range(inputs):
            count.load(operand, i, BITS["bf16"])
        count.flops += each
        count.write("out", i, BITS["fp32"])
    op = rl.elementwise(N, inputs=inputs, flops_per_element=each, out="fp32")
    assert (op.flops, op.loaded, op.written) == (
        count.flops,
        count.bytes("loaded"),
        count.bytes("written"),
    )


def test_rms_norm_counts_what_the_loops_count():
    B, D, count = 3, 5, Counter()
    for b in range(B):
        for d in range(D):
            count.load("x", (b, d), 16)
            count.flops += 1 if d == 0 else 2  # the square; added to the one before
        count.flops += 3  # divided by D, plus epsilon, reciprocal square root
        for d in range(D):
            count.load("gain", d, 16)
            count.flops += 2
            count.write("out", (b, d), 16)
    op = rl.rms_norm(B, D)
    assert (op.flops, op.loaded, op.written) == (
        count.flops,
        count.bytes("loaded"),
        count.bytes("written"),
    )


@pytest.mark.parametrize("split", ["B", "D", "F"])
@pytest.mark.parametrize("result", ["replicated", "sharded"])
@pytest.mark.parametrize("N", [1, 2, 4])
def test_a_chips_share_counts_what_its_loops_count(split, result, N):
    B, D, F = 4, 8, 12
    share = {"B": (B // N, D, F), "D": (B, D // N, F), "F": (B, D, F // N)}[split]
    counted = count_matmul(*share, "bf16", "int8", "bf16")
    op = rl.sharded_matmul(B, D, F, N, split=split, result=result, w="int8")
    assert (op.flops, op.loaded, op.written) == (
        counted.flops,
        counted.bytes("loaded"),
        counted.bytes("written"),
    )
    assert op.chips == N


@pytest.mark.parametrize("split", ["B", "D", "F"])
def test_the_shares_of_all_chips_make_the_product(split):
    rng = np.random.default_rng(0)
    B, D, F, N = 4, 6, 8, 2
    x, w = rng.integers(-5, 5, (B, D)), rng.integers(-5, 5, (D, F))
    if split == "B":
        parts = [part @ w for part in np.split(x, N, axis=0)]
        whole = np.concatenate(parts, axis=0)
    elif split == "F":
        parts = [x @ part for part in np.split(w, N, axis=1)]
        whole = np.concatenate(parts, axis=1)
    else:
        parts = [a @ b for a, b in zip(np.split(x, N, 1), np.split(w, N, 0), strict=True)]
        whole = sum(parts)
    np.testing.assert_array_equal(whole, x @ w)
    # What a chip writes is its part, in the type that travels.
    assert rl.sharded_matmul(B, D, F, N, split=split).written == 2 * parts[0].size


def test_partial_sums_may_travel_in_a_wider_type():
    narrow = rl.sharded_matmul(4, 8, 16, 2)
    wide = rl.sharded_matmul(4, 8, 16, 2, partial="fp32")
    assert wide.sent["link"] == 2 * narrow.sent["link"]
    assert wide.written == 2 * narrow.written


def test_counts_of_whole_numbers_are_exact_however_large():
    side = 10**12
    assert rl.matmul(side, side, side).flops == 2 * side**3


def test_arrays_never_wrap_around():
    side = np.array([10**7], dtype=np.int32)
    assert rl.matmul(side, side, side).flops == pytest.approx(2e21)


def test_fractions_stay_exact():
    third = Fraction(1, 3)
    assert rl.matmul(third, 3, 3).flops == 6


def test_arithmetic_type_is_the_wider_operand():
    assert rl.matmul(1, 1, 1, x="bf16", w="int8").compute.name == "bf16"
    assert rl.matmul(1, 1, 1, x="int8").compute.name == "int8"
    assert rl.matmul(1, 1, 1, x="int8", compute="bf16").compute.name == "bf16"


def test_an_operation_that_moves_nothing_has_infinite_intensity():
    assert rl.operation(flops=1).intensity == float("inf")
    assert rl.operation(flops=np.array([1.0, 2.0])).intensity.tolist() == [float("inf")] * 2
