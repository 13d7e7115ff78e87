"""Each figure of the catalog is that of its data sheet, read a second time, and says its source.

The lists were typed from the data sheets, web pages and the book, not from the catalog: in FLOP/s,
bytes/s and bytes, dense, one way, for one link. So they check the conversions as well. A chip or a
figure that isn't listed here is only asked for its source.
"""

import datetime

import pytest

import rooflib as rl

MIB, GIB, T = 2**20, 2**30, 1e12

# Rates in tera, of types that have the same together; bytes of memories; and of links, bytes/s to
# one peer and of all links together. A switch takes all links to one peer, a torus one of them.
# GB200 is one of the two GPUs of a superchip, Ascend 910C two dies.
SHEETS = {
    "A100 80GB SXM": {"bf16 fp16": 312, "tf32": 156, "int8": 624, "vector_fp32": 19.5, "HBM": 2.039,
        "memory": 81_920 * MIB, "on-chip L2": 40 * MIB, "on-chip L1 and shared memory": 20.25 * MIB,
        "link NVLink": (300e9, 300e9), "link PCIe": (32e9, 32e9)},
    "H100 SXM": {"bf16 fp16": 989.5, "tf32": 494.5, "int8 fp8": 1_979, "vector_fp32": 67,
        "exponentials": 3.9, "HBM": 3.35, "memory": 81_559 * MIB, "on-chip L2": 50 * MIB,
        "on-chip L1 and shared memory": 33 * MIB, "link NVLink": (450e9, 450e9),
        "link PCIe": (64e9, 64e9), "link DCN": (50e9, 50e9)},
    "H200 SXM": {"bf16 fp16": 989.5, "tf32": 494.5, "int8 fp8": 1_979, "vector_fp32": 67,
        "HBM": 4.8, "memory": 143_771 * MIB, "on-chip L2": 50 * MIB,
        "on-chip L1 and shared memory": 33 * MIB, "link NVLink": (450e9, 450e9),
        "link PCIe": (64e9, 64e9)},
    "B200": {"bf16 fp16": 2_250, "tf32": 1_100, "int8 fp8": 4_500, "fp4": 9_000, "vector_fp32": 75,
        "exponentials": 4.3808, "HBM": 7.7, "memory": 183_359 * MIB, "on-chip L2": 126e6,
        "link NVLink": (900e9, 900e9), "link PCIe": (64e9, 64e9)},
    "TPU v4": {"bf16 int8": 275, "HBM": 1.2, "memory": 30.75 * GIB, "on-chip VMEM": 32 * MIB,
        "on-chip CMEM": 134e6, "link ICI": (45e9, 270e9), "link PCIe": (16e9, 16e9),
        "link DCN": (6.25e9, 6.25e9)},
    "TPU v5e": {"bf16": 197, "int8": 394, "HBM": 0.819, "memory": 15.75 * GIB,
        "on-chip VMEM": 128 * MIB, "link ICI": (45e9, 180e9), "link PCIe": (16e9, 16e9),
        "link DCN": (3.125e9, 3.125e9)},
    "TPU v5p": {"bf16 fp8": 459, "int8": 918, "vector_fp32": 14, "HBM": 2.765, "memory": 95 * GIB,
        "on-chip VMEM": 128 * MIB, "link ICI": (90e9, 540e9), "link PCIe": (16e9, 16e9),
        "link DCN": (6.25e9, 6.25e9)},
    "TPU v6e": {"bf16 fp8": 918, "int8": 1_836, "HBM": 1.638, "memory": 31.25 * GIB,
        "on-chip VMEM": 128 * MIB, "link ICI": (90e9, 360e9), "link PCIe": (32e9, 32e9),
        "link DCN": (12.5e9, 12.5e9)},
    "TPU7x": {"bf16": 2_307, "fp8": 4_614, "HBM": 7.38, "memory": 189.5 * GIB,
        "on-chip VMEM": 128 * MIB, "link ICI": (90e9, 540e9), "link DCN": (12.5e9, 12.5e9)},
    "MI300X": {"bf16 fp16": 1_307.4, "tf32": 653.7, "fp8 int8": 2_614.9, "vector_fp32": 163.4,
        "HBM": 5.3, "memory": 206_141_652_992, "link XGMI": (64e9, 448e9)},
    "MI355X": {"bf16 fp16": 2_516.6, "fp8 int8": 5_000, "fp4": 10_100, "vector_fp32": 157.3,
        "HBM": 8, "memory": 309_220_868_096, "link XGMI": (76.5e9, 535.5e9)},
    "Trainium2": {"bf16 fp16 tf32": 667, "fp32": 181, "fp8": 1_299, "HBM": 2.9, "memory": 96 * GIB,
        "link NeuronLink": (128e9, 512e9)},
    "GB200": {"bf16 fp16": 2_500, "tf32": 1_250, "fp8 int8": 5_000, "fp4": 10_000,
        "vector_fp32": 80, "HBM": 8, "memory": 189_471 * MIB, "link NVLink": (900e9, 900e9)},
    "L4": {"bf16 fp16": 121, "tf32": 60, "fp8 int8": 242.5, "HBM": 0.3, "memory": 23_034 * MIB,
        "vector_fp32": 30.3,
        "link PCIe": (32e9, 32e9)},
    "L40S": {"bf16": 362.05, "fp16": 362, "tf32": 183, "fp8 int8": 733, "link PCIe": (32e9, 32e9),
        "vector_fp32": 91.6, "HBM": 0.864, "memory": 46_068 * MIB},
    "RTX 4090": {"bf16 fp16": 165.15, "tf32": 82.58, "fp8": 330.3, "int8": 660.6,
        "vector_fp32": 82.58, "HBM": 1.008, "memory": 24_564 * MIB, "link PCIe": (32e9, 32e9)},
    "RTX 5090": {"bf16 fp16": 209.5, "fp8": 419, "fp4": 1_676, "vector_fp32": 105.2, "HBM": 1.792,
        "memory": 32_607 * MIB, "link PCIe": (64e9, 64e9)},
    "H100 PCIe": {"bf16 fp16": 756.5, "tf32": 378, "fp8 int8": 1_513, "vector_fp32": 51, "HBM": 2,
        "memory": 81_559 * MIB, "link PCIe": (64e9, 64e9)},
    "H100 NVL": {"bf16 fp16": 835.5, "tf32": 417.5, "int8": 1_670.5, "vector_fp32": 60, "HBM": 3.93,
        "memory": 95_830 * MIB, "link PCIe": (64e9, 64e9)},
    "GH200": {"bf16 fp16": 989, "tf32": 494.5, "fp8 int8": 1_979, "vector_fp32": 67, "HBM": 4,
        "memory": 97_871 * MIB, "link NVLink": (450e9, 450e9)},
    "H800 SXM": {"bf16 fp16": 989.5, "fp8 int8": 1_979, "HBM": 3.35, "memory": 81_559 * MIB,
        "link NVLink": (200e9, 200e9)},
    "H20": {"bf16 fp16": 148, "tf32": 74, "fp8 int8": 296, "vector_fp32": 44, "HBM": 4,
        "memory": 97_871 * MIB, "link NVLink": (450e9, 450e9)},
    "B300": {"bf16 fp16": 2_250, "tf32": 1_125, "fp8": 4_500, "fp4": 14_000, "int8": 153.5,
        "vector_fp32": 80, "HBM": 8, "memory": 275_040 * MIB, "link NVLink": (900e9, 900e9),
        "link PCIe": (128e9, 128e9)},
    "GB300": {"bf16 fp16": 2_500, "tf32": 1_250, "fp8": 5_000, "fp4": 15_000, "int8": 165,
        "vector_fp32": 80, "HBM": 8, "memory": 284_208 * MIB, "link NVLink": (900e9, 900e9)},
    "MI325X": {"bf16 fp16": 1_307.4, "tf32": 653.7, "fp8 int8": 2_614.9, "vector_fp32": 163.4,
        "HBM": 6, "memory": 256e9, "link XGMI": (64e9, 448e9)},
    "Trainium3": {"bf16 fp16 tf32": 671, "fp32": 183, "fp8 fp4": 2_517, "HBM": 4.9,
        "memory": 144 * GIB},
    "Ascend 910B": {"bf16": 353.9, "fp16": 376, "fp32": 99.5, "int8": 752, "vector_fp32": 11,
        "HBM": 1.6 * 2**40 / T, "memory": 64 * GIB, "link HCCS": (28e9, 196e9),
        "link RoCE": (25e9, 25e9)},
    "Ascend 910C": {"bf16": 707.8, "fp16": 752, "fp32": 199, "int8": 1_504, "vector_fp32": 22,
        "HBM": 3.2 * 2**40 / T, "memory": 128 * GIB, "link UB": (392e9, 392e9)},
    "A10G": {"bf16 fp16": 70, "vector_fp32": 35, "HBM": 0.6, "memory": 23_028 * MIB,
        "link PCIe": (32e9, 32e9)},
    "RTX PRO 6000": {"bf16": 503.8, "fp8 int8": 1_007.6, "fp4": 2_015.2, "vector_fp32": 125,
        "HBM": 1.792, "memory": 97_887 * MIB, "link PCIe": (64e9, 64e9)},
    "RTX 3090": {"bf16 fp16": 71.2, "int8": 284, "vector_fp32": 35.6, "HBM": 0.936,
        "memory": 24_576 * MIB, "link PCIe": (32e9, 32e9)},
    "RTX 5080": {"bf16 fp16": 112.6, "fp8": 225.1, "fp4": 900.5, "vector_fp32": 56.28, "HBM": 0.96,
        "memory": 16_303 * MIB, "link PCIe": (64e9, 64e9)},
    "DGX Spark": {"bf16": 125, "fp8": 250, "fp4": 500, "vector_fp32": 31, "HBM": 0.273,
        "memory": 128_501_256_192, "link network": (25e9, 25e9)},
    "Ryzen AI Max+ 395": {"bf16 fp16": 59.4, "vector_fp32": 29.7, "HBM": 0.256, "memory": 96 * GIB},
    "M4 Max": {"fp16 fp32 vector_fp32": 18.4, "HBM": 0.546, "memory": 115_448_730_000,
        "link Thunderbolt": (15e9, 15e9)},
    "M5 Max": {"fp16 bf16": 71.68, "int8": 143.36, "vector_fp32": 22.8, "HBM": 0.614,
        "memory": 115_448_730_000, "link Thunderbolt": (15e9, 15e9)},
    "M1 Max": {"fp16 fp32": 10.617, "vector_fp32": 10.617, "HBM": 0.4, "memory": 48 * GIB},
}  # fmt: skip

