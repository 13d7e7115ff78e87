"""Tests of FLOPs and bytes against explicit loops that count every step."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import rooflib as rl

BITS = {"fp32": 32, "bf16": 16, "int8": 8, "fp4": 4}
SHAPES = [(1, 1, 1), (2, 3, 4), (5, 1, 2), (3, 4, 1), (4, 5, 6)]


class Counter:
    """A counter of touched elements and performed FLOPs."""

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
                count.flops += 1  # addition to the accumulator
        count.write("out", (b, f), BITS[out])
    return count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("start", ["zero", "product"])
@pytest.mark.parametrize("per_example", [False, True])
@pytest.mark.parametrize(
    "types", [("bf16", "bf16", "bf16"), ("bf16", "int8", "fp32"), ("int8", "fp4", "bf16")]
)
def test_matmul_counts_match_explicit_loops(shape, start, per_example, types):
    x, w, out = types
    counted = count_matmul(
        *shape,
        *types,
        weight_per_example=per_example,
        start_from_product=start == "product",
    )
    make = rl.matmul_per_example if per_example else rl.matmul
    op = make(*shape, x=x, w=w, out=out, compute="bf16", accumulate_from=start)
    assert op.flops == counted.flops
    assert op.loaded == counted.bytes("loaded")
    assert op.written == counted.bytes("written")
    assert op.bytes == op.loaded + op.written


@pytest.mark.parametrize("N", [1, 2, 7])
@pytest.mark.parametrize("start", ["zero", "product"])
def test_dot_counts_match_an_explicit_loop(N, start):
    counted = count_matmul(1, N, 1, "bf16", "bf16", "bf16", start_from_product=start == "product")
    op = rl.dot(N, accumulate_from=start)
    assert (op.flops, op.loaded, op.written) == (
        counted.flops,
        counted.bytes("loaded"),
        counted.bytes("written"),
    )


def test_dot_matches_the_published_example():
    N = 1000
    op = rl.dot(N)
    assert (op.flops, op.bytes) == (2 * N - 1, 4 * N + 2)


@pytest.mark.parametrize(("inputs", "each"), [(1, 1), (2, 1), (3, 5)])
def test_elementwise_counts_match_an_explicit_loop(inputs, each):
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


def test_rms_norm_counts_match_explicit_loops():
    B, D, count = 3, 5, Counter()
    for b in range(B):
        for d in range(D):
            count.load("x", (b, d), 16)
            count.flops += 1 if d == 0 else 2  # squaring; after the first also an addition
        count.flops += 3  # division by D, addition of epsilon, reciprocal square root
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
def test_sharded_counts_match_explicit_loops(split, result, N):
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
def test_shards_together_compute_the_whole_product(split):
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
    # Each chip writes its whole part, at two bytes per element.
    assert rl.sharded_matmul(B, D, F, N, split=split).written == 2 * parts[0].size


def test_partial_sums_can_be_sent_in_a_wider_type():
    narrow = rl.sharded_matmul(4, 8, 16, 2)
    wide = rl.sharded_matmul(4, 8, 16, 2, partial="fp32")
    assert wide.sent["link"] == 2 * narrow.sent["link"]
    assert wide.written == 2 * narrow.written


def test_integer_counts_are_exact_at_any_size():
    side = 10**12
    assert rl.matmul(side, side, side).flops == 2 * side**3
    for split in "BDF":
        share = rl.sharded_matmul(3 * side + 3, 3 * side + 3, 3 * side + 3, 3, split=split)
        assert share.flops == 18 * (side + 1) ** 3


def test_bytes_of_dot_depend_on_its_data_type():
    op = rl.dot(5, x="fp32")
    assert (op.loaded, op.written) == (40, 4)


def test_array_counts_do_not_overflow():
    side = np.array([10**7], dtype=np.int32)
    assert rl.matmul(side, side, side).flops == pytest.approx(2e21)


def test_matmul_keeps_fractions_exact():
    third = Fraction(1, 3)
    assert rl.matmul(third, 3, 3).flops == 6


def test_operations_besides_matmul_keep_fractions_exact():
    third = Fraction(1, 3)
    assert rl.dot(third).bytes == Fraction(10, 3)
    assert rl.elementwise(third, flops_per_element=Fraction(1, 7)).flops == Fraction(1, 21)
    assert rl.rms_norm(third, 2).flops == Fraction(10, 3)
    assert rl.sharded_matmul(third * 2, 3, 3, 1).flops == 12
    assert rl.operation(bytes=third).bytes == third


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float16, np.float32, np.float64])
def test_numpy_scalars_behave_like_plain_numbers(kind):
    op = rl.matmul(kind(100), kind(100), np.array(kind(100)))
    assert (op.flops, op.bytes) == (2_000_000, 60_000)
    assert type(op.flops) is (int if np.issubdtype(kind, np.integer) else float)


def test_compute_defaults_to_the_common_type():
    assert rl.matmul(1, 1, 1, x="bf16", w="int8").compute.name == "bf16"
    assert rl.matmul(1, 1, 1, x="int8").compute.name == "int8"
    assert rl.matmul(1, 1, 1, x="int8", compute="bf16").compute.name == "bf16"
    assert rl.matmul_per_example(1, 1, 1, w="fp32").compute.name == "fp32"


@pytest.mark.parametrize("make", [rl.dot, rl.elementwise, lambda N, **k: rl.rms_norm(N, 3, **k)])
def test_compute_defaults_to_the_input_type(make):
    assert make(2, x="int8").compute.name == "int8"
    assert make(2, x="int8", compute="fp32").compute.name == "fp32"


@pytest.mark.parametrize("make", [rl.matmul, rl.matmul_per_example])
def test_weight_and_output_default_to_the_input_type(make):
    op = make(2, 3, 4, x="fp32")
    weights = 12 if make is rl.matmul else 24
    assert (op.loaded, op.written) == (4 * (6 + weights), 4 * 8)


def test_elementwise_accepts_data_types_and_an_array_of_input_counts():
    op = rl.elementwise(10, inputs=np.array([1, 2, 3]), x="fp32", out="int8")
    assert op.loaded.tolist() == [40, 80, 120]
    assert op.written == 10
    assert rl.elementwise(10, x="fp32").written == 40


def test_elementwise_defaults_to_one_input_and_one_flop():
    op = rl.elementwise(10, x="fp32")
    assert (op.flops, op.loaded) == (10, 40)


def test_custom_operations_keep_their_counts():
    op = rl.operation(6, 4, compute="fp32", sent={"wire": 3, "idle": 0}, name="own")
    assert (op.flops, op.loaded, op.written, op.bytes) == (6, 4, 0, 4)
    assert (op.compute.name, op.sent, op.name) == ("fp32", {"wire": 3, "idle": 0}, "own")
    assert (op.intensity, op.held, op.chips) == (1.5, 4, 1)
    assert rl.operation(sent=5).sent == {"link": 5}
    assert rl.operation(sent=0).sent == {}
    assert rl.operation(sent=[0, 5]).sent["link"].tolist() == [0, 5]


@pytest.mark.parametrize("N", [1, 2, 4])
@pytest.mark.parametrize("split", ["B", "D", "F"])
@pytest.mark.parametrize("result", ["replicated", "sharded"])
@pytest.mark.parametrize("partial", [None, "fp32"])
def test_a_chip_holds_its_inputs_and_the_larger_of_partial_and_final_output(
    N, split, result, partial
):
    B, D, F = 4, 8, 12
    # One chip's ranges of the three dimensions.
    rows = range(B // N if split == "B" else B)
    depth = range(D // N if split == "D" else D)
    columns = range(F // N if split == "F" else F)
    inputs = 2 * len(rows) * len(depth) + 1 * len(depth) * len(columns)
    own = {(b, f) for b in rows for f in columns}
    every = {(b, f) for b in range(B) for f in range(F)}
    width = 4 if partial and split == "D" else 2
    before = width * len(own)
    after = 2 * (len(every) if result == "replicated" else len(every) // N)
    op = rl.sharded_matmul(B, D, F, N, split=split, result=result, w="int8", partial=partial)
    assert op.held == inputs + max(before, after)
    assert op.bytes == inputs + before


def test_a_gathered_result_must_fit_into_hbm():
    # Each of 8 chips holds an eighth of the weights but the whole output.
    op = rl.sharded_matmul(1000, 8, 8000, 8, split="F")
    assert op.held == 2 * (1000 * 8 + 8 * 1000 + 1000 * 8000)
    for capacity, fits in [(op.held, True), (op.held - 1, False)]:
        chip = rl.Chip("small", {"bf16": 1}, 1, capacity, links=(rl.Link("wire", 1),))
        assert rl.bound(op, chip, "wire").fits is fits
    many = rl.sharded_matmul(np.array([8, 16]), 8, 8, np.array([2, 4]), split="B", partial="fp32")
    assert many.held.tolist() == [2 * (32 + 64 + 64), 2 * (32 + 64 + 128)]


def test_intensity_without_bytes_is_infinite():
    assert rl.operation(flops=1).intensity == float("inf")
    assert rl.operation(flops=np.array([1.0, 2.0])).intensity.tolist() == [float("inf")] * 2


@pytest.mark.filterwarnings("error")
def test_an_operation_without_flops_attains_zero():
    flops, size = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    chip = rl.Chip("even", {"bf16": 1}, 1, 1)
    many = rl.operation(flops, size)
    assert many.intensity.tolist() == [0, 0, float("inf"), 1]
    b = rl.bound(many, chip)
    assert b.attainable.tolist() == [0, 0, 1, 1]
    assert b.fraction_of_peak.tolist() == [0, 0, 1, 1]
    for i in range(4):
        one = rl.operation(int(flops[i]), int(size[i]))
        alone = rl.bound(one, chip)
        assert one.intensity == many.intensity[i]
        for name in ("attainable", "fraction_of_peak", "idle", "lower", "upper", "binding"):
            assert getattr(alone, name) == getattr(b, name)[i]


def test_an_operation_displays_its_counts():
    op = rl.matmul(64, 4096, 16384)
    assert repr(op) == "<Operation matmul: 8.59 GFLOP in bf16, 137 MB, 62.8 FLOP/B>"
    sent = rl.operation(4, 8, sent={"wire": 1500}, name="own")
    assert repr(sent) == "<Operation own: 4 FLOP in bf16, 8 B, 1.5 kB over wire, 0.5 FLOP/B>"
    many = rl.matmul(np.array([1, 2]), 64, 64)
    assert repr(many).startswith("<Operation matmul: 8.19 kFLOP to 16.4 kFLOP in bf16, 8.45 kB to")
    assert sent._repr_markdown_().replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "| own |  |",
        "| :-- | :-- |",
        "| FLOPs | 4 FLOP |",
        "| computed in | bf16 |",
        "| loaded | 8 B |",
        "| written | 0 B |",
        "| sent over wire | 1.5 kB |",
        "| intensity | 0.5 FLOP/B |",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda N: rl.dot(N),
        lambda N: rl.matmul(N, 2, 2),
        lambda N: rl.sharded_matmul(N, 2, 2, 2),
        lambda N: rl.elementwise(N),
    ],
)
def test_an_empty_array_of_sizes_gives_empty_results(make):
    op = make(np.array([]))
    assert op.intensity.shape == (0,)
    assert "no values" in repr(op)
