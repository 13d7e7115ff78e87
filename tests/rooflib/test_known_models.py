"""Parameters, FLOPs and bytes of models equal what programs of others print, to the digit."""

import json
from pathlib import Path
from typing import Any

import pytest
from config_files import ROWS
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
    "Kimi K2": 1_026_408_209_408,
}
CONFIGS = list(ROWS.values())
# Small models of each family that rooflib reads, counted with torch's FlopCounterMode.
COUNTED = json.loads((Path(__file__).parent / "counted_flops.json").read_text(encoding="utf-8"))
B, S = COUNTED["B"], COUNTED["S"]


def flops(step: rl.Work) -> dict[str, Any]:
    return {part.name: part.flops for part in step.parts if part.flops}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_model_of_the_catalog_has_the_parameters_that_transformers_counts(name):
    assert rl.model(name).parameters == PARAMETERS[name]


# As their makers print them: billions of all weights and of those of a token, which may be counted
# without the tables; and the windows of layers that have one.
PRINTED = {
    "Mixtral 8x7B": (46.7, 12.9), "Mixtral 8x22B": (141, 39), "Qwen3 30B-A3B": (30.5, 3.3),
    "Qwen3 235B-A22B": (235, 22), "gpt-oss 120B": (117, 5.1), "GLM-4.5-Air": (106, 12),
    "ERNIE 4.5 21B-A3B": (21.8, 3), "Hunyuan-A13B": (80.4, 13), "DeepSeek-V3": (671, 37),
    "Kimi K2": (1026, 32),
}  # fmt: skip
WINDOWS = {"Mistral 7B": 4096, "Gemma 3 27B": 1024, "gpt-oss 120B": 128}


@pytest.mark.parametrize("name", PRINTED)
def test_a_mixture_of_the_catalog_has_the_weights_that_its_maker_prints(name):
    model, (total, active) = rl.model(name), PRINTED[name]
    assert model.parameters / 1e9 == pytest.approx(total, rel=0.01)
    counted = [model.active_parameters(tables) / 1e9 for tables in (False, True)]
    assert counted[0] < 1.05 * active
    assert counted[1] > 0.95 * active


@pytest.mark.parametrize("name", WINDOWS)
def test_a_model_of_the_catalog_has_the_window_of_its_file(name):
    assert {kind.window for kind in rl.model(name).kinds} - {0} == {WINDOWS[name]}


# Parameters that huggingface.co shows for checkpoints with a part that sees.
PAGES = {
    "llama-4-scout-17b-16e-instruct-fp8-dynamic": 108_641_793_536,
    "Qwen3-VL-30B-A3B-Instruct": 31_070_754_032,
    "gemma-4-26B-A4B": 25_805_933_872,
    "Qwen3.5-27B": 27_356_728_560,
    "gemma-3-4b-it": 4_300_079_472,
    "qwen2.5-7b-instruct": 8_292_166_656,  # with what sees, as Qwen2.5-VL
}
QWEN_SEES = {"model_type": "qwen2_5_vl", "hidden_size": 1280, "out_hidden_size": 3584}
GEMMA_SEES = {"num_hidden_layers": 27, "hidden_size": 1152, "intermediate_size": 4304,
              "image_size": 896, "patch_size": 14, "vision_use_head": False,
              "model_type": "siglip_vision_model"}  # fmt: skip
SEES = {"qwen2.5-7b-instruct": QWEN_SEES, "gemma-3-4b-it": GEMMA_SEES}


