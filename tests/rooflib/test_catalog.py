"""Tests of the catalog against an independent list, and of chip lookup.

The list was typed from the data sheets, web pages and the book, not from the code. It is in
FLOP/s, bytes/s and bytes, dense, one way, for one link, so it tests the conversions as well.
"""

from __future__ import annotations

import datetime
import re

import pytest

import rooflib as rl
from rooflib.catalog import DataPoint, Source, _catalog, sources
from rooflib.units import FACTORS

MIB, GIB = 1_048_576, 1_073_741_824

# Each link: bytes/s one way, links per axis, axes, topology.
EXPECTED = {
    "A100 80GB SXM": {
        "maker": "NVIDIA",
        "peaks": {"bf16": 312e12, "fp16": 312e12, "tf32": 156e12, "int8": 624e12},
        "vector": {"fp32": 19.5e12},
        "bandwidth": 2_039e9,
        "capacity": 81_920 * MIB,
        "on_chip": {"L2": 40 * MIB, "L1 and shared memory": 20.25 * MIB},
        "links": {"NVLink": (25e9, 12, 1, "switch"), "PCIe": (32e9, 1, 1, "host")},
    },
    "H100 SXM": {
        "maker": "NVIDIA",
        "peaks": {
            "bf16": 989.5e12,
            "fp16": 989.5e12,
            "tf32": 494.5e12,
            "int8": 1_979e12,
            "fp8": 1_979e12,
        },
        "vector": {"fp32": 67e12},
        "exponentials": 3.9e12,
        "bandwidth": 3_350e9,
        "capacity": 81_559 * MIB,
        "on_chip": {"L2": 50 * MIB, "L1 and shared memory": 33 * MIB},
        "links": {
            "NVLink": (25e9, 18, 1, "switch"),
            "PCIe": (64e9, 1, 1, "host"),
            "DCN": (50e9, 1, 1, "host"),
        },
    },
    "H200 SXM": {
        "maker": "NVIDIA",
        "peaks": {
            "bf16": 989.5e12,
            "fp16": 989.5e12,
            "tf32": 494.5e12,
            "int8": 1_979e12,
            "fp8": 1_979e12,
        },
        "vector": {"fp32": 67e12},
        "bandwidth": 4_800e9,
        "capacity": 143_771 * MIB,
        "on_chip": {"L2": 50 * MIB, "L1 and shared memory": 33 * MIB},
        "links": {"NVLink": (25e9, 18, 1, "switch"), "PCIe": (64e9, 1, 1, "host")},
    },
    "B200": {
        "maker": "NVIDIA",
        "peaks": {
            "bf16": 2_250e12,
            "fp16": 2_250e12,
            "tf32": 1_100e12,
            "int8": 4_500e12,
            "fp8": 4_500e12,
            "fp4": 9_000e12,
        },
        "vector": {"fp32": 75e12},
        "exponentials": 4.3808e12,
        "bandwidth": 7_700e9,
        "capacity": 183_359 * MIB,
        "on_chip": {"L2": 126e6},
        "links": {"NVLink": (50e9, 18, 1, "switch"), "PCIe": (64e9, 1, 1, "host")},
    },
    "TPU v4": {
        "maker": "Google",
        "peaks": {"bf16": 275e12, "int8": 275e12},
        "vector": {},
        "bandwidth": 1_200e9,
        "capacity": 30.75 * GIB,
        "on_chip": {"VMEM": 32 * MIB, "CMEM": 134e6},
        "links": {
            "ICI": (45e9, 2, 3, "torus"),
            "PCIe": (16e9, 1, 1, "host"),
            "DCN": (6.25e9, 1, 1, "host"),
        },
    },
    "TPU v5e": {
        "maker": "Google",
        "peaks": {"bf16": 197e12, "int8": 394e12},
        "vector": {},
        "bandwidth": 819e9,
        "capacity": 15.75 * GIB,
        "on_chip": {"VMEM": 128 * MIB},
        "links": {
            "ICI": (45e9, 2, 2, "torus"),
            "PCIe": (16e9, 1, 1, "host"),
            "DCN": (3.125e9, 1, 1, "host"),
        },
    },
    "TPU v5p": {
        "maker": "Google",
        "peaks": {"bf16": 459e12, "int8": 918e12, "fp8": 459e12},
        "vector": {"fp32": 14e12},
        "bandwidth": 2_765e9,
        "capacity": 95 * GIB,
        "on_chip": {"VMEM": 128 * MIB},
        "links": {
            "ICI": (90e9, 2, 3, "torus"),
            "PCIe": (16e9, 1, 1, "host"),
            "DCN": (6.25e9, 1, 1, "host"),
        },
    },
    "TPU v6e": {
        "maker": "Google",
        "peaks": {"bf16": 918e12, "int8": 1_836e12, "fp8": 918e12},
        "vector": {},
        "bandwidth": 1_638e9,
        "capacity": 31.25 * GIB,
        "on_chip": {"VMEM": 128 * MIB},
        "links": {
            "ICI": (90e9, 2, 2, "torus"),
            "PCIe": (32e9, 1, 1, "host"),
            "DCN": (12.5e9, 1, 1, "host"),
        },
    },
    "TPU7x": {
        "maker": "Google",
        "peaks": {"bf16": 2_307e12, "fp8": 4_614e12},
        "vector": {},
        "bandwidth": 7_380e9,
        "capacity": 189.5 * GIB,
        "on_chip": {"VMEM": 128 * MIB},
        "links": {"ICI": (100e9, 2, 3, "torus"), "DCN": (12.5e9, 1, 1, "host")},
    },
}

