"""Tests of argument checks and immutability."""

from __future__ import annotations

import copy
import inspect
import math
import pickle

import numpy as np
import pytest
from matplotlib import pyplot as plt

import rooflib as rl

LIMIT = 10**30
H100 = rl.chip("H100 SXM")
LAYER = rl.matmul(64, 4096, 4096)
ARRAYS = np.array([1.0, 2.0])
SIX = ("attention", 6), ("sharded_matmul", 4), ("matmul", 3), ("rms_norm", 2), ("dot", 1)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


@pytest.mark.parametrize("word", ["int8", 1, 0, None, "no"])
@pytest.mark.parametrize("name", ["causal", "fused"])
def test_a_flag_must_be_true_or_false(name, word):
    with pytest.raises(TypeError, match=f"^{name} must be True or False; got"):
        rl.attention(1, 1, 8, 1, 1, 1, **{name: word})


def test_numpy_bools_are_accepted_as_flags():
    on, off = np.array([True, False])
    shape = (1, 8, 8, 2, 1, 16)
    assert rl.attention(*shape, causal=on) == rl.attention(*shape)
    assert rl.attention(*shape, causal=off) == rl.attention(*shape, causal=False)


@pytest.mark.parametrize(
    ("make", "sizes"),
    [
        (rl.attention, (1, 1, 8, 1, 1, 1, "int8")),
        (rl.matmul, (1, 2, 3, "bf16", "int8")),
        (rl.sharded_matmul, (4, 4, 4, 2, "D")),
        (rl.model("Llama 3 8B").decode, (1, 8, 1, "int8")),
    ],
)
def test_options_are_keyword_only(make, sizes):
    with pytest.raises(TypeError, match="positional argument"):
        make(*sizes)


@pytest.mark.parametrize("option", [(), "int8", {"experts": "int4"}])
def test_model_options_are_keyword_only(option):
    sizes = (1, 8, 8, 2, 1, 4, 9, True, False, None)
    with pytest.raises(TypeError, match="positional argument"):
        rl.Model("mine", *sizes, option)


@pytest.mark.parametrize("name", ["gated", "tied"])
def test_model_flags_must_be_bools(name):
    sizes = {"layers": 1, "D": 8, "F": 8, "N": 2, "K": 1, "H": 4, "vocabulary": 9}
    with pytest.raises(TypeError, match=f"^{name} must be True or False; got 'yes'"):
        rl.Model("mine", **sizes, **{name: "yes"})


@pytest.mark.parametrize(("name", "count"), SIX)
def test_counts_at_the_maximum_size_are_finite(name, count):
    op = getattr(rl, name)(*[LIMIT] * count)
    b = rl.bound(op, H100, "NVLink")
    counts = (op.flops, op.bytes, op.held, b.lower, b.upper)
    assert all(math.isfinite(float(count)) for count in counts)


@pytest.mark.parametrize(("name", "count"), SIX)
@pytest.mark.parametrize("size", [1e100, 10**31, float("inf"), float("nan")])
def test_invalid_sizes_are_named_in_the_error(name, count, size):
    with pytest.raises(ValueError, match=r"^[A-Z] must be"):
        getattr(rl, name)(*[size] * count)


def test_operations_and_bounds_with_arrays_compare_by_value():
    one, same = rl.matmul([1, 2], 4, 8), rl.matmul([1, 2], 4, 8)
    other, longer = rl.matmul([1, 3], 4, 8), rl.matmul([1, 2, 3], 4, 8)
    assert one == same
    assert one != other
    assert one != longer
    assert one != rl.matmul(1, 4, 8)
    assert one != "a matmul"
    assert rl.bound(one, H100) == rl.bound(same, H100)
    assert rl.bound(one, H100) != rl.bound(other, H100)
    sent = [rl.operation(1, 1, sent={"NVLink": a}) for a in ([1, 2], [1, 2], [1, 3], 1)]
    assert sent[0] == sent[1]
    assert sent[0] not in sent[2:]


# Values for the arguments that aren't sizes, by argument name.
OTHER = {"chip": "H100 SXM", "link": "NVLink", "op": LAYER, "model": rl.model("Llama 3 8B")}
OF_SIZES = {
    name: sizes
    for name, call in inspect.getmembers(rl, inspect.isfunction)
    if (sizes := [size for size, kind in call.__annotations__.items() if "Size" in kind])
}


@pytest.mark.parametrize("name", OF_SIZES)
def test_changing_a_passed_array_does_not_change_the_result(name):
    call, given = getattr(rl, name), {size: np.array([128.0, 4096.0]) for size in OF_SIZES[name]}
    others = {key: OTHER[key] for key in inspect.signature(call).parameters if key in OTHER}
    result = call(**given, **others)
    for array in given.values():
        array *= 2
    again = call(**dict.fromkeys(given, np.array([128.0, 4096.0])), **others)
    changed = call(**given, **others)
    assert np.all(result == again)
    assert np.any(result != changed)


def test_operations_copy_their_inputs():
    flops, sent, ways = np.array([1.0, 2.0]), np.array([3.0, 4.0]), {}
    ways["NVLink"] = sent
    op = rl.operation(flops=flops, sent=ways)
    flops[0] = sent[0] = 99
    ways["PCIe"] = 1
    assert op == rl.operation(flops=[1, 2], sent={"NVLink": [3, 4]})