@pytest.mark.parametrize("row", CONFIGS, ids=lambda row: row["name"])
def test_a_config_file_is_counted_as_transformers_counts_it(row, tmp_path):
    model = read(row, tmp_path)
    assert (model.parameters, model.active_parameters()) == (row["parameters"], row["active"])
    assert (model.tied, model.weights) == (row["tied"], row["weights"])
    assert model.active_parameters(tables=False) == row["active"] - row["weights"]["tables"]
    # The cache of layers with a window ends to grow there; the others' grows on.
    full, windowed = (row["cache"].get(kind, 0) for kind in ("full", "windowed"))
    near, far = (model.decode(1, length, kv="bf16").held for length in (20_000, 120_000))
    assert far - near == pytest.approx(2 * full * 100_000)
    start, window = (model.decode(1, length, kv="bf16").held for length in (1, 101))
    assert window - start == pytest.approx(2 * (full + windowed) * 100)
    state = sum(kind.count * sum(kind.state()) for kind in model.kinds)
    assert state == row["cache"].get("state_of_a_sequence", 0)
    # What a file stores in other types, and the type of its cache.
    if "stored_weight_bytes" in row:
        held = model.decode(1, 1).held - model.kv_bytes_per_token()
        assert held == pytest.approx(row["stored_weight_bytes"])
    # With what sees, it is the number of parameters on the checkpoint's page.
    assert model.parameters + sum(model.towers.values()) == PAGES.get(
        row["name"], row["parameters"]
    )
    for weights in model.towers.values():
        assert f"{rl.Quantity(weights)}" in model.named_towers
    assert model.kv_bytes_per_token() == (1 if "kv" in row else 2) * (full + windowed) or (
        "hf_quant_config" in row
    )


def read(row: dict[str, Any], folder: Path) -> rl.Model:
    """Read the files of a row, as they lie in a checkpoint's folder."""
    files = ((key, row[key]) for key in ("config", "hf_quant_config") if key in row)
    for name, content in files:
        if name == "config" and row["name"] in SEES:
            content = content | {"vision_config": SEES[row["name"]]}
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return rl.model_from_config(folder / "config.json")