# Data points that disagree with the chosen ones, and their sources.
ALSO = [
    ("A100 80GB SXM", "bandwidth", 1_935e9, "nvidia-a100"),
    ("A100 80GB SXM", "capacity", 80e9, "nvidia-a100"),
    ("H100 SXM", "peak bf16", 989.4e12, "nvidia-h100-paper"),
    ("H100 SXM", "bandwidth", 3_400e9, "scaling-book-gpus"),
    ("H100 SXM", "capacity", 80e9, "nvidia-h100"),
    ("H200 SXM", "capacity", 141e9, "nvidia-h200"),
    ("B200", "bandwidth", 8_000e9, "scaling-book-gpus"),
    ("B200", "capacity", 192e9, "scaling-book-gpus"),
    ("B200", "capacity", 180e9, "nvidia-blackwell"),
    ("TPU v4", "capacity", 32e9, "scaling-book-tpus"),
    ("TPU v4", "link ICI", 50e9, "tpu-v4-paper"),
    ("TPU v4", "capacity", 32 * GIB, "google-v4"),
    ("TPU v5e", "peak int8", 393e12, "google-v5e"),
    ("TPU v5e", "bandwidth", 800 * GIB, "google-v5e"),
    ("TPU v5e", "bandwidth", 810e9, "scaling-book-tpus"),
    ("TPU v5e", "bandwidth", 820e9, "scaling-book-roofline"),
    ("TPU v5e", "link ICI", 50e9, "google-v5e"),
    ("TPU v5e", "capacity", 16e9, "google-v5e"),
    ("TPU v5p", "bandwidth", 2_575 * GIB, "google-v5p"),
    ("TPU v5p", "bandwidth", 2_800e9, "scaling-book-tpus"),
    ("TPU v5p", "capacity", 96e9, "scaling-book-tpus"),
    ("TPU v5p", "link ICI", 100e9, "google-tpu7x"),
    ("TPU v6e", "peak bf16", 920e12, "scaling-book-tpus"),
    ("TPU v6e", "peak bf16", 910e12, "scaling-book-roofline"),
    ("TPU v6e", "bandwidth", 1_640e9, "google-v6e"),
    ("TPU v6e", "bandwidth", 1_600e9, "google-v6e"),
    ("TPU v6e", "link ICI", 100e9, "google-v6e"),
    ("TPU v6e", "capacity", 32e9, "google-v6e"),
    ("TPU7x", "capacity", 192 * GIB, "google-tpu7x"),
]

ACHIEVED = [
    ("A100 80GB SXM", "bf16", 0.869, "ml-engineering", ""),
    ("H100 SXM", "bf16", 0.803, "ml-engineering", ""),
    ("B200", "bf16", 0.776, "ml-engineering", ""),
    ("MI300X", "bf16", 0.514, "ml-engineering", ""),
    ("H200 SXM", "HBM", 0.8183, "tileops-1993", "copy"),
    ("H200 SXM", "HBM", 0.938, "tileops-1993", "read"),
]

