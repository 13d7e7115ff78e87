"""The catalogue: figures, their sources, and the conversions."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

import rooflib as rl
from rooflib.catalogue import DataPoint, Source, sources
from rooflib.units import FACTORS

# Peaks in FLOP/s (bf16, 8-bit), HBM bytes/s, HBM bytes, link name, bytes/s of one link one way,
# axes, links per axis, ridge. Worked out by hand from the sheets, not by the code under test.
FACTS = {
    "A100 80GB SXM": (3.12e14, {"int8": 6.24e14}, 2.039e12, 80e9, ("NVLink", 2.5e10, 1, 12), 153),
    "H100 SXM": (
        9.895e14,
        {"int8": 1.979e15, "fp8": 1.979e15},
        3.35e12,
        80e9,
        ("NVLink", 2.5e10, 1, 18),
        295,
    ),
    "H200 SXM": (
        9.895e14,
        {"int8": 1.979e15, "fp8": 1.979e15},
        4.8e12,
        141e9,
        ("NVLink", 2.5e10, 1, 18),
        206,
    ),
    "B200": (2.25e15, {"fp8": 4.5e15}, 8e12, 180e9, ("NVLink", 5e10, 1, 18), 281),
    "TPU v4": (2.75e14, {"int8": 2.75e14}, 1.2e12, None, ("ICI", 4.5e10, 3, 2), 229),
    "TPU v5e": (1.97e14, {"int8": 3.94e14}, 8.19e11, 16e9, ("ICI", 4.5e10, 2, 2), 240),
    "TPU v5p": (4.59e14, {"int8": 9.18e14}, 2.765e12, None, ("ICI", 9e10, 3, 2), 166),
    "TPU v6e": (9.18e14, {"int8": 1.836e15}, 1.638e12, 32e9, ("ICI", 9e10, 2, 2), 560),
    "TPU7x": (2.307e15, {"fp8": 4.614e15}, 7.38e12, 192 * 2**30, ("ICI", 1e11, 3, 2), 313),
}


def test_the_nine_chips_are_there():
    assert [chip.name for chip in rl.chips()] == list(FACTS)


@pytest.mark.parametrize("name", FACTS)
def test_a_chip_has_its_figures(name):
    bf16, eight_bit, bandwidth, capacity, link, ridge = FACTS[name]
    chip = rl.chip(name)
    assert chip.peak("bf16") == bf16
    for kind, peak in eight_bit.items():
        assert chip.peak(kind) == peak
    assert chip.bandwidth == bandwidth
    if capacity is not None:
        assert chip.capacity == capacity
    known = chip.link(link[0])
    assert (known.name, known.bandwidth, known.axes, known.links_per_axis) == link
    assert chip.ridge() == pytest.approx(ridge, abs=0.7)


@pytest.mark.parametrize("name", ["A100 80GB SXM", "TPU v4"])
def test_no_peak_is_invented(name):
    assert "fp8" not in rl.chip(name).peaks


def test_nvlink_reaches_one_peer_with_all_its_links_and_ici_with_one():
    assert rl.chip("H100 SXM").link("NVLink").to_one_peer == 4.5e11
    v5p = rl.chip("TPU v5p").link("ICI")
    assert (v5p.to_one_peer, v5p.total) == (9e10, 5.4e11)


def test_every_figure_has_a_source_and_a_date():
    used = {figure.source.key for figure in rl.data_points()} | {
        a.source.key for a in rl.achieved()
    }
    assert used == set(sources())
    for source in sources().values():
        assert source.title
        assert source.publisher
        assert source.url.startswith("https://")
        assert datetime.date(2026, 1, 1) <= source.read <= datetime.date(2100, 1, 1)


def test_every_number_of_a_chip_is_a_chosen_figure():
    for chip in rl.chips():
        chosen = {f.what: f.value for f in rl.data_points() if f.chip == chip.name and f.chosen}
        numbers = {f"peak {kind}": peak for kind, peak in chip.peaks.items()}
        numbers |= {f"vector {kind}": peak for kind, peak in chip.vector.items()}
        numbers |= {"bandwidth": chip.bandwidth, "capacity": chip.capacity}
        numbers |= {f"link {link.name}": link.bandwidth for link in chip.links}
        assert numbers == chosen


def test_a_disagreeing_figure_belongs_to_a_chosen_one_and_differs_from_it():
    chosen = {(f.chip, f.what): f.value for f in rl.data_points() if f.chosen}
    others = [f for f in rl.data_points() if not f.chosen]
    assert others
    for other in others:
        assert other.value != chosen[other.chip, other.what]


@pytest.mark.parametrize(
    ("included", "value"),
    [
        ({}, 900e9),
        ({"two_way": True}, 450e9),
        ({"two_way": True, "links": 18}, 25e9),
        ({"sparse": True}, 450e9),
    ],
)
def test_what_a_printed_figure_includes_is_taken_out(included, value):
    source = Source("s", "t", "p", "https://example.org", datetime.date(2026, 11, 21))
    assert DataPoint("chip", "link", 900, "GB/s", source, **included).value == value


def test_a_figure_says_how_it_was_printed_and_in_which_unit_its_value_is():
    source = Source("s", "t", "p", "https://example.org", datetime.date(2026, 11, 21))
    nvlink = DataPoint("chip", "link", 1979, "GB/s", source, two_way=True, links=18)
    assert (nvlink.as_printed, nvlink.base_unit) == ("1,979 GB/s, both ways, 18 links", "B/s")
    peak = DataPoint("chip", "peak int8", 3.125e9, "OP/s", source, sparse=True)
    assert (peak.as_printed, peak.base_unit) == ("3.125e9 OP/s, sparse", "OP/s")


def test_every_unit_has_its_base_unit():
    source = Source("s", "t", "p", "https://example.org", datetime.date(2026, 11, 21))
    bases = {DataPoint("chip", "x", 1, unit, source).base_unit for unit in FACTORS}
    assert bases == {"FLOP/s", "OP/s", "B", "B/s"}


def test_names_are_found_however_they_are_written():
    assert rl.chip("tpu-v5e") is rl.chip("TPU v5e") is rl.chip("TPU_V5E")


def test_achieved_shares_are_shares():
    assert rl.achieved()
    assert all(0 < measured.fraction < 1 for measured in rl.achieved())


def test_a_chip_of_ones_own():
    mine = rl.Chip("laptop", {"fp32": 5e11}, bandwidth=5e10, capacity=16e9)
    op = rl.matmul(512, 512, 512, x="fp32")
    assert rl.bound(op, mine).binding == "compute"
    assert mine.ridge("fp32") == 10
    faster = dataclasses.replace(mine, bandwidth=1e11)
    assert faster.ridge("fp32") == 5


def test_a_chip_does_not_change_under_its_holders():
    peaks = {"bf16": 1e12}
    mine = rl.Chip("laptop", peaks, 1e11, 1e9)
    peaks["bf16"] = 5.0
    assert mine.peak() == 1e12
    with pytest.raises(TypeError):
        mine.peaks["bf16"] = 5.0


def test_chips_can_be_keys():
    assert {chip: chip.name for chip in rl.chips()}[rl.chip("TPU v4")] == "TPU v4"
