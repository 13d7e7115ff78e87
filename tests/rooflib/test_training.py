"""Tests of training steps: memory, activations, and traffic of full sharding."""

from __future__ import annotations

import numpy as np
import pytest

import rooflib as rl

LATENT = rl.Layer(1, N=4, K=4, H=6, V=5, F=8, q_rank=7, kv_rank=11, rope=2)
ROUTED = rl.Layer(2, N=4, K=2, H=6, F=3, experts=6, active=2, X=8, gains=32)
MODEL = rl.Model("tiny", 3, 16, 8, 4, 2, 6, 32, kinds=(LATENT, ROUTED))


def kept_tensors(layer, D):
    """Yield the widths of the tensors kept per token for a layer's backward pass."""
    yield from [D, D]  # residual stream and its norm, before attention
    yield from [layer.N * layer.H, layer.K * layer.H, layer.K * layer.value, layer.N * layer.value]
    yield from [layer.q_rank, layer.kv_rank + layer.rope]
    yield from [D, D]  # residual stream and its norm, before the MLP
    yield layer.experts  # the router's scores
    for width in [layer.F] + [layer.X] * layer.active:
        yield from [width] * 3  # gate and up projections, and their product


def parts(op):
    return {part.name: part for part in op.parts}


@pytest.mark.parametrize("chips", [1, 4])
def test_training_memory_is_weights_gradients_state_and_activations(chips):
    B, S, D = 3, 5, 16
    found, P = parts(MODEL.train(B, S, chips, gradients="fp32")), MODEL.parameters
    largest = max(layer.parameters(D) for layer in MODEL.kinds)
    assert found["forward"].held == 2 * P / chips + (2 * largest if chips > 1 else 0)
    assert found["backward"].held == 4 * P / chips
    assert found["update"].held == 12 * P / chips
    layers = sum(layer.count * sum(kept_tensors(layer, D)) for layer in MODEL.kinds)
    assert found["activations"].held == 2 * B * S * (layers + 32)


@pytest.mark.parametrize("recompute", [False, True])
def test_each_part_of_a_training_step_loads_and_writes_its_arrays(recompute):
    chips, P = 4, MODEL.parameters
    found = parts(MODEL.train(3, 5, chips, recompute=recompute, gradients="fp32"))
    weights, gradients, state = 2 * P, 4 * P, 12 * P / chips
    activations = found["activations"].held
    expected = {
        "forward": (weights, 0),
        "backward": (weights, gradients),
        "activations": (activations, activations),
        "update": (state + gradients / chips, state + weights / chips),
        "collectives": (0, 0),
    } | ({"recomputation": (weights, 0)} if recompute else {})
    assert {name: (part.loaded, part.written) for name, part in found.items()} == expected


def test_a_training_step_computes_in_the_type_of_its_activations():
    assert MODEL.train(1, 8, x="fp8").compute.name == "fp8"
    assert MODEL.train(1, 8, x="fp32").compute.name == "fp32"


def test_recomputation_keeps_fewer_activations_and_runs_layers_twice():
    whole, again = MODEL.train(3, 5, 4), MODEL.train(3, 5, 4, recompute=True)
    most = max(sum(kept_tensors(layer, 16)) for layer in MODEL.kinds)
    assert parts(again)["activations"].held == 2 * 3 * 5 * (3 * 16 + most + 32)
    assert again.held < whole.held
    logits = 2 * 3 * 5 * 16 * 32
    assert again.flops - whole.flops == parts(whole)["forward"].flops - logits
    assert again.sent == whole.sent


def test_chips_gather_weights_twice_and_scatter_gradients_once():
    P = MODEL.parameters
    op = MODEL.train(1, 8, 8, gradients="fp32")
    assert op.sent == {"link": (2 * 2 * P + 4 * P) * 7 / 8}
    assert op.hops == {"link": 3 * 3 * 7}
    assert MODEL.train(1, 8).sent == {}


def test_the_parts_of_a_training_step_add_up():
    op = rl.model("DeepSeek-V3").train(np.array([1, 2]), 4096, 64, recompute=True)
    for count in ("flops", "loaded", "written", "held"):
        assert np.array_equal(sum(getattr(part, count) for part in op.parts), getattr(op, count))
    assert np.array_equal(op.parts[0].flops, np.array([1, 2]) * op.parts[0].flops[0])


@pytest.mark.parametrize("name", ["Llama 2 7B", "Llama 3 70B", "Llama 3.1 405B"])
def test_short_sequences_take_six_flops_per_weight_and_token(name):
    model = rl.model(name)
    weights = model.parameters - model.vocabulary * model.D
    assert model.train(1, 64).flops == pytest.approx(6 * weights * 64, rel=2e-3)


@pytest.mark.parametrize("link", ["NVLink", "DCN"])
@pytest.mark.parametrize("option", [{}, {"recompute": True}, {"x": "fp8"}, {"gradients": "fp32"}])
def test_compute_time_first_reaches_the_link_time_at_the_critical_batch(link, option):
    model, layout = rl.model("Llama 3 8B"), {"S": 2048, "chips": 64} | option
    first = rl.critical_training_batch(model, "H100 SXM", link, **layout)

    def times(B):
        return rl.bound(model.train(B, **layout), "H100 SXM", link).times

    assert times(first)["compute"] >= times(first)[link]
    if first > 1:
        assert times(first - 1)["compute"] < times(first - 1)[link]
    assert first > 1 or (link, option) == ("NVLink", {"recompute": True})


def test_wrong_arguments_of_train_are_named_in_the_error():
    with pytest.raises(ValueError, match="B must be above zero and finite; got 0"):
        MODEL.train(0, 8)
    with pytest.raises(TypeError, match="recompute must be True or False; got 'yes'"):
        MODEL.train(1, 8, recompute="yes")
    with pytest.raises(ValueError, match="gradients must be one of"):
        MODEL.train(1, 8, gradients="bf61")
    with pytest.raises(ValueError, match="state must be zero or above"):
        MODEL.train(1, 8, state=-1)