# Peak in bf16 ÷ HBM bandwidth, calculated by hand.
RIDGES = {
    "A100 80GB SXM": 153.0,
    "H100 SXM": 295.4,
    "H200 SXM": 206.1,
    "B200": 292.2,
    "TPU v4": 229.2,
    "TPU v5e": 240.5,
    "TPU v5p": 166.0,
    "TPU v6e": 560.4,
    "TPU7x": 312.6,
}

# The data sheet or page that the figures of each chip come from.
SHEET = {
    "A100 80GB SXM": "nvidia-a100",
    "H100 SXM": "nvidia-h100",
    "H200 SXM": "nvidia-h200",
    "B200": "nvidia-blackwell",
    "TPU v4": "google-v4",
    "TPU v5e": "google-v5e",
    "TPU v5p": "google-v5p",
    "TPU v6e": "google-v6e",
    "TPU7x": "google-tpu7x",
}

# Figures from a source other than SHEET, mostly because the vendor doesn't publish them.
ELSEWHERE = {
    ("A100 80GB SXM", "capacity"): "modal-2797",
    ("H100 SXM", "capacity"): "modal-2797",
    ("H200 SXM", "capacity"): "cuda-samples-311",
    ("B200", "capacity"): "tensorrt-llm-10278",
    ("TPU v4", "capacity"): "easydel-166",
    ("TPU v5e", "capacity"): "gke-samples-1467",
    ("TPU v6e", "capacity"): "google-tpu-info",
    ("TPU7x", "capacity"): "tpu-inference-2803",
    ("H100 SXM", "exponentials"): "flashattention-3",
    ("B200", "exponentials"): "flashattention-4",
    ("A100 80GB SXM", "on-chip L2"): "ml-engineering",
    ("A100 80GB SXM", "on-chip L1 and shared memory"): "ml-engineering",
    ("H100 SXM", "on-chip L2"): "ml-engineering",
    ("H100 SXM", "on-chip L1 and shared memory"): "ml-engineering",
    ("H100 SXM", "link DCN"): "scaling-book-gpus",
    ("H200 SXM", "on-chip L2"): "ml-engineering",
    ("H200 SXM", "on-chip L1 and shared memory"): "ml-engineering",
    ("B200", "on-chip L2"): "scaling-book-gpus",
    ("TPU v4", "on-chip VMEM"): "jax-tpu-info",
    ("TPU v4", "on-chip CMEM"): "jax-tpu-info",
    ("TPU v4", "link ICI"): "scaling-book-tpus",
    ("TPU v4", "link PCIe"): "scaling-book-tpus",
    ("TPU v4", "link DCN"): "scaling-book-tpus",
    ("TPU v5e", "peak int8"): "scaling-book-tpus",
    ("TPU v5e", "bandwidth"): "google-v5e-earlier",
    ("TPU v5e", "on-chip VMEM"): "scaling-book-tpus",
    ("TPU v5e", "link ICI"): "scaling-book-tpus",
    ("TPU v5e", "link PCIe"): "scaling-book-tpus",
    ("TPU v5e", "link DCN"): "scaling-book-tpus",
    ("TPU v5p", "peak int8"): "scaling-book-tpus",
    ("TPU v5p", "vector fp32"): "scaling-book-tpus",
    ("TPU v5p", "on-chip VMEM"): "jax-tpu-info",
    ("TPU v5p", "link ICI"): "scaling-book-tpus",
    ("TPU v5p", "link PCIe"): "scaling-book-tpus",
    ("TPU v5p", "link DCN"): "scaling-book-tpus",
    ("TPU v6e", "peak fp8"): "google-tpu7x",
    ("TPU v6e", "on-chip VMEM"): "jax-tpu-info",
    ("TPU v6e", "link ICI"): "scaling-book-tpus",
    ("TPU v6e", "link PCIe"): "scaling-book-tpus",
    ("TPU v6e", "link DCN"): "scaling-book-tpus",
    ("TPU7x", "on-chip VMEM"): "jax-tpu-info",
}

NOWHERE = Source("s", "t", "p", "https://example.org", datetime.date(2026, 11, 21))


def test_the_catalog_has_the_nine_chips_in_order():
    assert [chip.name for chip in rl.chips()] == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("what", ["maker", "peaks", "vector", "bandwidth", "capacity", "on_chip"])
def test_chip_figures_match_an_independent_list(name, what):
    expected = EXPECTED[name][what]
    found = getattr(rl.chip(name), what)
    assert found == (pytest.approx(expected, rel=1e-11) if what != "maker" else expected)


