"""Parameters, FLOPs and bytes of models equal what programs of others print, to the digit."""

import json
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

import rooflib as rl

# From transformers 5.24.0: sum(p.numel() for p in model.parameters()) on the meta device, with the
# shapes of models.toml; printed on 2026-11-24.
PARAMETERS = {
    "Llama 2 7B": 6_738_415_616,
    "Llama 2 13B": 13_015_864_320,
    "Llama 2 70B": 68_976_648_192,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3 70B": 70_553_706_496,
    "Llama 3.1 405B": 405_853_388_800,
    "Llama 3.2 1B": 1_235_814_400,
    "Mistral 7B": 7_241_732_096,
    "Qwen3 8B": 8_190_735_360,
    "Qwen3 32B": 32_762_123_264,
    "Gemma 3 27B": 27_009_346_304,
    "Phi-4": 14_659_507_200,
    "OLMo 2 13B": 13_716_198_400,
    "Mixtral 8x7B": 46_702_792_704,
    "Mixtral 8x22B": 140_630_071_296,
    "Qwen3 30B-A3B": 30_532_122_624,
    "Qwen3 235B-A22B": 235_093_634_560,
    "gpt-oss 120B": 116_829_156_672,
    "GLM-4.5-Air": 106_852_245_504,
    "DeepSeek-V3": 671_026_404_352,
}
# Config files as people have them, one a line, with counts of transformers 5.24.0 on the meta
# device. `read`: rooflib reads it; others are refused.
CONFIGS = [
    json.loads(line)
    for line in (ROOT / "tests/tables/configs.jsonl").read_text(encoding="utf-8").splitlines()
]
# Small models of each family that rooflib reads, counted with torch's FlopCounterMode.
COUNTED = json.loads((Path(__file__).parent / "counted_flops.json").read_text(encoding="utf-8"))
B, S = COUNTED["B"], COUNTED["S"]


def flops(step: rl.Work) -> dict[str, Any]:
    return {part.name: part.flops for part in step.parts if part.flops}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_model_of_the_catalog_has_the_parameters_that_transformers_counts(name):
    assert rl.model(name).parameters == PARAMETERS[name]


@pytest.mark.parametrize("row", CONFIGS, ids=lambda row: row["name"])
def test_a_config_file_is_counted_as_transformers_counts_it_or_refused(row, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(row["config"]), encoding="utf-8")
    if not row["read"]:
        with pytest.raises(ValueError, match=r"\A[^\n]+ must be [^\n]+\Z"):
            rl.model_from_config(path)
        return
    model = rl.model_from_config(path)
    assert (model.parameters, model.active_parameters()) == (row["parameters"], row["active"])
    assert model.tied == row["tied"]
    # The cache of layers with a window ends to grow there; the others' grows on.
    full, windowed = (row["cache"].get(kind, 0) for kind in ("full", "windowed"))
    near, far = (model.decode(1, length, kv="bf16").held for length in (20_000, 120_000))
    assert far - near == pytest.approx(2 * full * 100_000)
    start, window = (model.decode(1, length, kv="bf16").held for length in (1, 101))
    assert window - start == pytest.approx(2 * (full + windowed) * 100)


@pytest.mark.parametrize(
    "row", [row for row in CONFIGS if "hf_quant_config" in row], ids=lambda row: row["name"]
)
@pytest.mark.xfail(reason="hf_quant_config.json beside a config isn't read yet", strict=True)
def test_weights_of_a_checkpoint_quantized_by_nvidia_are_not_taken_as_bf16(row, tmp_path):
    for name in ("config", "hf_quant_config"):
        (tmp_path / f"{name}.json").write_text(json.dumps(row[name]), encoding="utf-8")
    model = rl.model_from_config(tmp_path / "config.json")
    assert model.decode(1, 1).held < 0.7 * 2 * model.parameters


