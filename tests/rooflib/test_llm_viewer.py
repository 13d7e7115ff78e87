"""Tests against LLM-Viewer, commit 472f71f; every difference is explained.

Printed on 2026-11-24 by its ModelAnalyzer with configs/Llama.py and nvidia_A100_80G, for 4
sequences of 2,048 positions in 16 bits with fused attention. Weights, and FLOPs of projections and
MLPs, are equal. What differs, by operation:

- attention: it adds 5 FLOPs for each score of the softmax, and in a prefill it counts masked pairs.
- logits: it counts one FLOP for a multiplication with its addition, and in a prefill only the last
  position, as `logits="last"`.
- cache read in a decode step: it multiplies by the heads of queries. With grouped heads that is N/K
  times as many bytes, 8 times in Llama 2 70B.
- cache read in a prefill: its kernel reads the cache once for each block of queries, 16 times here.
- it also counts norms, activations and additions, less than 0.2% of the FLOPs.
"""

from __future__ import annotations

import pytest

import rooflib as rl

B, S = 4, 2048

# prefill, decode: FLOPs of a layer's projections, MLP and attention, and of the logits.
# weights: bytes of all weights. read, written: bytes of the cache in a prefill and a decode step.
PRINTED = {
    "Llama 2 7B": {
        "prefill": (4 * 274_877_906_944, 3 * 738_734_374_912, 277_562_261_504, 524_288_000),
        "decode": (4 * 134_217_728, 3 * 360_710_144, 135_528_448, 524_288_000),
        "weights": 13_214_154_752,
        "read": (68_719_476_736, 4_294_967_296),
        "written": (4_294_967_296, 2_097_152),
    },
    "Llama 2 70B": {
        "prefill": (
            2 * 1_099_511_627_776 + 2 * 137_438_953_472,
            3 * 3_848_290_697_216,
            555_124_523_008,
            1_048_576_000,
        ),
        "decode": (
            2 * 536_870_912 + 2 * 67_108_864,
            3 * 1_879_048_192,
            271_056_896,
            1_048_576_000,
        ),
        "weights": 137_426_370_560,
        "read": (343_597_383_680, 21_474_836_480),
        "written": (2_684_354_560, 1_310_720),
    },
    "Llama 3 8B": {
        "prefill": (
            2 * 274_877_906_944 + 2 * 68_719_476_736,
            3 * 962_072_674_304,
            277_562_261_504,
            2_101_346_304,
        ),
        "decode": (2 * 134_217_728 + 2 * 33_554_432, 3 * 469_762_048, 135_528_448, 2_101_346_304),
        "weights": 15_009_316_864,
        "read": (68_719_476_736, 4_294_967_296),
        "written": (1_073_741_824, 524_288),
    },
}


@pytest.mark.parametrize(("name", "printed"), PRINTED.items())
def test_only_explained_differences_from_llm_viewer_remain(name, printed):
    model = rl.model(name)
    steps = {"prefill": model.prefill(B, S), "decode": model.decode(B, S)}
    found = {step: {part.name: part for part in op.parts} for step, op in steps.items()}
    for step, parts in found.items():
        projections, mlp, attention, logits = printed[step]
        assert parts["projections"].flops == model.layers * projections
        assert parts["MLP"].flops == model.layers * mlp
        assert parts["logits"].flops == 2 * logits
        pairs = B * model.N * (S * S if step == "prefill" else S)
        visible = B * model.N * (S * (S + 1) // 2 if step == "prefill" else S)
        assert attention == (4 * model.H + 5) * pairs
        assert parts["attention"].flops == model.layers * 4 * model.H * visible
    weights = [found["decode"][row].held for row in ("projections", "MLP", "logits")]
    assert sum(weights) == printed["weights"]
    groups, blocks = model.N // model.K, 16
    assert printed["read"][1] == groups * found["decode"]["attention"].loaded
    assert printed["read"][0] == groups * blocks * found["prefill"]["attention"].loaded
    assert printed["written"][1] == found["decode"]["projections"].written
    assert printed["written"][0] == found["prefill"]["projections"].written