def test_rates_of_exponentials_match_an_independent_list():
    found = {chip.name: chip.exponentials for chip in rl.chips()}
    assert found == {name: EXPECTED[name].get("exponentials") for name in EXPECTED}


def test_exponentials_take_the_published_share_of_matmul_time():
    # On a B200, a tile of 128 × 128 scores with a head of 128 takes 1,024 cycles of the tensor
    # cores and as many of the exponential units. On an H100, the tile's 16-bit exponentials take
    # half as long as its matmuls.
    for name, published in {"H100 SXM": 0.5, "B200": 1}.items():
        tile = rl.bound(rl.attention(1, 128, 128, 1, 1, 128, causal=False), name).times
        assert tile["exponentials"] / tile["compute"] == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize("name", EXPECTED)
def test_chip_links_match_an_independent_list(name):
    links = {
        link.name: (link.bandwidth, link.links_per_axis, link.axes, link.topology)
        for link in rl.chip(name).links
    }
    assert links == EXPECTED[name]["links"]


def test_disagreeing_data_points_are_listed_with_their_sources():
    found = [(p.chip, p.what, p.source.key, p.value) for p in rl.data_points() if not p.chosen]
    assert [each[:3] for each in found] == [(c, what, key) for c, what, _, key in ALSO]
    assert [each[3] for each in found] == pytest.approx([value for _, _, value, _ in ALSO])


def test_published_shares_of_peak_match_an_independent_list():
    found = [(a.chip, a.roof, a.fraction, a.source.key, a.note) for a in rl.published_shares()]
    assert found == ACHIEVED


def test_published_shares_of_peak_say_if_their_chip_is_in_the_catalog():
    for measured in rl.published_shares():
        assert measured.cataloged == (measured.chip in EXPECTED)


@pytest.mark.parametrize("name", RIDGES)
def test_ridge_points_match_hand_calculations(name):
    assert rl.chip(name).ridge() == pytest.approx(RIDGES[name], abs=0.06)


@pytest.mark.parametrize(("name", "sheet"), SHEET.items())
def test_figures_of_a_chip_come_from_its_data_sheet_with_listed_exceptions(name, sheet):
    chosen = [p for p in rl.data_points() if p.chip == name and p.chosen]
    found = {(name, p.what): p.source.key for p in chosen if p.source.key != sheet}
    assert found == {which: key for which, key in ELSEWHERE.items() if which[0] == name}


@pytest.mark.parametrize("name", ["A100 80GB SXM", "TPU v4"])
def test_chips_without_fp8_units_have_no_fp8_peak(name):
    assert "fp8" not in rl.chip(name).peaks


def test_nvlink_uses_all_links_to_one_peer_and_ici_one():
    assert rl.chip("H100 SXM").link("NVLink").to_one_peer == 4.5e11
    v5p = rl.chip("TPU v5p").link("ICI")
    assert (v5p.to_one_peer, v5p.total) == (9e10, 5.4e11)


def test_data_points_have_a_source_with_a_date():
    used = {entry.source.key for entry in (*rl.data_points(), *rl.published_shares())}
    assert used == set(sources())
    for key, source in sources().items():
        assert source.key == key
        assert source.title
        assert source.publisher
        assert source.url.startswith("https://")
        assert datetime.date(2026, 11, 21) <= source.read <= datetime.date.today()


def test_unreachable_sources_name_the_copy_that_was_read():
    for source in sources().values():
        named = "<https://" in source.note
        if source.publisher in ("NVIDIA", "Google Cloud"):
            assert named or source.note.startswith("Read in an archived copy of this address")
        if "could not be accessed" in source.note:
            assert named
        assert "transcriptions that agree" not in source.note


def test_repository_sources_name_a_commit():
    for source in sources().values():
        if source.publisher in ("Google", "Google DeepMind", "Stas Bekman"):
            assert "Commit " in source.note
        for commit in re.findall(r"github\.com/[^/]+/[^/]+/blob/(\w{7})", source.note):
            assert f"commit {commit}" in source.note


