"""What holds for every bound: it is a bound, roofs are formulas, and arrays are many scalars."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflib as rl

quick = settings(deadline=None, max_examples=40)
sizes = st.integers(1, 2**17)
powers = st.integers(0, 12).map(lambda n: 2**n)
rates = st.floats(1e6, 1e18)
types = st.sampled_from(["bf16", "int8"])
H100 = rl.chip("H100 SXM")


@st.composite
def own_chips(draw):
    wire = rl.Link("wire", draw(rates), latency=draw(st.floats(1e-9, 1e-3)))
    peaks = {"bf16": draw(rates), "int8": draw(rates)}
    return rl.Chip(
        "mine",
        {**peaks, "vector fp32": draw(rates), "HBM": draw(rates)},
        draw(rates),
        links=(wire,),
    )


chips = st.one_of(
    st.sampled_from([chip for chip in rl.chips() if {"bf16", "int8"} <= set(chip.rates)]),
    own_chips(),
)


@quick
@given(chips, sizes, sizes, sizes, types, types)
def test_times_are_amounts_over_rates_and_bounds_their_maximum_and_sum(chip, B, D, F, x, w):
    op = rl.matmul(B, D, F, x=x, w=w)
    found = op.on(chip)
    kind = "int8" if (x, w) == ("int8", "int8") else "bf16"
    moved = sum(size * (1 if name == "int8" else 2)
                for size, name in ((B * D, x), (D * F, w), (B * F, x)))  # fmt: skip
    times = {"compute": 2 * B * D * F / chip[kind], "HBM": moved / chip["HBM"]}
    assert dict(found.times) == pytest.approx(times, rel=1e-12)
    assert found.lower == max(found.times.values())
    assert found.upper == pytest.approx(math.fsum(found.times.values()))
    assert found.lower <= found.upper <= 2 * found.lower
    assert found.times[found.roof] == found.lower
    assert found.fits == (moved <= chip.memory)
    # At the lower bound, an operation lies on the roof.
    roof = min(chip[kind], op.intensity * chip["HBM"])
    assert found.attained == pytest.approx(roof, rel=1e-12)
    assert chip.attainable(op.intensity, kind) == pytest.approx(roof, rel=1e-12)
    assert found.share_of_peak == pytest.approx(roof / chip[kind], rel=1e-12)
    assert found.idle == pytest.approx(1 - found.share_of_peak, abs=1e-15)
    side = op.intensity * chip["HBM"] / chip[kind] - 1
    assert abs(side) < 1e-9 or (found.roof == "compute") == (side > 0)


@quick
@given(own_chips(), *[st.floats(0, 1e18)] * 4, st.integers(0, 10**6), st.floats(1e-9, 1))
def test_each_kind_of_work_has_a_time_of_its_own(chip, flops, moved, vector, sent, hops, launch):
    chip = chip | {"exponentials": 1e9, "launch": 1 / launch if launch else 1e99}
    others = rl.Work("others", {"vector fp32": vector, "exponentials": vector})
    op = rl.work("op", flops, loaded=moved, sent=sent, hops=hops) + others
    found = dict(op.on(chip, "wire").times)
    (wire,) = chip.links
    wanted = {"compute": flops / chip["bf16"], "HBM": moved / chip["HBM"]}
    wanted |= {"vector": vector / chip["vector fp32"], "exponentials": vector / 1e9}
    wanted |= {"wire": sent / wire.bandwidth + hops * wire.latency, "launch": launch}
    assert {name: time for name, time in found.items() if time} == pytest.approx(
        {name: time for name, time in wanted.items() if time}, rel=1e-12
    )


@pytest.mark.parametrize(
    ("topology", "to_one_peer", "total"),
    [("torus", 1e9, 6e9), ("mesh", 1e9, 6e9), ("host", 1e9, 6e9), ("switch", 6e9, 6e9)],
)
def test_only_a_switch_uses_all_links_to_one_peer(topology, to_one_peer, total):
    link = rl.Link("wire", 1e9, links_per_axis=2, axes=3, topology=topology, latency=1e-6)
    assert (link.to_one_peer, link.total) == (to_one_peer, total)
    chip = rl.Chip("own", {"bf16": 1e12, "HBM": 1e10}, 1e6, links=(link,))
    assert ["wire" in chip, "HBM" in chip, "ICI" in chip] == [True, True, False]
    assert chip.ridge("bf16", "wire") == chip.ridge("bf16", link) == 1e12 / to_one_peer
    size = link.latency * to_one_peer  # latency takes half of the time
    found = rl.work("work", sent=size, hops=1).on(chip, "wire")
    assert size / found.times["wire"] == pytest.approx(to_one_peer / 2)


# What N chips of a network need for an all-reduce of a byte, on links of a byte/s: topology, links
# of a chip, whether a switch adds, N, seconds.
ALL_REDUCES = [
    ("torus", 4, False, 2, 1),
    ("torus", 4, False, 8, 2 * 7 / 8),
    ("host", 1, False, 8, 2 * 7 / 8),
    # A chip of a mesh sends an eighth of its array over each of seven links, twice.
    ("mesh", 7, False, 8, 2 / 8),
    ("mesh", 7, False, 4, 2 / 4),
    ("mesh", 7, False, 2, 1),
    ("switch", 18, False, 8, 2 * 7 / 8 / 18),
    # A chip sends its array once, however many chips there are.
    ("switch", 18, True, 2, 1 / 18),
    ("switch", 18, True, 8, 1 / 18),
    ("switch", 18, True, 64, 1 / 18),
    ("switch", 18, True, 1, 0),
]


@pytest.mark.parametrize(("topology", "links", "reduces", "N", "seconds"), ALL_REDUCES)
def test_the_network_says_what_an_all_reduce_takes(topology, links, reduces, N, seconds):
    link = rl.Link("wire", 1.0, links_per_axis=links, topology=topology, reduces=reduces)
    chip = rl.Chip("own", {"bf16": 1e12, "HBM": 1e12}, 1e12, links=(link,))
    B, D = 16, 64
    op = rl.split("D", N, B, D * N, 8)
    found = op.on(chip, "wire").times.get("wire", 0)
    assert found == pytest.approx(2 * B * 8 * seconds)
    # So many in a row take as much longer.
    assert (3 * op).on(chip, "wire").times.get("wire", 0) == pytest.approx(3 * found)
    # A reduction that leaves each chip with a part is as long as ever.
    part = rl.split("D", N, B, D * N, 8, result="sharded")
    ring = rl.reduce_scatter(2 * B * 8, N) / link.to_group(N)
    assert part.on(chip, "wire").times.get("wire", 0) == pytest.approx(ring)
    # At the critical depth, the link takes as long as the arithmetic.
    depth = rl.critical_depth(chip, link, N)
    assert depth * 2 * B * 8 / N / 1e12 == pytest.approx(2 * B * 8 * seconds)


def test_a_sum_has_its_parts_repeats_them_and_may_be_in_any_order():
    one, two = rl.matmul(8, 64, 64).named("one"), rl.split("D", 4, 8, 64, 64).named("two")
    for either in (two, one + two, two + one):  # a fourth of it at once over three links of a mesh
        assert either.on("MI300X", "XGMI").times["XGMI"] == 2 * 2 * 8 * 64 / 4 / 64e9
    thrice = [(part.name, part.flops, part.sent) for part in (3 * (one + two)).parts]
    assert thrice == [(part.name, 3 * part.flops, 3 * part.sent) for part in (one, two)]
    # A sum with a name is one part.
    named = (one + two).named("both") + one
    assert [part.name for part in named.parts] == ["both", "one"]
    assert [part.flops for part in named.parts] == [one.flops + two.flops, one.flops]


# ---- critical sizes: one less isn't enough


@quick
@given(chips, sizes, sizes, types, types, st.sampled_from(["int8", "bf16", "fp32"]))
def test_the_critical_batch_is_where_compute_overtakes_memory(chip, D, F, x, w, out):
    def times(batch):
        found = rl.matmul(batch, D, F, x=x, w=w, out=out).on(chip).times
        return found["compute"], found["HBM"]

    batch, limit = (rl.critical_batch(chip, D, F, x=x, w=w, out=out),
                    rl.critical_batch(chip, x=x, w=w))  # fmt: skip
    if math.isinf(batch):
        compute, memory = times(2**60)
        assert compute <= memory
    elif batch < 1e6 * limit:  # beyond, the formula subtracts nearly equal numbers
        assert batch >= limit * (1 - 1e-12)
        compute, memory = times(batch)
        assert compute == pytest.approx(memory, rel=1e-6)


@quick
@given(
    own_chips(), powers, powers, powers, st.sampled_from([2, 4, 8]), st.sampled_from("BDF"), types
)
def test_the_critical_depth_is_where_compute_overtakes_the_link(chip, B, D, F, N, split, kind):
    (wire,) = chip.links
    chip = dataclasses.replace(chip, links=(dataclasses.replace(wire, latency=0.0),))
    depth = rl.critical_depth(chip, "wire", N, split=split, compute=kind)
    found = rl.split(split, N, 8 * B, 8 * D, 8 * F, compute=kind).on(chip, "wire")
    assert found.times["compute"] / found.times["wire"] == pytest.approx(8 * D / depth, rel=1e-9)


@pytest.mark.parametrize("chip", [c for c in rl.chips(hidden=True) if "bf16" in c], ids=str)
def test_a_whole_critical_depth_comes_out_whole(chip):
    for link in (each for each in chip.links if not each.reduces and each.topology != "mesh"):
        exact = Fraction(127 * 2 * Fraction(chip["bf16"]), Fraction(link.to_one_peer))
        assert math.ceil(rl.critical_depth(chip, link, 128)) == math.ceil(exact)


# ---- arrays give what scalars give, for every public function of sizes

CALLS = {
    "all_gather": lambda B, D, F, N: rl.all_gather(D, N),
    "all_reduce": lambda B, D, F, N: rl.all_reduce(D, N),
    "reduce_scatter": lambda B, D, F, N: rl.reduce_scatter(D, N),
    "attainable": lambda B, D, F, N: H100.attainable(D / N),
    "attention": lambda B, D, F, N: rl.attention(B, D, D + F, 4 * N, N, 64, fused=False),
    "critical_batch": lambda B, D, F, N: rl.critical_batch(H100, D, F),
    "critical_depth": lambda B, D, F, N: rl.critical_depth(H100, "NVLink", N),
    "dot": lambda B, D, F, N: rl.dot(D),
    "elementwise": lambda B, D, F, N: rl.elementwise(D, inputs=N),
    "kv_bytes_per_token": lambda B, D, F, N: rl.kv_bytes_per_token(B, N, D, "int4"),
    "matmul": lambda B, D, F, N: rl.matmul(B, D, F, w="int8"),
    "matmul_per_example": lambda B, D, F, N: B * rl.matmul(1, D, F),
    "work": lambda B, D, F, N: rl.work("work", B, loaded=D, sent=F, hops=N),
    "sum": lambda B, D, F, N: N * (rl.matmul(B, D, F) + rl.rms_norm(B, D)),
    "rms_norm": lambda B, D, F, N: rl.rms_norm(B, D),
    "sharded_matmul": lambda B, D, F, N: rl.split("D", N, B, 8 * D, F, out="fp32"),
    "decode": lambda B, D, F, N: rl.model("Mixtral 8x7B").decode(B, D, N),
    "prefill": lambda B, D, F, N: rl.model("Gemma 3 27B").prefill(B, D, N, chunk=F),
    "train": lambda B, D, F, N: rl.model("Llama 3 8B").train(B, D, N),
    "decode of latents": lambda B, D, F, N: rl.model("DeepSeek-V3").decode(8 * B, D, 2, replicas=N),
}


def values(found):
    """Return the numbers of a result, and of its bounds if it is an operation."""
    if not isinstance(found, rl.Work):
        return {"value": found}
    bounds = found.on(H100, "NVLink")
    names = {"flops", "loaded", "written", "held", "bytes", "intensity"}
    shown = {name: getattr(found, name) for name in names}
    shown |= {name: getattr(bounds, name) for name in ("lower", "upper", "attained", "idle")}
    return shown | {"roof": bounds.roof, "fits": bounds.fits, "sent": found.sent}


@pytest.mark.parametrize("name", CALLS)
@settings(deadline=None, max_examples=6)
@given(st.lists(st.tuples(sizes, sizes, sizes, st.sampled_from([1, 2, 4])), min_size=1, max_size=3))
def test_arrays_give_the_same_as_one_call_for_each_of_their_elements(name, rows):
    given = [np.array(column) for column in zip(*rows, strict=True)]
    kept = [column.copy() for column in given]
    many = values(CALLS[name](*given))
    for i, row in enumerate(rows):
        one = values(CALLS[name](*row))
        for what, value in many.items():
            found = np.broadcast_to(value, len(rows))[i]
            if isinstance(one.get(what), str):
                assert found == one[what]
            else:
                assert found == pytest.approx(one.get(what, 0), rel=1e-9, abs=1e-15), what
    assert all(map(np.array_equal, given, kept))


def test_sizes_broadcast_against_each_other():
    B, D, F = np.ogrid[1:4, 1:5, 1:6]
    assert rl.matmul(B, D, F).intensity.shape == (3, 4, 5)


def test_whole_numbers_stay_exact_at_any_size():
    side = 10**12
    assert rl.matmul(side, side, side).amounts["bf16"] == 2 * side**3
    share = rl.split("D", 3, 3 * side + 3, 3 * side + 3, 3 * side + 3)
    assert share.amounts["bf16"] == 18 * (side + 1) ** 3
    pairs = side * (side + 1) // 2
    assert rl.attention(1, side, side, 2, 1, 8).amounts["bf16"] == 4 * 8 * 2 * pairs
    assert rl.matmul(*[np.array([10**7], dtype=np.int32)] * 3).flops == pytest.approx(2e21)


def test_nothing_to_do_takes_no_time_and_nothing_to_load_no_infinity():
    chip = rl.Chip("even", {"bf16": 1, "HBM": 1}, 1)
    for flops, moved, intensity, attained in [(0, 0, 0, 0), (0, 1, 0, 0), (1, 0, math.inf, 1)]:
        op = rl.work("op", flops, loaded=moved)
        assert (op.intensity, op.on(chip).attained) == (intensity, attained)
    # What is only moved leaves the arithmetic of a sum to the others.
    added = rl.work("load", loaded=10) + rl.elementwise(10, compute="vector fp32")
    copied = rl.elementwise(10, flops_per_element=0) + rl.elementwise(10, compute="vector fp32")
    assert (added.flops, copied.flops, added.compute) == (10, 10, "vector fp32")
    # No sizes give no numbers.
    assert rl.matmul(np.array([]), 4, 4).intensity.shape == (0,)


def test_what_fits_is_exact_to_the_byte():
    for capacity, fits in [(1000, True), (999, False)]:
        chip = rl.Chip("small", {"bf16": 1, "HBM": 1}, capacity)
        assert rl.work("work", loaded=1000).on(chip).fits is fits


def test_results_cannot_be_changed_by_accident():
    op = rl.work("op", [1, 2], loaded=1)
    for held in (op.amounts, op.on(H100).times, H100.rates, H100.on_chip):
        with pytest.raises(TypeError):
            held["NVLink"] = 5
