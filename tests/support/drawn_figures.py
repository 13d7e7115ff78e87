"""Short digests of every figure's drawings and texts.

They are compared with the table of approved figures.

After a change that alters a figure: look at the drawings that the failing test has written, then
approve them with `python tests/kit/approve_figures.py` and commit the table.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from xml.etree import ElementTree

from byte_figures import made_bytes
from live_pages import SVG

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.browser_roof_figure import BEFORE
from roofkit.figures.engine.controls import Choice, Steps
from roofkit.figures.engine.page import DESK_WIDTH, PHONE_WIDTH, figure_html

FIGURES = {name: getattr(figures, name) for name in figures.__all__ if name.islower()}


def roof_in_front() -> Figure:
    """Return the figure of a browser's roof, drawn in front of a made-up chip's roof."""
    return figures.browser_roof(rl.Chip("made up", {"fp32": 2e11}, 4e10, 8e9))


def measured_roof() -> Figure:
    """Return the figure of a browser's roof after a made-up measurement."""
    figure = roof_in_front()
    dots: dict[str, Any] = {}
    for family, places in (("thin", (1, 4, 16)), ("step", (0.3, 2, 9))):
        rates = [place * 1.5e9 for place in places]
        dots |= {f"{family}_at": list(places), f"{family}_count": len(places)}
        dots |= {f"{family}_name": [f"{family} {place}" for place in places]}
        for what, share in (("worst", 0.5), ("median", 0.8), ("best", 1)):
            dots[f"{family}_{what}"] = [share * rate for rate in rates]
    found = {name: 2e10 + 1e9 * place for place, name in enumerate(BEFORE["found"])}
    found["peak"] = 1e11
    told = {name: f"<{name}>" for name in BEFORE["told"]}
    seen = {"measured": 1, "drift": -0.2, "why": "", "found": found, "told": told, **dots}
    return replace(figure, given={**figure.given, **seen})


MAX_BETWEEN = 3  # a choice with more options between its ends is drawn only at the first and last
MAX_HALVES = 6  # drawings halfway between two steps, for each control with steps
BYTES = ("two chips", "attention", "limits")
# Variants of the byte and browser-roof figures to draw, by name.
MORE: dict[str, Callable[[], Figure]] = {
    f"byte-{name.replace(' ', '-')}": partial(lambda name: made_bytes()[name], name)
    for name in BYTES
}
MORE |= {"browser-roof-measured": measured_roof, "browser-roof-in-front": roof_in_front}
DECIMAL = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
Digests = dict[str, str]


def settings(figure: Figure) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, settings): the initial ones, then each control at both its ends.

    A choice of few options also takes those in between.
    """
    yield "start", {}
    for control in figure.controls:
        first, *between, last = control.options
        yield f"{control.name} first", {control.name: first}
        for option in (
            between if isinstance(control, Choice) and len(between) <= MAX_BETWEEN else ()
        ):
            yield f"{control.name} {option}", {control.name: option}
        yield f"{control.name} last", {control.name: last}


def halves(figure: Figure) -> Iterator[tuple[Figure, dict[str, Any]]]:
    """Yield (figure, setting) with the setting halfway between two steps.

    The animation passes through these settings; the yielded figure allows them.
    """
    for control in figure.controls:
        if isinstance(control, Steps):
            between = [step + 0.5 for step in range(int(figure.values()[control.last]))]
            more = replace(control, values=[*control.values, *between], names=())
            others = [more if one is control else one for one in figure.controls]
            for step in between[:: math.ceil(len(between) / MAX_HALVES)]:
                yield replace(figure, controls=others), {control.name: step}


def drawings(figure: Figure) -> Iterator[tuple[str, str]]:
    """Yield a name and the SVG of each setting, at both usual widths."""
    for name, chosen in settings(figure):
        for width in (PHONE_WIDTH, DESK_WIDTH):
            yield f"{name}, {width} px", figure.svg(width=width, **chosen)


def digests(figure: Figure) -> Digests:
    """Return digests of a figure: of each mark's drawings, controls, HTML and texts."""
    drawn: dict[str, list[str]] = {}
    pictures = [svg for _, svg in drawings(figure)]
    pictures += [moving.svg(width=DESK_WIDTH, **chosen) for moving, chosen in halves(figure)]
    for svg in pictures:
        for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
            name = f"mark {group.get('data-mark', 'unnamed')}"
            shapes = [(one.tag, sorted(one.items()), one.text) for one in group.iter()]
            drawn.setdefault(name, []).append(str(shapes))
    said = [figure.texts(**chosen) for _, chosen in settings(figure)]
    said += [moving.texts(**chosen) for moving, chosen in halves(figure)]
    controls = [[control.name, list(control.options), control.start] for control in figure.controls]
    html = re.sub(r"<svg.*?</svg>|<script.*?</script>", "", figure_html(figure), flags=re.DOTALL)
    words = {"controls": json.dumps(controls), "page": html, "texts": json.dumps(said)}
    return {
        **{name: _digest(_rounded("".join(drawn[name]), ".1f")) for name in sorted(drawn)},
        **{name: _digest(_rounded(text, ".6g")) for name, text in words.items()},
    }


def table() -> str:
    """Return the digests of all figures as TOML."""
    parts = []
    for name, make in (FIGURES | MORE).items():
        lines = (f'"{key}" = "{digest}"' for key, digest in digests(make()).items())
        parts.append("\n".join((f"[{name}]", *lines)))
    return "\n\n".join(parts) + "\n"


def _rounded(text: str, form: str) -> str:
    """Round decimals, so that the last bit of a computation makes no difference."""
    return DECIMAL.sub(lambda found: format(float(found[0]) + 0.0, form), text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
