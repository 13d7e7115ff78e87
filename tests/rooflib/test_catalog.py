"""Each figure of the catalog is that of its data sheet, read a second time, and says its source.

The lists were typed from the data sheets, web pages and the book, not from the catalog: in FLOP/s,
bytes/s and bytes, dense, one way, for one link. So they check the conversions as well. A chip or a
figure that isn't listed here is only asked for its source.
"""

import datetime

import pytest

import rooflib as rl

MIB, GIB, T = 2**20, 2**30, 1e12

# peaks: of matrix units. links: bytes/s one way, links per axis, axes, topology.
SHEETS = {
    "A100 80GB SXM": {
        "peaks": {"bf16": 312 * T, "fp16": 312 * T, "tf32": 156 * T, "int8": 624 * T},
        "vector": {"fp32": 19.5 * T}, "bandwidth": 2.039 * T, "capacity": 81_920 * MIB,
        "on_chip": {"L2": 40 * MIB, "L1 and shared memory": 20.25 * MIB},
        "links": {"NVLink": (25e9, 12, 1, "switch"), "PCIe": (32e9, 1, 1, "host")},
    },
    "H100 SXM": {
        "peaks": {"bf16": 989.5 * T, "fp16": 989.5 * T, "tf32": 494.5 * T, "int8": 1_979 * T,
                  "fp8": 1_979 * T},
        "vector": {"fp32": 67 * T}, "exponentials": 3.9 * T, "bandwidth": 3.35 * T,
        "capacity": 81_559 * MIB, "on_chip": {"L2": 50 * MIB, "L1 and shared memory": 33 * MIB},
        "links": {"NVLink": (25e9, 18, 1, "switch"), "PCIe": (64e9, 1, 1, "host"),
                  "DCN": (50e9, 1, 1, "host")},
    },
    "H200 SXM": {
        "peaks": {"bf16": 989.5 * T, "fp16": 989.5 * T, "tf32": 494.5 * T, "int8": 1_979 * T,
                  "fp8": 1_979 * T},
        "vector": {"fp32": 67 * T}, "bandwidth": 4.8 * T, "capacity": 143_771 * MIB,
        "on_chip": {"L2": 50 * MIB, "L1 and shared memory": 33 * MIB},
        "links": {"NVLink": (25e9, 18, 1, "switch"), "PCIe": (64e9, 1, 1, "host")},
    },
    "B200": {
        "peaks": {"bf16": 2_250 * T, "fp16": 2_250 * T, "tf32": 1_100 * T, "int8": 4_500 * T,
                  "fp8": 4_500 * T, "fp4": 9_000 * T},
        "vector": {"fp32": 75 * T}, "exponentials": 4.3808 * T, "bandwidth": 7.7 * T,
        "capacity": 183_359 * MIB, "on_chip": {"L2": 126e6},
        "links": {"NVLink": (50e9, 18, 1, "switch"), "PCIe": (64e9, 1, 1, "host")},
    },
    "TPU v4": {
        "peaks": {"bf16": 275 * T, "int8": 275 * T}, "bandwidth": 1.2 * T,
        "capacity": 30.75 * GIB, "on_chip": {"VMEM": 32 * MIB, "CMEM": 134e6},
        "links": {"ICI": (45e9, 2, 3, "torus"), "PCIe": (16e9, 1, 1, "host"),
                  "DCN": (6.25e9, 1, 1, "host")},
    },
    "TPU v5e": {
        "peaks": {"bf16": 197 * T, "int8": 394 * T}, "bandwidth": 0.819 * T,
        "capacity": 15.75 * GIB, "on_chip": {"VMEM": 128 * MIB},
        "links": {"ICI": (45e9, 2, 2, "torus"), "PCIe": (16e9, 1, 1, "host"),
                  "DCN": (3.125e9, 1, 1, "host")},
    },
    "TPU v5p": {
        "peaks": {"bf16": 459 * T, "int8": 918 * T, "fp8": 459 * T}, "vector": {"fp32": 14 * T},
        "bandwidth": 2.765 * T, "capacity": 95 * GIB, "on_chip": {"VMEM": 128 * MIB},
        "links": {"ICI": (90e9, 2, 3, "torus"), "PCIe": (16e9, 1, 1, "host"),
                  "DCN": (6.25e9, 1, 1, "host")},
    },
    "TPU v6e": {
        "peaks": {"bf16": 918 * T, "int8": 1_836 * T, "fp8": 918 * T}, "bandwidth": 1.638 * T,
        "capacity": 31.25 * GIB, "on_chip": {"VMEM": 128 * MIB},
        "links": {"ICI": (90e9, 2, 2, "torus"), "PCIe": (32e9, 1, 1, "host"),
                  "DCN": (12.5e9, 1, 1, "host")},
    },
    "TPU7x": {
        "peaks": {"bf16": 2_307 * T, "fp8": 4_614 * T}, "bandwidth": 7.38 * T,
        "capacity": 189.5 * GIB, "on_chip": {"VMEM": 128 * MIB},
        "links": {"ICI": (90e9, 2, 3, "torus"), "DCN": (12.5e9, 1, 1, "host")},
    },
    "MI300X": {
        "peaks": {"bf16": 1_307.4 * T, "fp16": 1_307.4 * T, "tf32": 653.7 * T,
                  "fp8": 2_614.9 * T, "int8": 2_614.9 * T},
        "vector": {"fp32": 163.4 * T}, "bandwidth": 5.3 * T, "capacity": 206_141_652_992,
        "links": {"XGMI": (64e9, 448e9)},
    },
    "MI355X": {
        "peaks": {"bf16": 2_516.6 * T, "fp16": 2_516.6 * T, "fp8": 5_000 * T, "fp4": 10_100 * T,
                  "int8": 5_000 * T},
        "vector": {"fp32": 157.3 * T}, "bandwidth": 8 * T, "capacity": 309_220_868_096,
        "links": {"XGMI": (76.5e9, 535.5e9)},
    },
    "Trainium2": {
        "peaks": {"bf16": 667 * T, "fp16": 667 * T, "tf32": 667 * T, "fp32": 181 * T,
                  "fp8": 1_299 * T},
        "bandwidth": 2.9 * T, "capacity": 96 * GIB, "links": {"NeuronLink": (128e9, 512e9)},
    },
    "GB200": {  # one of the two GPUs of a superchip
        "peaks": {"bf16": 2_500 * T, "fp16": 2_500 * T, "tf32": 1_250 * T, "fp8": 5_000 * T,
                  "fp4": 10_000 * T, "int8": 5_000 * T},
        "vector": {"fp32": 80 * T}, "bandwidth": 8 * T, "capacity": 189_471 * MIB,
        "links": {"NVLink": (900e9, 900e9)},
    },
    "L4": {
        "peaks": {"bf16": 121 * T, "fp16": 121 * T, "tf32": 60 * T, "fp8": 242.5 * T,
                  "int8": 242.5 * T},
        "bandwidth": 0.3 * T, "capacity": 23_034 * MIB, "links": {"PCIe": (32e9, 32e9)},
    },
    "L40S": {
        "peaks": {"bf16": 362.05 * T, "fp16": 362 * T, "tf32": 183 * T, "fp8": 733 * T,
                  "int8": 733 * T},
        "links": {"PCIe": (32e9, 32e9)},
        "vector": {"fp32": 91.6 * T}, "bandwidth": 0.864 * T, "capacity": 46_068 * MIB,
    },
    "RTX 4090": {
        "peaks": {"bf16": 165.15 * T, "fp16": 165.15 * T, "tf32": 82.58 * T, "fp8": 330.3 * T,
                  "int8": 660.6 * T},
        "vector": {"fp32": 82.58 * T}, "bandwidth": 1.008 * T, "capacity": 24_564 * MIB,
    },
    "RTX 5090": {
        "peaks": {"bf16": 209.5 * T, "fp16": 209.5 * T, "fp8": 419 * T, "fp4": 1_676 * T},
        "vector": {"fp32": 105.2 * T}, "bandwidth": 1.792 * T, "capacity": 32_607 * MIB,
        "links": {"PCIe": (64e9, 64e9)},
    },
    "H100 PCIe": {
        "peaks": {"bf16": 756.5 * T, "fp16": 756.5 * T, "tf32": 378 * T, "fp8": 1_513 * T,
                  "int8": 1_513 * T},
        "vector": {"fp32": 51 * T}, "bandwidth": 2 * T, "capacity": 81_559 * MIB,
        "links": {"PCIe": (64e9, 64e9)},
    },
    "H100 NVL": {
        "peaks": {"bf16": 835.5 * T, "int8": 1_670.5 * T}, "bandwidth": 3.93 * T,
        "capacity": 95_830 * MIB,
    },
    "GH200": {
        "peaks": {"bf16": 989 * T, "fp8": 1_979 * T}, "bandwidth": 4 * T,
        "capacity": 97_871 * MIB, "links": {"NVLink": (450e9, 450e9)},
    },
    "H800 SXM": {
        "peaks": {"bf16": 989.5 * T, "fp8": 1_979 * T}, "bandwidth": 3.35 * T,
        "capacity": 81_559 * MIB, "links": {"NVLink": (200e9, 200e9)},
    },
    "H20": {
        "peaks": {"bf16": 148 * T, "fp16": 148 * T, "tf32": 74 * T, "fp8": 296 * T,
                  "int8": 296 * T},
        "vector": {"fp32": 44 * T}, "bandwidth": 4 * T, "capacity": 97_871 * MIB,
        "links": {"NVLink": (450e9, 450e9)},
    },
    "B300": {
        "peaks": {"bf16": 2_250 * T, "fp8": 4_500 * T, "fp4": 14_000 * T, "int8": 153.5 * T},
        "bandwidth": 8 * T, "capacity": 275_040 * MIB,
        "links": {"NVLink": (900e9, 900e9), "PCIe": (128e9, 128e9)},
    },
    "GB300": {
        "peaks": {"bf16": 2_500 * T, "fp8": 5_000 * T, "fp4": 15_000 * T, "int8": 165 * T},
        "bandwidth": 8 * T, "capacity": 284_208 * MIB, "links": {"NVLink": (900e9, 900e9)},
    },
    "MI325X": {
        "peaks": {"bf16": 1_307.4 * T, "fp8": 2_614.9 * T}, "bandwidth": 6 * T,
        "links": {"XGMI": (64e9, 448e9)},
    },
    "Trainium3": {
        "peaks": {"bf16": 671 * T, "fp8": 2_517 * T, "fp4": 2_517 * T}, "bandwidth": 4.9 * T,
        "capacity": 144 * GIB,
    },
    "Ascend 910B": {
        "peaks": {"bf16": 353.9 * T, "fp16": 376 * T, "int8": 752 * T},
        "vector": {"fp32": 11 * T}, "bandwidth": 1.6 * 2**40, "capacity": 64 * GIB,
        "links": {"HCCS": (28e9, 196e9), "RoCE": (25e9, 25e9)},
    },
    "Ascend 910C": {  # two dies
        "peaks": {"bf16": 707.8 * T, "fp16": 752 * T, "int8": 1_504 * T},
        "bandwidth": 3.2 * 2**40, "capacity": 128 * GIB, "links": {"UB": (392e9, 392e9)},
    },
    "A10G": {"peaks": {"bf16": 70 * T}, "bandwidth": 0.6 * T, "capacity": 23_028 * MIB},
    "RTX PRO 6000": {
        "peaks": {"bf16": 503.8 * T, "fp8": 1_007.6 * T}, "vector": {"fp32": 125 * T},
        "bandwidth": 1.792 * T, "capacity": 97_887 * MIB,
    },
    "RTX 3090": {
        "peaks": {"bf16": 71.2 * T}, "bandwidth": 0.936 * T, "capacity": 24_576 * MIB,
    },
    "RTX 5080": {
        "peaks": {"bf16": 112.6 * T, "fp8": 225.1 * T}, "bandwidth": 0.96 * T,
        "capacity": 16_303 * MIB,
    },
    "DGX Spark": {
        "peaks": {"fp4": 500 * T}, "bandwidth": 0.273 * T, "capacity": 128_501_256_192,
    },
    "Ryzen AI Max+ 395": {"peaks": {"bf16": 59.4 * T}, "bandwidth": 0.256 * T},
    "M4 Max": {"peaks": {"fp16": 18.4 * T}, "bandwidth": 0.546 * T},
    "M5 Max": {"peaks": {"fp16": 71.68 * T}, "bandwidth": 0.614 * T},
    "M1 Max": {
        "peaks": {"fp16": 10.617 * T, "fp32": 10.617 * T},
        "vector": {"fp32": 10.617 * T}, "bandwidth": 0.4 * T, "capacity": 48 * GIB,
    },
}  # fmt: skip

