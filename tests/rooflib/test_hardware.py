"""Tests of chips and links: validation, copying, and display."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re

import pytest

import rooflib as rl
from rooflib.bounds import COMPUTE, EXPONENTIALS, HBM, LAUNCH, VECTOR
from rooflib.hardware import ROOFS
from rooflib.operations import ANY_LINK

FP3 = rl.DType("fp3", 3)


def laptop(peaks=None, **more):
    return rl.Chip("laptop", {"bf16": 1e12} if peaks is None else peaks, 1e11, 1e9, **more)


def test_custom_chips_work_in_bounds():
    mine = rl.Chip("laptop", {"fp32": 5e11}, bandwidth=5e10, capacity=16e9)
    op = rl.matmul(512, 512, 512, x="fp32")
    assert rl.bound(op, mine).binding == "compute"
    assert mine.ridge("fp32") == 10
    faster = dataclasses.replace(mine, bandwidth=1e11)
    assert faster.ridge("fp32") == 5


def test_ridge_points_of_vector_units_and_links():
    wire = rl.Link("wire", 1e9, links_per_axis=4, topology="switch")
    mine = laptop(vector={"fp32": 2e11}, links=(wire,))
    assert mine.ridge("fp32", "vector") == 2
    assert mine.ridge(link="wire") == mine.ridge(link=wire) == 250
    assert mine.ridge(link=rl.Link("ring", 1e9, links_per_axis=2, axes=2)) == 1000


def test_chips_copy_their_mappings():
    peaks, memories = {"bf16": 1e12}, {"L2": 5e7}
    mine = laptop(peaks, on_chip=memories)
    peaks["bf16"] = memories["L2"] = 5.0
    assert (mine.peak(), mine.on_chip["L2"]) == (1e12, 5e7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mine.bandwidth = 1.0


def test_chips_are_hashable():
    assert {chip: chip.name for chip in rl.chips()}[rl.chip("TPU v4")] == "TPU v4"
    assert len({laptop(links=[rl.Link("wire", 1e9)]), laptop(links=(rl.Link("wire", 1e9),))}) == 1


@pytest.mark.parametrize("copied", [lambda c: pickle.loads(pickle.dumps(c)), copy.deepcopy])
@pytest.mark.parametrize("chip", [*rl.chips(), laptop({FP3: 2e12})], ids=lambda c: c.name)
def test_copied_and_pickled_chips_are_equal(copied, chip):
    again = copied(chip)
    assert again == chip
    assert hash(again) == hash(chip)
    assert dict(again.peaks) == dict(chip.peaks)
    with pytest.raises(TypeError):
        again.peaks["bf16"] = 1.0


def test_chips_with_different_peaks_or_on_chip_memory_are_unequal():
    assert laptop({"bf16": 1e12}) != laptop({"bf16": 2e12})
    assert laptop(on_chip={"L2": 1e6}) != laptop(on_chip={"L2": 2e6})


def test_custom_data_types_can_be_keys_of_peaks():
    mine = laptop({FP3: 2e12, "bf16": 1e12}, vector={FP3: 1e11})
    assert list(mine.peaks) == ["fp3", "bf16"]
    assert mine.peak(FP3) == mine.peak("fp3") == 2e12
    assert mine.peak(FP3, "vector") == mine.peak("fp3", "vector") == 1e11
    assert rl.bound(rl.matmul(8, 8, 8, x=FP3), mine).times["compute"] == 2 * 8**3 / 2e12
    assert dataclasses.replace(mine, bandwidth=2e11).ridge("fp3") == 10


def test_data_types_without_a_peak_are_rejected():
    with pytest.raises(ValueError, match="compute must be a type that the matrix units of laptop"):
        laptop().peak(FP3)
    with pytest.raises(ValueError, match=r"compute must be one of .*got 'fp3'"):
        laptop().peak("fp3")
    with pytest.raises(ValueError, match=r"peaks must be one of .*got 'fp3'"):
        laptop({"fp3": 1e12})


def test_duplicate_data_types_are_rejected():
    with pytest.raises(ValueError, match="vector must have one figure for each data type"):
        laptop(vector={"bf16": 1e12, rl.dtype("bf16"): 2e12})


def test_non_positive_chip_attributes_are_named_in_the_error():
    with pytest.raises(ValueError, match=re.escape("peaks['fp3'] must be above zero")):
        laptop({FP3: 0})
    with pytest.raises(ValueError, match=re.escape("vector['fp32'] must be above zero")):
        laptop(vector={"fp32": -1})
    with pytest.raises(ValueError, match=re.escape("on_chip['L2'] must be above zero")):
        laptop(on_chip={"L2": 0})
    with pytest.raises(ValueError, match="exponentials must be above zero"):
        laptop(exponentials=0)
    with pytest.raises(ValueError, match="capacity must be above zero"):
        rl.Chip("laptop", {"bf16": 1e12}, 1e11, 0)


def test_link_names_must_not_be_roof_names():
    assert set(ROOFS) == {COMPUTE, VECTOR, EXPONENTIALS, HBM, ANY_LINK, LAUNCH}
    for name in ROOFS:
        with pytest.raises(ValueError, match=f"name of a link must not be .*; got '{name}'"):
            rl.Link(name, 1e9)


@pytest.mark.parametrize("count", ["axes", "links_per_axis"])
@pytest.mark.parametrize("value", [1.5, 0, -1])
def test_link_counts_must_be_positive_whole_numbers(count, value):
    with pytest.raises(ValueError, match=f"link 'wire': {count} must be .*got {value}"):
        rl.Link("wire", 1e9, **{count: value})


def test_link_errors_name_the_link():
    with pytest.raises(ValueError, match="link 'wire': bandwidth must be above zero"):
        rl.Link("wire", 0)
    with pytest.raises(ValueError, match="link 'wire': topology must be one of torus, switch, "):
        rl.Link("wire", 1e9, topology="star")


def test_links_of_a_chip_need_unique_names():
    wires = [rl.Link("wire", 1e9), rl.Link("bus", 1e9), rl.Link("wire", 2e9)]
    with pytest.raises(
        ValueError, match="links of laptop must differ in name; got wire, bus, wire"
    ):
        laptop(links=wires)


@pytest.mark.parametrize(
    ("topology", "to_one_peer"), [("torus", 1e9), ("host", 1e9), ("switch", 6e9)]
)
def test_only_a_switch_uses_all_links_to_one_peer(topology, to_one_peer):
    link = rl.Link("wire", 1e9, links_per_axis=2, axes=3, topology=topology)
    assert (link.total, link.to_one_peer) == (6e9, to_one_peer)


def test_the_repr_of_a_chip_is_one_line():
    shown = "<Chip TPU v5e: 197 TFLOP/s in bf16, 819 GB/s and 16.9 GB of HBM>"
    assert repr(rl.chip("TPU v5e")) == shown
    assert (
        repr(laptop({"int8": 2e12})) == "<Chip laptop: 2 TOP/s in int8, 100 GB/s and 1 GB of HBM>"
    )
    assert repr(laptop({})) == "<Chip laptop: 100 GB/s and 1 GB of HBM>"
    assert repr(laptop(on_chip={"L2": 1.0}).on_chip) == "{'L2': 1.0}"


def test_a_chip_renders_its_roofs_as_markdown():
    wire = rl.Link("wire", 1e9, links_per_axis=4, topology="switch")
    mine = laptop({"bf16": 2e12, "int8": 4e12}, vector={"fp32": 5e10}, links=[wire])
    mine = dataclasses.replace(mine, on_chip={"L2": 5e7}, exponentials=2.5e10)
    shown = mine._repr_markdown_().replace("\N{NO-BREAK SPACE}", " ")
    assert shown.splitlines() == [
        "| laptop | dense, one way | ridge, FLOP/byte |",
        "| :-- | --: | --: |",
        "| bf16, matrix units | 2 TFLOP/s | 20 |",
        "| int8, matrix units | 4 TOP/s | 40 |",
        "| fp32, vector units | 50 GFLOP/s | 0.5 |",
        "| exponentials | 25 GOP/s |  |",
        "| HBM | 100 GB/s, 1 GB |  |",
        "| L2 on the chip | 50 MB |  |",
        "| wire to one peer | 4 GB/s |  |",
    ]


def test_a_chips_table_rounds_rates_to_four_digits():
    wire = rl.Link("wire", 1.23456e11)
    mine = rl.Chip("long", {"bf16": 1.23456e14}, 1.23456e12, 1.23456e10, links=[wire])
    mine = dataclasses.replace(mine, vector={"fp32": 1.23456e12}, exponentials=1.23456e11)
    numbers = re.findall(r"[\d.]+", " ".join(row[1] for row in mine.table.rows))
    assert numbers == ["123.5", "1.235", "123.5", "1.235", "12.35", "123.5"]


def test_optional_attributes_of_a_chip_default_to_empty():
    mine = laptop()
    assert (mine.maker, mine.links, mine.vector, mine.on_chip) == ("", (), {}, {})
    assert mine.exponentials is None


@pytest.mark.parametrize("field", ["peaks", "vector", "on_chip"])
@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.__setitem__("bf16", 5.0),
        lambda held: held.__delitem__("bf16"),
        lambda held: held.__ior__({"bf16": 5.0}),
        lambda held: held.clear(),
        lambda held: held.pop("bf16"),
        lambda held: held.popitem(),
        lambda held: held.setdefault("int8", 5.0),
        lambda held: held.update(bf16=5.0),
    ],
)
def test_mappings_of_a_chip_are_read_only(field, change):
    mine = laptop({"bf16": 1.0}, vector={"bf16": 1.0}, on_chip={"bf16": 1.0})
    held = getattr(mine, field)
    with pytest.raises(TypeError, match="this mapping is read-only"):
        change(held)
    assert held == {"bf16": 1.0}