# Small models of each family with sizes drawn at random, and some keys left out; weights by role as
# transformers 5.24.0 counts them on the meta device. Of DeepSeek V4 also the published files, with
# the sum of the shapes in its class.
FAMILIES = [
    json.loads(line)
    for line in (ROOT / "tests/tables/families.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("family", sorted({row["config"]["model_type"] for row in FAMILIES}))
def test_every_family_has_the_weights_that_transformers_counts(family):
    rows = [row for row in FAMILIES if row["config"]["model_type"] == family]
    counted = [rl.model_from_config(row["config"]).weights for row in rows]
    assert counted == [row["weights"] for row in rows]


def test_a_window_that_is_switched_off_or_not_switched_on_is_not_counted():
    """In all families with a switch: transformers' default is off."""
    switch, found = "use_sliding_window", []
    for config in (row["config"] for row in FAMILIES if row["config"].get("use_sliding_window")):
        left_out = {key: value for key, value in config.items() if key != switch}
        changed = (config, config | {"sliding_window": 10**6}, config | {switch: False}, left_out)
        steps = [rl.model_from_config(one).decode(2, 99) for one in changed]
        on, far, *others = [(step.flops, step.held) for step in steps]
        assert others == [far, far], config
        found.append(on < far)
    assert any(found)


def test_layers_that_share_keys_and_values_of_others_cache_none():
    config = next(row["config"] for row in FAMILIES if row["config"].get("num_kv_shared_layers"))
    # Of twelve layers, every sixth sees the whole sequence.
    all_of_them, half = (
        rl.model_from_config(config | {"num_kv_shared_layers": count}) for count in (0, 6)
    )
    assert half.kv_bytes_per_token() == all_of_them.kv_bytes_per_token() / 2
    assert half.decode(1, 9).held < all_of_them.decode(1, 9).held


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


def scheme(bits: int, kind: str = "int", group: int | None = None) -> dict[str, Any]:
    return {"num_bits": bits, "type": kind, "strategy": "group" if group else "channel"} | (
        {"group_size": group} if group else {}
    )


def compressed(weights: dict[str, Any], **more: Any) -> dict[str, Any]:
    groups = {"group_0": {"targets": ["Linear"], "weights": weights, **more}}
    return {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": ["lm_head"]}


def quark(kind: str, **scale: Any) -> dict[str, Any]:
    stored = {"dtype": kind, "qscheme": "per_group" if scale else "per_tensor", **scale}
    both = {"weight": stored, "input_tensors": stored}
    return {"quant_method": "quark", "global_quant_config": both, "exclude": ["lm_head"]}


# Schemes of modelopt: their names say the bits of weights and activations.
MODELOPT = [
    ("FP8_PB_WO", 8 + 32 / 128**2, "bf16"),
    ("W4A16_NVFP4", 4.5, "bf16"),
    ("W4A8_NVFP4_FP8", 4.5, "fp8"),
    ("W4A8_MXFP4_FP8", 4.25, "fp8"),
    ("W4A16_AWQ", 4 + 16 / 128, "bf16"),
    ("MXFP8", 8.25, "fp8"),
    ("W8A16", 8, "bf16"),
    ("W8A8_SQ_PER_CHANNEL", 8, "int8"),
    ("W4A8_AWQ", 4 + 16 / 128, "fp8"),
]
NF4 = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
# Bits of an element with the scales of its group, as the formats' documents say, and the type in
# which it is multiplied.
QUANTIZED = [
    ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4 + 20 / 128, "bf16"),
    ({"quant_method": "gptq", "bits": 8, "group_size": 64}, 8 + 24 / 64, "bf16"),
    ({"quant_method": "gptq", "bits": 4, "group_size": -1}, 4, "bf16"),
    ({"quant_method": "fp8"}, 8, "fp8"),
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 128**2, "fp8"),
    ({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}, 8, "fp8"),
    (NF4, 4 + 32 / 64, "bf16"),
    (NF4 | {"bnb_4bit_use_double_quant": True}, 4 + 8 / 64 + 32 / (64 * 256), "bf16"),
    ({"load_in_8bit": True}, 8, "bf16"),
    (compressed(scheme(4, group=128)), 4 + 16 / 128, "bf16"),
    (compressed(scheme(8), input_activations=scheme(8)), 8, "int8"),
    (compressed(scheme(8, "float"), input_activations=scheme(8, "float")), 8, "fp8"),
    (compressed(scheme(4, "float", 16), input_activations=scheme(4, "float", 16)), 4.5, "fp4"),
    (compressed(scheme(4, group=128), input_activations=scheme(8, "float")), 4 + 16 / 128, "fp8"),
    (compressed({"num_bits": 4, "type": "float", "group_size": 16}), 4.5, "bf16"),  # ModelOpt's
    ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, 4.5, "fp4"),
    ({"quant_algo": "FP8", "exclude_modules": ["lm_head"]}, 8, "fp8"),
    *(
        ({"quant_algo": name, "group_size": 128, "ignore": ["lm_head"]}, bits, compute)
        for name, bits, compute in MODELOPT
    ),
    (quark("fp8_e4m3"), 8, "fp8"),
    (quark("fp4", group_size=32, scale_format="e8m0"), 4 + 8 / 32, "fp4"),
]


@pytest.mark.parametrize(("how", "bits", "compute"), QUANTIZED, ids=str)
def test_quantized_weights_take_the_bits_of_their_format(how, bits, compute):
    config = next(row["config"] for row in CONFIGS if row["name"].startswith("llama-3.1-8b"))
    plain = rl.model_from_config(config).decode(1, 1)
    step = rl.model_from_config(config | {"quantization_config": how}).decode(1, 1)
    matrices = 32 * (3 * 4096 * 14336 + 2 * 4096 * 4096 + 2 * 4096 * 1024)
    assert plain.held - step.held == pytest.approx(matrices * (2 - bits / 8), rel=1e-12)
    parts = {part.name: part for part in step.parts}
    assert parts["MLP"].compute == parts["projections"].compute == compute
    assert parts["logits"].compute == "bf16"