@pytest.mark.parametrize("row", COUNTED["models"], ids=lambda row: row["config"]["model_type"])
def test_flops_equal_those_that_torch_counts_in_the_running_model(row):
    model = rl.model_from_config(row["config"])
    assert model.parameters == row["parameters"]
    # In each step, DeepSeek in transformers recomputes keys and values of all cached positions.
    assert flops(model.decode(B, S + 1, latent="expanded")) == row["decode"]
    # Torch's attention also computes the pairs that the mask or the window hides: all S · S. In a
    # decode step it computes what the last query sees, so that queries 1 to S see their sum.
    mine, theirs = flops(model.prefill(B, S, logits="all")), dict(row["prefill"])
    visible, torchs = mine.pop("attention"), theirs.pop("attention")
    each = [flops(model.decode(B, length, latent="expanded")) for length in range(1, S + 1)]
    assert visible == sum(step["attention"] for step in each)
    assert visible < torchs
    assert mine == theirs
    assert model.train(B, S).flops == row["training"] - 3 * (torchs - visible)


# From llm-analysis 0.2.2: parameters, FLOPs of a forward and a backward pass of 2,048 tokens, and
# bytes of the cache. It gives every MLP two matrices of width 4D, and counts one table where Llama
# has two; in attention it multiplies all pairs, with the masked ones.
LLM_ANALYSIS = {
    "Llama 2 7B": (6_573_789_184, 29_124_173_234_176, 58_248_346_468_352, 1_073_741_824),
    "Llama 2 13B": (12_747_166_720, 55_646_670_028_800, 111_293_340_057_600, 1_677_721_600),
}


