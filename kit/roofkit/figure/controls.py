"""What a reader moves, and what a figure states."""

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
    """A slider through the steps of something that happens: it can be played and stopped.

    Between two steps the browser shows the places on the way, so a formula must make sense of a
    fraction. `last` names the formula that gives the last step; those after it look like it.
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


# The buttons beside the slider of steps: the sign, and what it does.
PLAY = {"back": ("−1", "One step back"), "play": ("▶", "Play"), "next": ("+1", "One step on")}
STOP = "Stop"


def as_html(control: Control) -> str:
    """The control for a static page: a labelled input, dead until a script listens to it."""
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
        # A reader that speaks has the value from the slider itself.
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
