"""The measured device: its description, and its data sheet in the catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rooflib.catalogue import chips
from rooflib.hardware import Chip


@dataclass(frozen=True)
class Device:
    """A measured accelerator, or a CPU in its place.

    Nothing here identifies its owner.

    Attributes
    ----------
    name
        The name it reports ("NVIDIA H200").
    kind
        "cuda", "tpu" or "cpu".
    memory, cache
        Bytes of its memory, and of its second-level cache (0 if unknown).
    capability
        CUDA compute capability ("9.0"); empty for other devices.
    driver
        Driver version, if known.
    limits
        Maximum "clock" and "memory clock" in Hz and "power" in W, where known.
    """

    name: str
    kind: str
    memory: float
    cache: float = 0.0
    capability: str = ""
    driver: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)


def data_sheet(name: str) -> Chip | None:
    """Return the catalog chip that a device name refers to, or None.

    A chip matches if the device's name contains every word of the chip's name: "NVIDIA H200"
    matches "H200 SXM". Drivers leave out form factors such as "SXM", so those words are not
    required; but PCIe and NVL versions have different figures and match nothing.
    """
    words = set(_words(name))
    if words & {"pcie", "nvl"}:  # The catalog has only the SXM versions.
        return None
    named = [chip for chip in chips() if set(_words(chip.name)) - _FORM_FACTORS <= words]
    return named[0] if len(named) == 1 else None


_FORM_FACTORS = {"sxm", "tpu"}


def _words(name: str) -> list[str]:
    # "A100-SXM4-80GB" and "A100 80GB SXM" give the same words.
    return [re.sub(r"^sxm\d$", "sxm", word) for word in re.findall(r"[a-z0-9]+", name.lower())]
