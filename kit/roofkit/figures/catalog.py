"""What rooflib knows of chips, data types and models, as tables for the figures' script."""

from __future__ import annotations

from typing import Any

from roofkit.figures.model_rows import row
from rooflib.catalog import chips
from rooflib.dtypes import DTYPES, DType, common_type
from rooflib.hardware import HBM, Chip, Link
from rooflib.llm import models


def catalog() -> dict[str, Any]:
    """Return the tables: chips, bytes of data types, their common types, models.

    `chips` are those that the course's tables show, `more` the others.
    """
    return {
        "chips": [chip_row(chip) for chip in chips()],
        "more": [chip_row(chip) for chip in chips(hidden=True) if not chip.shown],
        "bytes": {name: kind.bytes for name, kind in DTYPES.items()},
        "common": {
            x: {w: common(one, other) for w, other in DTYPES.items()} for x, one in DTYPES.items()
        },
        "models": {model.name: row(model) for model in models()},
    }


def chip_row(chip: Chip) -> dict[str, Any]:
    """Return a chip's rates in SI units; `link`, `peers` and `reduces` are its first link's."""
    links = [link_row(link) for link in chip.links]
    first = links[0] if links else {"link": 0, "peers": 1, "reduces": False}
    return {
        **{name: first[name] for name in ("link", "peers", "reduces")},
        "name": chip.name,
        "maker": chip.maker,
        "peaks": {name: float(rate) for name, rate in chip.rates.items() if name != HBM},
        "peak": float(chip.rates.get("bf16", 0)),
        "bandwidth": float(chip[HBM]),
        "memory": float(chip.memory),
        "links": links,
        "memories": {name: float(size) for name, size in chip.on_chip.items()},
    }


def link_row(link: Link) -> dict[str, Any]:
    """Return a link: bytes/s of one of its lanes, to one peer and in all, one way.

    `peers` is to how many others a chip of a group sends at once.
    """
    lanes = link.links_per_axis * link.axes
    return {
        "name": link.name,
        "topology": link.topology,
        "lane": float(link.bandwidth),
        "lanes": lanes,
        "link": float(link.to_one_peer),
        "total": float(link.total),
        "peers": lanes if link.topology == "mesh" else 1,
        "reduces": link.reduces,
    }


def common(x: DType, w: DType) -> str:
    """Return the type in which two types are multiplied, or "" if they have none in common."""
    try:
        return common_type(x, w).name
    except ValueError:
        return ""
