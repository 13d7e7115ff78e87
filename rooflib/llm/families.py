"""Keys of config files: what a family calls them, and what they are if a file leaves them out.

`families.toml` has an entry for each family, from its class in `transformers` 5.24.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rooflib.catalog import read_toml
from rooflib.checks import one_of, short
from rooflib.llm.parts import Values
from rooflib.llm.quantization import MAX_SIZE, be, whole_number

FAMILIES = read_toml("llm/families.toml")
"""The architectures that can be read, by `model_type`, and the keys that shape their layers."""
PARTS = ("rows", "names", "sizes", "fixed", "lists", "every")
ROWS, NAMES, SIZES, FIXED, LISTS, EVERY = (FAMILIES.pop(part) for part in PARTS)
FAMILIES |= {name: {"like": other} for name, other in FAMILIES.pop("same").items()}
PER_LAYER = (*LISTS, *SIZES["per_layer"])
MAX_LAYERS = 10_000
# What speaks of parts that an architecture may not have.
SPEAKS = re.compile("expert|moe_|mamba|ssm_|linear_|lora_rank|index_|compress_rat")
KINDS: dict[type, str] = {bool: "true or false", str: "a string", list: "a list"}


def values(given: Mapping[str, Any], family: str, nested: bool) -> Values:
    """Return all that shapes the layers: of the file, of its family's defaults and traits.

    A family's own sizes may be left out only if the file is a part (`nested`) of another.
    """
    defaults = _entry(family)
    traits, names, unused = (defaults.pop(part) for part in ("layer", "names", "unused"))
    # Under which keys a file may have each: as its family calls it, or others do.
    keys = {own: (names.get(own, own), *NAMES.get(own, ())) for own in defaults}
    at = {
        own: next((key for key in known if given.get(key) is not None), known[0])
        for own, known in keys.items()
    }
    kinds: Any = given.get(at["layer_types"])
    of_kinds = at["layer_types"] != "compress_ratios"
    is_counted = isinstance(kinds, list) and given.get("num_hidden_layers") is None
    if of_kinds and (is_counted or isinstance(kinds, str)):  # letters say how many, whatever else
        given = {**given, "num_hidden_layers": len(kinds)}
    c: dict[str, Any] = {}
    for own, default in defaults.items():
        key, value = at[own], given.get(at[own])
        if value is None or (value == "auto" and own == "linear_value_head_dim"):
            null, usual = any(name in given for name in keys[own]), own in ROWS["usual"]
            routed = own in ("num_experts", "decoder_sparse_step")
            if default and ((usual and not nested) or (null and (usual or routed))):
                raise ValueError(f"{key} must be given for {family}; got none")
            c[own] = 0 if null and own in SIZES["may_be_none"] else default
        else:
            c[own] = _checked(own, key, value, default)
    for key, only in FIXED.items():
        if given.get(key) not in (None, only, "vision"):  # images alone see in both directions
            raise ValueError(f"{key} must be {json.dumps(only)}; got {short(given[key])}")
    used = set(unused).union(SIZES["unused"], *keys.values())
    for key, value in given.items():
        # Texts, flags and fractions tell how to train or compute, not what there is.
        sizes = type(value) is int or isinstance(value, (list, Mapping))
        if value and sizes and key not in used and SPEAKS.search(key):
            known = f"{key} must be left out for {family}, which has none"
            raise ValueError(f"{known}; got {short(value)}")
    # What the family fixes, or one of its keys says: from here on both are asked alike.
    c |= {trait: c.get(each, each) for trait, each in traits.items()}
    may_be = {c["mixer"], c["other"], *c["also"].split(), True, False}
    for own in (own for own in PER_LAYER if isinstance(c.get(own), (list, str)) and c[own]):
        key, layers = at[own], c["num_hidden_layers"]
        # DeepSeek's goes on with layers that predict further tokens.
        listed = c[own][:layers] if key == "compress_ratios" else c[own]
        if len(listed) != layers:
            raise ValueError(f"{key} must be {layers} long, one for each layer; got {len(listed)}")
        if meanings := LISTS.get(key, LISTS.get(own)):
            words = [word for word, meaning in meanings.items() if meaning in may_be]
            c[own] = [meanings[one_of(key, str(each), words)] for each in listed]
    return c


def _checked(own: str, key: str, value: Any, default: Any) -> Any:
    """Return the value of a key that a family calls `own`; raise ValueError if it is invalid."""
    kind = str if key in SIZES["letters"] else type(default)
    if kind in KINDS:
        return be(key, value, kind, KINDS[kind])
    if own == "pattern" and isinstance(value, str):
        return len(value)  # such as LLLG
    most = MAX_LAYERS if key == "num_hidden_layers" else MAX_SIZE
    # A default of -1 stands for the last layer.
    least = min(default, int(default != 0 and own not in SIZES["may_be_none"]))
    if own in SIZES["per_layer"] and isinstance(value, list) and value:
        return [whole_number(key, each, least, most) for each in value]
    return whole_number(key, value, least, most)


def _entry(family: str) -> dict[str, Any]:
    """Return the entry of a family, with what it has from a family that it is like."""
    own = dict(FAMILIES[family])
    base = _entry(own.pop("like")) if "like" in own else dict.fromkeys(ROWS["usual"]) | EVERY
    for row, keys in ROWS.items():
        own = dict(zip(keys, own.pop(row, ()), strict=False)) | own
    return {**base, **own, **{part: base[part] | own.get(part, {}) for part in ("layer", "names")}}


def each_layer(c: Values) -> Iterator[Values]:
    """Yield for each layer what shapes it: of a list, its own value; and of which kind it is."""
    freq, skipped = c.get("index_topk_freq", 1), c.get("index_skip_topk_offset", 2)
    for i in range(c["num_hidden_layers"]):
        own = {key: each for key, each in c.items() if each != []}
        own |= {key: own[key][i] for key in PER_LAYER if isinstance(own.get(key), list)}
        own["kind"] = kind = _kind(own, i)
        own["routed"] = kind == "moe" or (kind != "mlp" and _has_experts(own, i))
        # Layers may read keys and values, or positions picked by an indexer, of an earlier one.
        own["shares"] = i >= c["num_hidden_layers"] - c.get("num_kv_shared_layers", 0)
        own["picks"] = own.get("indexer_types", max(i - skipped + 1, 0) % freq == 0)
        yield own


def _kind(c: Values, i: int) -> str:
    """Return what the layer with index `i` is, as values of `lists.layer_types` call it."""
    kind = str(c.get("layer_types") or c["mixer" if RULES[c["where"]](c, i) else "other"])
    if kind in ("window", "chunked"):
        last = c["last_full"] and i == c["num_hidden_layers"] - 1
        on = c["window"] and c.get("use_sliding_window", True) and not last
        kind = kind if on else "full"
    return "indexed" if kind == "full" and c["mixer"] == "indexed" else kind


def _last_of(step: int, i: int) -> bool:
    """Return whether layer `i` is the last of a group of `step` layers; there is none of 0."""
    return step > 0 and (i + 1) % step == 0


# What `where` of a family says of layer `i`: whether it is a `mixer`.
RULES: dict[str, Callable[[Values, int], Any]] = {
    "always": lambda c, i: True,
    "but each": lambda c, i: c["pattern"] > 0 and not _last_of(c["pattern"], i),
    "but two and every other": lambda c, i: i > 1 and i % 2 > 0,
    "from": lambda c, i: i >= c["max_window_layers"],
    "before, every other": lambda c, i: i < c["max_window_layers"] and i % 2 == 0,
    "not rotary": lambda c, i: c.get("no_rope_layers", _last_of(4, i)),
}


def _has_experts(c: Values, i: int) -> bool:
    """Return whether a layer that also mixes positions has routed experts."""
    if "mlp_layer_types" in c:
        return bool(c["mlp_layer_types"])
    if not c.get("num_experts") or not c.get("enable_moe_block", True):
        return False
    if c.get("moe_layers"):
        return i in c["moe_layers"]
    first, last = c.get("first_k_dense_replace", 0), c.get("moe_layer_end_index", -1)
    between = first <= i and (i <= last or last < 0) and i not in c.get("mlp_only_layers", ())
    return between and _last_of(c.get("decoder_sparse_step", 1), i)
