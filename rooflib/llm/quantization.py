"""How a checkpoint stores its weights: `quantization_config` and its relatives.

A file's quantization is a list of rules, each a pattern of names and a format, of which the first
that fits a matrix counts. Scales count as part of each weight where a group or a block shares one;
one scale for a whole matrix or column is neglected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias

from rooflib.checks import instance, one_of, short
from rooflib.dtypes import DType, Type
from rooflib.llm.layers import Format, Layer

KEYS = ("quantization_config", "compression_config", "quantization", "expert_dtype")
SPEAKS = re.compile("quant|compress.*config|^bits$|expert_dtype")
# Under which keys formats list the modules that they leave out.
LEFT_OUT: tuple[str, ...] = ("modules_to_not_convert", "ignore", "ignored_layers")
LEFT_OUT += ("exclude_modules", "exclude", "llm_int8_skip_modules")
# Keys by which a method is told whose name a file doesn't say.
TOLD_BY = {"quant_algo": "modelopt", "load_in_4bit": "bitsandbytes", "load_in_8bit": "bitsandbytes"}
TOLD_BY |= {"config_groups": "compressed-tensors", "group_size": "mlx"}
MAX_SIZE = 10**7
PLAIN = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
# Other names of modules, and expressions for those of `Layer.matrices`. A router must not be taken
# for a gate_proj.
SYNONYMS = {
    r"feed_forward|block_sparse_moe|\bmoe\b|\bffn\b": "mlp",
    r"switch_mlp": r"experts\..*",
    r"shared_expert\b|shared_mlp": "shared_experts",
    r"\brouter\b": "gate(?!_)",
    r"\bmamba\b": "linear_attn",
    r"\bmixer\b": "(self_attn|linear_attn|mlp)",
    r"\battn\b": "(self_attn|linear_attn)",
    r"^head$": "lm_head",
    r"\bw1\b": "gate_proj",
    r"\bw3\b": "up_proj",
    r"\bw2\b|\boutput_linear\b": "down_proj",
    r"gate_up_proj|\bup_gate_proj\b|\binput_linear\b": "(gate|up)_proj",
    r"in_proj_[ab]\b": "in_proj_ba",
    r"in_proj_qkvz": "in_proj_(qkv|z)",
    r"\bqkv_proj": "[qkv]_proj",
}
# What a name of a module has in it, of a matrix counted here or of something else.
WORDS = re.compile(
    r"attn|attention|mixer|mlp|moe|experts|_proj|\blayers\b|norm|embed|lm_head|output\b|vis|image|audio"
    r"|projector|merger|connector|resampler|tower|patch|mtp|shared_head|bias|rotary|conv1d|A_log|\bD\W*$"
    r"|gate\b|router|hc_|compressor|indexer|score"
)
# Routers and an indexer's weights choose; formats leave them as they are, unless they name them.
CHOOSES = re.compile(r"^mlp\.gate$|^more$|weights_proj$")

Rules: TypeAlias = "tuple[tuple[str, Format | None], ...]"
"""Pairs of a pattern, as `_compiled` says, and a format; None for what is left as it is."""

be = partial(instance, error=ValueError)
"""Returns a value of a file, if it is of a kind; else raises a ValueError."""


@dataclass(frozen=True)
class Stored:
    """How a file stores its model.

    `plain` is the type of what is not quantized, `kv` that of the cache (None: that of
    activations); `rules` say which matrices are quantized, and how: an expression, the index of the
    only layer that it names, and a format.
    """

    plain: str = "bf16"
    kv: Type | None = None
    rules: tuple[tuple[re.Pattern[str], str, Format | None], ...] = ()

    def layer(self, layer: Layer, index: str = "") -> Layer:
        """Return the layer with the formats of its matrices; "" is what stands beside all."""
        # A file may name each expert of each layer: tens of thousands of rules.
        rules = [(names, form) for names, only, form in self.rules if only in ("", index)]
        beginning = f"layers.{index}." if index else ""

        def form(name: str) -> Format | None:
            full = beginning + name.replace("*", "0")
            for names, form in rules:
                if names.match(full) or names.match(f"model.{full}"):
                    return form if names.pattern or not CHOOSES.search(name) else None
            return None

        stored = (matrix._replace(of=form(matrix.name)) for matrix in layer.matrices)
        return replace(layer, matrices=tuple(stored))


def stored_types(both: Mapping[str, Any], beside: Any, c: Mapping[str, Any]) -> Stored:
    """Return how a file stores its model.

    `both` are the file's keys and those of its part for the language model, `beside` is the content
    of a `hf_quant_config.json`, and `c` are the model's sizes.
    """
    type_of = both.get("dtype") or both.get("torch_dtype") or "bfloat16"
    plain = PLAIN[one_of("dtype", str(type_of).removeprefix("torch."), PLAIN)]
    for key, value in both.items():
        if value and key not in KEYS and SPEAKS.search(key):
            raise ValueError(f"{key} must be one of {', '.join(KEYS)}; got {short(value)}")
    how = next((both[key] for key in KEYS if both.get(key)), beside)
    if how is None:
        return Stored(plain)
    how = dict(be("quantization_config", how, Mapping, "an object"))
    how |= be("quantization", how.pop("quantization", {}), Mapping, "an object")
    how.setdefault("expert_dtype", both.get("expert_dtype"))
    if how.get("quant_method") == "fp8" and how.get("moe_quant_algo"):
        # ModelOpt wrote the experts anew, and left all else in fp8.
        how |= {"expert_dtype": how["moe_quant_algo"], "ignore": None, "exclude_modules": None}
    named = how.get("quant_method") or next((TOLD_BY[key] for key in TOLD_BY if key in how), "")
    method = one_of("quant_method", str(named), METHODS)
    left = _left_out(how, c) + ["embed_tokens"] * (method != "mlx")  # which alone quantizes it
    try:
        rules = (*((pattern, None) for pattern in left), *METHODS[method](how))
        compiled = tuple((*_compiled(pattern), form) for pattern, form in rules)
        kv = _cache(how) or _cache((beside or {}).get("quantization", {}))
    except (AttributeError, IndexError, KeyError, TypeError):
        # Formats nest objects: one check, instead of one of each key, keeps a trace from users.
        wanted = f"as {method} writes it"
        raise ValueError(f"quantization_config must be {wanted}; got {short(how)}") from None
    return Stored(plain, kv, compiled)


def _left_out(how: Mapping[str, Any], c: Mapping[str, Any]) -> list[str]:
    """Return the patterns of modules that are left as they are, if all of them are understood."""
    lists = {key: be(key, how.get(key) or [], list, "a list") for key in LEFT_OUT}
    patterns = [be(key, each, str, "a list of names") for key in lists for each in lists[key]]
    for pattern in patterns:
        if not WORDS.search(_compiled(pattern)[0].pattern):
            raise ValueError(f"modules_to_not_convert must name modules; got {short(pattern)}")
    joined = "\n".join(_compiled(pattern)[0].pattern for pattern in patterns)
    named = set(re.findall(r"experts\\?\.(\d+)", joined))
    experts = c.get("num_experts", 0)
    if len(named) not in {0, *(experts if isinstance(experts, list) else [experts])}:
        wanted = "name modules, of experts all or none"
        raise ValueError(f"modules_to_not_convert must {wanted}; got {len(named)} experts")
    return patterns


# Formats, and readers of each method, which return its rules.

FP8 = Format(DType("fp8", 8), "fp8")
FP8_BLOCKS = Format(DType("fp8", 8 + 32 / 128**2), "fp8")
NVFP4 = Format(DType("fp4", 4 + 8 / 16), "fp4")
MXFP4 = Format(DType("fp4", 4 + 8 / 32))
INT8 = Format(DType("int8", 8), "int8")
INT4 = Format(DType("int4", 4 + 16 / 128))
ALGORITHMS = {
    "FP8": FP8, "FP8_PER_CHANNEL_PER_TOKEN": FP8,
    "FP8_PB_WO": Format(FP8_BLOCKS.w), "FP8_PB_REAL": FP8_BLOCKS,
    "NVFP4": NVFP4, "NVFP4_AWQ": NVFP4,
    "W4A16_NVFP4": Format(NVFP4.w), "W4A8_NVFP4_FP8": Format(NVFP4.w, "fp8"),
    "W4A8_MXFP4_FP8": Format(MXFP4.w, "fp8"),
    "MXFP8": Format(DType("fp8", 8 + 8 / 32), "fp8"),
    "W8A16": Format(INT8.w), "W8A8_SQ_PER_CHANNEL": INT8, "INT8_SQ": INT8,
    "W4A16": Format(DType("int4", 4)), "W4A16_AWQ": INT4, "W4A8_AWQ": Format(INT4.w, "fp8"),
}  # fmt: skip


def _type(name: str, group: Any = None, scale: int = 16, bits: int = 0) -> DType:
    bits = bits or int(name.lstrip("fpint"))
    grouped = group and group != -1
    return DType(name, bits + scale / whole_number("group_size", group) if grouped else bits)


def _block(sides: Any) -> DType:
    found = re.fullmatch(r"\[?(\d+)(?:x|, )(\d+)\]?", str(sides))  # [128, 128] or "128x128"
    if not found:
        raise ValueError(f"weight_block_size must be a list of two sizes; got {short(sides)}")
    return _type("fp8", whole_number("weight_block_size", int(found[1]) * int(found[2])), 32)


def _matrices(form: Format) -> Rules:
    return (("lm_head", None), ("", form))


def _fp8(how: Mapping[str, Any]) -> Rules:
    sides = how.get("weight_block_size")
    form = FP8 if sides is None else Format(_block(sides), "fp8")
    experts = {"fp4": MXFP4._replace(x="fp8"), "fp8": form, **ALGORITHMS}
    of_experts = experts[one_of("expert_dtype", how.get("expert_dtype") or "fp8", experts)]
    return (("experts", of_experts), *_matrices(form))


def _awq(how: Mapping[str, Any]) -> Rules:
    if how.get("dynamic") or how.get("extra_config"):
        raise ValueError("quantization must be one for all matrices; got rules for some of them")
    for key, usual in (("data_type", "int"), ("act_bits", 16)):  # auto-round's
        if how.get(key) not in (None, usual):
            raise ValueError(f"{key} must be {usual}; got {short(how[key])}")
    bits = _bits(how.get("bits", how.get("w_bit")))
    group = how.get("group_size", how.get("q_group_size", 128))
    # Each group has a scale in fp16 and a zero point. With group_size -1 a group is a column.
    form = Format(_type(f"int{bits}", group, 16 + bits))
    named = how.get("modules_in_block_to_quantize") or [""]
    names = (name for each in named for name in ([each] if isinstance(each, str) else each))
    rules = ((name, form) for name in names)
    return (("lm_head", form if how.get("lm_head") is True else None), *rules)


def _mlx(how: Mapping[str, Any]) -> Rules:
    def form(of: Mapping[str, Any]) -> Format:
        bits = whole_number("bits", of.get("bits"))
        # A group has a scale and a bias in 16 bits; microscaling has 8 bits of scale.
        scale = {"affine": 32, "mxfp4": 8, "nvfp4": 8, "mxfp8": 8}
        kind = one_of("mode", of.get("mode", "affine"), scale)
        name = ("int" if kind == "affine" else "fp") + ("8" if bits > 4 else "4")
        group = whole_number("group_size", of.get("group_size"))
        return Format(_type(name, group, scale[kind], bits))

    skipped = ((key, None) for key, value in how.items() if value is False)
    own = ((key, form({**how, **of})) for key, of in how.items() if isinstance(of, Mapping))
    return (*skipped, *own, ("", form(how)))


def _bitsandbytes(how: Mapping[str, Any]) -> Rules:
    # Blocks of 64 have a scale in fp32; quantized twice, one in 8 bits and one in fp32 for 256.
    scale, group = (8 * 256 + 32, 64 * 256) if how.get("bnb_4bit_use_double_quant") else (32, 64)
    if how.get("load_in_4bit"):
        return _matrices(Format(_type("fp4", group, scale)))
    if how.get("load_in_8bit"):
        return _matrices(Format(INT8.w))
    raise ValueError("load_in_4bit or load_in_8bit must be true for bitsandbytes")


def _modelopt(how: Mapping[str, Any]) -> Rules:
    def form(of: Mapping[str, Any]) -> Format:
        found = ALGORITHMS[one_of("quant_algo", of.get("quant_algo"), ALGORITHMS)]
        own = _type("int4", of.get("group_size", 128))
        return found._replace(w=own) if found.w == INT4.w else found

    if how.get("quant_algo") == "MIXED_PRECISION":
        if "quantized_layers" not in how:
            return _compressed_tensors(how)
        return tuple((name, form(of)) for name, of in how["quantized_layers"].items())
    # Without an algorithm, only the cache is quantized.
    return (("", form(how)),) if how.get("quant_algo") else ()


def _compressed_tensors(how: Mapping[str, Any]) -> Rules:
    one_of("sparsity_config", (how.get("sparsity_config") or {}).get("format", "dense"), ("dense",))
    return tuple(
        ("" if name == "Linear" else name, _form(of["weights"], of.get("input_activations")))
        for of in how["config_groups"].values()
        for name in of.get("targets") or ["Linear"]
    )


def _quark(how: Mapping[str, Any]) -> Rules:
    each = {**(how.get("layer_quant_config") or {}), "": how["global_quant_config"]}
    return tuple((name, _form(of["weight"], of.get("input_tensors"))) for name, of in each.items())


def _form(weights: Any, inputs: Any) -> Format:
    return Format(_scheme(weights), _scheme(inputs).name if inputs else None)


def _scheme(how: Any) -> DType:
    """Return the type that a scheme of compressed-tensors or quark describes."""
    if isinstance(how, list):  # quark's stages, of which the last is stored
        how = how[-1]
    if "dtype" in how:  # quark
        kinds = ("fp8", "fp4", "int8", "uint8", "int4", "uint4")
        name = one_of("dtype", str(how["dtype"]).split("_")[0], kinds).removeprefix("u")
        grouped = how.get("qscheme") == "per_group"
        scale = 8 if "e8m0" in str(how.get("scale_format")) else 16
    else:
        bits, kind = _bits(how.get("num_bits")), one_of("type", how.get("type"), ("int", "float"))
        name = {"int": "int", "float": "fp"}[kind] + str(bits)
        strategy = how.get("strategy") or ("group" if how.get("group_size") else "tensor")
        if strategy == "block" and kind == "float":
            return _block(how.get("block_structure"))
        grouped = strategy not in ("tensor", "channel", "token", "block")
        # NVFP4 has a scale in fp8 for 16, MXFP4 an exponent for 32.
        scale = 8 if kind == "float" else 16 + bits * (how.get("symmetric") is False)
    return _type(name, how.get("group_size") if grouped else None, scale)


def _cache(how: Mapping[str, Any]) -> Type | None:
    """Return the type of the cache that a file names; None for that of activations."""
    for of in (how.get("kv_cache_quant_config") or {}).values():  # quark's
        return _scheme(of["output_tensors"]).name
    named = how.get("kv_cache_quant_algo") or how.get("kv_cache_scheme")
    if isinstance(named, Mapping):
        return _scheme(named).name
    known: dict[Any, Type | None] = {"FP8": "fp8", "INT8": "int8", "NVFP4": NVFP4.w}
    known |= {None: None, "None": None, "auto": None}
    if named not in known:
        raise ValueError(f"kv_cache_scheme must be one of FP8, INT8, NVFP4; got {short(named)}")
    return known[named]


METHODS = {
    "fp8": _fp8,
    "fbgemm_fp8": _fp8,
    "compressed-tensors": _compressed_tensors,
    **dict.fromkeys(("modelopt", "modelopt_fp4", "modelopt_mixed"), _modelopt),
    "bitsandbytes": _bitsandbytes,
    "quark": _quark,
    **dict.fromkeys(("awq", "gptq", "auto-round"), _awq),
    "mxfp4": lambda how: (("experts", MXFP4),),
    "mlx": _mlx,
}


@cache
def _compiled(pattern: str) -> tuple[re.Pattern[str], str]:
    """Return the expression that names of `Layer.matrices` must match, and which layer it is of.

    Patterns are names of a module or of one that it is a part of, with "*" for anything, or regular
    expressions after "re:", of a beginning of a name; "" fits all. The layer is "" if there may be
    more than one.
    """
    text = pattern.removesuffix(".weight").removeprefix("re:")
    written = not pattern or pattern.startswith("re:")
    found = text if written else ".*".join(map(re.escape, text.split("*")))
    prefixes = r"^(\^?(model|language_model|text_model|backbone|transformer)\\?\.)+"
    found = re.sub(prefixes, "", found)
    for other, own in SYNONYMS.items():
        found = re.sub(other, own.replace("\\", r"\\"), found)
    only = re.match(r"layers\\\.(\d+)(\\\.|$)", found)
    try:
        expression = re.compile(found if written else rf"(.*\.)?{found}(\..*)?$")
    except re.error as error:
        got = f"{short(pattern)}: {error}"
        raise ValueError(f"quantization_config must name modules; got {got}") from None
    return expression, only[1] if only else ""


def _bits(value: Any) -> int:
    if (bits := whole_number("bits", value)) not in (4, 8):
        raise ValueError(f"bits must be 4 or 8; got {bits}")
    return bits


def whole_number(key: str, value: Any, least: int = 1, most: int = MAX_SIZE) -> int:
    """Return a value of a file, if it is a whole number in this range; else raise a ValueError."""
    if type(value) is not int or not least <= value <= most:
        wanted = f"a whole number from {least} to {most:,}"
        raise ValueError(f"{key} must be {wanted}; got {short(value)}")
    return value