# What other pages print for the same figure, or the same page for a rounded one.
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
    ("TPU7x", "link ICI", 100e9, "google-tpu7x"),
    ("TPU7x", "capacity", 192 * GIB, "google-tpu7x"),
]

# Shares of a roof that others measured: chip, roof, fraction.
SHARES = [
    ("A100 80GB SXM", "bf16", 0.869),
    ("H100 SXM", "bf16", 0.803),
    ("B200", "bf16", 0.776),
    ("MI300X", "bf16", 0.514),
    ("H200 SXM", "HBM", 0.8183),
    ("H200 SXM", "HBM", 0.938),
]

POINTS = [*rl.figures(hidden=True), *rl.published_shares(), *rl.published_runs()]


@pytest.mark.parametrize("name", SHEETS)
def test_a_chip_has_the_figures_of_its_data_sheet(name):
    chip, sheet = rl.chip(name), SHEETS[name]
    makers = {"TPU": "Google", "MI": "AMD", "A100": "NVIDIA", "H": "NVIDIA", "B": "NVIDIA"}
    assert chip.maker == next((makers[key] for key in makers if name.startswith(key)), chip.maker)
    assert chip.maker
    wanted = sheet["peaks"] | {
        f"vector {kind}": rate for kind, rate in sheet.get("vector", {}).items()
    }
    wanted |= {"HBM": sheet["bandwidth"]}
    wanted |= {what: sheet[what] for what in {"exponentials"} & sheet.keys()}
    assert {what: chip[what] for what in wanted} == pytest.approx(wanted, rel=1e-11)
    wanted = sheet.get("on_chip", {})
    assert {what: chip.on_chip[what] for what in wanted} == pytest.approx(wanted, rel=1e-11)
    if "capacity" in sheet:
        assert chip.memory == pytest.approx(sheet["capacity"], rel=1e-11)
    links = {link.name: link for link in chip.links}
    for link, figures in sheet.get("links", {}).items():
        if len(figures) == 4:
            each, count, axes, topology = figures
            # A switch takes all links to one peer, a torus one of them.
            peer, all_links = each * (count if topology == "switch" else 1), each * count * axes
        else:
            peer, all_links = figures
        assert (links[link].to_one_peer, links[link].total) == (peer, all_links)


