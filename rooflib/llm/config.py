"""Models from the `config.json` of a checkpoint, as Hugging Face publishes them.

Nothing in a file is executed, and nothing is downloaded. What a family's layers consist of, and
what a key is that a file leaves out, comes from the family's class in `transformers` 5.24.0:
`families.toml` has an entry for each.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rooflib.checks import instance, short
from rooflib.llm.decoders import Model
from rooflib.llm.families import FAMILIES, each_layer, values
from rooflib.llm.parts import added, beside_layers, of_layer
from rooflib.llm.quantization import be, stored_types
from rooflib.llm.towers import towers

MAX_BYTES = 2**23
OUTER = ("dtype", "torch_dtype", "tie_word_embeddings")


def model_from_config(
    config: str | os.PathLike[str] | Mapping[str, Any], name: str | None = None
) -> Model:
    """Read a model from a Hugging Face `config.json`, by path or as a mapping.

    >>> llama = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096}
    >>> llama |= {"intermediate_size": 11008, "num_attention_heads": 32, "vocab_size": 32000}
    >>> model_from_config(llama).parameters
    6738415616

    A multimodal model's `text_config` is the model; its other parts are its `towers`. Layers that
    predict further tokens are not counted. `quantization_config` (or MLX's `quantization`, or
    ModelOpt's `hf_quant_config.json` beside the file) says in which types weights and cache are
    stored, and in which the arithmetic is; else `dtype` does, else it is bf16.

    `name` is a label, by default what the file calls itself. Raises a ValueError that names the key
    for an architecture that is not supported, a missing key, a size that can't be, a quantization
    that is not known, or a key that speaks of experts, Mamba or linear attention and that the
    architecture doesn't have; an OSError for a file that can't be read.
    """
    whole, beside = (config, None) if isinstance(config, Mapping) else _read(config)
    given = whole
    if nested := "text_config" in whole:  # the language model, with what is said beside it
        inner = be("text_config", whole["text_config"], Mapping, "an object")
        outer = {key: whole[key] for key in OUTER if whole.get(key) is not None}
        given = {"model_type": f"{whole.get('model_type')}_text", **inner, **outer}
    family = given.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        # Without a hint: a file that is read as of another family is counted wrong.
        raise ValueError(f"model_type must be one of {', '.join(FAMILIES)}; got {short(family)}")
    if not re.fullmatch(r"[\w./' :,\[\]{}-]+", str(code := whole.get("auto_map"))):  # only checked
        raise ValueError(f"auto_map must map to names of classes; got {short(code)}")
    c = values(given, family, nested)
    stored = stored_types({**whole, **given}, beside, c)
    layers = enumerate(added(of_layer(own)) for own in each_layer(c))
    alike = Counter(stored.layer(layer, str(i)) for i, layer in layers)
    kinds = tuple(replace(kind, count=count) for kind, count in alike.items())
    sizes = [(kind.F or kind.X, kind.N, kind.K, kind.H) for kind in reversed(kinds)]
    F, N, K, H = (next(filter(None, each), 1) for each in zip(*sizes, strict=True))
    own = be("name", given.get("_name_or_path") or family, str, "a string")
    found = Model(
        own if name is None else instance("name", name, str, "a string"),
        *(c["num_hidden_layers"], c["hidden_size"], F, N, K, H, c["vocab_size"]),
        kinds=kinds,
        outer=stored.layer(added(beside_layers(c))),
        tied=c["tie_word_embeddings"],
        w=stored.plain,
        kv=stored.kv,
        towers=towers(whole),
    )
    if any(form for *_, form in stored.rules) and len(found.formats) == 1:
        wanted = "name the model's matrices as its targets or layers, and not leave out all"
        raise ValueError(f"quantization_config must {wanted}; it quantizes nothing")
    return found


def _read(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Return the content of a config file, and of the `hf_quant_config.json` beside it, or None."""
    instance("config", path, (str, os.PathLike), "a path or a mapping")
    beside = Path(path).parent / "hf_quant_config.json"
    return _json(Path(path)), _json(beside) if beside.is_file() else None


def _json(path: Path) -> Any:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} must have at most {MAX_BYTES:,} bytes; it has more")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path} must be JSON; it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} must be JSON in UTF-8: {error}") from None
    return be(f"content of {path}", found, Mapping, "a JSON object")
