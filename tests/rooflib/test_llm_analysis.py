"""Tests against llm-analysis 0.2.2, on the models that both know.

The numbers were printed on 2026-11-24 by LLMAnalysis with its model configs
NousResearch_Llama-2-7b-hf and decapoda-research_llama-13b-hf, whose shapes are those of Llama 2:
total parameters, FLOPs of a forward and a backward pass of one sequence of 2,048 tokens, and bytes
of its cache.

It differs by more than 2% in two points. It gives every MLP two matrices of width 4D, also those of
Llama, which have three of width F; and it counts one table where Llama has two. In attention it
multiplies all pairs, with the masked ones.
"""

from __future__ import annotations

import pytest

import rooflib as rl

S = 2048
PRINTED = {
    "Llama 2 7B": (6_573_789_184, 29_124_173_234_176, 58_248_346_468_352, 1_073_741_824),
    "Llama 2 13B": (12_747_166_720, 55_646_670_028_800, 111_293_340_057_600, 1_677_721_600),
}


@pytest.mark.parametrize(("name", "printed"), PRINTED.items())
def test_only_explained_differences_from_llm_analysis_remain(name, printed):
    model = rl.model(name)
    parameters, forward, backward, cache = printed
    layers, D, F = model.layers, model.D, model.F
    mlp, table = layers * (2 * D * 4 * D - 3 * D * F), model.vocabulary * D
    assert parameters == model.parameters + mlp - table
    masked = layers * 4 * D * (S * S - S * (S + 1) // 2)
    assert forward == model.prefill(1, S, logits="all").flops + 2 * S * mlp + masked
    assert backward == 2 * forward
    assert cache == model.kv_bytes_per_token() * S
    assert cache == rl.model(name).prefill(1, S).written - 2 * model.vocabulary
