"""The device that computes: what a run says about it, and which data sheet is its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rooflib.catalogue import chips
from rooflib.hardware import Chip


@dataclass(frozen=True)
class Device:
    """An accelerator, or a processor that stands in for one; nothing that names an owner.

    Attributes
    ----------
    name
        What it calls itself ("NVIDIA H200").
    kind
        "cuda", "tpu" or "cpu".
    memory, cache
        Bytes of its memory, and of its second-level cache, 0 where nothing tells.
    capability
        Of a CUDA device, the version of its instructions ("9.0").
    driver
        Version of the driver, where it is told.
    limits
        Largest "clock" and "memory clock" in Hz and "power" in W, where they are told.
    """

    name: str
    kind: str
    memory: float
    cache: float = 0.0
    capability: str = ""
    driver: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)


def data_sheet(name: str) -> Chip | None:
    """The chip of the catalogue that a device's name means; None where none or several do.

    A chip is meant if the words of its name that tell it from its siblings are in the device's:
    "NVIDIA H200" is the "H200 SXM". Its maker leaves out how it is mounted, so that is no such
    word, except where the device's name says another way.
    """
    words = set(_words(name))
    if words & {"pcie", "nvl"}:  # Other figures, of which the catalogue has none.
        return None
    named = [chip for chip in chips() if set(_words(chip.name)) - _MOUNTED <= words]
    return named[0] if len(named) == 1 else None


_MOUNTED = {"sxm", "tpu"}


def _words(name: str) -> list[str]:
    # "A100-SXM4-80GB" and "A100 80GB SXM" are one.
    return [re.sub(r"^sxm\d$", "sxm", word) for word in re.findall(r"[a-z0-9]+", name.lower())]
