"""Random descriptions of figures, as the probe makes them: odd and nearly right.

The nearly right ones mix, scale and spoil the learners' figures of tests/support/figures, so that
they also reach the last steps of judging.
"""

import copy
import json
import math
import warnings

from draws import changed, finite, text
from figures import figures

from roofkit.check.answers import ask

EVERY = 4  # use one in four of the known figures: plotting them takes a while
BY_WORD = {"": 1, "k": 1e3, "M": 1e6, "giga": 1e9, "T": 1e12, "Tera": 1e12, "P": 1e15, "兆": 1e12}
RATES = (
    "FLOP/s",
    "flops per second",
    "FLOPS",
    "FLOP s$^{-1}$",
    "операций в секунду",
    "OP/s",
    "運算/秒",
)
UNITS = ("{}{}", "attained [{}{}]", "$\\mathrm{{{}{}}}$", "{} {}", "throughput in {}{}, log2")
POWERS = ("10^{} FLOP/s", "1e{} FLOP/s", "FLOP/s (×$10^{{{}}}$)", "FLOP/s, 10**{}")
BATCHES = ("B", "batch B (log2)", "examples", "log10 of the batch", "B in 10^3", "time in s", "")
TICKS = (
    "{:g}",
    "{:,.0f}",
    "{:.1e}",
    "$\\mathdefault{{{:g}}}$",
    "{:g} T",
    "{:g}·10^3",
    "{:.2f}FLOP/s",
)
NAMES = ("{}", "D = {:,}", "{} × {}", "D=F={}", "width {:_}", "{}²")


