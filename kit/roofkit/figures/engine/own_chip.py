"""The reader's own chip: four numbers, typed once for all figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

OWN = "my own chip"


@dataclass(frozen=True)
class Quantity:
    """A number of the reader's chip: label, unit in which it is typed, and factor."""

    label: str
    unit: str
    factor: float
    start: float
    """Default in this unit: a round number that doesn't belong to a real chip."""


QUANTITIES = {
    "peak": Quantity("peak, dense, in bf16", "TFLOP/s", 1e12, 100),
    "bandwidth": Quantity("memory bandwidth", "GB/s", 1e9, 1000),
    "memory": Quantity("memory", "GB", 1e9, 32),
    "link": Quantity("link to one peer, one way", "GB/s", 1e9, 50),
}
START = {name: quantity.start * quantity.factor for name, quantity in QUANTITIES.items()}


def filled(template: Any, numbers: Mapping[str, float]) -> Any:
    """Replace the names of quantities in a template by numbers; keep numbers in it."""
    if isinstance(template, Mapping):
        return {key: filled(inner, numbers) for key, inner in template.items()}
    return numbers[template] if isinstance(template, str) else template


def with_own(
    given: Mapping[str, Any], own: Mapping[str, Any], numbers: Mapping[str, float]
) -> dict[str, Any]:
    """Return a figure's tables, with the reader's chip where `own` has a template."""
    added = {table: {**given[table], OWN: filled(own[table], numbers)} for table in own}
    return {**given, **added}


LAB_HINT = "Four numbers from its data sheet. This figure has it then among its chips."


def form() -> str:
    """Return the number fields as HTML for a static page, in a collapsed section."""
    fields = "".join(
        f'<label><span>{escape(q.label)}</span><span><input type="number" data-own="{name}" '
        f'data-factor="{q.factor:g}" value="{q.start:g}" min="0" step="any" inputmode="decimal">'
        f" {escape(q.unit)}</span></label>"
        for name, q in QUANTITIES.items()
    )
    return (
        f'<details class="live-own"><summary>{OWN.capitalize()}</summary>'
        "<p>Four numbers from its data sheet. Every figure of the course has it then among its "
        f"chips, and this browser keeps it.</p><div>{fields}</div></details>"
    )