@pytest.mark.parametrize("name", ["A100 80GB SXM", "TPU v4"])
def test_a_chip_without_fp8_units_has_no_fp8_peak(name):
    assert "fp8" not in rl.chip(name)


def test_figures_that_other_pages_print_are_listed_beside_the_chosen_ones():
    others = {
        (p.chip, p.what, p.source.key, float(f"{p.value:.6g}"))
        for p in rl.figures()
        if not p.chosen
    }
    for chip, what, value, key in ALSO:
        assert (chip, what, key, float(f"{value:.6g}")) in others
    shares = {(share.chip, share.roof, share.fraction) for share in rl.published_shares()}
    assert set(SHARES) <= shares


def test_each_figure_says_where_and_when_it_was_read():
    models = [model for model in rl.models() if model.source]
    assert len(models) == len(rl.models())
    for source in [each.source for each in [*POINTS, *models]]:
        assert source.title
        assert source.publisher
        assert source.url.startswith("https://")
        assert datetime.date(2026, 11, 21) <= source.read <= datetime.date.today()


# Printed figure → what a chip has of it, dense, one way and for one link.
PRINTED = [
    ({}, 900e9, "900 GB/s"),
    ({"two_way": True}, 450e9, "900 GB/s, both ways"),
    ({"two_way": True, "links": 18}, 25e9, "900 GB/s, both ways, 18 links"),
    ({"sparse": True}, 450e9, "900 GB/s, sparse"),
    ({"cores": 2}, 1_800e9, "900 GB/s, each of 2 cores"),
    ({"clock": 2e6}, 1_800e15, "900 GB/s, at 2 MHz"),
]


