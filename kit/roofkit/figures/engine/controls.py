"""Controls of a figure, and the numbers that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from roofkit.words import _
from rooflib.quantities import text


@dataclass(frozen=True)
class Slider:
    """A slider through a list of numbers, often over several decades.

    The numbers are listed instead of computed, so that they are round, and the same in Python and
    in the browser.
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
        """The values as text."""
        return [text(value, self.unit) for value in self.values]

    def text(self, value: float) -> str:
        return text(value, self.unit)


@dataclass(frozen=True)
class Steps(Slider):
    """A slider through the steps of a process, with buttons that play and stop them.

    The browser animates the change between two steps, so formulas must accept fractional steps.
    `last` names the formula of the last step; steps beyond it look the same.

    Attributes
    ----------
    names
        What each step is called, if numbers say too little.
    seconds
        How long a step is played.
    plays
        Whether a page plays all steps, once, when the figure comes into view, unless the reader
        prefers reduced motion; and whether Stop pauses between two steps.
    """

    last: str = ""
    names: Sequence[str] = ()
    seconds: float = 1
    plays: bool = False

    @property
    def texts(self) -> list[str]:
        return list(self.names) or super().texts


@dataclass(frozen=True)
class Choice:
    """A list from which one name is chosen.

    `names` has the words that are shown for values, in the reader's language.
    """

    name: str
    label: str
    values: Sequence[str]
    start: str
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> list[str]:
        return list(self.values)

    @property
    def texts(self) -> list[str]:
        """The values as they are shown."""
        return [self.text(value) for value in self.values]

    def text(self, value: str) -> str:
        return self.names.get(value, value)


Control = Slider | Choice


@dataclass(frozen=True)
class Number:
    """A number that the figure shows: name of its formula, label and unit.

    A unit like "@op" is the value of the formula `op`.
    """

    name: str
    label: str
    unit: str = ""


def players() -> dict[str, tuple[str, str]]:
    """Return the buttons next to a step slider: name → (symbol, label)."""
    return {
        "back": ("−1", _("One step back")),
        "play": ("▶", _("Play")),
        "next": ("+1", _("One step on")),
    }


def as_html(control: Control) -> str:
    """Return the control as HTML for a static page; a script makes it work."""
    name = f'name="{control.name}"'
    if isinstance(control, Choice):
        options = "".join(_option(control, value) for value in control.values)
        body, after = f"<select {name}>{options}</select>", ""
    else:
        at, texts = control.options.index(control.start), control.texts
        played = f' data-seconds="{control.seconds:g}"' if isinstance(control, Steps) else ""
        played += " data-plays" if isinstance(control, Steps) and control.plays else ""
        body = (
            f'<input type="range" {name} min="0" max="{len(texts) - 1}" value="{at}" '
            f'aria-valuetext="{texts[at]}"{played}>'
        )
        # Screen readers announce the slider's own value.
        after = f'<span class="live-value" aria-hidden="true">{texts[at]}</span>'
    if isinstance(control, Steps):
        stop = _("Pause") if control.plays else _("Stop")
        after += "".join(
            f'<button type="button" data-does="{does}" data-stop="{stop}" aria-label="{words}">'
            f'<span aria-hidden="true">{sign}</span></button>'
            for does, (sign, words) in players().items()
        )
    kind = " live-steps" if isinstance(control, Steps) else ""
    label = f"<span>{escape(control.label)}</span>"
    return f'<div class="live-control{kind}"><label>{label}{body}</label>{after}</div>'


def _option(choice: Choice, value: str) -> str:
    shown = choice.text(value)
    known = f' value="{escape(value)}"' if shown != value else ""
    selected = " selected" if value == choice.start else ""
    return f"<option{known}{selected}>{escape(shown)}</option>"