@pytest.mark.parametrize("change", [lambda held: held.update(PCIe=1), lambda held: held.clear()])
def test_mappings_in_results_are_read_only(change):
    op = rl.operation(1, 1, sent={"NVLink": 1}, hops={"NVLink": 1})
    for held in (op.sent, op.hops, rl.bound(op, H100).times):
        with pytest.raises(TypeError, match="read-only"):
            change(held)


def test_results_can_be_copied_and_pickled():
    op = rl.operation([1, 2], 1, sent={"NVLink": [1, 2]})
    for each in (op, rl.bound(op, H100)):
        assert copy.deepcopy(each) == pickle.loads(pickle.dumps(each)) == each


def laptop(**figures):
    return rl.Chip(
        "laptop", **{"peaks": {"fp32": 1e12}, "bandwidth": 1e11, "capacity": 1e10} | figures
    )


REFUSED = [
    (lambda: rl.bound(None, "H100 SXM"), TypeError, "op must be an Operation"),
    (lambda: rl.bound("H100 SXM", LAYER), TypeError, "op must be an Operation"),
    (lambda: laptop(peaks=[1]), TypeError, r"peaks must be a mapping from data type .*got \[1\]"),
    (lambda: laptop(peaks={"fp32": ARRAYS}), TypeError, r"peaks\['fp32'\] must be one number"),
    (lambda: laptop(vector=5), TypeError, "vector must be a mapping"),
    (lambda: laptop(bandwidth=ARRAYS), TypeError, "bandwidth must be one number"),
    (lambda: laptop(capacity="16 GB"), TypeError, "capacity must be one number"),
    (lambda: laptop(on_chip=[1]), TypeError, "on_chip must be a mapping"),
    (lambda: laptop(exponentials="3 TOP/s"), TypeError, "exponentials must be one number"),
    (lambda: laptop(links=["ICI"]), TypeError, "links must be a sequence of Link"),
    (lambda: laptop(links=5), TypeError, "links must be a sequence of Link"),
    (lambda: rl.Chip(5, {"fp32": 1e12}, 1e11, 1e10), TypeError, "name must be a string"),
    (lambda: rl.Link("wire", ARRAYS), TypeError, "link 'wire': bandwidth must be one number"),
    (lambda: rl.Link("wire", 1e9, axes=[1]), TypeError, "link 'wire': axes must be one number"),
    (lambda: rl.Link(None, 1e9), TypeError, "name of a link must be a string"),
    (lambda: rl.DType("mine", 4.0), TypeError, r"bits must be an int; got 4\.0"),
    (lambda: rl.DType(4, 4), TypeError, "name of a data type must be a string"),
    (lambda: rl.text(ARRAYS), TypeError, "value must be one number; got array"),
    (lambda: rl.text("5"), TypeError, "value must be one number; got '5'"),
    (lambda: rl.scientific(ARRAYS), TypeError, "value must be one number"),
    (lambda: rl.percent([0.5]), TypeError, "fraction must be one number"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_errors_name_the_argument(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call()


POINTS = [
    ([1, 2], TypeError, r"points\['mine'\] must be one number; got \[1, 2\]"),
    ((-1.0, 1e12), ValueError, r"points\['mine'\]\[0\] must be above zero"),
    ((1.0, -1e12), ValueError, r"points\['mine'\]\[1\] must be above zero"),
    ((1.0, 2.0, 3.0), ValueError, r"points\['mine'\] must be a pair"),
    (ARRAYS, TypeError, r"points\['mine'\] must be one number"),
    ("5", TypeError, r"points\['mine'\] must be one number"),
]


@pytest.mark.parametrize(("point", "error", "message"), POINTS)
def test_points_of_a_roofline_plot_must_be_numbers_or_pairs(ax, point, error, message):
    with pytest.raises(error, match=f"^{message}"):
        rl.plots.roofline(ax, {"bf16": 1e15}, {"HBM": 1e12}, {"mine": point})


ROOFS = [
    (([1e15], {"HBM": 1e12}), "ceilings must be a mapping"),
    (({"bf16": 1e15}, 1e12), "slopes must be a mapping"),
    (({"bf16": ARRAYS}, {"HBM": 1e12}), r"ceilings\['bf16'\] must be one number"),
    (({"bf16": 1e15}, {"HBM": 1e12}, [1.0]), "points must be a mapping"),
]


@pytest.mark.parametrize(("roofs", "message"), ROOFS)
def test_roofline_plots_require_mappings_to_single_numbers(ax, roofs, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        rl.plots.roofline(ax, *roofs)


BARS = [
    ({}, ValueError, "bounds must not be empty"),
    ([1], TypeError, "bounds must be a mapping"),
    ({"mine": 5}, TypeError, r"bounds\['mine'\] must be a Bounds"),
    (
        {"mine": rl.bound(rl.operation(flops=[1, 2], bytes=1), H100)},
        ValueError,
        r"bounds\['mine'\] must hold plain numbers",
    ),
]


@pytest.mark.parametrize(("bounds", "error", "message"), BARS)
def test_bar_plots_require_bounds_of_plain_numbers(ax, bounds, error, message):
    with pytest.raises(error, match=f"^{message}"):
        rl.plots.time_bars(ax, bounds)
