"""The figures' script, without a page: what a figure shows at any setting, in milliseconds."""

import functools
import json
from typing import Any

import quickjs

from roofkit.figures import bundle
from roofkit.figures.figure import messages

WIDTHS = (650, 320)  # pixels of a drawing on a desk and on a phone
# What a reader types for a chip of their own: SI units.
OWN_NUMBERS = {"peak": 3e14, "bandwidth": 1.5e12, "memory": 4e10, "link": 6e10}
SHOWS = """
const { at, phrases, starts } = LIB.figure;
const { html } = LIB.svg;
const made = {};
const spec = (name, given) =>
  (made[name + given] ??= FIGURES[name](CATALOG, phrases(WORDS), JSON.parse(given)));
const options = (name, given) => JSON.stringify(Object.fromEntries(
  Object.entries(spec(name, given).controls).map(([one, { texts }]) => [one, texts.length])));
function shows(name, given, places, own, wide) {
  const { title, controls, numbers, draw } = spec(name, given);
  const settings = starts(spec(name, given));
  for (const [one, place] of Object.entries(JSON.parse(places))) {
    const options = controls[one]?.options ?? {};
    // Between two steps, a figure plays.
    settings[one] = options[place] ??
      (one in controls ? options[Math.floor(place)] + (place % 1) : place);
  }
  const now = at(spec(name, given), CATALOG, settings, JSON.parse(own));
  const drawn = draw(now.values, wide, now.words);
  const [svg, handles] = [html(drawn.svg), drawn.handles ?? []];
  const each = (list, get) => Object.fromEntries(Object.entries(list).map(get));
  return JSON.stringify({
    chosen: each(controls, ([one, { texts, options }]) =>
      [one, texts[options.indexOf(settings[one])] ?? ""]),
    labels: each(controls, ([one, { label }]) => [one, label]),
    seconds: each(controls, ([one, { seconds }]) => [one, seconds ?? 0]),
    numbers: each(numbers, ([, [one]]) => now.problem
      ? [one, ["", "–"]] : [one, [String(now.values[one]), now.words[one]]]),
    says: now.says,
    lines: now.lines,
    picture: svg,
    drawn: [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text),
    bad: (svg.match(/NaN|undefined|Infinity|null/g) ?? []).join(),
    out: [],
    words: [title, ...numbers.map(([, label]) => label)].concat(
      Object.values(controls).flatMap(({ label, texts }) => [label, ...texts])),
    handles: handles.map((one) => ({ ...one, there: one.to(one.x, one.y) })),
  });
}
"""


@functools.cache
def engine(language: str) -> Any:
    """Return a JavaScript engine that has the figures' script, with a notebook's words."""
    context = quickjs.Context()
    context.eval(f"const WORDS = {json.dumps(messages(language))};{bundle.script()}{SHOWS}")
    return context


def called(function: str, *arguments: Any, language: str = "en") -> Any:
    return json.loads(engine(language).eval(f"{function}({', '.join(map(json.dumps, arguments))})"))


def options(name: str, given: dict[str, Any] | None = None) -> dict[str, int]:
    """Return how many positions each control of a figure has, by name."""
    return dict(called("options", name, json.dumps(given or {})))


def shows(
    name: str,
    places: dict[str, Any],
    wide: int = WIDTHS[0],
    given: dict[str, Any] | None = None,
    language: str = "en",
) -> dict[str, Any]:
    """Return what a figure shows, as `Reader.shows` does; and its handles.

    places: positions of controls, where others stay, and settings that no control has; given: what
    the cell gives the figure.
    """
    each = (json.dumps(one) for one in (given or {}, places, OWN_NUMBERS))
    return dict(called("shows", name, *each, wide, language=language))
