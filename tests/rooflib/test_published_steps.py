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


# Rows of the sources' tables, typed a second time: M, N, K and TFLOP/s of DeepGEMM's; and type,
# chip, M, N, K and TFLOP/s of the best shapes in ml-engineering's.
DEEPGEMM = [
    (64, 2112, 7168, 206), (64, 24576, 1536, 289), (64, 32768, 512, 219), (64, 7168, 16384, 336),
    (64, 4096, 7168, 287), (64, 7168, 2048, 295), (128, 2112, 7168, 352), (128, 24576, 1536, 535),
    (128, 32768, 512, 358), (128, 7168, 16384, 645), (128, 4096, 7168, 533), (128, 7168, 2048, 510),
    (4096, 2112, 7168, 1058), (4096, 24576, 1536, 990), (4096, 32768, 512, 590),
    (4096, 7168, 16384, 1358), (4096, 4096, 7168, 1304), (4096, 7168, 2048, 1025),
]  # fmt: skip
BEST = [
    ("bf16", "A100 80GB SXM", 1024, 10240, 5120, 271.2),
    ("bf16", "GH200", 1024, 15360, 4096, 828.6), ("bf16", "H100 SXM", 2048, 2048, 13312, 794.5),
    ("bf16", "B300", 12288, 18432, 1024, 1769.0), ("bf16", "B200", 1792, 16128, 3072, 1745.0),
    ("bf16", "GB200", 4096, 9728, 2048, 1822.0), ("bf16", "MI355X", 12288, 8192, 8192, 1565.0),
    ("bf16", "MI325X", 13312, 10240, 8192, 784.9), ("bf16", "MI300X", 10240, 15360, 8192, 668.4),
    ("fp8", "GH200", 1024, 14336, 14336, 1535.0), ("fp8", "B200", 15360, 4096, 3072, 3432.5),
    ("fp8", "B300", 3072, 6144, 7168, 3353.3), ("fp8", "H200 SXM", 1280, 4096, 12032, 1453.4),
    ("fp8", "GB200", 19456, 5120, 1536, 3615.6), ("fp8", "H100 SXM", 1024, 9216, 14336, 1402.6),
]  # fmt: skip
RUNS = rl.published_runs()


def test_the_stored_runs_contain_the_printed_ones():
    known = {(run.chip, run.work.name): run.seconds for run in RUNS}
    for kind, chip, M, N, K, rate in (*(("fp8", "H800 SXM", *row) for row in DEEPGEMM), *BEST):
        seconds = known[chip, f"{kind}[{M}, {K}] · {kind}[{K}, {N}]"]
        assert seconds == pytest.approx(2 * M * N * K / (rate * 1e12))
    # Of its grouped ones, with 8,192 rows and 1,297 TFLOP/s.
    four = known["H800 SXM", "4 × fp8[8192, 7168] · fp8[7168, 4096]"]
    assert four == pytest.approx(4 * 2 * 8192 * 4096 * 7168 / 1297e12)
    # nccl-tests counts the bytes of a ring, so at 480 GB/s of "bus bandwidth" an array of 8 chips
    # takes 1.75 bytes for each of its bytes.
    assert known["H100 SXM", "all-reduce among 8"] == pytest.approx(1.75 * 2**32 / 480e9)


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
