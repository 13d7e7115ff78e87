"""Language models of the catalog, and published measurements of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from rooflib.catalog import Source, look_up, read_catalog
from rooflib.checks import Number, Size, sizes
from rooflib.dtypes import Type, dtype
from rooflib.llm.config import model_from_config
from rooflib.llm.decoders import Model
from rooflib.quantities import quantity
from rooflib.work import Work


@dataclass(frozen=True)
class PublishedStep:
    """A published throughput of a model's decode steps, or time of a prefill."""

    model: str
    chip: str
    chips: int
    B: int  # sequences
    S: int  # positions of each, on average over the steps; tokens of a prompt
    x: str  # this type and the next two as for `Model.decode`
    w: str
    kv: str
    source: Source
    tokens_per_second: float = 0  # of all sequences and chips, over the whole run; 0 of a prefill
    first_token: float = 0  # seconds to the first token of B prompts; 0 of decode steps

    @property
    def seconds(self) -> float:
        """Average seconds per step, which generates B tokens; or those of the prefill."""
        return self.first_token or self.B / self.tokens_per_second

    @property
    def step(self) -> Work:
        """One chip's share of this decode step or prefill, as work."""
        count = model(self.model).prefill if self.first_token else model(self.model).decode
        return count(self.B, self.S, self.chips, w=self.w, kv=self.kv, x=self.x)


def model(name: str | Model) -> Model:
    """Look up a model by name, as `chip` does for chips."""
    return name if isinstance(name, Model) else look_up("model", name, models())


@cache
def models() -> tuple[Model, ...]:
    """Return all language models of the catalog, in catalog order."""
    found = []
    for entry in read_catalog("models.toml")["model"]:
        config = {key: entry[key] for key in entry if key not in ("name", "source")}
        found.append(replace(model_from_config(config, entry["name"]), source=entry["source"]))
    return tuple(found)


@cache
def published_steps(more: bool = False) -> tuple[PublishedStep, ...]:
    """Return published throughputs of dense decode steps, with their sources.

    With `more`, also those of mixtures of experts, and times to the first token.
    """
    steps = []
    for entry in read_catalog("published_steps.toml")["step"]:
        same = {"w": entry["x"], "kv": entry["x"], **entry}
        # Lists have a value for each of several steps.
        lists = {key: each for key, each in entry.items() if isinstance(each, list)}
        for values in zip(*lists.values(), strict=True) if lists else [()]:
            steps.append(PublishedStep(**same | dict(zip(lists, values, strict=True))))
    return tuple(
        step
        for step in steps
        if more or not (step.first_token or model(step.model).weights["experts"])
    )


def kv_bytes_per_token(layers: Size, K: Size, H: Size, kv: Type = "bf16") -> Number:
    """Return the bytes of KV cache per token, over all layers.

    >>> kv_bytes_per_token(layers=80, K=8, H=128, kv="int8")
    164 kB

    2 · layers · K · H elements: K heads of width H, for keys and for values. Sizes and errors are
    those of `attention`. Source: How To Scale Your Model, "All About Transformer Inference".
    """
    layers, K, H = sizes(layers=layers, K=K, H=H, whole=True)
    return quantity(2 * dtype(kv, "kv").bytes * (layers * K * H), "B")
