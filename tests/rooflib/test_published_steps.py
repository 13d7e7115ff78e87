"""Tests of published decode steps against their tables and lower bounds."""

from __future__ import annotations

import pytest

import rooflib as rl
from rooflib.catalog import PublishedStep, _sources

# Model, chip, chips, B, printed tokens/s, number of chips they count; typed from the tables.
PRINTED = [
    ("Llama 2 7B", "A100 80GB SXM", 1, 1, 104.9, 1),
    ("Llama 2 7B", "A100 80GB SXM", 2, 1, 168.84, 1),
    ("Llama 2 7B", "A100 80GB SXM", 4, 1, 254.02, 1),
    ("Llama 2 7B", "A100 80GB SXM", 8, 1, 328.43, 1),
    ("Llama 2 70B", "A100 80GB SXM", 1, 1, 19.13, 1),
    ("Llama 2 70B", "A100 80GB SXM", 8, 1, 62.50, 1),
    ("Llama 2 7B", "H100 SXM", 1, 64, 5367, 1),
    ("Llama 2 70B", "H100 SXM", 4, 64, 2616, 1),
    ("Llama 2 7B", "H100 SXM", 1, 112, 6818, 1),
    ("Llama 2 7B", "A100 80GB SXM", 1, 60, 1928, 1),
]
MEASURED = rl.published_steps()


def lower(each: PublishedStep) -> float:
    return float(rl.bound(each.step, each.chip, "NVLink").lower)


def test_published_steps_match_the_printed_tables():
    found = [(m.model, m.chip, m.chips, m.B, m.tokens_per_second) for m in MEASURED]
    assert found == [(*what, rate * of) for *what, rate, of in PRINTED]


@pytest.mark.parametrize("each", MEASURED, ids=lambda m: f"{m.model} B={m.B} {m.chips}x{m.chip}")
def test_measured_steps_are_between_one_and_five_lower_bounds(each):
    assert lower(each) < each.seconds < 5 * lower(each)


@pytest.mark.parametrize("each", MEASURED, ids=lambda m: f"{m.model} B={m.B} {m.chips}x{m.chip}")
def test_published_steps_fit_into_hbm(each):
    assert rl.bound(each.step, each.chip, "NVLink").fits


def test_the_published_out_of_memory_case_does_not_fit():
    # The gpt-fast table has "OOM" (out of memory) for the larger model in bf16 on one chip.
    step = rl.model("Llama 2 70B").decode(1, 208)
    assert not rl.bound(step, "A100 80GB SXM").fits


def test_a_lower_bound_matches_a_hand_count():
    # Elements: weights without the embedding table, one row of the table, cache and new position (2
    # · 32 · 32 · 128 each per position), and 32,000 logits.
    table = 32000 * 4096
    elements = rl.model("Llama 2 7B").parameters - table + 4096 + 262_144 * (208 + 1) + 32000
    assert lower(MEASURED[0]) == pytest.approx(2 * elements / 2.039e12, rel=1e-12)


def test_a_step_generates_one_token_per_sequence():
    by_batch = next(m for m in MEASURED if m.B == 64)
    assert by_batch.seconds == 64 / by_batch.tokens_per_second


def test_every_published_step_has_a_source_and_vice_versa():
    assert {each.source for each in MEASURED} == set(_sources("published_steps.toml").values())
    for each in MEASURED:
        assert each.source.url.startswith("https://")
        assert each.source.read.year >= 2026
        assert each.source.note