@pytest.mark.parametrize(("included", "value", "printed"), PRINTED)
def test_what_a_sheet_prints_is_converted_and_shown_as_printed(included, value, printed):
    point = rl.Figure("chip", "link", 900, "GB/s", rl.figures()[0].source, **included)
    assert (point.value, point.as_printed) == (value, printed)


def test_ridge_points_are_those_of_a_division_by_hand():
    assert rl.chip("H100 SXM").ridge() == 989.5e12 / 3.35e12 == pytest.approx(295.4, abs=0.05)
    assert rl.chip("TPU v5e").ridge("int8") == 394e12 / 819e9
    assert rl.chip("H100 SXM").ridge("vector fp32") == 67e12 / 3.35e12
    assert rl.chip("H100 SXM").ridge("bf16", "NVLink") == 989.5e12 / 450e9
    assert rl.chip("TPU v5e").ridge("bf16", "ICI") == 197e12 / 45e9


def test_exponentials_take_the_published_share_of_the_time_of_matmuls():
    # On an H100 a tile's exponentials take half as long as its matmuls, on a B200 as long.
    for name, published in {"H100 SXM": 0.5, "B200": 1}.items():
        tile = rl.attention(1, 128, 128, 1, 1, 128, causal=False).on(name).times
        assert tile["exponentials"] / tile["compute"] == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize("name", ["tpu-v5e", "TPU_V5E", "tpu V5e"])
def test_names_are_found_without_regard_to_case_and_hyphens(name):
    assert rl.chip(name) is rl.chip("TPU v5e")
    assert rl.model("llama-2-7b") is rl.model("Llama 2 7B")


@pytest.mark.parametrize("unit", ["GiB", "Gbit/s", "TOP/s", "kB/s", "TFLOP/s"])
def test_units_of_data_sheets_are_converted(unit):
    factor = {"GiB": 2**30, "Gbit/s": 1e9 / 8, "TOP/s": 1e12, "kB/s": 1e3, "TFLOP/s": 1e12}[unit]
    point = rl.Figure("chip", "any", 3, unit, rl.figures()[0].source)
    assert point.value == 3 * factor
