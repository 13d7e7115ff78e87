"""Tests of “a mixture of experts” against rooflib's counts of real models.

The exercise leaves out what rooflib counts besides: norms and biases, rows of the embedding, the
arithmetic of attention, and all that a step writes.
"""

from typing import Any

import pytest
from oracles import DTYPES, norms_of
from solutions import part_of, reference

import rooflib as rl

NAME = "mixture-of-experts"
H100 = rl.chip("H100 SXM")
CHIP = {"peak": H100.peak(), "bandwidth": H100.bandwidth}


def config_of(model: rl.Model) -> dict[str, Any]:
    """Return the exercise's config of a model with one kind of layer.

    All its layers have experts.
    """
    (kind,) = model.every_kind
    return {
        "num_hidden_layers": model.layers,
        "hidden_size": model.D,
        "num_attention_heads": kind.N,
        "num_key_value_heads": kind.K,
        "head_dim": kind.H,
        "moe_intermediate_size": kind.X,
        "n_routed_experts": kind.experts,
        "num_experts_per_tok": kind.active,
        "n_shared_experts": kind.F // kind.X,
        "vocab_size": model.vocabulary,
        "tie_word_embeddings": model.tied,
    }


MIXTURES = [
    model
    for model in rl.models()
    if len(model.every_kind) == 1
    and model.every_kind[0].experts
    and not model.every_kind[0].kv_rank
]
each_mixture = pytest.mark.parametrize("model", MIXTURES, ids=lambda model: model.name)


def test_mixtral_8x7b_and_qwen3_30b_a3b_are_among_the_tested_models() -> None:
    assert {"Mixtral 8x7B", "Qwen3 30B-A3B"} <= {model.name for model in MIXTURES}


@each_mixture
def test_parameter_counts_are_those_of_the_catalog_without_norms(model: rl.Model) -> None:
    whole, token = reference(NAME)["parameters"](config_of(model))
    assert whole + norms_of(model) == model.parameters
    tables = 0 if model.tied else model.vocabulary * model.D
    assert token + norms_of(model) + tables == model.active_parameters()


@each_mixture
@pytest.mark.parametrize("kv_bytes", [0.5, 1, 2])
def test_the_cache_per_position_matches_the_catalog(model: rl.Model, kv_bytes: float) -> None:
    found = reference(NAME)["cache_per_position"](config_of(model), kv_bytes)
    assert found == model.kv_bytes_per_token(DTYPES[kv_bytes])


@each_mixture
@pytest.mark.parametrize("B", [1, 16, 200])
def test_step_times_match_rooflib_up_to_small_terms(model: rl.Model, B: int) -> None:
    sizes = {"config": config_of(model), "B": B, "S": 1024, "width": 2, "kv_bytes": 2}
    bound = rl.bound(model.decode(B, 1024), H100)
    assert bound.binding == "HBM"
    assert reference(NAME)["step_time"](**sizes, **CHIP) == pytest.approx(bound.lower, rel=0.005)


@each_mixture
def test_rooflib_finds_experts_compute_bound_from_the_critical_batch_on(model: rl.Model) -> None:
    batch = reference(NAME)["critical_batch"](config_of(model), 2, **CHIP)

    def binding(B: int) -> str | None:
        (experts,) = (part for part in model.decode(B, 1).parts if part.name == "experts")
        return rl.bound(experts, H100).binding

    assert (binding(int(0.99 * batch)), binding(int(1.01 * batch))) == ("HBM", "compute")


@each_mixture
def test_gains_of_changes_match_rooflib(model: rl.Model) -> None:
    served = rl.Serving(model, H100, B=16, S=8192)
    wanted = {
        name: one.tokens_per_second / served.tokens_per_second for name, one in served.changes
    }
    changes = {
        "weights in int8": {"width": 1},
        "cache in fp8": {"kv_bytes": 1},
        "twice the batch": {"B": 32},
    }
    now = {"config": config_of(model), "B": 16, "S": 8192, "width": 2, "kv_bytes": 2}
    found = reference(NAME)["gains"](**now, **CHIP, changes=changes)
    assert found == pytest.approx({name: wanted[name] for name in changes}, rel=0.01)


def test_the_notebook_defines_the_model_configs_of_the_checks() -> None:
    known = [case["config"] for case in part_of(NAME, "parameters").cases]
    assert reference(NAME)["configs"] == known
    for key in ("cache", "step", "critical-batch", "gains"):
        assert all(case["config"] in known for case in part_of(NAME, key).cases)


def test_rooflib_can_read_the_configs_of_the_notebook() -> None:
    for config in reference(NAME)["configs"]:
        assert rl.model_from_config(config).layers == config["num_hidden_layers"]


def test_each_changed_argument_gains_most_in_some_published_case() -> None:
    best = dict.fromkeys(("B", "width", "kv_bytes", "peak", "bandwidth"), 0)
    for case in part_of(NAME, "gains").cases:
        gains = reference(NAME)["gains"](**case)
        (argument,) = case["changes"][max(gains, key=gains.get)]
        best[argument] += 1
    assert all(best.values()), best


def test_one_chip_fits_less_than_a_twentieth_of_the_critical_batch() -> None:
    book = reference(NAME)
    whole, _ = book["parameters"](book["alder"])
    position = book["cache_per_position"](book["alder"], 2)
    sequences = (80e9 - 2 * whole) // (4096 * position)
    batch = book["critical_batch"](book["alder"], 2, book["peak"], book["bandwidth"])
    assert 20 < batch / sequences < 25