def known(inputs):
    """Return, for each case, the contents of a quarter of the known figures."""
    drawn = [one.function for one in figures()[::EVERY]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib warns of missing glyphs
        answers = [[ask(one, case, "figure") for one in drawn] for case in inputs]
    return [
        [json.loads(json.dumps(one.value)) for one in some if not one.problem] for some in answers
    ]


def nearly_right(random, shown, case):
    """Generate one of the figures shown for this case, with a few changes."""
    whole = copy.deepcopy(random.choice(shown))
    for _ in range(random.randrange(4)):
        change = random.choice((_crossed, _scaled, _named, _ticked, _curves, _axes))
        whole = change(random, whole, shown, case)
    return changed(random, whole, 2) if random.random() < 0.2 else whole


def _crossed(random, whole, shown, case):
    """Replace one entry by that of another learner's figure."""
    other = copy.deepcopy(random.choice(shown))
    key = random.choice(list(whole))
    if key in other:
        whole[key] = other[key]
    return whole


def _scaled(random, whole, shown, case):
    """Scale the values to another unit, mostly with a label that says so."""
    word, power = random.choice(list(BY_WORD)), random.randrange(-3, 16)
    label, factor = random.choice(
        (
            (random.choice(UNITS).format(word, random.choice(RATES)), BY_WORD[word]),
            (random.choice(POWERS).format(power), 10.0**power),
            ("log10 FLOP/s", 0),
        )
    )
    for curve in whole["curves"]:
        curve["y"] = [_unit(y, factor) for y in curve["y"]]
    for axes in whole["axes"]:
        axes["y"]["limits"] = [_unit(y, factor) for y in axes["y"]["limits"]]
        if random.random() < 0.8:
            axes["y"]["label"] = label
            axes["y"]["ticks"] = []
    return whole


def _unit(value, factor):
    return value / factor if factor else math.log10(value) if value > 0 else value


def _named(random, whole, shown, case):
    """Change the names of the curves, and whether a legend or a text gives them."""
    for curve in whole["curves"]:
        size = random.choice([*case["sizes"], 7])
        found = random.choice(NAMES).format(size, size) if random.random() < 0.8 else text(random)
        key = random.choice(("legend", "texts", "between"))
        curve["legend"], curve["texts"], curve["between"] = [], [], []
        curve[key] = [found] * random.randrange(1, 3)
        if random.random() < 0.3:
            curve["legend"] = [random.choice(NAMES).format(one, one) for one in case["sizes"]]
            curve["same_look"] = True
    return whole


def _ticked(random, whole, shown, case):
    """Write ticks that show the values in another unit."""
    factor = random.choice((1, 1e12, 1e-3, 1e9, finite(random) or 1))
    words = random.choice(TICKS)
    for axes in whole["axes"]:
        for name in "xy":
            places = [place for place, _ in axes[name]["ticks"]] or axes[name]["limits"]
            ticks = [[place, words.format(place / factor)] for place in places]
            if random.random() < 0.3 and ticks:
                ticks[random.randrange(len(ticks))][1] = text(random)
            axes[name]["ticks"] = ticks
            axes[name]["offset"] = random.choice(("", "", "1e12", "×10^12", text(random)))
    return whole


def _curves(random, whole, shown, case):
    """Add, remove, hide, reverse, truncate or distort a curve."""
    curves = whole["curves"]
    if not curves:
        return whole
    at = random.randrange(len(curves))
    own = copy.deepcopy(curves[at])
    kind = random.randrange(6)
    if kind == 0:
        del curves[at]
    elif kind == 1:
        own["x"], own["y"] = own["x"][::-1], own["y"][::-1]
        curves.append(own)
    elif kind == 2:  # markers on a line
        own["x"], own["y"] = own["x"][::3], own["y"][::3]
        own["legend"], own["texts"], own["between"] = curves[at]["legend"], [], []
        curves[at]["legend"] = curves[at]["texts"] = []
        curves.insert(0, own)
    elif kind == 3:
        curves[at]["seen"] = random.random() < 0.3
    elif kind == 4:
        half = random.randrange(len(own["x"]) + 1)
        curves[at]["x"], curves[at]["y"] = own["x"][:half], own["y"][:half]
    else:
        curves[at]["y"] = [y * random.choice((1, 1, 2, 0.5)) for y in own["y"]]
    return whole


def _axes(random, whole, shown, case):
    """Change labels, limits and scales, or add axes."""
    for axes in whole["axes"]:
        if random.random() < 0.5:
            axes["x"]["label"] = random.choice((*BATCHES, text(random)))
        if random.random() < 0.3:
            axes["y"]["label"] = random.choice(("", "FLOP", "FLOP/byte", "time", text(random)))
        axis = axes[random.choice("xy")]
        if random.random() < 0.3:
            axis["limits"] = [finite(random), random.choice((axis["limits"][1], finite(random)))]
        axis["scale"] = random.choice((axis["scale"], "log", "linear", "symlog"))
    if random.random() < 0.3:
        whole["axes"].append(copy.deepcopy(random.choice(whole["axes"])))
        whole["curves"][-1:] = [one | {"axes": 1} for one in whole["curves"][-1:]]
    if random.random() < 0.2:
        for key in ("xlabel", "ylabel"):
            whole[key] = random.choice(("", text(random)))
        for axes in whole["axes"]:
            axes["x"]["label"] = axes["y"]["label"] = ""
    return whole


def odd(random):
    """Generate a figure with odd labels, positions and numbers of curves."""
    curves = [_curve(random) for _ in range(random.choice((0, 1, 2, 2, 2, 3, 12)))]
    axes = [{"x": _axis(random), "y": _axis(random)} for _ in range(random.choice((1, 1, 1, 2)))]
    whole = {
        "curves": curves,
        "legend": random.random() < 0.5,
        "entries": random.randrange(4),
        "axes": axes,
        "xlabel": _label(random),
        "ylabel": _label(random),
    }
    return changed(random, whole) if random.random() < 0.2 else whole


def _label(random):
    usual = ("B", "batch B (log2)", "FLOP/s", "TFLOP/s", "attained [10^12 FLOP/s]", "")
    return random.choice(usual) if random.random() < 0.4 else text(random)


def _axis(random):
    low = random.choice((0, 0, 1, 1e-3, finite(random)))
    return {
        "label": _label(random),
        "limits": [low, random.choice((1024, 10, finite(random)))],
        "scale": random.choice(("log", "linear", "symlog", "odd")),
        "ticks": [[finite(random), _label(random)] for _ in range(random.randrange(6))],
        "offset": random.choice(("", "1e12", text(random))),
    }


def _curve(random):
    count = random.choice((1, 2, 64, 64, 512, 512, 5_000 if random.random() < 0.1 else 3))
    x = [2**n / 50 for n in range(min(count, 500))] + [float(n) for n in range(500, count)]
    y = [min(1.97e14, 8.1e11 * one) for one in x]
    if random.random() < 0.3:
        y = [finite(random) for _ in x]
    names = ("1024", "D = 4096", "4k", "D=F=1024", "4096²")
    words = [random.choice(names) if random.random() < 0.6 else text(random) for _ in range(3)]
    return {
        **{"x": x, "y": y, "axes": 0, "seen": True, "same_look": random.random() < 0.3},
        **{"legend": words[:1], "texts": words[1:2], "between": words[2:]},
    }
