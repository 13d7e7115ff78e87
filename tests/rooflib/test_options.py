"""Every option of every public function changes what a person sees of the result."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from broken_configs import LLAMA

import rooflib as rl

V5E, DEEPSEEK = rl.chip("TPU v5e"), rl.model("DeepSeek-V3")
SPREAD = {"chips": 8, "B": 8, "S": 512}
SERVED = rl.Serving(DEEPSEEK, "H200 SXM", **SPREAD, price=1)
# What a step takes beside the arguments in its signature.
OF_STEPS = ("w", "kv", "x", "compute", "replicas", "expert_parallel", "experts", "latent")
# A function, its usual arguments, and options that its signature doesn't name.
CALLS: list[tuple[Callable[..., Any], list[Any], dict[str, Any], tuple[str, ...]]] = [
    (rl.dot, [8], {}, ()),
    (rl.elementwise, [8], {}, ()),
    (rl.rms_norm, [4, 8], {}, ()),
    (rl.matmul, [4, 8, 8], {}, ()),
    (rl.attention, [2, 4, 4, 4, 2, 8], {}, ()),
    (rl.split, ["D", 2, 4, 8, 8], {}, ("w", "compute")),
    (rl.all_reduce, [64, 4], {}, ()),
    (rl.work, [], {"flops": 1e9}, ()),
    (rl.critical_batch, [V5E, 4096, 4096], {"w": "int8"}, ("out", "compute")),
    (rl.critical_depth, [V5E, "ICI"], {}, ()),
    (rl.kv_bytes_per_token, [2, 2, 8], {}, ()),
    (rl.model_from_config, [LLAMA], {}, ()),
    (rl.chips, [], {}, ()),
    (rl.figures, [], {}, ()),
    (rl.published_steps, [], {}, ()),
    (V5E.ridge, [], {}, ()),
    (V5E.link, [], {}, ()),
    (V5E.attainable, [1e9], {}, ()),
    (DEEPSEEK.decode, [8, 64], {"chips": 2}, OF_STEPS),
    (DEEPSEEK.prefill, [8, 64], {"chips": 2}, OF_STEPS),
    (DEEPSEEK.train, [8, 64], {"chips": 2}, ()),
    (DEEPSEEK.active_parameters, [], {}, ()),
    (DEEPSEEK.kv_bytes_per_token, [], {}, ()),
    (rl.Serving, [DEEPSEEK, "H200 SXM"], SPREAD, ()),
    (SERVED.guessed, [2, 0.5], {}, ()),
    (SERVED.separate, [100], {}, ()),
]
# Another value of an option than the usual one.
OTHER = {
    "B": 16, "D": 8192, "F": 2048, "N": 4, "S": 1024, "T": 2, "cached": 32, "causal": False,
    "chips": 4, "chunk": 16, "compute": "int8", "draft": "Llama 3 8B", "experts": "fewest",
    "expert_parallel": True, "flops": 8, "flops_per_element": 2, "fused": False,
    "held": 8, "hidden": True, "hops": 2, "in_switch": True, "inputs": 2,
    "kv": "int8", "latent": "absorbed", "link": "PCIe", "loaded": 8, "logits": "all", "more": True,
    "name": "ICI", "other": "B200", "out": "fp32", "over": "ICI", "price": 2, "recompute": True,
    "replicas": 2, "reserve": 0.2, "result": "sharded", "sent": 8,
    "softmax": False, "split": "B", "stages": 2, "tables": False,
    "type": "int8", "w": "int4", "written": 8, "x": "int8",
}  # fmt: skip
OF_CALL = {
    ("decode", "latent"): "expanded",
    ("link", "name"): "DCN",
    ("decode", "x"): "bf16",
    ("prefill", "x"): "bf16",
    ("Serving", "x"): "bf16",
}


def seen(found: Any) -> Any:
    """Return what a person sees of a result that holds the options, too."""
    if isinstance(found, rl.Times):
        return str(found.parts)
    if isinstance(found, rl.Serving):
        return [str(found.table), seen(found.per_token), seen(found.first_token)]
    return str(found) if isinstance(found, rl.Table) else found


@pytest.mark.parametrize(
    ("call", "usual", "how", "more"), CALLS, ids=[call.__name__ for call, *_ in CALLS]
)
def test_every_option_of_a_function_changes_its_result(call, usual, how, more):
    signature = inspect.signature(call)
    required = [each.name for each in signature.parameters.values() if each.default is each.empty]
    named = signature.bind_partial(*usual).arguments
    options = (set(signature.parameters) - set(required) - {"options"}) | set(more)
    before = seen(call(**(named | how)))
    for name in sorted(options):
        other = OF_CALL.get((call.__name__, name), OTHER[name])
        assert seen(call(**(named | how | {name: other}))) != before, name


# Labels and flags take any value. Some arguments are called by what they are.
ANY = {"config", "hidden", "in_switch", "more", "name", "options", "types"}
CALLED = {"compute": "(compute|rate)", "draft": "model", "other": "chip", "over": "rate"}


@pytest.mark.parametrize(
    ("call", "usual", "how", "more"), CALLS, ids=[call.__name__ for call, *_ in CALLS]
)
def test_a_wrong_value_is_told_with_the_name_of_its_argument(call, usual, how, more):
    signature = inspect.signature(call)
    named = signature.bind_partial(*usual).arguments | how
    for name in {*signature.parameters, *more} - ANY:
        for wrong in ("no such", -1):
            told = rf"^{CALLED.get(name, name)} must be .*; got {wrong!r}"
            with pytest.raises((TypeError, ValueError), match=told):
                call(**(named | {name: wrong}))