# Modules that a file leaves as they are, and the share of Llama's matrices that they are.
SKIPPED = [
    (["lm_head", "mlp"], 3 * 4096 * 14336),
    ([f"model.layers.{i}.self_attn" for i in range(32)], 2 * 4096 * (4096 + 1024)),
    (["model.layers.*.self_attn.q_proj"], 4096 * 4096),
    (["re:.*self_attn.(k|v)_proj"], 2 * 4096 * 1024),
    (["model.layers.*.mixer.q_proj"], 4096 * 4096),
    ([r"re:.*\.layers\.[0-7]\..*down_proj", "re:^lm_head$"], 4096 * 14336 / 4),
    (["re:.*router", "re:.*shared_expert_gate$"], 0),
    ([f"model.layers.{i}.*" for i in range(8)], (3 * 4096 * 14336 + 2 * 4096 * (4096 + 1024)) / 4),
    ([f"model.layers.{i}.mlp.down_proj" for i in range(16)], 4096 * 14336 / 2),
    (["model.layers.32", "model.vision_tower.layers.0.fc1", "lm_head"], 0),
]


def held(name: str, **how: Any) -> float:
    """Return what a step holds of the file whose name begins so, quantized with fp8."""
    config = next(row["config"] for row in CONFIGS if row["name"].startswith(name))
    how = {"quantization_config": {"quant_method": "fp8", **how}}
    return rl.model_from_config(config | how).decode(1, 1).held


def test_gptq_quantizes_only_the_modules_that_a_file_names():
    how = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    named = how | {"modules_in_block_to_quantize": [["mlp.up_proj", "mlp.gate_proj"]]}
    more = held("llama-3.1-8b", **named) - held("llama-3.1-8b", **how)
    rest = 4096 * 14336 + 2 * 4096 * (4096 + 1024)
    assert more == pytest.approx(32 * rest * (2 - (4 + 20 / 128) / 8))


@pytest.mark.parametrize(("modules", "each"), SKIPPED, ids=str)
def test_modules_that_a_file_leaves_out_are_not_quantized(modules, each):
    more = held("llama-3.1-8b", modules_to_not_convert=modules) - held("llama-3.1-8b")
    assert more == pytest.approx(32 * each)


def test_experts_can_be_left_out_one_by_one_or_have_a_type_of_their_own():
    experts = "model.layers.0.block_sparse_moe.experts"
    names = [f"{experts}.{e}.w{i}" for e in range(8) for i in (1, 2, 3)]
    all_of_them, of_a_layer = held("mixtral-8x7b"), 8 * 3 * 4096 * 14336
    assert held("mixtral-8x7b", modules_to_not_convert=names) - all_of_them == of_a_layer
    narrow = held("mixtral-8x7b", expert_dtype="fp4")
    assert all_of_them - narrow == pytest.approx(32 * of_a_layer * (8 - 4.25) / 8)
    # NVIDIA's files of DeepSeek V4 are in fp8 but for the experts, with names that DeepSeek gives.
    nvidia = {"moe_quant_algo": "NVFP4", "expert_dtype": "fp4", "ignore": ["*.attn.*", "head"]}
    narrow = held("mixtral-8x7b", **nvidia)
    assert all_of_them - narrow == pytest.approx(32 * of_a_layer * (8 - 4.5) / 8)


# In a layer of Gemma 4, 128 experts of 3 · 704 · 2816 weights are beside an MLP of 3 · 2112 · 2816.
GEMMA_4 = [
    (["model.language_model.layers.*.mlp*", "model.language_model.layers.*.self_attn*"], 128 * 704),
    (["re:.*experts.*", "re:.*self_attn.*"], 2112),
]


@pytest.mark.parametrize(("ignore", "width"), GEMMA_4, ids=str)
def test_experts_beside_an_mlp_are_not_a_part_of_it(ignore, width):
    config = next(row["config"] for row in CONFIGS if row["name"] == "gemma-4-26B-A4B")
    how = {"quant_algo": "NVFP4", "exclude_modules": ignore}
    model = rl.model_from_config(config | {"quantization_config": how})
    narrow = 30 * 3 * width * 2816
    assert model.decode(1, 1).held == pytest.approx(
        2 * (model.parameters - narrow) + narrow * 4.5 / 8 + model.kv_bytes_per_token()
    )


