"""How a checkpoint stores its weights: `quantization_config` and its relatives.

Scales count as part of each weight where a group or a block shares one; one scale for a whole
matrix or column is neglected. What is left out of quantization is read by the names of modules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rooflib.checks import Number, one_of, short
from rooflib.dtypes import DType, Type
from rooflib.llm.layers import Format, Layer

PLAIN = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
# Modules of checkpoints that aren't matrices of the layers counted here.
OTHERS = re.compile(
    r"norm|embed|lm_head|output$|vis|image|audio|projector|merger|patch|mtp|eh_proj|shared_head|bias"
    r"|rotary|conv1d|A_log|dt_proj|\bD$|gate$|gate\*?$|gate\.|router|hc_|compressor|indexer|score"
)
# Other names of modules, and those of `Layer.modules`.
SYNONYMS = {
    r"feed_forward|block_sparse_moe|\bmoe\b|\bffn\b": "mlp",
    r"shared_expert\b|shared_mlp": "shared_experts",
    r"\brouter\b": "gate",
    r"\bmamba\b": "linear_attn",
    r"\bw1\b|gate_up_proj|\bup_gate_proj\b": "gate_proj",
    r"\bw3\b|\binput_linear\b": "up_proj",
    r"\bw2\b|\boutput_linear\b": "down_proj",
    r"in_proj_[ab]\b": "in_proj_ba",
    r"in_proj_qkvz": "in_proj_qkv",
    r"qkv_proj": "q_proj",
}


FP8 = Format(DType("fp8", 8), "fp8")
NVFP4 = Format(DType("fp4", 4, scale_bits=8, group=16), "fp4")
MXFP4 = Format(DType("fp4", 4, scale_bits=8, group=32))
ALL = ("",)  # every matrix


@dataclass(frozen=True)
class Stored:
    """How a file stores its model.

    Attributes
    ----------
    plain, kv
        The type of what is not quantized, and of the cache (None: that of activations).
    groups
        Pairs of patterns of names and the format of the matrices that they name. The first counts.
    skipped
        Patterns of names of matrices that are not quantized.
    outputs
        Tables that may be quantized: "logits", the output matrix, and "embedding".
    """

    plain: str = "bf16"
    kv: Type | None = None
    groups: tuple[tuple[tuple[str, ...], Format], ...] = ()
    skipped: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def format_of(self, name: str) -> Format:
        """Return the format of the matrix with this name."""
        if not any(_fits(each, name) for each in self.skipped):
            for patterns, found in self.groups:
                if any(not each or _fits(each, name) for each in patterns):
                    return found
        return Format(self.plain)

    def layer(self, layer: Layer, D: int, index: int) -> Layer:
        """Return the layer with the formats of its matrices."""
        weights: dict[str, dict[Format, Number]] = {}
        for row, name, size in layer.modules(D) if self.groups else ():
            # Routers and an indexer's weights choose; formats leave them as they are.
            chooses = row == "router" or name == "more" or name.endswith("weights_proj")
            found = Format(self.plain) if chooses else self.format_of(f"layers.{index}.{name}")
            sizes = weights.setdefault(row, {})
            sizes[found] = sizes.get(found, 0) + size
        stored = {
            row: tuple((each, size / sum(found.values())) for each, size in found.items())
            for row, found in weights.items()
            if set(found) != {Format(self.plain)}
        }
        return replace(layer, stored=stored) if stored else layer

    @property
    def tables(self) -> dict[str, Format]:
        """Formats of tables that are quantized, by name."""
        names = {"logits": "lm_head", "embedding": "embed_tokens"}
        found = {table: self.format_of(names[table]) for table in self.outputs}
        return {table: each for table, each in found.items() if each != Format(self.plain)}

    def check(self, layers: int) -> None:
        """Raise a ValueError for a skipped module that is neither a matrix here nor known."""
        for pattern in (*self.skipped, *(each for names, _ in self.groups for each in names)):
            if pattern.startswith("re:"):
                try:
                    re.compile(pattern.removeprefix("re:"))
                except re.error as error:
                    raise ValueError(f"{short(pattern)} must be an expression: {error}") from None
        for pattern in self.skipped:
            name = _canonical(pattern)
            beyond = re.match(r"layers\.(\d+)\b", name)
            if beyond and int(beyond[1]) >= layers:
                continue  # a layer that predicts further tokens
            if re.search(r"experts\.\d+\b", name) or not (
                MATRICES.search(name) or OTHERS.search(name)
            ):
                raise ValueError(f"modules_to_not_convert must name modules; got {short(pattern)}")


def stored_types(
    given: Mapping[str, Any], model: Mapping[str, Any], beside: Mapping[str, Any] | None
) -> Stored:
    """Return how a file stores its model.

    `given` is the file, `model` its part for the language model, and `beside` the content of a
    `hf_quant_config.json`. A key that speaks of quantization and is not known raises a ValueError.
    """
    type_of = model.get("dtype") or model.get("torch_dtype") or "bfloat16"
    plain = PLAIN[one_of("dtype", str(type_of).removeprefix("torch."), PLAIN)]
    both = {**given, **model}
    for key, value in both.items():
        if (
            value
            and re.search("quant|compress.*config|^bits$|expert_dtype", key)
            and key not in KEYS
        ):
            raise ValueError(f"{key} must be one of {', '.join(KEYS)}; got {short(value)}")
    how = next((both[key] for key in KEYS if both.get(key)), beside)
    if how is None:
        return Stored(plain)
    how = dict(_be("quantization_config", how, Mapping, "an object"))
    how |= _be("quantization", how.pop("quantization", {}), Mapping, "an object")
    how.setdefault("expert_dtype", both.get("expert_dtype"))
    method = one_of("quant_method", _method(how), METHODS)
    try:
        found = METHODS[method](how)
    except (AttributeError, IndexError, KeyError, TypeError):
        # Formats nest objects: one check, instead of one of each key, keeps a trace from users.
        wanted = f"as {method} writes it"
        raise ValueError(f"quantization_config must be {wanted}; got {short(how)}") from None
    skipped = tuple(
        _be(key, each, str, "a list of names")
        for key in (
            "modules_to_not_convert",
            "ignore",
            "ignored_layers",
            "exclude_modules",
            "exclude",
            "llm_int8_skip_modules",
        )
        for each in _be(key, how.get(key) or [], list, "a list")
    )
    found = replace(found, plain=plain, skipped=found.skipped + skipped)
    if both.get("tie_word_embeddings") and found.outputs == ("logits",):
        found = replace(found, outputs=())
    found.check(int(model.get("num_hidden_layers") or MANY))
    return found


def _method(how: Mapping[str, Any]) -> str:
    """Return the method that a file names, or that its keys belong to."""
    if method := how.get("quant_method"):
        return str(method)
    if "quant_algo" in how:
        return "modelopt"
    if how.get("load_in_4bit") or how.get("load_in_8bit"):
        return "bitsandbytes"
    if "config_groups" in how:
        return "compressed-tensors"
    return "mlx" if {"bits", "group_size"} <= set(how) else ""


def _fp8(how: Mapping[str, Any]) -> Stored:
    sides = how.get("weight_block_size")
    form = FP8 if sides is None else Format(_block(sides), "fp8")
    experts = {"fp4": MXFP4._replace(x="fp8"), "fp8": form}
    of_experts = experts[one_of("expert_dtype", how.get("expert_dtype") or "fp8", experts)]
    return Stored(groups=((("mlp.experts",), of_experts), (ALL, form)))


def _block(sides: Any) -> DType:
    if len(_be("weight_block_size", sides, list, "a list of two sizes")) != 2:
        raise ValueError(f"weight_block_size must be a list of two sizes; got {short(sides)}")
    down, across = (_whole("weight_block_size", side) for side in sides)
    return DType("fp8", 8, scale_bits=32, group=down * across)


def _awq(how: Mapping[str, Any]) -> Stored:
    if how.get("dynamic") or how.get("extra_config"):
        raise ValueError("quantization must be one for all matrices; got rules for some of them")
    bits = _bits(how.get("bits", how.get("w_bit")))
    # Each group has a scale in fp16 and a zero point. With group_size -1 a group is a column.
    group = how.get("group_size", how.get("q_group_size", 128))
    stored = DType(f"int{bits}", bits)
    if group != -1:
        stored = DType(f"int{bits}", bits, scale_bits=16 + bits, group=_whole("group_size", group))
    outputs = ("logits",) if how.get("lm_head") is True else ()
    return Stored(groups=((ALL, Format(stored)),), outputs=outputs)


def _mlx(how: Mapping[str, Any]) -> Stored:
    def form(of: Mapping[str, Any]) -> Format:
        bits, group = _whole("bits", of.get("bits")), _whole("group_size", of.get("group_size"))
        scale = {"affine": 32, "mxfp4": 8, "nvfp4": 8, "mxfp8": 8}
        kind = one_of("mode", of.get("mode", "affine"), scale)
        # A group has a scale and a bias in 16 bits; microscaling has 8 bits of scale.
        name = "int" if kind == "affine" else "fp"
        named = f"{name}{8 if bits > 4 else 4}"
        return Format(DType(named, bits, scale_bits=scale[kind], group=group))

    own = {key: value for key, value in how.items() if isinstance(value, Mapping)}
    groups = (*(((key,), form({**how, **value})) for key, value in own.items()), (ALL, form(how)))
    skipped = tuple(key for key, value in how.items() if value is False)
    return Stored(groups=groups, skipped=skipped, outputs=("logits", "embedding"))


def _bitsandbytes(how: Mapping[str, Any]) -> Stored:
    if not (how.get("load_in_4bit") or how.get("load_in_8bit")):
        raise ValueError("load_in_4bit or load_in_8bit must be true for bitsandbytes")
    if not how.get("load_in_4bit"):
        return Stored(groups=((ALL, Format(DType("int8", 8))),))
    # Blocks of 64 have a scale in fp32; quantized twice, one in 8 bits and one in fp32 for 256.
    scale, group = (8 * 256 + 32, 64 * 256) if how.get("bnb_4bit_use_double_quant") else (32, 64)
    return Stored(groups=((ALL, Format(DType("fp4", 4, scale_bits=scale, group=group))),))


def _modelopt(how: Mapping[str, Any]) -> Stored:
    algorithm = how.get("quant_algo")
    if algorithm == "MIXED_PRECISION" and isinstance(
        layers := how.get("quantized_layers"), Mapping
    ):
        groups = tuple(((name,), _algorithm(of)) for name, of in layers.items())
    else:  # without an algorithm, only the cache is quantized
        groups = ((ALL, _algorithm(how)),) if algorithm else ()
    named = how.get("kv_cache_quant_algo") or how.get("kv_cache_scheme")
    return Stored(groups=groups, kv=_cache(named), outputs=("logits",))


def _algorithm(how: Mapping[str, Any]) -> Format:
    found = ALGORITHMS[one_of("quant_algo", how.get("quant_algo"), ALGORITHMS)]
    if "AWQ" in how["quant_algo"] and isinstance(found.w, DType) and found.w.name == "int4":
        found = Format(
            replace(found.w, group=_whole("group_size", how.get("group_size", 128))), found.x
        )
    return found


def _compressed_tensors(how: Mapping[str, Any]) -> Stored:
    groups = []
    for each in _be("config_groups", how.get("config_groups"), Mapping, "an object").values():
        weights, x = each["weights"], each.get("input_activations")
        targets = each.get("targets") or ["Linear"]
        names = tuple("" if target == "Linear" else target for target in targets)
        groups.append((names, Format(_scheme(weights), _scheme(x).name if x else None)))
    sparse = (how.get("sparsity_config") or {}).get("format", "dense")
    one_of("sparsity_config", sparse, ("dense",))
    return Stored(groups=tuple(groups), kv=_cache(how.get("kv_cache_scheme")), outputs=("logits",))


def _scheme(how: Mapping[str, Any]) -> DType:
    """Return the type that a scheme of compressed-tensors describes."""
    _be("weights and input_activations", how, Mapping, "objects")
    bits, kind = _bits(how.get("num_bits")), one_of("type", how.get("type"), ("int", "float"))
    name = {"int": "int", "float": "fp"}[kind] + str(bits)
    strategy, group = how.get("strategy") or "tensor", how.get("group_size")
    if strategy == "block":
        return _block(how.get("block_structure")) if kind == "float" else DType(name, bits)
    if strategy in ("tensor", "channel", "token") or not group or group == -1:
        return DType(name, bits)
    scale = 16 + bits * (how.get("symmetric") is False)
    if kind == "float":  # NVFP4 has a scale in fp8 for 16, MXFP4 an exponent for 32
        scale = 8
    return DType(name, bits, scale_bits=scale, group=_whole("group_size", group))


def _quark(how: Mapping[str, Any]) -> Stored:
    own = how.get("layer_quant_config") or {}
    groups = tuple(((name,), _quark_format(of)) for name, of in own.items())
    every = _be("global_quant_config", how.get("global_quant_config"), Mapping, "an object")
    kv = how.get("kv_cache_quant_config") or {}
    cache = next((_quark_type(of["output_tensors"]).name for of in kv.values()), None)
    form = _quark_format(every)
    return Stored(groups=(*groups, (ALL, form)), kv=cache, outputs=("logits",))


def _quark_format(how: Mapping[str, Any]) -> Format:
    x = how.get("input_tensors")
    return Format(_quark_type(how["weight"]), _quark_type(x).name if x else None)


def _quark_type(how: Any) -> DType:
    if isinstance(how, list):  # stages, of which the last is stored
        how = how[-1]
    kinds = {
        "fp8": "fp8",
        "fp4": "fp4",
        "int8": "int8",
        "uint8": "int8",
        "int4": "int4",
        "uint4": "int4",
    }
    name = kinds[one_of("dtype", str(how.get("dtype")).split("_")[0], kinds)]
    bits, group = int(name[-1]), how.get("group_size")
    if how.get("qscheme") != "per_group" or not group:
        return DType(name, bits)
    scale = 8 if "e8m0" in str(how.get("scale_format")) else 16
    return DType(name, bits, scale_bits=scale, group=_whole("group_size", group))


def _cache(how: Any) -> str | None:
    """Return the type of the cache that a file names; None for that of activations."""
    if isinstance(how, Mapping):
        return _scheme(how).name
    known = {None: None, "None": None, "auto": None, "FP8": "fp8", "NVFP4": "fp4", "INT8": "int8"}
    if how not in known:
        raise ValueError(f"kv_cache_scheme must be one of FP8, INT8, NVFP4; got {short(how)}")
    return known[how]


ALGORITHMS = {
    "FP8": FP8,
    "FP8_PER_CHANNEL_PER_TOKEN": FP8,
    "FP8_PB_WO": Format(DType("fp8", 8, scale_bits=32, group=128 * 128)),
    "FP8_PB_REAL": Format(DType("fp8", 8, scale_bits=32, group=128 * 128), "fp8"),
    "NVFP4": NVFP4,
    "NVFP4_AWQ": NVFP4,
    "W4A16_NVFP4": Format(NVFP4.w),
    "W4A8_NVFP4_FP8": Format(NVFP4.w, "fp8"),
    "W4A8_MXFP4_FP8": Format(MXFP4.w, "fp8"),
    "MXFP8": Format(DType("fp8", 8, scale_bits=8, group=32), "fp8"),
    "W8A16": Format(DType("int8", 8)),
    "W8A8_SQ_PER_CHANNEL": Format(DType("int8", 8), "int8"),
    "INT8_SQ": Format(DType("int8", 8), "int8"),
    "W4A16": Format(DType("int4", 4)),
    "W4A16_AWQ": Format(DType("int4", 4, scale_bits=16, group=128)),
    "W4A8_AWQ": Format(DType("int4", 4, scale_bits=16, group=128), "fp8"),
}
METHODS = {
    "fp8": _fp8,
    "fbgemm_fp8": lambda how: Stored(groups=((ALL, FP8),)),
    "compressed-tensors": _compressed_tensors,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "bitsandbytes": _bitsandbytes,
    "quark": _quark,
    "awq": _awq,
    "gptq": _awq,
    "auto-round": _awq,
    "mxfp4": lambda how: Stored(groups=((("mlp.experts",), MXFP4),)),
    "mlx": _mlx,
}
KEYS = ("quantization_config", "compression_config", "quantization", "expert_dtype")
MANY = 10**6
MATRICES = re.compile(
    r"self_attn|linear_attn|mixer|mlp|experts|[qkvo]_proj|_proj|attn|attention|^layers\.[\w*]+$"
)


def _canonical(pattern: str) -> str:
    """Return a pattern of names with the names of `Layer.modules`."""
    name = pattern.removesuffix(".weight")
    prefix = "re:" if name.startswith("re:") else ""
    name = re.sub(
        r"^(\^?(model|language_model|text_model|backbone|transformer)\\?\.)+",
        "",
        name[len(prefix) :],
    )
    for other, own in SYNONYMS.items():
        name = re.sub(other, own, name)
    return prefix + name


@cache
def _fits(pattern: str, name: str) -> bool:
    """Return whether a pattern names a module, or one that it is a part of.

    Patterns are names, with "*" for anything, or regular expressions after "re:".
    """
    found = _canonical(pattern)
    name = name.replace("*", "0")
    if found.startswith("re:"):
        return any(re.match(found[3:], f"{start}{name}") for start in ("", "model."))
    parts = ".*".join(map(re.escape, found.split("*")))
    return re.fullmatch(rf"(.*\.)?{parts}(\..*)?", name) is not None


def _bits(value: Any) -> int:
    if (bits := _whole("bits", value)) not in (4, 8):
        raise ValueError(f"bits must be 4 or 8; got {bits}")
    return bits


def _whole(key: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MANY:
        raise ValueError(f"{key} must be a whole number from 1 to {MANY:,}; got {short(value)}")
    return value


def _be(key: str, value: Any, kind: Any, what: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{key} must be {what}; got {short(value)}")
    return value
