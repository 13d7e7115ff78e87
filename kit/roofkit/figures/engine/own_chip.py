"""The reader's own chip: four typed numbers, on pages shared by all figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from roofkit.words import _
from rooflib.quantities import text

OWN = "my own chip"
"""The chip's name in tables and settings; `names` has the one that is shown."""


def names() -> dict[str, str]:
    return {OWN: _("my own chip")}


def title() -> str:
    return _("My own chip")


@dataclass(frozen=True)
class Quantity:
    """A quantity of the reader's chip: name, unit of the field, factor to SI units.

    Attributes
    ----------
    name
        A key of `labels`.
    start
        Default in this unit: a round number that doesn't belong to a real chip.
    low, high
        The smallest and the largest number that may be typed, in this unit.
    """

    name: str
    unit: str
    factor: float
    start: float
    low: float
    high: float

    def problem(self, typed: float, kept: float) -> str:
        """Return why a typed number is rejected, or ""; `kept` is the last valid number."""
        if self.low <= typed <= self.high:
            return ""
        return self.refusal.replace("{kept}", text(kept, digits=12))

    @property
    def refusal(self) -> str:
        """Message beside a rejected number; {kept} stands for the last valid one."""
        limits = {"low": text(self.low), "high": text(self.high), "unit": self.unit}
        refusal = _("Type a number from {low} to {high} {unit}. Until then it stays {kept} {unit}.")
        return refusal.format(**limits, kept="{kept}")

    @property
    def label(self) -> str:
        return labels()[self.name]


def labels() -> dict[str, str]:
    """Return the labels of the quantities."""
    return {
        "peak": _("peak, dense, in bf16"),
        "bandwidth": _("memory bandwidth"),
        "memory": _("memory"),
        "link": _("link to one peer, one way"),
    }


QUANTITIES = {
    each.name: each
    for each in (
        Quantity("peak", "TFLOP/s", 1e12, 100, 1e-4, 1e6),
        Quantity("bandwidth", "GB/s", 1e9, 1000, 0.01, 1e7),
        Quantity("memory", "GB", 1e9, 32, 1e-3, 1e6),
        Quantity("link", "GB/s", 1e9, 50, 1e-3, 1e6),
    )
}
START = {name: quantity.start * quantity.factor for name, quantity in QUANTITIES.items()}


def filled(template: Any, numbers: Mapping[str, float]) -> Any:
    """Replace names of quantities in a template by their numbers; keep the rest."""
    if isinstance(template, Mapping):
        return {key: filled(inner, numbers) for key, inner in template.items()}
    return numbers[template] if isinstance(template, str) else template


def with_own(
    given: Mapping[str, Any], own: Mapping[str, Any], numbers: Mapping[str, float]
) -> dict[str, Any]:
    """Return a figure's tables; add the reader's chip to those that `own` names."""
    added = {table: {**given[table], OWN: filled(own[table], numbers)} for table in own}
    return {**given, **added}


def lab_hint() -> str:
    return _("Four numbers from its data sheet. This figure has it then among its chips.")


def form() -> str:
    """Return the number fields as HTML for a static page, in a collapsed section."""
    fields = "".join(
        f'<div><label><span>{escape(q.label)}</span><span><input type="number" data-own="{name}" '
        f'data-factor="{q.factor:g}" value="{q.start:g}" min="{q.low:g}" max="{q.high:g}" '
        f'step="any" inputmode="decimal" data-wrong="{escape(q.refusal)}"> {escape(q.unit)}</span>'
        '</label><span class="live-wrong" role="status"></span></div>'
        for name, q in QUANTITIES.items()
    )
    hint = _(
        "Four numbers from its data sheet. Every figure of the course has it then among its "
        "chips, and this browser keeps it."
    )
    return (
        f'<details class="live-own"><summary>{title()}</summary>'
        f"<p>{hint}</p><div>{fields}</div></details>"
    )
