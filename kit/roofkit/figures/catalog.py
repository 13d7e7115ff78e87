"""What rooflib knows of chips, data types and models, as tables for the figures' script."""

from __future__ import annotations

from typing import Any

from roofkit.figures.model_rows import row
from rooflib.catalog import chips
from rooflib.dtypes import DTYPES, DType, common_type
from rooflib.hardware import HBM, Chip, Link
from rooflib.llm import models


def catalog() -> dict[str, Any]:
    """Return the tables: chips, bytes and bits of data types, their common types, models."""
    return {
        "all": [chip_row(chip) for chip in chips(hidden=True)],
        "bytes": {name: kind.bytes for name, kind in DTYPES.items()},
        "bits": {name: kind.bits for name, kind in DTYPES.items()},
        "common": {
            x: {w: common(one, other) for w, other in DTYPES.items()} for x, one in DTYPES.items()
        },
        "models": {model.name: row(model) for model in models()},
    }


def chip_row(chip: Chip) -> dict[str, Any]:
    """Return a chip's rates in SI units; `shown` is whether the course's tables have it."""
    return {
        "name": chip.name,
        "maker": chip.maker,
        "shown": chip.shown,
        "peaks": {name: float(rate) for name, rate in chip.rates.items() if name != HBM},
        "bandwidth": float(chip[HBM]),
        "capacity": float(chip.memory),
        "links": [link_row(link) for link in chip.links],
        "memories": {name: float(size) for name, size in chip.on_chip.items()},
    }


def link_row(link: Link) -> dict[str, Any]:
    """Return a link: bytes/s of one of its lanes, to one peer and in all, one way."""
    return {
        "name": link.name,
        "topology": link.topology,
        "lane": float(link.bandwidth),
        "lanes": link.links_per_axis * link.axes,
        "to_one_peer": float(link.to_one_peer),
        "total": float(link.total),
        "reduces": link.reduces,
    }


def common(x: DType, w: DType) -> str:
    """Return the type in which two types are multiplied, or "" if they have none in common."""
    try:
        return common_type(x, w).name
    except ValueError:
        return ""
