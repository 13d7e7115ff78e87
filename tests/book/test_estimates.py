"""Estimates on paper come before the cell that checks them, and agree with it."""

import re

import pytest
from rendered import outputs, parts, sentences, variables

import rooflib as rl

PAPER = "**On paper, in a minute.**"
SCALE = {"ms": 1e-3, "µs": 1e-6}


def seconds(text: str) -> list[float]:
    found = re.findall(r"([\d.]+)\N{NO-BREAK SPACE}(ms|µs)", text)
    return [float(value) * SCALE[unit] for value, unit in found]


@pytest.mark.parametrize("page", ["matmul", "chips", "attention", "own-model", "summary"])
def test_estimates_precede_their_check_cell_and_are_within_20_percent(page: str) -> None:
    cells = parts(f"chapters/{page}")
    at = next(i for i, (kind, text) in enumerate(cells) if kind == "markdown" and PAPER in text)
    estimate = cells[at][1].split(PAPER)[1]
    checked = next(text for kind, text in cells[at + 1 :] if kind == "code" and text)
    math = re.search(r"^compute: .+$", checked, re.MULTILINE)
    bytes_ = re.findall(r"^(?:HBM|ICI): .+$", checked, re.MULTILINE)
    assert math
    exact = [*seconds(math[0]), *seconds(bytes_[-1])]
    # Estimates give the arithmetic first, then the bytes.
    assert seconds(estimate)[:2] == pytest.approx(exact, rel=0.2)


def test_the_estimated_threshold_of_the_chips_chapter_is_near_the_exact_one() -> None:
    paper = re.search(r"or about ([\d,]+)\. Exactly", sentences("chapters/chips"))
    exact = re.search(r"^threshold: ([\d,.]+)$", outputs("chapters/chips"), re.MULTILINE)
    assert paper
    assert exact
    near = float(exact[1].replace(",", ""))
    assert float(paper[1].replace(",", "")) == pytest.approx(near, rel=0.1)


# Pages can't assert that their round numbers are near the catalog's: they must also build with a
# changed catalog.


def test_round_numbers_in_pages_are_near_the_catalog() -> None:
    chips, intensity = variables("chapters/chips"), variables("chapters/intensity")
    assert chips["r_link"] > chips["r_math"]
    assert intensity["round_ridge"] == pytest.approx(rl.chip("TPU v5e").ridge(), rel=0.05)
    widths, v5p = intensity["widths"], rl.chip("TPU v5p")
    assert intensity["million"] == pytest.approx(intensity["count"], rel=0.1)
    assert widths["HBM"] == pytest.approx(v5p.bandwidth, rel=0.1)
    assert widths["vector"] == pytest.approx(v5p.peak("fp32", "vector"), rel=0.1)
    about, h100 = variables("chapters/time")["about"], rl.chip("H100 SXM")
    assert about["HBM"] == pytest.approx(h100.bandwidth, rel=0.05)
    assert about["peak"] == pytest.approx(h100.peak("bf16"), rel=0.05)
    roofline = variables("chapters/roofline")
    small, about = roofline["small"], roofline["about"]
    assert roofline["flops_about"] == pytest.approx(small.flops, rel=0.06)
    assert roofline["intensity_about"] == pytest.approx(small.intensity, rel=0.06)
    assert about["peak"] == pytest.approx(roofline["peak"], rel=0.03)
    assert about["HBM"] == pytest.approx(roofline["bandwidth"], rel=0.03)
    homework = variables("chapters/homework")
    for chips, paper in ((2, "paper_two"), (homework["many"], "paper_many")):
        exact = rl.critical_depth(h100, "NVLink", chips)
        assert homework[paper] == pytest.approx(exact, rel=0.1)
