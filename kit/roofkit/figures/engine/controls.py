"""Controls that a reader moves, and numbers that a figure states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rooflib.units import text


@dataclass(frozen=True)
class Slider:
    """A control that steps through numbers, mostly of several decades.

    Its positions are listed and not computed, so that every number is the same in Python and in
    the browser, and a round one.
    """

    name: str
    label: str
    values: Sequence[float]
    start: float
    unit: str = ""

    @property
    def options(self) -> list[float]:
        return list(self.values)

    @property
    def texts(self) -> list[str]:
        """The values as the reader sees them."""
        return [text(value, self.unit) for value in self.values]


@dataclass(frozen=True)
class Steps(Slider):
    """A slider through the steps of a process, which can be played and stopped.

    Between two steps the browser animates, so formulas must accept fractions. `last` names the
    formula of the last step; steps beyond it look the same.
    """

    last: str = ""


@dataclass(frozen=True)
class Choice:
    """A control that picks one of a few names."""

    name: str
    label: str
    values: Sequence[str]
    start: str

    @property
    def options(self) -> list[str]:
        return list(self.values)


Control = Slider | Choice


@dataclass(frozen=True)
class Number:
    """A number that the figure states: the formula it comes from, its label and its unit.

    A unit like "@op" is the value of the formula `op`.
    """

    name: str
    label: str
    unit: str = ""


# The buttons beside a slider of steps: sign and label.
PLAY = {"back": ("−1", "One step back"), "play": ("▶", "Play"), "next": ("+1", "One step on")}
STOP = "Stop"


def as_html(control: Control) -> str:
    """Return the control for a static page: a labeled input that needs a script."""
    name = f'name="{control.name}"'
    if isinstance(control, Choice):
        options = "".join(
            f"<option{' selected' if value == control.start else ''}>{escape(value)}</option>"
            for value in control.values
        )
        body, after = f"<select {name}>{options}</select>", ""
    else:
        at, texts = control.options.index(control.start), control.texts
        body = (
            f'<input type="range" {name} min="0" max="{len(texts) - 1}" value="{at}" '
            f'aria-valuetext="{texts[at]}">'
        )
        # Screen readers announce the slider's own value.
        after = f'<span class="live-value" aria-hidden="true">{texts[at]}</span>'
    if isinstance(control, Steps):
        after += "".join(
            f'<button type="button" data-does="{does}" data-stop="{STOP}" aria-label="{words}">'
            f'<span aria-hidden="true">{sign}</span></button>'
            for does, (sign, words) in PLAY.items()
        )
    kind = " live-steps" if isinstance(control, Steps) else ""
    label = f"<span>{escape(control.label)}</span>"
    return f'<div class="live-control{kind}"><label>{label}{body}</label>{after}</div>'
