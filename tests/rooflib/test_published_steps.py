"""No published measurement beats its lower bound; the stored ones are those that were printed."""

import pytest

import rooflib as rl

# (model, chip, chips, B, printed tokens/s, the share of all chips that it is for), typed from the
# sources' tables, apart from published_steps.toml and more_steps.toml.
DECODES = [
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
PREFILLS = [
    ("Llama 2 7B", "H100 SXM", 1, 1, 128, 6.3),
    ("Llama 2 7B", "H100 SXM", 1, 1, 2048, 30.8),
    ("Mistral 7B", "H100 SXM", 1, 1, 2048, 32.4),
    ("Mixtral 8x7B", "H100 SXM", 2, 1, 128, 13.4),
    ("Mixtral 8x7B", "H100 SXM", 2, 1, 2048, 89.5),
    ("Llama 2 70B", "H100 SXM", 8, 1, 2048, 85.1),
    ("Llama 2 7B", "A100 80GB SXM", 1, 1, 2048, 132.4),
    ("Mixtral 8x7B", "A100 80GB SXM", 2, 1, 2048, 160.9),
]
STEPS = rl.published_steps(more=True)


def test_the_stored_measurements_contain_the_printed_ones():
    decodes = {(m.model, m.chip, m.chips, m.B, m.tokens_per_second)
               for m in STEPS if not m.first_token}  # fmt: skip
    assert {(*what, rate * of) for *what, rate, of in DECODES} <= decodes
    prefills = {(m.model, m.chip, m.chips, m.B, m.S, m.seconds) for m in STEPS if m.first_token}
    assert {(*what, float(f"{ms}e-3")) for *what, ms in PREFILLS} <= prefills


@pytest.mark.parametrize(
    "each", STEPS, ids=lambda m: f"{m.model} B={m.B} S={m.S} {m.w} {m.chips}x{m.chip}"
)
def test_no_measured_step_beats_its_lower_bound(each):
    bounds = each.step.on(each.chip, "NVLink")
    # It is a bound that says something, too: none took seven times as long.
    assert bounds.lower < each.seconds < 7 * bounds.lower
    assert bounds.fits
    assert each.source.url.startswith("https://")
    assert each.source.read.year >= 2026


def test_models_that_ran_out_of_memory_do_not_fit():
    # For these models in bf16 on one chip, gpt-fast's tables show "OOM".
    for name in ("Llama 2 70B", "Mixtral 8x7B"):
        assert not rl.model(name).decode(1, 208).on("A100 80GB SXM").fits


def test_bounds_of_published_steps_are_those_of_a_count_by_hand():
    chip, table = "A100 80GB SXM", 32_000 * 4096
    alone = next(m for m in STEPS if (m.model, m.chip, m.chips, m.B) == ("Llama 2 7B", chip, 1, 1)
                 and not m.first_token)  # fmt: skip
    # All weights but the table of embeddings, one row of it, the cache with a new position
    # (2 · 32 · 32 · 128 elements each), and 32,000 logits.
    elements = 6_738_415_616 - table + 4096 + 262_144 * (alone.S + 1) + 32_000
    bounds = alone.step.on(chip, "NVLink")
    assert bounds.lower == pytest.approx(2 * elements / 2.039e12, rel=1e-12)
    # A prefill takes two FLOPs per weight and token at the fp8 peak, and a little for attention.
    prefill = next(m for m in STEPS if m.first_token and m.S == 2048 and m.model == "Llama 2 7B")
    math = 2 * (6_738_415_616 - 2 * table) * 2048 / 1.979e15
    assert math < prefill.step.on(prefill.chip, "NVLink").lower < 1.1 * math