@pytest.mark.parametrize("name", ["gemma-3-4b", "mosaicml_mpt-7b"])
def test_an_output_that_shares_the_embedding_table_is_stored_as_the_table(name):
    config = next(row["config"] for row in CONFIGS if row["name"].startswith(name))
    how = {"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": True}
    quantized = config | {"quantization_config": how}
    said = rl.model_from_config(quantized | {"tie_word_embeddings": True})
    assert rl.model_from_config(quantized) == said
    logits = part("logits", said.decode(1, 9))
    assert logits.held == 2 * said.vocabulary * said.D


MLX = [
    ({"group_size": 64}, 4.5),
    ({"group_size": 64, "bits": 6}, 6.5),
    ({"group_size": 32, "mode": "mxfp4"}, 4.25),
    ({"group_size": 32, "mode": "mxfp8", "bits": 8}, 8.25),
]


@pytest.mark.parametrize(("how", "bits"), MLX)
def test_mlx_also_quantizes_tables(how, bits):
    config = next(row["config"] for row in CONFIGS if row["name"].startswith("llama-3.1-8b"))
    model = rl.model_from_config(config | {"quantization": {"bits": 4, **how}})
    rest = model.weights["other"]
    held = model.decode(1, 1).held - model.kv_bytes_per_token()
    assert held == pytest.approx((model.parameters - rest) * bits / 8 + 2 * rest)