@pytest.mark.parametrize("name", LLM_ANALYSIS)
def test_only_explained_differences_from_llm_analysis_remain(name):
    model, tokens = rl.model(name), 2048
    parameters, forward, backward, cache = LLM_ANALYSIS[name]
    mlp = model.layers * (2 * model.D * 4 * model.D - 3 * model.D * model.F)
    assert parameters == model.parameters + mlp - model.vocabulary * model.D
    masked = model.layers * 4 * model.D * (tokens**2 - tokens * (tokens + 1) // 2)
    whole = model.prefill(1, tokens, logits="all").flops
    assert forward == whole + 2 * tokens * mlp + masked
    assert backward == 2 * forward
    assert cache == model.kv_bytes_per_token() * tokens


# From LLM-Viewer, commit 472f71f, for 4 sequences of 2,048 positions in 16 bits with fused
# attention. FLOPs of a layer's projections, MLP and attention in a prefill and a decode step; of
# the logits; bytes of all weights, of the cache that a decode step reads, and that each writes.
# It adds 5 FLOPs for each score, counts masked pairs and one FLOP for two of the logits, and reads
# the cache once for each head of queries.
LLM_VIEWER = {
    "Llama 2 7B": (
        (4 * 274_877_906_944, 3 * 738_734_374_912, 277_562_261_504),
        (4 * 134_217_728, 3 * 360_710_144, 135_528_448),
        (524_288_000, 13_214_154_752, 4_294_967_296, 4_294_967_296, 2_097_152),
    ),
    "Llama 2 70B": (
        (2 * 1_236_950_581_248, 3 * 3_848_290_697_216, 555_124_523_008),
        (2 * 603_979_776, 3 * 1_879_048_192, 271_056_896),
        (1_048_576_000, 137_426_370_560, 21_474_836_480, 2_684_354_560, 1_310_720),
    ),
    "Llama 3 8B": (
        (2 * 343_597_383_680, 3 * 962_072_674_304, 277_562_261_504),
        (2 * 167_772_160, 3 * 469_762_048, 135_528_448),
        (2_101_346_304, 15_009_316_864, 4_294_967_296, 1_073_741_824, 524_288),
    ),
}


@pytest.mark.parametrize("name", LLM_VIEWER)
def test_only_explained_differences_from_llm_viewer_remain(name):
    model, sequences, tokens = rl.model(name), 4, 2048
    *printed, (logits, weights, read, *written) = LLM_VIEWER[name]
    steps = model.prefill(sequences, tokens), model.decode(sequences, tokens)
    for step, (projections, mlp, attention), new in zip(steps, printed, written, strict=True):
        parts = {part.name: part for part in step.parts}
        assert parts["projections"].flops == model.layers * projections
        assert parts["MLP"].flops == model.layers * mlp
        assert parts["logits"].flops == 2 * logits
        first = step is steps[0]
        pairs = sequences * model.N * (tokens**2 if first else tokens)
        visible = sequences * model.N * (tokens * (tokens + 1) // 2 if first else tokens)
        assert attention == (4 * model.H + 5) * pairs
        assert parts["attention"].flops == model.layers * 4 * model.H * visible
        assert parts["projections"].written == new
    assert weights == sum(parts[row].held for row in ("projections", "MLP", "logits"))
    assert read == model.N // model.K * parts["attention"].loaded


# Published sizes of caches: of the scaling book (commit 04d8de5, the second rounded), and
# allocations that llama.cpp reports (discussion 6 of dranger003/c4ai-command-r-v01-iMat.GGUF).
CACHES = [
    ("Llama 3 70B", 1, "int8", 160 * 2**10, 0),
    ("Llama 2 13B", 8192, "bf16", 6.7e9, 2e-3),
    ("Llama 3 8B", 2048, "fp16", 256 * 2**20, 0),
    ("Llama 3 70B", 2048, "fp16", 640 * 2**20, 0),
]


@pytest.mark.parametrize(("name", "tokens", "kv", "printed", "rel"), CACHES)
def test_caches_have_their_published_sizes(name, tokens, kv, printed, rel):
    model = rl.model(name)
    assert tokens * model.kv_bytes_per_token(kv) == pytest.approx(printed, rel=rel)
    alone = rl.kv_bytes_per_token(model.layers, model.K, model.H, kv)
    assert alone == model.kv_bytes_per_token(kv)


@pytest.mark.parametrize(
    ("sequences", "ms"), [(1, 4.98), (8, 12.13), (16, 20.30), (32, 36.65), (64, 69.33)]
)
def test_decode_steps_take_the_times_of_the_scaling_book(sequences, ms):
    # "All About Transformer Inference": Llama 2 13B with 8,192 positions on 8 TPU v5e.
    step = rl.model("Llama 2 13B").decode(sequences, 8192, chips=8)
    assert step.on("TPU v5e", "ICI").times["HBM"] * 1e3 == pytest.approx(ms, rel=0.01)


@pytest.mark.parametrize("name", ["Llama 2 7B", "Llama 3 70B", "Llama 3.1 405B"])
def test_training_takes_six_flops_for_each_weight_and_token(name):
    model = rl.model(name)
    weights = model.parameters - model.vocabulary * model.D
    assert model.train(1, 64).flops == pytest.approx(6 * weights * 64, rel=2e-3)


# Bits of an element with the scales of its group, as the formats' documents say.
QUANTIZED = [
    ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4 + 20 / 128),
    ({"quant_method": "gptq", "bits": 8, "group_size": 64}, 8 + 24 / 64),
    ({"quant_method": "gptq", "bits": 4, "group_size": -1}, 4),
    ({"quant_method": "fp8"}, 8),
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 128**2),
    ({"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "mlp"]}, None),
]


@pytest.mark.parametrize(("how", "bits"), QUANTIZED, ids=str)
def test_quantized_weights_take_the_bits_of_their_format(how, bits):
    config = next(row["config"] for row in CONFIGS if row["name"].startswith("llama-3.1-8b"))
    plain = rl.model_from_config(config).decode(1, 1)
    step = rl.model_from_config(config | {"quantization_config": how}).decode(1, 1)
    layers, D, F, kv = 32, 4096, 14336, 1024
    mlp, rest = layers * 3 * D * F, layers * (2 * D * D + 2 * D * kv)
    saved = (mlp + rest) * (2 - bits / 8) if bits else rest * (2 - 8 / 8)
    assert plain.held - step.held == pytest.approx(saved, rel=1e-12)
