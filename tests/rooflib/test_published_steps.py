"""No published measurement beats its lower bound; the stored ones are those that were printed."""

import pytest

import rooflib as rl

# (model, chip, chips, B, printed tokens/s, the share of all chips that it is for), typed from the
# sources' tables, apart from published_steps.toml.
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


RUNS = rl.published_runs()


def test_each_measured_multiplication_says_what_ran_and_when():
    # Shares of a peak grow with each version of the software: without these two, they mislead.
    for run in RUNS:
        if not run.link:
            assert run.software
            assert run.published
            assert run.published <= run.source.read


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.chip} {run.work.name}")
def test_no_measured_run_beats_its_lower_bound(run):
    lower = run.work.on(run.chip, run.link).lower
    assert lower < run.seconds < 3 * lower


def test_models_that_ran_out_of_memory_do_not_fit():
    # For these models in bf16 on one chip, gpt-fast's tables show "OOM".
    for name in ("Llama 2 70B", "Mixtral 8x7B"):
        assert not rl.model(name).decode(1, 208).on("A100 80GB SXM").fits
