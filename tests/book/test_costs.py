"""The summary's costs, recomputed without rooflib: loads, FLOPs, hours, dollars."""

import re

import pytest
from rendered import outputs, sentences
from repository import ROOT

PAGE = "chapters/summary"
PRICE, PEAK, HBM = 10.8, 989.5e12, 3.35e12  # H100: dollars per hour, FLOP/s, B/s
# Llama 3 8B: 32 layers, width 4,096, 32 query heads and 8 key heads, vocabulary of 128,256.
LAYER = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096
TABLE = 128_256 * 4096
PARAMETERS = 32 * LAYER + 2 * TABLE + 4096
KEPT = 2 * 32 * 8 * 128 * 2  # bytes of keys and values per token


def dollars(seconds: float) -> float:
    return seconds / 3600 * PRICE


def written(texts: int, behind: int = 4096) -> float:
    """Return the dollars per million generated tokens, given the batch and cached tokens."""
    loads = 2 * (PARAMETERS - TABLE + texts * 4096) + texts * behind * KEPT
    stores = texts * (KEPT + 2 * 128_256)
    return dollars((loads + stores) / HBM) / texts * 1e6


def test_stated_costs_of_flops_and_bytes_follow_from_the_hourly_price() -> None:
    printed = re.findall(r": ([\d.]+) dollars", outputs(PAGE))
    assert [float(p) for p in printed] == [
        pytest.approx(dollars(1e18 / PEAK), abs=0.005),
        pytest.approx(dollars(1e15 / HBM), abs=0.005),
    ]


def test_the_cost_of_a_token_follows_from_what_a_step_loads() -> None:
    rows = re.findall(r"^(?:read|written\b.*?) +([\d.]+)$", outputs(PAGE), re.MULTILINE)
    expected = [dollars(2 * (PARAMETERS - TABLE) / PEAK) * 1e6, *(written(b) for b in (1, 8, 64))]
    assert [float(row) for row in rows] == [pytest.approx(cost, abs=0.006) for cost in expected]
    times = [f"{written(b) / expected[0]:.2g}" for b in (64, 1)]
    found = re.search(
        r"at (\d+) times the cost of reading, and one alone at (\d+) times", sentences(PAGE)
    )
    assert found
    assert [float(t) for t in found.groups()] == [pytest.approx(float(t), rel=0.03) for t in times]


def test_a_training_run_takes_six_flops_for_each_parameter_and_token() -> None:
    hours = 6 * PARAMETERS * 1e12 / PEAK / 3600
    found = re.search(
        r"At (\d+)% of the peak.* ([\d,]+) hours of one chip, or ([\d,]+) dollars", sentences(PAGE)
    )
    assert found
    share, took, cost = (float(text.replace(",", "")) for text in found.groups())
    assert took == pytest.approx(hours / share * 100, rel=0.01)
    assert cost == pytest.approx(took * PRICE, rel=1e-4)


def test_the_price_is_dated_and_has_a_source() -> None:
    assert re.search(
        r"Google Cloud in February 2025, in dollars, as \{cite:t\}`austin2025scaling` quote it",
        sentences(PAGE),
    )


@pytest.mark.parametrize(
    "rows",
    [
        ["data", "tensor", "pipeline", "expert"],
        [
            "recomputing",
            "sharded optimizer state",
            "offloading",
            "accumulating gradients",
        ],
    ],
)
def test_each_technique_in_the_summarys_tables_cites_a_work(rows: list[str]) -> None:
    page = (ROOT / f"{PAGE}.md").read_text(encoding="utf-8")
    works = (ROOT / "references.bib").read_text(encoding="utf-8")
    for row in rows:
        found = re.search(rf"^\| {row} \|.*\{{cite:t\}}`(\w+)` \|$", page, re.MULTILINE)
        assert found, row
        assert f"{{{found[1]}," in works
    # The introduction also names each of these techniques.
    introduction = sentences("chapters/introduction")
    for row in rows:
        assert re.search(row.split()[0][:5], introduction), row