def test_chip_numbers_are_those_of_the_chosen_data_points():
    for chip in rl.chips():
        chosen = {p.what: p.value for p in rl.data_points() if p.chip == chip.name and p.chosen}
        numbers = {f"peak {kind}": peak for kind, peak in chip.peaks.items()}
        numbers |= {f"vector {kind}": peak for kind, peak in chip.vector.items()}
        numbers |= {"bandwidth": chip.bandwidth, "capacity": chip.capacity}
        numbers |= {"exponentials": chip.exponentials} if chip.exponentials else {}
        numbers |= {f"on-chip {name}": size for name, size in chip.on_chip.items()}
        numbers |= {f"link {link.name}": link.bandwidth for link in chip.links}
        assert numbers == chosen


def test_disagreeing_data_points_differ_from_the_chosen_one():
    chosen = {(p.chip, p.what): p.value for p in rl.data_points() if p.chosen}
    for other in rl.data_points():
        assert other.chosen or other.value != chosen[other.chip, other.what]


@pytest.mark.parametrize(
    ("included", "value"),
    [
        ({}, 900e9),
        ({"two_way": True}, 450e9),
        ({"two_way": True, "links": 18}, 25e9),
        ({"sparse": True}, 450e9),
        ({"cores": 2}, 1_800e9),
        ({"cores": 2, "clock": 1.5}, 2_700e9),
    ],
)
def test_published_figures_become_dense_one_way_values_per_link_and_chip(included, value):
    assert DataPoint("chip", "link", 900, "GB/s", NOWHERE, **included).value == value


def test_figures_show_their_printed_form_and_base_unit():
    nvlink = DataPoint("chip", "link", 1979, "GB/s", NOWHERE, two_way=True, links=18)
    assert (nvlink.as_printed, nvlink.base_unit) == ("1,979 GB/s, both ways, 18 links", "B/s")
    assert nvlink.note == nvlink.source.note == ""
    peak = DataPoint("chip", "peak int8", 3.125e9, "OP/s", NOWHERE, sparse=True)
    assert (peak.as_printed, peak.base_unit) == ("3.125e9 OP/s, sparse", "OP/s")
    vmem = DataPoint("chip", "on-chip VMEM", 64, "MiB", NOWHERE, cores=2)
    assert (vmem.as_printed, vmem.base_unit) == ("64 MiB, each of 2 cores", "B")
    exp = DataPoint("chip", "exponentials", 16, "OP/clock", NOWHERE, cores=2, clock=1.5e9)
    assert (exp.as_printed, exp.base_unit) == ("16 OP/clock, each of 2 cores, at 1500 MHz", "OP/s")


def test_the_repr_of_a_data_point_is_one_line():
    peak = next(p for p in rl.data_points() if (p.chip, p.what) == ("H100 SXM", "peak bf16"))
    assert repr(peak) == "<DataPoint H100 SXM, peak bf16: 1,979 TFLOP/s, sparse; nvidia-h100>"


def test_every_unit_has_a_base_unit():
    bases = {DataPoint("chip", "x", 1, unit, NOWHERE).base_unit for unit in FACTORS}
    assert bases == {"FLOP/s", "OP/s", "B", "B/s"}


def test_chip_lookup_ignores_case_and_separators():
    assert rl.chip("tpu-v5e") is rl.chip("TPU v5e") is rl.chip("TPU_V5E")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("H100", "did you mean 'H100 SXM'?"),
        ("a100", "did you mean 'A100 80GB SXM'?"),
        ("v5", "did you mean 'TPU v5e' or 'TPU v5p'?"),
        ("sxm", "did you mean 'A100 80GB SXM' or 'H100 SXM' or 'H200 SXM'?"),
        (
            "x",
            "did you mean 'A100 80GB SXM' or 'H100 SXM' or 'H200 SXM' or 'TPU7x' or 'MI300X' or "
            "'MI355X' or 'RTX 4090' or 'RTX 5090' or 'M1 Max'?",
        ),
        ("B220", "did you mean 'B200'?"),
        ("H100 SMX", "did you mean 'H100 SXM'?"),
    ],
)
def test_unknown_chip_names_get_a_suggestion(name, hint):
    with pytest.raises(
        ValueError, match=r"chip must be one of A100 80GB SXM, .*, TPU7x, MI300X, .*, M1 Max; "
    ) as error:
        rl.chip(name)
    assert str(error.value).endswith(f"; got {name!r}; {hint}")


@pytest.mark.parametrize("name", ["toaster", "", "---", 3, None])
def test_names_unlike_any_chip_get_no_suggestion(name):
    with pytest.raises(ValueError, match="chip must be one of") as error:
        rl.chip(name)
    assert str(error.value).endswith(f"M1 Max; got {name!r}")


