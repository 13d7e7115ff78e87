"""Tests of error messages: the argument, its value, and the allowed values."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import rooflib as rl
from rooflib import plots

BAD_SIZES = [0, -1, float("nan"), float("inf"), -float("inf"), np.float64(-2.5)]


@pytest.mark.parametrize("bad", BAD_SIZES)
@pytest.mark.parametrize("name", ["B", "D", "F"])
@pytest.mark.parametrize("make", [rl.matmul, rl.matmul_per_example])
def test_errors_name_invalid_sizes(make, name, bad):
    sizes = {"B": 2, "D": 3, "F": 4} | {name: bad}
    with pytest.raises(ValueError, match=rf"^{name} must be above zero and finite; got"):
        make(**sizes)


@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf])
def test_errors_locate_invalid_array_entries(bad):
    sizes = np.array([[1.0, 2.0], [3.0, bad]])
    with pytest.raises(ValueError, match=re.escape("D must be above zero and finite; D[1, 1] is")):
        rl.matmul(2, sizes, 4)


@pytest.mark.parametrize(
    "bad", ["64", True, None, [1, "2"], [[1], [2, 3]], 1j, np.array(["a"]), [True]]
)
def test_non_numeric_sizes_raise_type_errors(bad):
    with pytest.raises(TypeError, match=r"^B must be a number or an array of numbers"):
        rl.matmul(bad, 3, 4)


@pytest.mark.parametrize(
    "bad",
    [2 * 10**30, 10**400, 10**5000, 1e100, Fraction(10**400), np.float64(1e300)],
    ids=lambda bad: f"{type(bad).__name__}",
)
@pytest.mark.parametrize("make", [rl.dot, rl.elementwise, lambda N: rl.matmul_per_example(2, N, 3)])
def test_errors_name_sizes_that_are_too_large(make, bad):
    with pytest.raises(ValueError, match=r"^[ND] must be at most 1e\+30; got .{1,60}$"):
        make(bad)


@pytest.mark.parametrize("make", [rl.matmul, rl.matmul_per_example])
def test_maximum_sizes_have_finite_bounds(make):
    b = rl.bound(make(10**30, 10**30, 10**30), "TPU v5e")
    assert b.times["compute"] == 2 * 10**90 / 1.97e14
    assert b.upper < float("inf")


def test_errors_locate_array_entries_that_are_too_large():
    with pytest.raises(ValueError, match=r"^D must be at most 1e\+30; D\[1\] is 1e\+31$"):
        rl.matmul(2, [1e30, 1e31], 4)


two, three = np.ones(2), np.ones(3)
SHAPES = [
    (lambda: rl.matmul(two, three, 4), "B of shape (2,), D of shape (3,)"),
    (lambda: rl.matmul_per_example(2, three, two), "D of shape (3,), F of shape (2,)"),
    (lambda: rl.sharded_matmul(two, 3, 4, N=three), "B of shape (2,), N of shape (3,)"),
    (lambda: rl.sharded_matmul(two, 3, three, N=1), "B of shape (2,), F of shape (3,)"),
    (lambda: rl.rms_norm(two, three), "B of shape (2,), D of shape (3,)"),
    (lambda: rl.elementwise(two, inputs=three), "N of shape (2,), inputs of shape (3,)"),
    (
        lambda: rl.elementwise(two, flops_per_element=three),
        "N of shape (2,), flops_per_element of shape (3,)",
    ),
    (lambda: rl.operation(two, three), "flops of shape (2,), bytes of shape (3,)"),
    (lambda: rl.operation(two, 3, sent=three), "flops of shape (2,), link of shape (3,)"),
    (lambda: rl.operation(two, 3, vector=three), "flops of shape (2,), vector of shape (3,)"),
    (
        lambda: rl.operation(two, exponentials=three),
        "flops of shape (2,), exponentials of shape (3,)",
    ),
    (
        lambda: rl.operation(two, 3, hops={"wire": three}),
        "flops of shape (2,), hops['wire'] of shape (3,)",
    ),
    (lambda: rl.attention(two, 1, three, 1, 1, 1), "B of shape (2,), S of shape (3,)"),
    (lambda: rl.kv_bytes_per_token(two, three, 1), "layers of shape (2,), K of shape (3,)"),
    (
        lambda: rl.model("Llama 3 8B").decode(two, 1, three),
        "B of shape (2,), chips of shape (3,)",
    ),
    (lambda: rl.all_reduce(two, three), "size of shape (2,), N of shape (3,)"),
    (lambda: rl.critical_batch("TPU v5e", two, three), "D of shape (2,), F of shape (3,)"),
]


@pytest.mark.parametrize(("wrong", "named"), SHAPES)
def test_errors_about_shapes_name_the_arrays(wrong, named):
    with pytest.raises(ValueError, match=r"^shapes must broadcast") as caught:
        wrong()
    assert str(caught.value) == f"shapes must broadcast against each other; got {named}"


def test_errors_about_shapes_omit_scalars():
    assert rl.matmul(np.ones((2, 1)), 3, np.ones(4)).flops.shape == (2, 4)
    with pytest.raises(ValueError, match="got B of shape") as caught:
        rl.matmul(two, 3, three)
    assert "D" not in str(caught.value)


def test_long_values_are_truncated_in_messages():
    with pytest.raises(ValueError, match="got '" + "x" * 56 + r"\.\.\.$"):
        rl.sharded_matmul(2, 4, 4, 2, split="x" * 100)
    with pytest.raises(ValueError, match="got '" + "x" * 58 + "'$"):
        rl.sharded_matmul(2, 4, 4, 2, split="x" * 58)


MESSAGES = [
    (lambda: rl.chip("H1000"), "chip must be one of", "TPU v5e", "got 'H1000'"),
    (lambda: rl.chip(3), "chip must be one of", "got 3"),
    (lambda: rl.dtype("int7"), "dtype must be one of", "int8", "got 'int7'"),
    (lambda: rl.matmul(1, 2, 3, w="int7"), "w must be one of", "got 'int7'"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, result="sharted"), "did you mean 'sharded'?"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, out="int7"), "out must be one of"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, partial="int7"), "partial must be one of"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, compute="int7"), "compute must be one of"),
    (lambda: rl.sharded_matmul(3, 4, 4, [1, 2], split="B"), "B must be a multiple of N"),
    (lambda: rl.sharded_matmul([3, 4], 4, 4, 2, split="B"), "B must be a multiple of N"),
    (
        lambda: rl.bound(rl.operation(sent=1), rl.Chip("alone", {"bf16": 1}, 1, 1)),
        "link must be given",
        "alone has: none",
    ),
    (lambda: rl.dot(3, x="int7"), "x must be one of", "got 'int7'"),
    (lambda: rl.elementwise(3, out="int7"), "out must be one of"),
    (lambda: rl.elementwise(3, inputs=0), "inputs must be above zero"),
    (lambda: rl.elementwise(3, flops_per_element=-1), "flops_per_element must be zero or above"),
    (lambda: rl.rms_norm(3, 4, compute="int7"), "compute must be one of"),
    (lambda: rl.operation(sent=-1), "sent must be zero or above"),
    (lambda: rl.operation(hops=-1), "hops must be zero or above"),
    (lambda: rl.operation(hops={"ICI": -1}), "hops['ICI'] must be zero or above"),
    (lambda: rl.operation(vector=-1), "vector must be zero or above"),
    (lambda: rl.operation(exponentials=-1), "exponentials must be zero or above"),
    (lambda: rl.operation(vector_compute="int7"), "vector_compute must be one of"),
    (lambda: rl.attention(1, 3, 2, 1, 1, 1), "S must be at least T where", "got S=2, T=3"),
    (
        lambda: rl.attention(1, [1, 3], 2, 1, 1, 1),
        "S must be at least T where",
        "got S=2, T=[1. 3.]",
    ),
    (lambda: rl.DType("mine", 4, scale_bits=-1), "scale_bits must be zero or above"),
    (lambda: rl.attention(1, 1, 1, 4, [1, 3], 1), "N must be a multiple of K", "got N=4"),
    (lambda: rl.attention(1, 1.5, 2, 1, 1, 1), "T must be a whole number above zero"),
    (lambda: rl.attention(1, 1, 1, 1, 1, 1, kv="int7"), "kv must be one of"),
    (lambda: rl.attention(1, 1, 1, 1, 1, 1, scores="int7"), "scores must be one of"),
    (lambda: rl.attention(1, 1, 1, 1, 1, 1, softmax="int7"), "softmax must be one of"),
    (lambda: rl.attention(1, 1, 1, 1, 1, 1, kv="fp16"), "compute must be given for bf16 times"),
    (lambda: rl.kv_bytes_per_token(1, 1, 1, "int7"), "kv must be one of"),
    (lambda: rl.kv_bytes_per_token(1, 0, 1), "K must be above zero"),
    (lambda: rl.model("Llama 3 8B").decode(1, 1, w="int7"), "w must be one of"),
    (lambda: rl.model("Llama 3 8B").decode(1, 1, kv="int7"), "kv must be one of"),
    (
        lambda: rl.model("Llama 3 8B").decode(1, 1, w="fp16", x="bf16"),
        "compute must be given for bf16 times fp16",
    ),
    (lambda: rl.model("Llama 3 8B").decode(1, 0), "S must be above zero"),
    (lambda: rl.bound(rl.dot(3), "TPU v5e", launch=-1), "launch must be zero or above"),
    (lambda: rl.Link("wire", 1, latency=-1), "link 'wire': latency must be zero or above"),
    (lambda: rl.operation(sent={"ICI": -1}), "sent['ICI'] must be zero or above"),
    (lambda: rl.all_gather(-1, 2), "size must be zero or above"),
    (lambda: rl.all_reduce(1, [1, 1.5]), "N must be a whole number above zero"),
    (lambda: rl.critical_batch("TPU v5e", 0, 1), "D must be above zero"),
    (lambda: rl.critical_depth("TPU v5e", "ICI", out="int7"), "out must be one of"),
    (lambda: rl.critical_depth("TPU v5e", "ICI", N=0), "N must be above zero"),
    (lambda: rl.attainable(-1, "TPU v5e"), "intensity must be zero or above"),
    (
        lambda: rl.attainable([1, np.nan], "TPU v5e"),
        "intensity must be zero or above",
        "[1] is nan",
    ),
    (lambda: rl.first_whole_above(float("nan")), "value must be zero or above"),
    (lambda: rl.bound(rl.dot(3), "TPU v99"), "chip must be", "'TPU v99'"),
    (lambda: rl.bound(rl.dot(3), 5), "chip must be", "5"),
    (lambda: rl.attainable(1, "TPU v99"), "chip must be"),
    (lambda: rl.critical_batch("TPU v99", 1, 1), "chip must be"),
    (lambda: rl.critical_batch_limit("TPU v99"), "chip must be"),
    (lambda: rl.critical_depth("TPU v99", "ICI"), "chip must be"),
    (lambda: rl.matmul(1, 2, 3, x="bf16", w="fp16"), "compute must be given for bf16 times fp16"),
    (lambda: rl.matmul(1, 2, 3, accumulate_from="one"), "accumulate_from must be one of zero, pro"),
    (lambda: rl.chip("A100 80GB SXM").peak("fp8"), "compute must be", "A100", "bf16", "got 'fp8'"),
    (lambda: rl.chip("TPU v5e").peak(unit="scalar"), "unit must be one of matrix, vector"),
    (lambda: rl.chip("TPU v5e").link("NVLink"), "link must be", "ICI", "got 'NVLink'"),
    (
        lambda: rl.bound(rl.sharded_matmul(2, 4, 4, 2), rl.chip("TPU v5e")),
        "link must be given",
        "ICI",
    ),
    (lambda: rl.sharded_matmul(2, 5, 4, 2), "D must be a multiple of N", "got D=5, N=2"),
    (lambda: rl.sharded_matmul(2, 4, 4, 1.5), "N must be a whole number above zero; got 1.5"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, split="E"), "split must be one of B, D, F; got 'E'"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, split="d"), "got 'd'; did you mean 'D'?"),
    (lambda: rl.sharded_matmul(2, 4, 4, 2, result="x"), "result must be one of replicated, shar"),
    (lambda: rl.critical_depth(rl.chip("TPU v5e"), "ICI", split="E"), "split must be one of"),
    (lambda: rl.operation(flops=1.5e100), "flops must be at most 1e+100; got 1.5e+100"),
    (lambda: rl.operation(flops=-1), "flops must be zero or above, and finite; got -1"),
    (lambda: rl.operation(bytes=np.array([0, -1])), "bytes must be zero or above", "bytes[1] is"),
    (lambda: rl.Chip("mine", {"bf16": -1}, 1, 1), "peaks['bf16'] must be above zero"),
    (lambda: rl.Chip("mine", {"b16": 1}, 1, 1), "peaks must be one of"),
    (lambda: rl.Chip("mine", {"bf16": 1}, 0, 1), "bandwidth must be above zero"),
    (lambda: rl.Link("wire", 0), "bandwidth must be above zero"),
    (lambda: rl.Link("wire", 1, topology="star"), "topology must be one of torus, switch, host"),
    (lambda: rl.Table({"a": ["1"], "b": []}), "columns must have equal lengths", "'b': 0"),
    (lambda: plots.roofline(plots.axes(), {}, {"HBM": 1}), "at least one ceiling and one slope"),
    (
        lambda: plots.roofline(plots.axes(), {"bf16": 9}, {"HBM": 1}, regions=["one"]),
        "regions must hold 2 labels, one more than slopes; got 1",
    ),
]


@pytest.mark.parametrize("case", MESSAGES, ids=[case[1] for case in MESSAGES])
def test_messages_state_the_value_and_the_allowed_ones(case):
    wrong, *parts = case
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        wrong()
    for part in parts:
        assert part in str(caught.value)


def test_unknown_names_raise_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'speed'"):
        rl.speed  # noqa: B018