POINTS = [*rl.figures(hidden=True), *rl.published_shares(), *rl.published_runs()]


@pytest.mark.parametrize("name", SHEETS)
def test_a_chip_has_the_figures_of_its_data_sheet(name):
    chip, sheet = rl.chip(name), SHEETS[name]
    makers = {"TPU": "Google", "MI": "AMD", "A100": "NVIDIA", "H": "NVIDIA", "B": "NVIDIA"}
    assert chip.maker == next((makers[key] for key in makers if name.startswith(key)), chip.maker)
    assert chip.maker
    links = {link.name: (link.to_one_peer, link.total) for link in chip.links}
    for link in chip.links:  # NVSwitches add up from the third generation on
        assert link.to_one_peer <= chip.link().to_one_peer  # by default, the fastest
        assert link.reduces == (link.name == "NVLink" and name != "A100 80GB SXM")
    for names, figure in sheet.items():
        kind, _, name = names.partition(" ")
        if kind == "link":
            assert links[name] == figure
        elif kind in ("memory", "on-chip"):
            assert (chip.on_chip[name] if name else chip.memory) == pytest.approx(figure, rel=1e-11)
        else:
            found = [chip[each.replace("_", " ")] / T for each in names.split()]
            assert found == pytest.approx([figure] * len(found), rel=1e-11)


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


def test_exponentials_take_the_published_share_of_the_time_of_matmuls():
    # On an H100 a tile's exponentials take half as long as its matmuls, on a B200 as long.
    for name, published in {"H100 SXM": 0.5, "B200": 1}.items():
        tile = rl.attention(1, 128, 128, 1, 1, 128, causal=False).on(name).times
        assert tile["exponentials"] / tile["compute"] == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize("name", ["tpu-v5e", "TPU_V5E", "tpu V5e"])
def test_names_are_found_without_regard_to_case_and_hyphens(name):
    assert rl.chip(name) is rl.chip("TPU v5e")
    assert rl.model("llama-2-7b") is rl.model("Llama 2 7B")
