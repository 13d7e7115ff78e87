"""Tests of bounds against hand calculations, and of their display."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rooflib as rl

RING = rl.Link("ring", 1e9, links_per_axis=2, axes=3)
HOST = rl.Link("host", 2e9, links_per_axis=4, topology="host")
SWITCH = rl.Link("switch", 4e9, links_per_axis=5, topology="switch")
CHIP = rl.Chip(
    "own",
    {"bf16": 1e12, "int8": 2e12},
    bandwidth=1e10,
    capacity=1e6,
    vector={"bf16": 1e11, "fp32": 5e10},
    links=(RING, HOST, SWITCH),
)


@pytest.mark.parametrize(
    ("link", "one_peer", "total"), [(RING, 1e9, 6e9), (HOST, 2e9, 8e9), (SWITCH, 2e10, 2e10)]
)
@pytest.mark.parametrize("by_name", [True, False])
def test_sent_bytes_use_the_bandwidth_to_one_peer(link, one_peer, total, by_name):
    op = rl.operation(flops=1e9, bytes=1e6, sent=3e6)
    b = rl.bound(op, CHIP, link.name if by_name else link)
    assert b.times == {"compute": 1e-3, "HBM": 1e-4, link.name: 3e6 / one_peer}
    assert (link.to_one_peer, link.total) == (one_peer, total)
    assert CHIP.ridge(link=link.name if by_name else link) == 1e12 / one_peer
    assert CHIP.ridge("fp32", "vector", link=link.name) == 5e10 / one_peer
    assert CHIP.ridge("fp32", "vector") == 5


@pytest.mark.parametrize("link", ["ring", HOST])
def test_a_link_without_traffic_takes_no_time(link):
    b = rl.bound(rl.operation(flops=1e9, bytes=1e6), CHIP, link)
    name = link if isinstance(link, str) else link.name
    assert b.times == {"compute": 1e-3, "HBM": 1e-4, name: 0}
    assert (b.upper, b.binding) == (1.1e-3, "compute")


def test_a_custom_link_need_not_belong_to_the_chip():
    far = rl.Link("far", 1e3)
    assert rl.bound(rl.operation(sent=1e3), CHIP, far).times["far"] == 1
    with pytest.raises(ValueError, match="link must be one that own has: ring, host, switch"):
        rl.bound(rl.operation(sent=1e3), CHIP, "far")
    with pytest.raises(ValueError, match="'far'"):
        rl.bound(rl.operation(), CHIP, "far")


def test_bytes_for_a_named_link_always_use_that_link():
    op = rl.operation(sent={"ring": 1e9, "link": 2e9, "host": 4e9})
    assert rl.bound(op, CHIP, "ring").times == {"compute": 0, "HBM": 0, "ring": 3, "host": 2}
    assert rl.bound(op, CHIP, SWITCH).times["switch"] == 0.1
    with pytest.raises(ValueError, match="own has: ring, host, switch"):
        rl.bound(op, CHIP)


def test_unit_vector_computes_at_the_peak_of_the_vector_units():
    op = rl.operation(flops=1e9, bytes=1e6)
    assert rl.bound(op, CHIP, unit="vector").times["compute"] == 1e-2
    assert rl.bound(op, CHIP).times["compute"] == 1e-3
    intensity = np.array([0, 1, 5, 10, 100, 200, 1000, math.inf])
    # The roof is 1e10 bytes/s times the intensity, capped at the peak.
    for kind, unit, peak in [
        ("bf16", "matrix", 1e12),
        ("int8", "matrix", 2e12),
        ("bf16", "vector", 1e11),
        ("fp32", "vector", 5e10),
    ]:
        roof = rl.attainable(intensity, CHIP, kind, unit)
        assert roof.tolist() == [min(1e10 * i, peak) for i in intensity]
        for i, height in zip(intensity.tolist(), roof.tolist(), strict=True):
            assert rl.attainable(i, CHIP, rl.dtype(kind), unit) == height
    assert rl.attainable(1e4, CHIP) == 1e12


def test_chips_can_be_passed_by_name():
    op, h100 = rl.matmul(64, 64, 64), rl.chip("H100 SXM")
    assert rl.bound(op, "H100 SXM").times == rl.bound(op, h100).times
    assert rl.attainable(10, "h100 sxm") == rl.attainable(10, h100)
    assert rl.critical_batch("H100 SXM", 4096, 4096) == rl.critical_batch(h100, 4096, 4096)
    assert rl.critical_batch_limit("H100 SXM") == rl.critical_batch_limit(h100)
    assert rl.critical_depth("H100 SXM", "NVLink") == rl.critical_depth(h100, "NVLink")


def test_bounds_display_the_binding_roof():
    b = rl.bound(rl.operation(flops=1e9, bytes=2e6, sent=1e5), CHIP, "ring")
    assert (
        repr(b) == "<Bounds: compute binds, lower 1 ms, upper 1.3 ms, 100% of peak, does not fit>"
    )
    assert b._repr_markdown_().replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "| bounds |  |",
        "| :-- | :-- |",
        "| compute | 1 ms |",
        "| HBM | 200 µs |",
        "| ring | 100 µs |",
        "| binding | compute |",
        "| lower bound | 1 ms |",
        "| upper bound | 1.3 ms |",
        "| attained | 1 TFLOP/s |",
        "| share of peak | 100% |",
        "| HBM needed | 2 MB of 1 MB, does not fit |",
    ]


def test_bounds_of_arrays_display_ranges():
    b = rl.bound(rl.operation(flops=np.array([1e9, 1e9]), bytes=np.array([1e6, 4e7])), CHIP)
    shown = "<Bounds: compute or HBM binds, lower 1 ms to 4 ms, upper 1.1 ms to 5 ms, 25% to 100%"
    assert repr(b) == f"{shown} of peak, some do not fit>"
    one = rl.bound(rl.operation(flops=np.array([1.0]), bytes=np.array([1e6])), CHIP)
    assert repr(one).startswith("<Bounds: HBM binds, lower 100 µs, upper 100 µs")


def test_in_a_tie_between_links_the_first_one_binds():
    b = rl.bound(rl.operation(sent={"ring": 1e9, "host": 2e9}), CHIP)
    assert b.binding == "ring"
    assert (b.fraction_of_peak, b.idle, b.attainable) == (0, 1, 0)
