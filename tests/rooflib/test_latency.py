"""Tests of latency, launch time, vector units, and exponentials."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

WIRE = rl.Link("wire", 1e9, latency=1e-6)
BUS = rl.Link("bus", 1e9, links_per_axis=4, topology="switch", latency=3e-6)
CHIP = rl.Chip("own", {"bf16": 1e12}, 1e10, 1e9, {"fp32": 1e10, "bf16": 4e10}, (WIRE, BUS))
quick = settings(deadline=None, max_examples=60)


def ring(N, size, link, passes):
    """Simulate a ring; return the seconds until the last chip has the last part."""
    ready = np.zeros(N)  # time at which each chip has the part that it sends next
    for _ in range(passes * (N - 1)):
        ready = np.roll(ready, 1) + link.latency + size / N / link.to_one_peer
    return ready.max()


@pytest.mark.parametrize("N", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("link", [WIRE, BUS])
@pytest.mark.parametrize(
    ("split", "result", "passes"),
    [("D", "replicated", 2), ("D", "sharded", 1), ("B", "replicated", 1), ("F", "replicated", 1)],
)
def test_ring_time_matches_a_simulated_ring(N, link, split, result, passes):
    op = rl.sharded_matmul(24, 48, 24, N, split=split, result=result)
    assert op.hops == ({"link": passes * (N - 1)} if N > 1 else {})
    b = rl.bound(op, CHIP, link)
    assert b.times[link.name] == pytest.approx(ring(N, 2 * 24 * 24, link, passes), rel=1e-12)


def test_operations_that_send_nothing_have_no_hops():
    assert rl.sharded_matmul(24, 48, 24, 4, split="F", result="sharded").hops == {}
    many = rl.sharded_matmul(24, 48, 24, np.array([1, 2, 4]))
    assert many.hops["link"].tolist() == [0, 2, 6]


@quick
@given(st.integers(0, 10**12), st.integers(0, 10**6), st.floats(1e-9, 1e-3))
def test_each_hop_adds_the_latency_of_its_link(size, hops, latency):
    op = rl.operation(flops=1e9, bytes=1e6, sent={"wire": size}, hops={"wire": hops})
    plain = rl.operation(flops=1e9, bytes=1e6, sent={"wire": size})
    calm = dataclasses.replace(CHIP, links=(dataclasses.replace(WIRE, latency=0.0),))
    slow = dataclasses.replace(CHIP, links=(dataclasses.replace(WIRE, latency=latency),))
    assert rl.bound(op, calm) == rl.bound(plain, calm) == rl.bound(plain, slow)
    waited = rl.bound(op, slow).times["wire"]
    assert waited == pytest.approx(size / 1e9 + hops * latency, rel=1e-12)


def test_hops_accept_named_and_unnamed_links():
    op = rl.operation(sent={"wire": 1e3}, hops={"bus": 2, "link": 3})
    assert rl.bound(op, CHIP, "bus").times == {
        **{"compute": 0, "HBM": 0, "wire": 1e-6},
        "bus": pytest.approx(15e-6),
    }
    assert rl.operation(hops=4).hops == {"link": 4}
    assert rl.operation(hops=0).hops == {}
    assert rl.bound(rl.operation(hops=[1, 2]), CHIP, WIRE).times["wire"].tolist() == [1e-6, 2e-6]
    with pytest.raises(ValueError, match="link must be given"):
        rl.bound(rl.operation(hops=4), CHIP)


def test_half_bandwidth_size_reaches_half_the_bandwidth():
    assert (WIRE.half_bandwidth_size, BUS.half_bandwidth_size) == (1e3, 1.2e4)
    assert rl.Link("calm", 1e9).half_bandwidth_size == 0
    for link in (WIRE, BUS):
        size = link.half_bandwidth_size
        b = rl.bound(rl.operation(sent=size, hops=1), CHIP, link)
        assert size / b.times[link.name] == pytest.approx(link.to_one_peer / 2)


def test_a_chip_displays_link_latency():
    shown = str(CHIP.table)
    assert re.search(r"wire to one peer +1 GB/s, 1 µs a hop", shown)
    assert "a hop" not in str(rl.chip("TPU v5e").table)


def test_launch_time_is_a_separate_roof():
    op = rl.operation(flops=1e6, bytes=1e4)
    plain, started = rl.bound(op, CHIP), rl.bound(op, CHIP, launch=5e-6)
    assert rl.bound(op, CHIP, launch=0) == plain
    assert started.times == plain.times | {"launch": 5e-6}
    assert (started.binding, started.lower) == ("launch", 5e-6)
    assert started.upper == pytest.approx(plain.upper + 5e-6)
    assert rl.bound(op, CHIP, launch=np.array([0, 5e-6])).binding.tolist() == ["compute", "launch"]


def test_vector_and_matrix_units_overlap():
    op = rl.operation(flops=1e9, bytes=1e6, vector=2e7)
    b = rl.bound(op, CHIP)
    assert list(b.times) == ["compute", "vector", "HBM"]
    assert b.times == {"compute": 1e-3, "vector": 2e-3, "HBM": 1e-4}
    assert (b.binding, b.lower, b.flops) == ("vector", 2e-3, 1e9)
    assert b.fraction_of_peak == 0.5
    faster = rl.operation(flops=1e9, bytes=1e6, vector=2e7, vector_compute="bf16")
    assert rl.bound(faster, CHIP).times["vector"] == 5e-4
    assert (op.intensity, op.vector_compute.name) == (1e3, "fp32")


def test_flops_and_vector_work_add_up_on_the_vector_units():
    op = rl.operation(flops=4e9, bytes=1e6, vector=1e10)
    assert rl.bound(op, CHIP, unit="vector").times == {"compute": 1.1, "HBM": 1e-4}


def test_exponentials_have_a_roof_where_their_rate_is_known():
    op = rl.operation(flops=1e9, bytes=1e6, exponentials=3e6, vector=2e7)
    assert list(rl.bound(op, CHIP).times) == ["compute", "vector", "HBM"]
    b = rl.bound(op, dataclasses.replace(CHIP, exponentials=1e9))
    assert b.times == {"compute": 1e-3, "vector": 2e-3, "exponentials": 3e-3, "HBM": 1e-4}
    assert (b.binding, b.lower, b.flops) == ("exponentials", 3e-3, 1e9)
    assert dict(op.table.rows)["exponentials"].replace("\N{NO-BREAK SPACE}", " ") == "3 MOP"
    assert "3 MOP of exponentials" in repr(op)
    known = dataclasses.replace(CHIP, exponentials=1e9)
    assert "exponentials" not in rl.bound(rl.operation(4, 8), known).times
    assert "exponentials" not in str(rl.operation(4, 8).table)


def test_arrays_may_mix_zero_and_nonzero_vector_work():
    op = rl.operation(flops=1e9, bytes=1e6, vector=[0, 2e7], exponentials=[3e6, 0])
    known = dataclasses.replace(CHIP, exponentials=1e9)
    times = rl.bound(op, known).times
    assert times["vector"].tolist() == [0, 2e-3]
    assert times["exponentials"].tolist() == [3e-3, 0]
    rows = {name: shown.replace("\N{NO-BREAK SPACE}", " ") for name, shown in op.table.rows}
    assert rows["on vector units"] == "0 FLOP to 20 MFLOP in fp32"
    assert rows["exponentials"] == "0 OP to 3 MOP"


def test_attention_without_softmax_needs_no_vector_peak():
    sizes = {"B": 1, "T": 64, "S": 64, "N": 8, "K": 8, "H": 64}
    with pytest.raises(ValueError, match=r"TPU v5e must have a peak .* fp32") as caught:
        rl.bound(rl.attention(**sizes), "TPU v5e")
    assert str(caught.value).endswith(
        "it has: none. attention(..., softmax=False) leaves out the FLOPs of the softmax"
    )
    assert list(rl.bound(rl.attention(**sizes, softmax=False), "TPU v5e").times) == [
        "compute",
        "HBM",
    ]
    assert "vector" in rl.bound(rl.attention(**sizes), "H100 SXM").times


def test_vector_work_is_displayed():
    op = rl.operation(4, 8, vector=1500, name="own")
    assert repr(op) == (
        "<Operation own: 4 FLOP in bf16, 1.5 kFLOP in fp32 on vector units, 8 B, 0.5 FLOP/B>"
    )
    rows = dict(op.table.rows)
    assert rows["on vector units"].replace("\N{NO-BREAK SPACE}", " ") == "1.5 kFLOP in fp32"
    assert list(rows)[1:4] == ["computed in", "on vector units", "loaded"]
    assert "vector" in dict(rl.bound(op, CHIP).table.rows)
    assert "vector" not in str(rl.operation(4, 8).table)