# Bytes of a block and its weights: ggml-common.h of llama.cpp.
BLOCKS = {
    "q2_k": (84, 256), "q3_k": (110, 256), "q4_k": (144, 256), "q5_k": (176, 256),
    "q6_k": (210, 256), "q4_0": (18, 32), "q4_1": (20, 32), "q5_0": (22, 32), "q5_1": (24, 32),
    "q8_0": (34, 32), "iq1_s": (50, 256), "iq1_m": (56, 256), "iq2_xxs": (66, 256),
    "iq2_xs": (74, 256), "iq2_s": (82, 256), "iq3_xxs": (98, 256), "iq3_s": (110, 256),
    "iq4_nl": (18, 32), "iq4_xs": (136, 256), "tq1_0": (54, 256), "tq2_0": (66, 256),
    "mxfp4": (17, 32),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_weights_of_a_gguf_file_take_the_bytes_of_its_blocks(name):
    model, (size, weights) = rl.model("Llama 3 8B"), BLOCKS[name]
    held = model.decode(1, 1, w=name).held - model.kv_bytes_per_token()
    assert held == pytest.approx(model.parameters * size / weights)


# What files say of the cache, and bytes of one of its elements.
EIGHT = {"num_bits": 8, "type": "float"}
QUARK_CACHE = {"*v_proj": {"output_tensors": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}}}
STORED_CACHES = [
    ({"quant_algo": "FP8"}, 2),
    ({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, 1),
    ({"quant_algo": "FP8", "kv_cache_quant_algo": "NVFP4"}, 4.5 / 8),
    (compressed(scheme(8)) | {"kv_cache_scheme": EIGHT}, 1),
    (quark("fp8_e4m3") | {"kv_cache_quant_config": QUARK_CACHE}, 1),
]


@pytest.mark.parametrize(("how", "width"), STORED_CACHES, ids=str)
def test_a_cache_has_the_type_that_its_file_says(how, width):
    config = next(row["config"] for row in CONFIGS if row["name"].startswith("llama-3.1-8b"))
    model = rl.model_from_config(config | {"quantization_config": how})
    assert model.kv_bytes_per_token() == width * 2 * 32 * 8 * 128
    assert model.decode(1, 9).held - model.decode(1, 8).held == model.kv_bytes_per_token()


def test_the_file_beside_a_config_says_what_its_quantization_leaves_open(tmp_path):
    row = dict(next(row for row in CONFIGS if row["name"].startswith("llama-3.1-8b")))
    row["config"] = row["config"] | {"quantization_config": {"quant_algo": "FP8"}}
    assert read(row, tmp_path).kv is None
    row["hf_quant_config"] = {"quantization": {"kv_cache_quant_algo": "FP8"}}
    assert read(row, tmp_path).kv == "fp8"


def part(name: str, step: rl.Work) -> rl.Work:
    return next(part for part in step.parts if part.name == name)


@pytest.mark.parametrize(("kind", "width"), [("float32", 4), ("bfloat16", 2)])
def test_a_recurrent_state_is_loaded_and_written_by_each_step(kind, width):
    config = next(row["config"] for row in CONFIGS if row["name"] == "Qwen3.5-27B")
    text = config["text_config"] | {"mamba_ssm_dtype": kind}
    model, (B, S) = rl.model_from_config(config | {"text_config": text}), (3, 1000)
    # 48 layers: 48 heads of 128 · 128, and 3 inputs of queries, keys and values.
    state = B * 48 * (width * 48 * 128**2 + 2 * 3 * (2 * 16 + 48) * 128)
    fp8 = config | {"text_config": text, "quantization_config": {"quant_method": "fp8"}}
    assert part("state", rl.model_from_config(fp8).decode(B, S)).compute == "bf16"
    assert B * model.state_bytes() == state
    step, prompt = part("state", model.decode(B, S)), part("state", model.prefill(B, S, chunk=250))
    assert (step.loaded, step.written, step.held) == (state, state, state)
    assert (prompt.loaded, prompt.written, prompt.held) == (3 * state, 4 * state, state)
    spread = part("state", model.decode(B, S, 8))
    assert (spread.held, 8 * spread.flops) == (state / 8, step.flops)


def test_experts_are_loaded_and_held_with_their_biases():
    config = next(row["config"] for row in CONFIGS if row["name"] == "gpt-oss-20b")
    found = part("experts", rl.model_from_config(config).decode(1, 9))
    each = 3 * 2880**2 * 4.25 / 8 + 2 * 3 * 2880
    assert [found.loaded, found.held] == pytest.approx([24 * 4 * each, 24 * 32 * each])


def test_an_indexer_compares_all_positions_and_attention_reads_the_best():
    row = next(row for row in CONFIGS if row["name"] == "deepseek-ai--DeepSeek-V3.2")
    B, S, top, latent, rope = 2, 10_000, 2048, 512, 64
    found = part("attention", rl.model_from_config(row["config"]).decode(B, S))
    each = 128 * 2 * (2 * latent + rope) * top + 64 * 2 * 128 * S
    assert found.flops == 61 * B * each
    assert found.loaded == 61 * B * 2 * ((latent + rope) * top + 128 * S)
    # A file of GLM says in letters or in words which layers have an indexer of their own.
    glm = next(row["config"] for row in FAMILIES if row["config"]["model_type"] == "glm_moe_dsa")
    words = {"F": "full", "S": "shared"}
    ways = {"index_topk_pattern": "FSSFSS", "indexer_types": [words[each] for each in "FSSFSS"]}
    letters, spelled = (rl.model_from_config(glm | {key: way}) for key, way in ways.items())
    assert letters == spelled
    every = rl.model_from_config(glm | {"index_topk_freq": 1})
    assert letters.parameters < every.parameters


def test_a_query_of_llama_4_sees_its_own_chunk_alone():
    config = next(row["config"] for row in CONFIGS if row["name"].startswith("llama-4-scout"))
    model, chunk = rl.model_from_config(config), 8192
    # Of 48 layers, every fourth sees all. A position of all heads is 2 · 8 · 128 numbers.
    for S, seen in ((chunk, chunk), (chunk + 1, 1), (3 * chunk, chunk)):
        found = part("attention", model.decode(1, S))
        assert found.loaded == 2 * 2 * 8 * 128 * (36 * seen + 12 * S)
        assert found.flops == 4 * 40 * 128 * (36 * seen + 12 * S)
        assert found.held == 2 * 2 * 8 * 128 * (36 * min(S, chunk) + 12 * S)
    # In four chunks of 8,192 or of 10,000, and in one.
    S, pairs = 4 * chunk, 4 * chunk * (chunk + 1) // 2
    for each, near in ((chunk, S), (10_000, 10_000 + 20_000 + 30_000 + S - 6 * chunk), (S, S)):
        step = model.prefill(1, S, chunk=each)
        far = sum(min(end, S) for end in range(each, S + each, each))
        assert part("attention", step).loaded == 2 * 2 * 8 * 128 * (36 * near + 12 * far)
        assert part("attention", step).flops == 4 * 40 * 128 * (36 * pairs + 12 * S * (S + 1) // 2)


def test_a_model_has_the_width_of_its_last_mlp():
    config = next(row["config"] for row in CONFIGS if row["name"].startswith("NVIDIA-Nemotron"))
    model = rl.model_from_config(config)  # which ends with a layer of another kind
    assert (model.F, model.N, model.K, model.H) == (3712, 32, 2, 128)
    assert rl.model("Qwen3 30B-A3B").F == 768  # of an expert, where there is no other


def test_a_pooled_cache_has_a_window_and_an_entry_for_each_pool():
    config = next(row["config"] for row in FAMILIES if row["config"]["model_type"] == "deepseek_v4")
    config = config | {"num_hidden_layers": 3, "compress_ratios": [0, 4, 128]}
    B, S, H = 2, 1024, 16
    model = rl.model_from_config(config)
    found = part("attention", model.decode(B, S))
    # A position adds itself to three windows, a fourth of an entry and of a key, and a 128th.
    assert model.kv_bytes_per_token() == 2 * (3 * H + (H + 16) / 4 + H / 128)
    # All see a window of 8; the second also the best 4 of 256 pools, the third all 8.
    seen, indexed = 8 + (8 + 4) + (8 + 8), 256
    wanted = [B * 2 * (seen * H + indexed * 16), B * 2 * ((16 + 256 + 16) * H + indexed * 16)]
    wanted.append(B * (8 * 4 * H * seen + 4 * 2 * 16 * indexed))
    assert [found.loaded, found.held, found.flops] == wanted


NESTED = [
    row["config"]
    for row in CONFIGS
    if "num_attention_heads" in row["config"].get("text_config", {})
]


@pytest.mark.parametrize("config", NESTED, ids=lambda config: config["model_type"])
def test_a_file_says_beside_a_text_config_whether_its_tables_are_one(config):
    text, tie = config["text_config"], "tie_word_embeddings"
    silent = {key: each for key, each in text.items() if key != tie}
    for tied in (True, False):
        said = config | {"text_config": silent, "tie_word_embeddings": tied}
        assert rl.model_from_config(said).tied is tied


# Weights that fp8 stores in one byte instead of two: all matrices that transformers counts in the
# language model, but the routers.
ROUTERS = {"Qwen3.5-27B": 0, "Qwen3-VL-30B-A3B-Instruct": 48 * 2048 * 128}


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "beside"])
@pytest.mark.parametrize("name", ROUTERS)
def test_a_quantization_counts_inside_a_text_config_and_beside_it(name, inside):
    row = next(row for row in CONFIGS if row["name"] == name)
    how, config = {"quantization_config": {"quant_method": "fp8"}}, row["config"]
    changed = {"text_config": config["text_config"] | how} if inside else how
    plain, fp8 = (rl.model_from_config(each).decode(1, 1) for each in (config, config | changed))
    matrices = row["weights"]["matrices"] + row["weights"]["experts"] - ROUTERS[name]
    assert plain.held - fp8.held == pytest.approx(matrices, rel=1e-12)