# Chips outside of the course's tables: peaks, HBM bandwidth and HBM capacity, copied from the
# sources independently of the catalog.
MORE = {
    "MI300X": (
        {"bf16": 1_307e12, "fp16": 1_300e12, "tf32": 653.7e12, "fp8": 2_610e12, "int8": 2_600e12},
        5_300e9,
        206_141_652_992,
    ),
    "MI355X": (
        {"bf16": 2_500e12, "fp16": 2_500e12, "fp8": 5_000e12, "fp4": 10_100e12, "int8": 5_000e12},
        8_000e9,
        309_220_868_096,
    ),
    "Trainium2": (
        {"bf16": 667e12, "fp16": 667e12, "tf32": 667e12, "fp32": 181e12, "fp8": 1_299e12},
        2_900e9,
        96 * GIB,
    ),
    "GB200": (  # one of the two GPUs of a superchip
        {"bf16": 2_500e12, "fp16": 2_500e12, "tf32": 1_250e12, "fp8": 5_000e12, "fp4": 10_000e12}
        | {"int8": 5_000e12},
        8_000e9,
        189_471 * MIB,
    ),
    "L4": (
        {"fp16": 121e12, "tf32": 60e12, "fp8": 242.5e12, "int8": 242.5e12},
        300e9,
        23_034 * MIB,
    ),
    "L40S": (
        {"bf16": 362e12, "fp16": 362e12, "tf32": 183e12, "fp8": 733e12, "int8": 733e12},
        864e9,
        46_068 * MIB,
    ),
    "RTX 4090": (
        {"bf16": 165.15e12, "fp16": 165.15e12, "tf32": 82.58e12, "fp8": 330.3e12}
        | {"int8": 660.6e12},
        1_008e9,
        24_564 * MIB,
    ),
    "RTX 5090": ({"fp16": 419.2e12, "fp8": 838.4e12, "fp4": 1_676e12}, 1_792e9, 32_607 * MIB),
    "M1 Max": ({"fp16": 10.617e12, "fp32": 10.617e12}, 400e9, 48 * GIB),
}

MORE_VECTOR = {
    "MI300X": 163.4e12,
    "MI355X": 157.3e12,
    "GB200": 80e12,
    "L40S": 91.6e12,
    "RTX 4090": 82.58e12,
    "RTX 5090": 105.2e12,
    "M1 Max": 10.617e12,
}


def test_chips_outside_of_the_catalog_match_an_independent_list():
    assert rl.chips(more=True)[: len(EXPECTED)] == rl.chips()
    found = {chip.name: chip for chip in rl.chips(more=True)[len(EXPECTED) :]}
    assert list(found) == list(MORE)
    for name, (peaks, bandwidth, capacity) in MORE.items():
        assert found[name].peaks == pytest.approx(peaks, rel=1e-11)
        assert (found[name].bandwidth, found[name].capacity) == (bandwidth, capacity)
        assert rl.chip(name) is found[name]
    vector = {name: dict(chip.vector) for name, chip in found.items() if chip.vector}
    assert vector == {name: {"fp32": rate} for name, rate in MORE_VECTOR.items()}
    assert all(chip.exponentials is None and not chip.on_chip for chip in found.values())
    links = {name: [(k.name, k.to_one_peer, k.total) for k in c.links] for name, c in found.items()}
    assert {name: each for name, each in links.items() if each} == {
        "MI300X": [("XGMI", 64e9, 448e9)],
        "MI355X": [("XGMI", 76.5e9, 535.5e9)],
        "Trainium2": [("NeuronLink", 128e9, 512e9)],
        "GB200": [("NVLink", 900e9, 900e9)],
    }


def test_data_points_outside_of_the_catalog_have_a_source_with_a_date():
    more = rl.data_points(more=True)
    assert more[: len(rl.data_points())] == rl.data_points()
    others = more[len(rl.data_points()) :]
    assert {point.chip for point in others} == set(MORE)
    assert {point.source.key for point in others} == set(_catalog("more_hardware.toml")["sources"])
    for point in others:
        assert point.source.url.startswith("https://")
        assert datetime.date(2026, 11, 24) <= point.source.read <= datetime.date.today()
        assert "could not be accessed" not in point.source.note or "<https://" in point.source.note
