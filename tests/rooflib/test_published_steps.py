"""Tests of published decode steps against their tables and lower bounds."""

from __future__ import annotations

import dataclasses

import pytest

import rooflib as rl
from rooflib.catalog import PublishedStep, _catalog

# (model, chip, chips, B, printed tokens/s, factor to the tokens/s of all chips), copied by hand.
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
# Decode steps in more_steps.toml; the columns are those of PRINTED.
PRINTED_MORE = [
    ("Mixtral 8x7B", "A100 80GB SXM", 2, 1, 96.67, 1),
    ("Mixtral 8x7B", "A100 80GB SXM", 4, 1, 155.35, 1),
    ("Mixtral 8x7B", "A100 80GB SXM", 8, 1, 227.82, 1),
    ("Mixtral 8x7B", "A100 80GB SXM", 1, 1, 97.92, 1),
    ("Mixtral 8x7B", "A100 80GB SXM", 2, 1, 155.03, 1),
    ("Mixtral 8x7B", "A100 80GB SXM", 4, 1, 216.87, 1),
    ("Mixtral 8x7B", "A100 80GB SXM", 8, 1, 279.35, 1),
    ("Mixtral 8x7B", "H200 SXM", 2, 256, 4973, 2),
    ("Mixtral 8x7B", "H100 SXM", 2, 128, 3408, 2),
    ("Mixtral 8x7B", "A100 80GB SXM", 2, 128, 1724, 2),
]
# (model, chip, chips, B, S, printed milliseconds)
PRINTED_PREFILLS = [
    ("Llama 2 7B", "H100 SXM", 1, 1, 128, 6.3),
    ("Llama 2 7B", "H100 SXM", 1, 1, 2048, 30.8),
    ("Mistral 7B", "H100 SXM", 1, 1, 2048, 32.4),
    ("Mixtral 8x7B", "H100 SXM", 2, 1, 128, 13.4),
    ("Mixtral 8x7B", "H100 SXM", 2, 1, 2048, 89.5),
    ("Llama 2 70B", "H100 SXM", 8, 1, 2048, 85.1),
    ("Llama 2 7B", "A100 80GB SXM", 1, 1, 2048, 132.4),
    ("Mixtral 8x7B", "A100 80GB SXM", 2, 1, 2048, 160.9),
]
MEASURED = rl.published_steps()
ALL = rl.published_steps(more=True)
MORE = ALL[len(MEASURED) :]


def named(each: PublishedStep) -> str:
    phase = "prefill" if each.first_token else "decode"
    return f"{each.model} {phase} B={each.B} {each.w} {each.chips}x{each.chip}"


def lower(each: PublishedStep) -> float:
    return float(rl.bound(each.step, each.chip, "NVLink").lower)


def test_published_steps_match_the_tables_copied_by_hand():
    found = [(m.model, m.chip, m.chips, m.B, m.tokens_per_second) for m in MEASURED]
    assert found == [(*what, rate * of) for *what, rate, of in PRINTED]


def test_steps_in_more_steps_toml_match_the_tables_copied_by_hand():
    assert ALL[: len(MEASURED)] == MEASURED
    decodes = [m for m in MORE if not m.first_token]
    found = [(m.model, m.chip, m.chips, m.B, m.tokens_per_second) for m in decodes]
    assert found == [(*what, rate * of) for *what, rate, of in PRINTED_MORE]
    prefills = [m for m in MORE if m.first_token]
    found = [(m.model, m.chip, m.chips, m.B, m.S, m.seconds) for m in prefills]
    assert found == [(*what, float(f"{ms}e-3")) for *what, ms in PRINTED_PREFILLS]


@pytest.mark.parametrize("each", MORE, ids=named)
def test_steps_in_more_steps_toml_take_one_to_seven_times_the_lower_bound(each):
    assert lower(each) < each.seconds < 7 * lower(each)


def test_the_lower_bound_of_a_published_prefill_is_near_a_hand_count():
    # A prefill takes two FLOPs per weight and token at the fp8 peak, and a little for attention.
    prefill = next(m for m in MORE if m.first_token and m.S == 2048 and m.model == "Llama 2 7B")
    weights = rl.model("Llama 2 7B").parameters - 2 * 32000 * 4096
    alone = 2 * weights * 2048 / 1.979e15
    assert alone < lower(prefill) < 1.1 * alone


@pytest.mark.parametrize("each", MEASURED, ids=lambda m: f"{m.model} B={m.B} {m.chips}x{m.chip}")
def test_measured_steps_take_one_to_five_times_the_lower_bound(each):
    assert lower(each) < each.seconds < 5 * lower(each)


@pytest.mark.parametrize("each", ALL, ids=named)
def test_published_steps_fit_into_hbm(each):
    assert rl.bound(each.step, each.chip, "NVLink").fits


def test_the_published_out_of_memory_cases_do_not_fit():
    # For these models in bf16 on one chip, gpt-fast's tables show "OOM", out of memory.
    for name in ("Llama 2 70B", "Mixtral 8x7B"):
        assert not rl.bound(rl.model(name).decode(1, 208), "A100 80GB SXM").fits


def test_the_lower_bound_of_a_published_decode_step_matches_a_hand_count():
    # Elements moved: weights without the embedding table, one row of the table, the cache and the
    # new position (2 · 32 · 32 · 128 per position), and 32,000 logits.
    table = 32000 * 4096
    elements = rl.model("Llama 2 7B").parameters - table + 4096 + 262_144 * (208 + 1) + 32000
    assert lower(MEASURED[0]) == pytest.approx(2 * elements / 2.039e12, rel=1e-12)


def test_a_published_step_generates_one_token_per_sequence():
    by_batch = next(m for m in MEASURED if m.B == 64)
    assert by_batch.seconds == 64 / by_batch.tokens_per_second


def test_a_published_step_is_counted_with_its_weight_input_and_cache_types():
    types = {"x": "fp16", "w": "int8", "kv": "fp8"}
    each = dataclasses.replace(MEASURED[1], B=3, **types)
    assert each.step == rl.model("Llama 2 7B").decode(3, each.S, 2, **types)


def test_every_published_step_has_a_source_and_every_source_a_step():
    files = ("published_steps.toml", "more_steps.toml")
    known = {source for file in files for source in _catalog(file)["sources"].values()}
    assert {each.source for each in ALL} == known
    for each in ALL:
        assert each.source.url.startswith("https://")
        assert each.source.read.year >= 2026
        assert each.source.note
